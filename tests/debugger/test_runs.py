"""Runs: one at a time on a thread, cancelled at once, failures told, events journalled without gaps."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from debugger.models import Records
from runtime.checkpoint.sqlite import SqliteSaver
from tests.debugger.served import KINDS, Client, Kit, client


@pytest.fixture(params=KINDS)
def kit(request: pytest.FixtureRequest) -> Kit:
    return Kit(request.param)


def events(c: Client) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = c.get("/debug/threads/t/events?limit=5000")["events"]
    return found


def test_every_mode_is_journalled_in_order_without_gaps(kit: Kit) -> None:
    with client({"ask": kit.line("a", "ask")}) as c:
        c.thread("ask")
        c.run("ask", input={"log": []})
        found = events(c)
        assert [e["seq"] for e in found] == list(range(1, len(found) + 1))
        assert {e["mode"] for e in found} == {"run", "values", "updates", "checkpoints", "tasks", "debug"}
        assert [(e["node"], e["phase"]) for e in found if e["mode"] == "tasks"] == [
            ("a", "start"),
            ("a", "result"),
            ("ask", "start"),
            ("ask", "interrupt"),
        ]
        assert [e["phase"] for e in found if e["mode"] == "run"] == ["started", "interrupted"]
        rest = c.get(f"/debug/threads/t/events?after={found[-3]['seq']}")
        assert [e["seq"] for e in rest["events"]] == [e["seq"] for e in found[-2:]]


def test_a_second_run_and_an_edit_are_refused_while_one_is_on(kit: Kit) -> None:
    with client({"slow": kit.line("slow", "z")}) as c:
        c.thread("slow")
        run = c.post("/threads/t/runs", {"assistant_id": "slow", "input": {"log": []}})
        error = c.refused("POST", "/threads/t/runs", {"assistant_id": "slow", "input": {"log": []}})
        assert error["status"] == 409
        assert run["run_id"] in error["reason"]
        assert c.refused("POST", "/threads/t/state", {"values": {"note": "x"}})["status"] == 409
        assert c.refused("DELETE", "/threads/t")["status"] == 409
        assert c.get(f"/threads/t/runs/{run['run_id']}/join")["log"] == ["slow", "z"]
        assert kit.ran == ["slow", "z"]


def test_a_cancelled_run_stops_and_the_thread_goes_on_later(kit: Kit) -> None:
    with client({"slow": kit.line("slow", "z")}) as c:
        c.thread("slow")
        run = c.post("/threads/t/runs", {"assistant_id": "slow", "input": {"log": []}})
        c.post(f"/threads/t/runs/{run['run_id']}/cancel?wait=1")
        assert c.get(f"/threads/t/runs/{run['run_id']}")["status"] == "cancelled"
        assert c.get("/debug/threads/t")["status"] == "interrupted"
        assert events(c)[-1]["phase"] == "cancelled"
        assert "z" not in kit.ran
        assert c.refused("POST", f"/threads/t/runs/{run['run_id']}/cancel")["status"] == 409
        assert c.run("slow")["log"] == ["slow", "z"]


def test_a_node_that_raises_is_told_and_can_be_repaired(kit: Kit) -> None:
    with client({"bad": kit.line("a", "boom")}) as c:
        c.thread("bad")
        assert c.run("bad", input={"log": []})["__error__"] == {"error": "ValueError", "message": "no such file"}
        assert c.get("/debug/threads/t")["status"] == "error"
        head = c.rows()[0]
        assert head["next"] == ["boom"]
        assert "no such file" in head["error"]
        view = c.get(f"/debug/threads/t/checkpoints/{head['checkpoint_id']}")
        assert "no such file" in view["tasks"][0]["error"]
        assert c.get("/debug/threads/t/runs")[0]["error"] == "ValueError: no such file"
        c.post("/threads/t/state", {"values": {"log": ["fixed"]}, "as_node": "boom"})
        assert c.get("/threads/t/state")["next"] == []
        assert c.get("/threads/t/state")["values"]["log"] == ["a", "fixed"]


def test_a_state_that_cannot_be_kept_fails_with_key_and_type(kit: Kit) -> None:
    with client({"lock": kit.line("a", "lock")}) as c:
        c.thread("lock")
        error = c.run("lock", input={"log": []})["__error__"]
        assert "serializ" in error["message"]
        assert "builtin_function_or_method" in error["message"]
        assert c.get("/threads/t/state")["values"] == {"log": ["a"]}


def test_a_run_to_the_end_goes_past_breakpoints_but_not_past_a_question(kit: Kit) -> None:
    with client({"mix": kit.line("a", "b", "ask", "c", interrupt_before=["b", "c"])}) as c:
        c.thread("mix")
        c.run("mix", input={"log": []}, until="end")
        assert kit.ran == ["a", "b", "ask"]
        assert c.run("mix", command={"resume": "x"}, until="end")["log"] == ["a", "b", "ans:x", "c"]


def test_a_step_is_one_super_step(kit: Kit) -> None:
    with client({"abc": kit.line("a", "b", "c")}) as c:
        c.thread("abc")
        c.run("abc", input={"log": []}, until="step")
        assert kit.ran == ["a"]
        c.run("abc", until="step")
        assert kit.ran == ["a", "b"]


def test_a_run_that_the_server_lost_is_marked_when_it_starts_again(kit: Kit, tmp_path: Path) -> None:
    path = str(tmp_path / "threads.sqlite")
    with SqliteSaver.from_conn_string(path) as saver:
        with client({"abc": kit.line("a")}, path, saver) as c:
            c.thread("abc")
            c.run("abc", input={"log": []})
            c.service.records.change_thread("t", status="busy")
            run = c.get("/debug/threads/t/runs")[0]["run_id"]
            c.service.records.end_run(run, "running")
        with client({"abc": kit.line("a")}, path, saver) as c:
            assert c.get("/debug/threads/t")["status"] == "interrupted"
            assert c.get("/debug/threads/t/runs")[0]["status"] == "cancelled"
            assert events(c)[0]["seq"] == 1, "the journal is kept"
            c.run("abc", input={"log": []})
            found = events(c)
            assert [e["seq"] for e in found] == list(range(1, len(found) + 1)), "and goes on where it was"


def test_closing_does_not_wait_for_a_node_that_hangs() -> None:
    kit = Kit("runtime")
    release = threading.Event()
    builder = kit.StateGraph(dict_state())
    builder.add_node("hang", lambda state: release.wait(20) and None)
    builder.add_edge(kit.START, "hang")
    with client({"hang": builder.compile()}) as c:
        c.thread("hang")
        run = c.post("/threads/t/runs", {"assistant_id": "hang", "input": {"x": 1}})
        c.service.close()
        release.set()
        assert c.service.runs.busy("t") is None
        live = c.service.runs.live(run["run_id"])
        assert live is not None
        assert live.view.status == "cancelled"


def dict_state() -> Any:
    from typing import TypedDict

    class X(TypedDict):
        x: int

    return X


def test_only_the_last_ended_runs_can_still_be_joined(kit: Kit) -> None:
    with client({"abc": kit.line("a")}) as c:
        c.thread("abc")
        for _ in range(25):
            c.run("abc", input={"log": []})
        runs = c.get("/debug/threads/t/runs")
        assert len(runs) == 25
        assert c.service.runs.live(runs[0]["run_id"]) is not None
        assert c.service.runs.live(runs[-1]["run_id"]) is None
        assert c.get(f"/threads/t/runs/{runs[-1]['run_id']}/join")["log"], "its result is still there"
        assert c.refused("GET", f"/threads/t/runs/{runs[-1]['run_id']}/stream")["error"] == "stream_gone"


def test_records_keep_what_they_are_given(tmp_path: Path) -> None:
    records = Records(str(tmp_path / "a.sqlite"))
    records.add_thread("t", "g", {"a": 1})
    assert records.change_thread("t", metadata={"b": 2}) is not None
    assert records.change_thread("nope", status="busy") is None
    records.close()
    again = Records(str(tmp_path / "a.sqlite"))
    row = again.thread("t")
    again.close()
    assert row is not None
    assert row.metadata == {"a": 1, "b": 2}
