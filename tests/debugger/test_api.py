"""The HTTP routes on both kinds of graph: the whole job once, and every bad input with its reason."""

from __future__ import annotations

from typing import Any, TypedDict
from urllib.parse import quote

import pytest

from tests.debugger.served import KINDS, Client, Kit, L, client


@pytest.fixture(params=KINDS)
def kit(request: pytest.FixtureRequest) -> Kit:
    return Kit(request.param)


def test_run_look_and_list(kit: Kit) -> None:
    with client({"abc": kit.line("a", "b", "c")}) as c:
        c.thread("abc")
        assert c.run("abc", input={"log": []}) == {"log": ["a", "b", "c"]}
        rows = c.rows()
        assert [(r["step"], r["source"], r["writers"], r["next"]) for r in rows] == [
            (3, "loop", ["c"], []),
            (2, "loop", ["b"], ["c"]),
            (1, "loop", ["a"], ["b"]),
            (0, "loop", rows[3]["writers"], ["a"]),
            (-1, "input", [], ["__start__"]),
        ]
        assert rows[0]["changed"] == ["log"]
        assert [r["is_head"] for r in rows] == [True, False, False, False, False]
        view = c.get(f"/debug/threads/t/checkpoints/{c.waiting_for('b')}")
        assert view["values"] == {"log": ["a"]}
        assert view["changes"] == [{"path": ["log", 0], "op": "add", "before": None, "after": "a"}]
        assert view["tasks"][0]["result"] == {"log": ["b"]}
        assert c.get("/threads/t/state")["values"] == {"log": ["a", "b", "c"]}
        assert len(c.post("/threads/t/history", {"limit": 2})) == 2
        assert c.post("/threads/search", {"metadata": {"graph_id": "abc"}})[0]["thread_id"] == "t"
        assert c.post("/threads/count") == 1
        assert c.post("/assistants/search")[0]["graph_id"] == "abc"
        assert {n["id"] for n in c.get("/assistants/abc/graph")["nodes"]} >= {"a", "b", "c"}
        assert c.get("/info")["version"]


def test_replay_and_fork_run_only_later_nodes(kit: Kit) -> None:
    with client({"abc": kit.line("a", "b", "c")}) as c:
        c.thread("abc")
        c.run("abc", input={"log": []})
        mid = c.waiting_for("b")
        kit.ran.clear()
        assert c.run("abc", checkpoint={"checkpoint_id": mid}) == {"log": ["a", "b", "c"]}
        assert kit.ran == ["b", "c"]
        edited = c.post("/threads/t/state", {"values": {"log": ["E"]}, "checkpoint": {"checkpoint_id": mid}})
        assert kit.ran == ["b", "c"], "an edit runs nothing"
        made = edited["checkpoint"]["checkpoint_id"]
        assert c.run("abc", checkpoint={"checkpoint_id": made}) == {"log": ["a", "E", "b", "c"]}
        page = c.get("/debug/threads/t/timeline")
        assert len(page["branches"]) == 3
        assert {b["forked_from"] for b in page["branches"]} == {None, mid}
        assert len({b["lane"] for b in page["branches"]}) == 3


def test_an_older_pause_is_answered_anew(kit: Kit) -> None:
    with client({"ask": kit.line("a", "ask", "z")}) as c:
        c.thread("ask")
        paused = c.run("ask", input={"log": []})
        assert paused["__interrupt__"][0]["value"] == "q?"
        assert c.get("/debug/threads/t")["status"] == "interrupted"
        place = {"checkpoint_id": c.rows()[0]["checkpoint_id"]}
        assert c.run("ask", command={"resume": "one"})["log"] == ["a", "ans:one", "z"]
        for answer in ("two", False):
            kit.ran.clear()
            assert c.run("ask", command={"resume": answer}, checkpoint=place)["log"][1] == f"ans:{answer}"
            assert kit.ran == ["ask", "z"]
        leaves = [r for r in c.rows() if not r["next"]]
        assert len(leaves) == 3


def test_null_is_an_answer(kit: Kit) -> None:
    with client({"ask": kit.line("ask")}) as c:
        c.thread("ask")
        c.run("ask", input={"log": []})
        assert c.run("ask", command={"resume": None}) == {"log": ["ans:None"]}


def test_an_edit_says_as_whom_and_what_comes_of_it(kit: Kit) -> None:
    with client({"fork": kit.fork()}) as c:
        c.thread("fork")
        c.run("fork", input={"log": []})
        before = c.rows()
        choices = c.get("/debug/threads/t/as-node")
        assert choices["inferred"] is None
        assert "p" in choices["reason"]
        by_name = {choice["name"]: choice["next"] for choice in choices["choices"]}
        assert by_name["p"] == ["r"]
        assert by_name["__end__"] == []
        preview = c.post("/debug/threads/t/preview", {"values": {"log": ["x"]}, "as_node": "p"})
        assert preview["next"] == ["r"]
        assert preview["channels"][0]["after"] == ["p", "q", "x"]
        ambiguous = c.post("/debug/threads/t/preview", {"values": {"log": ["x"]}})
        assert ambiguous["problems"][0]["path"] == ["as_node"]
        replaced = c.post("/debug/threads/t/preview", {"values": {"log": ["x"]}, "as_node": "p", "overwrite": ["log"]})
        assert replaced["channels"][0]["after"] == ["x"]
        assert c.rows() == before, "nothing was stored"


def test_breakpoints_stop_edits_and_runs_where_they_should(kit: Kit) -> None:
    """R20: LIN(a,b,c,d) with breaks on b, c, d."""
    with client({"abcd": kit.line("a", "b", "c", "d", interrupt_before=["b", "c", "d"])}) as c:
        c.thread("abcd")
        c.run("abcd", input={"log": []})
        assert kit.ran == ["a"]
        saved = c.post("/threads/t/state", {"values": {"log": ["B"]}, "as_node": "b"})["checkpoint"]
        assert c.rows()[0]["next"] == ["c"]
        c.run("abcd", checkpoint={"checkpoint_id": saved["checkpoint_id"]}, until="pause", after_edit=True)
        assert kit.ran == ["a"], "the edit stands before a breakpoint: that is the next pause"
        c.run("abcd", until="pause")
        assert kit.ran == ["a", "c"]
        assert c.run("abcd", until="end")["log"] == ["a", "B", "c", "d"]


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "says"),
    [
        ("GET", "/debug/threads/nope/timeline", None, 404, "no thread 'nope'"),
        ("GET", "/threads/nope/state", None, 404, "no thread 'nope'"),
        ("GET", "/debug/threads/t/checkpoints/nope", None, 404, "no checkpoint 'nope'"),
        ("GET", "/debug/threads/t/as-node?checkpoint_id=nope", None, 404, "no checkpoint 'nope'"),
        ("GET", "/debug/graphs/nope/topology", None, 404, "No graph 'nope'"),
        ("GET", "/debug/threads/t/events?after=x", None, 400, "'after' must be a whole number"),
        ("POST", "/threads/t/runs", {"assistant_id": "nope"}, 404, "No graph 'nope'"),
        ("POST", "/threads/t/runs", {}, 422, "assistant_id"),
        ("POST", "/threads/t/runs", {"assistant_id": "abc", "bogus": 1}, 422, "bogus"),
        ("POST", "/threads/t/runs", {"assistant_id": "abc", "interrupt_before": ["zz"]}, 400, "'zz'"),
        ("POST", "/threads/t/runs", {"assistant_id": "abc", "checkpoint": {"checkpoint_id": "zz"}}, 404, "'zz'"),
        ("POST", "/threads/nope/runs", {"assistant_id": "abc"}, 404, "no thread 'nope'"),
        ("POST", "/threads/t/state", {"values": {"zz": 1}}, 422, "no key 'zz'"),
        ("POST", "/threads/t/state", {"values": {"note": 5}}, 422, "note"),
        ("POST", "/threads/t/state", {"values": {"note": "x"}, "as_node": "zz"}, 422, "zz"),
        ("POST", "/threads/t/state", {"values": {"log": 5}, "as_node": "a"}, 422, "log"),
        ("POST", "/threads", {"thread_id": "t", "metadata": {"graph_id": "abc"}}, 409, "already"),
        ("POST", "/threads/t/runs/nope/cancel", {}, 404, "no run 'nope'"),
        ("GET", "/nowhere", None, 404, "not found"),
    ],
)
def test_bad_input_is_refused_with_a_reason_and_changes_nothing(
    kit: Kit, method: str, path: str, body: Any, status: int, says: str
) -> None:
    with client({"abc": kit.line("a", "b", "c")}) as c:
        c.thread("abc")
        c.run("abc", input={"log": []})
        before = (c.rows(), list(kit.ran))
        error = c.refused(method, path, body)
        assert error["status"] == status
        assert says in error["reason"]
        assert (c.rows(), kit.ran) == before


def test_a_body_that_is_no_json_is_refused_with_its_place(kit: Kit) -> None:
    with client({"abc": kit.line("a")}) as c:
        answer = c.http.post("/threads", data="{oops", headers=c.headers)
        assert answer.status_code == 400
        assert answer.json is not None
        assert "line 1, column 2" in answer.json["reason"]
        as_text = c.http.post("/threads", data="{}", headers={**c.headers, "Content-Type": "text/plain"})
        assert as_text.status_code == 200, "JSON sent as text is taken"


def test_a_thread_is_copied_renamed_and_deleted_whole(kit: Kit) -> None:
    with client({"abc": kit.line("a")}) as c:
        c.thread("abc")
        c.run("abc", input={"log": []})
        twin = c.post("/threads/t/copy")["thread_id"]
        assert len(c.rows(twin)) == len(c.rows())
        assert c.send("PATCH", "/threads/t", {"metadata": {"title": "mine"}}).status_code == 200
        assert c.get("/threads/t")["metadata"]["title"] == "mine"
        assert c.send("DELETE", "/threads/t").status_code == 204
        assert c.refused("GET", "/threads/t")["status"] == 404
        assert list(c.service.saver.headers("t")) == []
        assert c.service.records.events("t", 0, 10) == []
        assert c.get(f"/threads/{twin}/state")["values"] == {"log": ["a"]}


def _nested(kit: Kit, **child: Any) -> Any:
    builder = kit.StateGraph(L)
    builder.add_node("sub", kit.line("s1", "s2", "s3", **child))
    builder.add_node("z", kit.node("z"))
    builder.add_edge(kit.START, "sub")
    builder.add_edge("sub", "z")
    return builder.compile()


def _inner(c: Client) -> tuple[str, dict[str, Any]]:
    """The subgraph's namespace, and its row that waits for s2."""
    ns = next(found["ns"] for found in c.get("/debug/threads/t/namespaces") if found["ns"])
    return ns, next(row for row in c.rows(ns=quote(ns)) if row["next"] == ["s2"])


def test_a_place_inside_a_subgraph_is_seen_edited_and_replayed(kit: Kit) -> None:
    with client({"g": _nested(kit)}) as c:
        c.thread("g")
        c.run("g", input={"log": []})
        ns, row = _inner(c)
        assert row["changed"] == ["log"]
        view = c.get(f"/debug/threads/t/checkpoints/{row['checkpoint_id']}?ns={quote(ns)}")
        assert view["values"] == {"log": ["s1"]}
        assert bool(view["warnings"]) == (kit.kind == "langgraph"), "LangGraph starts the subgraph again, and we say so"
        place = {"checkpoint_id": row["checkpoint_id"], "checkpoint_ns": ns}
        edit = {"values": {"log": ["E"]}, "checkpoint": place}
        assert c.post("/debug/threads/t/preview", edit)["channels"][0]["after"] == ["s1", "E"]
        made = c.post("/threads/t/state", edit)["checkpoint"]
        assert made["checkpoint_ns"] == ns
        assert c.rows(ns=quote(ns))[0]["source"] == "update"
        kit.ran.clear()
        result = c.run("g", checkpoint=place)
        assert result["log"][-1] == "z"
        assert kit.ran == (["s2", "s3", "z"] if kit.kind == "runtime" else ["s1", "s2", "s3", "z"])


def test_the_timeline_says_which_subgraphs_ran_from_each_row(kit: Kit) -> None:
    with client({"g": _nested(kit)}) as c:
        c.thread("g")
        c.run("g", input={"log": []})
        assert [[child["label"] for child in row["children"]] for row in c.rows() if row["next"] == ["sub"]] == [
            ["sub"]
        ]
        assert sum(len(row["children"]) for row in c.rows()) == 1


def test_a_subgraph_with_a_thread_of_its_own_is_found_from_every_turn(kit: Kit) -> None:
    with client({"g": _nested(kit, checkpointer=True)}) as c:
        c.thread("g")
        c.run("g", input={"log": []})
        c.run("g", input={"log": []})
        found = [row["children"] for row in c.rows() if row["next"] == ["sub"]]
        assert [[child["ns"] for child in children] for children in found] == [["sub"], ["sub"]]


def test_schemas_tell_input_and_output_apart() -> None:
    kit = Kit("runtime")

    class Answer(TypedDict):
        note: str

    builder = kit.StateGraph(L, output_schema=Answer)
    builder.add_node("a", kit.node("a"))
    builder.add_edge(kit.START, "a")
    with client({"g": builder.compile()}) as c:
        schemas = c.get("/assistants/g/schemas")
        assert set(schemas["input_schema"]["properties"]) == {"log", "note"}
        assert set(schemas["output_schema"]["properties"]) == {"note"}
        assert c.post("/assistants/search", {"metadata": {"created_by": "nobody"}}) == []


def test_what_a_busy_thread_cannot_do_is_refused_before_it_is_busy(kit: Kit) -> None:
    with client({"abc": kit.line("a")}) as c:
        c.thread("abc")
        body = {"assistant_id": "abc", "input": {"log": []}, "multitask_strategy": "enqueue"}
        error = c.refused("POST", "/threads/t/runs", body)
        assert (error["status"], error["error"]) == (422, "unsupported")
        assert kit.ran == []
