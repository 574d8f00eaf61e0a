"""LangGraph server API: threads, their state and history."""

from __future__ import annotations

import uuid
from typing import Any

from flask import Blueprint, Response, request
from pydantic import BaseModel, ConfigDict, Field

from debugger.api.http import answer, body, number, service
from debugger.errors import DebuggerError
from debugger.inspector import Inspector, config_of
from debugger.values import plain
from debugger.wire import CheckpointRef, StateEditRequest, ThreadRow

blueprint = Blueprint("threads", __name__)


class ThreadCreate(BaseModel):
    """Body of POST /threads."""

    model_config = ConfigDict(extra="ignore")
    thread_id: str | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    if_exists: str = "raise"
    graph_id: str | None = None


class ThreadSearch(BaseModel):
    """Body of POST /threads/search and /threads/count."""

    model_config = ConfigDict(extra="ignore")
    metadata: dict[str, Any] = Field(default_factory=dict)
    status: str | None = None
    limit: int = 10
    offset: int = 0


class ThreadPatch(BaseModel):
    """Body of PATCH /threads/{id}."""

    model_config = ConfigDict(extra="ignore")
    metadata: dict[str, Any] = Field(default_factory=dict)


class HistoryRequest(BaseModel):
    """Body of POST /threads/{id}/history."""

    model_config = ConfigDict(extra="ignore")
    limit: int = 10
    before: Any = None
    metadata: dict[str, Any] | None = None
    checkpoint: CheckpointRef | None = None


class StateAt(BaseModel):
    """Body of POST /threads/{id}/state/checkpoint."""

    model_config = ConfigDict(extra="ignore")
    checkpoint: CheckpointRef
    subgraphs: bool = False


def thread_json(row: ThreadRow, *, values: bool = True) -> dict[str, Any]:
    """A thread as the server API gives it."""
    shown: dict[str, Any] = row.model_dump(exclude={"graph_id"})
    shown["config"] = {}
    shown["values"], shown["interrupts"] = None, {}
    if values:
        inspector = Inspector(service().graph_of(row.thread_id))
        if inspector.head(row.thread_id) is not None:
            found = inspector.snapshot(row.thread_id)
            shown["values"] = plain(found.values)
            shown["interrupts"] = {t.id: [_interrupt(i) for i in t.interrupts] for t in found.tasks if t.interrupts}
    return shown


@blueprint.post("/threads")
def create() -> Response:
    """A new thread. Its graph is named by metadata.graph_id; with one served graph it may be left out."""
    wanted = body(ThreadCreate)
    graph_id = wanted.graph_id or wanted.metadata.get("graph_id") or next(iter(service().graphs), "")
    row = service().create_thread(graph_id, wanted.metadata, thread_id=wanted.thread_id, if_exists=wanted.if_exists)
    return answer(thread_json(row))


def _matching(wanted: ThreadSearch) -> list[ThreadRow]:
    return [
        row
        for row in service().records.threads()
        if (wanted.status in (None, row.status))
        and all(row.metadata.get(key) == value for key, value in wanted.metadata.items())
    ]


@blueprint.post("/threads/search")
def search() -> Response:
    """Threads by metadata and status, the one that changed last first."""
    wanted = body(ThreadSearch)
    return answer([thread_json(row) for row in _matching(wanted)[wanted.offset : wanted.offset + wanted.limit]])


@blueprint.post("/threads/count")
def count() -> Response:
    """How many threads match."""
    return answer(len(_matching(body(ThreadSearch))))


@blueprint.get("/threads/<thread_id>")
def get(thread_id: str) -> Response:
    """One thread."""
    return answer(thread_json(service().thread(thread_id)))


@blueprint.patch("/threads/<thread_id>")
def patch(thread_id: str) -> Response:
    """Add to a thread's metadata."""
    service().thread(thread_id)
    row = service().records.change_thread(thread_id, metadata=body(ThreadPatch).metadata)
    return answer(thread_json(row or service().thread(thread_id)))


@blueprint.delete("/threads/<thread_id>")
def delete(thread_id: str) -> Response:
    """Remove a thread with all that is stored of it."""
    service().delete_thread(thread_id)
    return Response(status=204)


@blueprint.post("/threads/<thread_id>/copy")
def copy(thread_id: str) -> Response:
    """A thread with the same checkpoints."""
    row = service().thread(thread_id)
    twin = str(uuid.uuid4())
    service().saver.copy_thread(thread_id, twin)
    made = service().create_thread(row.graph_id, {**row.metadata, "copied_from": thread_id}, thread_id=twin)
    service().records.change_thread(twin, status=row.status if row.status != "busy" else "interrupted")
    return answer(thread_json(made))


# -- state -------------------------------------------------------------------------------------------------------------


def _interrupt(interrupt: Any) -> dict[str, Any]:
    return {"value": plain(interrupt.value), "id": interrupt.id}


def _checkpoint(config: Any) -> dict[str, Any] | None:
    return None if not config else dict(config["configurable"])


def state_json(found: Any) -> dict[str, Any]:
    """A StateSnapshot as the server API gives it."""
    return {
        "values": plain(found.values),
        "next": list(found.next),
        "tasks": [_task(task) for task in found.tasks],
        "metadata": plain(found.metadata or {}),
        "created_at": found.created_at,
        "checkpoint": _checkpoint(found.config),
        "parent_checkpoint": _checkpoint(found.parent_config),
        "interrupts": [_interrupt(i) for i in found.interrupts],
        "checkpoint_id": found.config["configurable"].get("checkpoint_id"),
        "parent_checkpoint_id": (found.parent_config or {}).get("configurable", {}).get("checkpoint_id"),
    }


def _task(task: Any) -> dict[str, Any]:
    inner = task.state
    nested = inner is not None and not isinstance(inner, dict)
    return {
        "id": task.id,
        "name": task.name,
        "path": plain(list(task.path)),
        "error": None if task.error is None else str(task.error),
        "interrupts": [_interrupt(i) for i in task.interrupts],
        "checkpoint": _checkpoint(inner.config if nested else inner),
        "state": state_json(inner) if nested else None,
        "result": plain(task.result),
    }


def _state(thread_id: str, ns: str, checkpoint_id: str | None, subgraphs: bool) -> Response:
    inspector = Inspector(service().graph_of(thread_id))
    inspector.require(thread_id, ns, checkpoint_id)
    past = None if checkpoint_id == inspector.head(thread_id, ns) else checkpoint_id
    found = inspector.served.graph.get_state(config_of(thread_id, ns, past), subgraphs=subgraphs)
    return answer(state_json(found))


def _flag(name: str) -> bool:
    return request.args.get(name, "false").lower() in ("true", "1")


@blueprint.get("/threads/<thread_id>/state")
def state(thread_id: str) -> Response:
    """The thread's state."""
    return _state(thread_id, "", None, _flag("subgraphs"))


@blueprint.get("/threads/<thread_id>/state/<checkpoint_id>")
def state_at(thread_id: str, checkpoint_id: str) -> Response:
    """The state at a checkpoint."""
    return _state(thread_id, "", checkpoint_id, _flag("subgraphs"))


@blueprint.post("/threads/<thread_id>/state/checkpoint")
def state_at_checkpoint(thread_id: str) -> Response:
    """The state at a checkpoint of any namespace."""
    wanted = body(StateAt)
    return _state(thread_id, wanted.checkpoint.checkpoint_ns, wanted.checkpoint.checkpoint_id, wanted.subgraphs)


@blueprint.post("/threads/<thread_id>/state")
def edit(thread_id: str) -> Response:
    """An edit: a new checkpoint."""
    config = service().edit(thread_id, body(StateEditRequest))
    return answer({"checkpoint": config["configurable"]})


@blueprint.get("/threads/<thread_id>/history")
def history_by_get(thread_id: str) -> Response:
    """The newest states."""
    return _history(thread_id, HistoryRequest(limit=number("limit", 10, 1000), before=request.args.get("before")))


@blueprint.post("/threads/<thread_id>/history")
def history(thread_id: str) -> Response:
    """States, newest first."""
    return _history(thread_id, body(HistoryRequest))


def _history(thread_id: str, wanted: HistoryRequest) -> Response:
    inspector = Inspector(service().graph_of(thread_id))
    ns = wanted.checkpoint.checkpoint_ns if wanted.checkpoint else ""
    before = wanted.before
    if isinstance(before, dict):
        before = before.get("checkpoint_id") or before.get("configurable", {}).get("checkpoint_id")
    if before is not None and not isinstance(before, str):
        raise DebuggerError("invalid_body", f"'before' must name a checkpoint, got {before!r}.", "Give its id.")
    found = inspector.served.graph.get_state_history(
        config_of(thread_id, ns),
        filter=wanted.metadata,
        before=config_of(thread_id, ns, before) if before else None,
        limit=min(wanted.limit, 1000),
    )
    return answer([state_json(snapshot) for snapshot in found])
