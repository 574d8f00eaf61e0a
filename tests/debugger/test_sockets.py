"""The socket: watching a thread, catching up, and who is let in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from flask_socketio import SocketIOTestClient

from debugger.app import create_app
from debugger.graphs import adapt
from debugger.security import Guard
from debugger.service import Service
from debugger.wire import RunRequest
from runtime.checkpoint.memory import InMemorySaver
from tests.debugger.served import Kit


class Live:
    """A server with its socket."""

    def __init__(self) -> None:
        saver = InMemorySaver()
        self.service = Service(saver, None)
        self.service.serve([adapt(Kit("runtime").line("a", "b"), id="ab", target="test:ab", saver=saver)])
        self.guard = Guard()
        self.app, self.sockets = create_app(self.service, self.guard)

    def connect(self, token: str | None = None, **headers: str) -> SocketIOTestClient:
        return self.sockets.test_client(self.app, auth={"token": token} if token else None, headers=headers)

    def run(self) -> None:
        live = self.service.run("t", RunRequest(assistant_id="ab", input={"log": []}))
        assert live.wait(10)
        self.service.journal.flush()


@pytest.fixture
def live() -> Iterator[Live]:
    made = Live()
    made.service.create_thread("ab", {}, thread_id="t")
    yield made
    made.service.close()


def watch(client: SocketIOTestClient, thread: str, after: int = 0) -> Any:
    return client.emit("watch", {"thread_id": thread, "after": after}, callback=True)


def test_events_arrive_in_order_and_a_late_comer_gets_the_rest(live: Live) -> None:
    client = live.connect(live.guard.token)
    assert watch(client, "t")["last_seq"] == 0
    live.run()
    batches = [m["args"][0] for m in client.get_received() if m["name"] == "events"]
    seqs = [row["seq"] for batch in batches for row in batch["events"]]
    assert seqs == list(range(1, len(seqs) + 1))
    assert len(seqs) > 10
    page = watch(live.connect(live.guard.token), "t", after=5)
    assert [row["seq"] for row in page["events"]] == list(range(6, len(seqs) + 1))


def test_who_does_not_watch_a_thread_gets_only_its_status(live: Live) -> None:
    client = live.connect(live.guard.token)
    live.run()
    names = {m["name"] for m in client.get_received()}
    assert names == {"thread"}


def test_an_unknown_thread_is_an_error_with_a_fix(live: Live) -> None:
    answer = watch(live.connect(live.guard.token), "nope")
    assert answer["error"] == "unknown_thread"
    assert answer["fix"]
    assert live.connect(live.guard.token).emit("watch", {"oops": 1}, callback=True)["error"] == "invalid_watch"


def test_the_socket_needs_the_token_and_a_host_that_is_ours(live: Live) -> None:
    assert not live.connect().is_connected()
    assert not live.connect("wrong").is_connected()
    assert not live.connect(live.guard.token, Host="evil.example").is_connected()
    assert live.connect(live.guard.token).is_connected()
