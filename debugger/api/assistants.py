"""LangGraph server API: info, and assistants. Each served graph has one assistant, made by the system."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Any

from flask import Blueprint, Response, request
from pydantic import BaseModel, ConfigDict

from debugger.api.http import answer, body, service
from debugger.graphs.adapter import ServedGraph
from debugger.service import assistant_id
from debugger.topology_view import server_graph

blueprint = Blueprint("assistants", __name__)


def forkpoint_version() -> str:
    """The installed version."""
    try:
        return version("forkpoint")
    except PackageNotFoundError:
        return "0.0.0"


class AssistantSearch(BaseModel):
    """Body of POST /assistants/search and /assistants/count."""

    model_config = ConfigDict(extra="ignore")
    graph_id: str | None = None
    metadata: dict[str, Any] | None = None
    limit: int = 10
    offset: int = 0


@blueprint.get("/ok")
def ok() -> Response:
    """A sign of life."""
    return answer({"ok": True})


@blueprint.get("/info")
def info() -> Response:
    """Version and flags."""
    return answer({"version": forkpoint_version(), "flags": {"assistants": True, "crons": False}})


def assistant(served: ServedGraph) -> dict[str, Any]:
    """A graph's assistant."""
    return {
        "assistant_id": assistant_id(served.id),
        "graph_id": served.id,
        "name": served.id,
        "description": served.description,
        "config": {},
        "context": {},
        "metadata": {"created_by": "system"},
        "version": 1,
        "created_at": "1970-01-01T00:00:00+00:00",
        "updated_at": "1970-01-01T00:00:00+00:00",
    }


def _found(search: AssistantSearch) -> list[dict[str, Any]]:
    graphs = service().graphs.values()
    made = [assistant(served) for served in graphs if search.graph_id in (None, served.id)]
    wanted = (search.metadata or {}).items()
    return [item for item in made if all(item["metadata"].get(key) == value for key, value in wanted)]


@blueprint.post("/assistants/search")
def search() -> Response:
    """Assistants, by graph."""
    wanted = body(AssistantSearch)
    return answer(_found(wanted)[wanted.offset : wanted.offset + wanted.limit])


@blueprint.post("/assistants/count")
def count() -> Response:
    """How many there are."""
    return answer(len(_found(body(AssistantSearch))))


@blueprint.get("/assistants/<name>")
def get(name: str) -> Response:
    """One assistant, by its id or its graph's name."""
    return answer(assistant(service().graph(name)))


@blueprint.get("/assistants/<name>/graph")
def graph(name: str) -> Response:
    """The drawable graph."""
    return answer(server_graph(service().graph(name), _xray(request.args.get("xray"))))


def _xray(text: str | None) -> bool | int:
    if text is None or text.lower() == "false":
        return False
    return int(text) if text.isdigit() else True


@blueprint.get("/assistants/<name>/schemas")
def schemas(name: str) -> Response:
    """JSON schemas of input and state."""
    served = service().graph(name)
    return answer(
        {
            "graph_id": served.id,
            "input_schema": served.input_schema,
            "output_schema": served.output_schema,
            "state_schema": served.state_schema,
            "config_schema": {"type": "object", "properties": {}},
            "context_schema": None,
        }
    )


@blueprint.get("/assistants/<name>/subgraphs")
@blueprint.get("/assistants/<name>/subgraphs/<namespace>")
def subgraphs(name: str, namespace: str | None = None) -> Response:
    """Schemas of the subgraphs, by their path of node names."""
    served = service().graph(name)
    recurse = request.args.get("recurse", "false").lower() == "true"
    found = served.graph.get_subgraphs(namespace=namespace, recurse=recurse)
    return answer(
        {path: {"input_schema": ServedGraph(path, served.kind, inner, None, "").input_schema} for path, inner in found}
    )
