"""A debugger without a browser: graphs of either kind over a store, and an HTTP client that has the token."""

from __future__ import annotations

import operator
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, TypedDict

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from debugger.app import create_app
from debugger.graphs import adapt
from debugger.security import Guard
from debugger.service import Service
from runtime.checkpoint.memory import InMemorySaver

KINDS = ("runtime", "langgraph")


class L(TypedDict):
    log: Annotated[list[Any], operator.add]
    note: str


class Kit:
    """The names of one of the two packages."""

    def __init__(self, kind: str) -> None:
        graph = __import__(f"{kind}.graph", fromlist=["x"])
        types = __import__(f"{kind}.types", fromlist=["x"])
        self.kind = kind
        self.StateGraph, self.START, self.END = graph.StateGraph, graph.START, graph.END
        self.interrupt, self.Command = types.interrupt, types.Command
        self.ran: list[str] = []

    def node(self, name: str) -> Any:
        """Appends its name; `ask` asks, `boom` raises, `slow` takes a while, `lock` returns what cannot be stored."""

        def act(state: Any) -> Any:
            self.ran.append(name)
            if name == "boom":
                raise ValueError("no such file")
            if name == "slow":
                time.sleep(0.4)
            if name == "lock":
                return {"note": print}
            return {"log": [f"ans:{self.interrupt('q?')}" if name == "ask" else name]}

        return act

    def line(self, *names: str, **options: Any) -> Any:
        """START -> each in turn."""
        builder = self.StateGraph(L)
        previous = self.START
        for name in names:
            builder.add_node(name, self.node(name))
            builder.add_edge(previous, name)
            previous = name
        return builder.compile(**options)

    def fork(self) -> Any:
        """START -> p, q; both -> r, which has a breakpoint."""
        builder = self.StateGraph(L)
        for name in "pqr":
            builder.add_node(name, self.node(name))
        builder.add_edge(self.START, "p")
        builder.add_edge(self.START, "q")
        builder.add_edge(["p", "q"], "r")
        return builder.compile(interrupt_before=["r"])


class Client:
    """JSON in, JSON out."""

    def __init__(self, service: Service, http: FlaskClient, token: str) -> None:
        self.service = service
        self.http = http
        self.headers = {"X-Api-Key": token}

    def send(self, method: str, path: str, body: Any = None) -> TestResponse:
        """A call, with the token."""
        return self.http.open(path, method=method, json=body, headers=self.headers)

    def get(self, path: str) -> Any:
        """The answer of a GET that must succeed."""
        answer = self.send("GET", path)
        assert answer.status_code == 200, answer.text
        return answer.json

    def post(self, path: str, body: Any = None) -> Any:
        """The answer of a POST that must succeed."""
        answer = self.send("POST", path, body if body is not None else {})
        assert answer.status_code in (200, 202), answer.text
        return answer.json

    def refused(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        """The error of a call that must fail: always with a reason and a fix, never with a traceback."""
        answer = self.send(method, path, body)
        assert answer.status_code >= 400, answer.text
        error = answer.json
        assert isinstance(error, dict)
        assert error["reason"]
        assert error["fix"]
        assert "Traceback" not in answer.text
        return {**error, "status": answer.status_code}

    def thread(self, graph: str, thread_id: str = "t") -> str:
        """A new thread."""
        self.post("/threads", {"thread_id": thread_id, "metadata": {"graph_id": graph}})
        return thread_id

    def run(self, graph: str, thread_id: str = "t", **body: Any) -> Any:
        """Run to the end of the run; its final values."""
        return self.post(f"/threads/{thread_id}/runs/wait", {"assistant_id": graph, **body})

    def rows(self, thread_id: str = "t", ns: str = "") -> list[dict[str, Any]]:
        """The timeline, newest first."""
        rows: list[dict[str, Any]] = self.get(f"/debug/threads/{thread_id}/timeline?ns={ns}")["rows"]
        return rows

    def waiting_for(self, *names: str) -> str:
        """The oldest checkpoint of thread t whose next nodes are those."""
        return str([row["checkpoint_id"] for row in self.rows() if row["next"] == list(names)][-1])


@contextmanager
def client(graphs: dict[str, Any], database: str | None = None, saver: Any = None) -> Iterator[Client]:
    """A debugger that serves these graphs."""
    store = saver or InMemorySaver()
    service = Service(store, database)
    service.serve([adapt(graph, id=name, target=f"test:{name}", saver=store) for name, graph in graphs.items()])
    guard = Guard()
    app, _ = create_app(service, guard)
    try:
        yield Client(service, app.test_client(), guard.token)
    finally:
        service.close()


def kit_fixture(request: pytest.FixtureRequest) -> Kit:
    """For a fixture with params=KINDS."""
    return Kit(request.param)
