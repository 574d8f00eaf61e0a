"""What users run into, as tests: R1 to R11, R15 and the shorter reports, with the values that the requirements give."""

from __future__ import annotations

import contextlib
import operator
from typing import Annotated, Any, TypedDict

import pytest
from pydantic import BaseModel, ValidationError

from runtime.checkpoint.memory import InMemorySaver
from runtime.errors import EmptyInputError, InvalidUpdateError, UnknownInterruptError, UnknownNodeError
from runtime.graph import END, START, StateGraph
from runtime.types import Command, Send, interrupt
from tests.runtime.programs import THREAD, L, Recorder, history, waiting_for


@pytest.fixture
def rec() -> Recorder:
    return Recorder()


# -- R1, R2: replay ------------------------------------------------------------------------------------------------------


def test_replay_runs_only_what_comes_after_and_becomes_the_head(rec: Recorder) -> None:
    graph = rec.line("a", "b", "c")
    graph.invoke({"log": []}, THREAD)
    old_head = graph.get_state(THREAD)
    mid = waiting_for(graph, "b")
    rec.forget()
    assert graph.invoke(None, mid.config) == {"log": ["a", "b", "c"]}
    assert rec.ran == ["b", "c"]
    assert [h[:3] for h in history(graph)][:3] == [("loop", 4, ()), ("loop", 3, ("c",)), ("fork", 2, ("b",))]
    assert len(history(graph)) == 8
    assert graph.get_state(old_head.config) == old_head
    assert waiting_for(graph, "b").config == mid.config
    fork = next(s for s in graph.get_state_history(THREAD) if s.metadata["source"] == "fork")
    assert fork.parent_config == mid.config


def test_nothing_runs_on_a_finished_thread_and_an_empty_one_is_an_error(rec: Recorder) -> None:
    graph = rec.line("a")
    graph.invoke({"log": []}, THREAD)
    rec.forget()
    assert graph.invoke(None, THREAD) == {"log": ["a"]}
    assert rec.ran == []
    with pytest.raises(EmptyInputError, match="no checkpoint"):
        graph.invoke(None, {"configurable": {"thread_id": "fresh"}})


def test_going_back_past_an_answer_asks_again(rec: Recorder) -> None:
    graph = rec.line("a", "ask", "z")
    graph.invoke({"log": []}, THREAD)
    paused = graph.get_state(THREAD)
    assert graph.invoke(Command(resume="one"), THREAD)["log"] == ["a", "ans:one", "z"]
    rec.forget()
    graph.invoke(None, paused.config)
    assert rec.ran == ["ask"]
    again = graph.get_state(THREAD)
    assert again.next == ("ask",)
    assert len(again.interrupts) == 1
    assert again.interrupts[0].id != paused.interrupts[0].id
    assert graph.invoke(Command(resume="two"), THREAD)["log"] == ["a", "ans:two", "z"]
    assert [h[:3] for h in history(graph)] == [
        ("loop", 4, ()),
        ("loop", 3, ("z",)),
        ("fork", 2, ("ask",)),
        ("loop", 3, ()),
        ("loop", 2, ("z",)),
        ("loop", 1, ("ask",)),
        ("loop", 0, ("a",)),
        ("input", -1, ("__start__",)),
    ]


# -- R3: other answers to an old question --------------------------------------------------------------------------------


def test_an_older_pause_takes_the_answer_given_now(rec: Recorder) -> None:
    graph = rec.line("a", "ask", "z")
    graph.invoke({"log": []}, THREAD)
    paused = graph.get_state(THREAD)
    graph.invoke(Command(resume="one"), THREAD)
    for answer in ("three", "four"):
        rec.forget()
        assert graph.invoke(Command(resume=answer), paused.config)["log"] == ["a", f"ans:{answer}", "z"]
        assert rec.ran == ["ask", "z"]
    leaves = [h[3][1] for h in history(graph) if h[2] == ()]
    assert leaves == ["ans:four", "ans:three", "ans:one"]


def test_an_older_pause_inside_a_subgraph_takes_the_answer_given_now(rec: Recorder) -> None:
    child = rec.line("s1", "ask", "s3", checkpointer=None)
    graph = _around(child)
    graph.invoke({"log": []}, THREAD)
    paused = graph.get_state(THREAD)
    graph.invoke(Command(resume="one"), THREAD)
    for answer in ("three", "four"):
        rec.forget()
        assert graph.invoke(Command(resume=answer), paused.config)["log"] == ["s1", f"ans:{answer}", "s3"]
        assert rec.ran == ["ask", "s3"]


def test_the_heads_own_checkpoint_id_resumes_plainly(rec: Recorder) -> None:
    graph = rec.line("a", "ask", "z")
    graph.invoke({"log": []}, THREAD)
    paused = graph.get_state(THREAD)
    assert graph.invoke(Command(resume="x"), paused.config)["log"] == ["a", "ans:x", "z"]
    assert [h[0] for h in history(graph)] == ["loop", "loop", "loop", "loop", "input"]


# -- R4: travel inside a subgraph ----------------------------------------------------------------------------------------


class Plain(TypedDict):
    log: list[Any]


def _around(child: Any, after: Any = None) -> Any:
    builder = StateGraph(Plain)
    builder.add_node("sub", child)
    builder.add_edge(START, "sub")
    if after is not None:
        builder.add_node("review", after)
        builder.add_edge("sub", "review")
    return builder.compile(checkpointer=InMemorySaver())


def test_a_checkpoint_inside_a_subgraph_is_a_place_to_travel_to(rec: Recorder) -> None:
    def review(state: Any) -> Any:
        rec.ran.append("review")
        return {"log": [interrupt("ok?")]}

    graph = _around(rec.line("s1", "s2", "s3", checkpointer=None), review)
    graph.invoke({"log": []}, THREAD)
    outer = waiting_for(graph, "sub")
    inner = next(s for s in graph.get_state_history(outer.tasks[0].state) if s.next == ("s2",))
    assert inner.values == {"log": ["s1"]}
    rec.forget()
    result = graph.invoke(None, inner.config)
    assert rec.ran == ["s2", "s3", "review"]
    assert result["log"] == ["s1", "s2", "s3"]
    assert graph.get_state(THREAD).next == ("review",)


def test_an_edit_of_the_parent_leaves_a_waiting_child_where_it_is(rec: Recorder) -> None:
    child = rec.line("s1", "ask", "s3", checkpointer=None)
    builder = StateGraph(L)
    builder.add_node("pre", rec.node("pre"))
    builder.add_node("sub", child)
    builder.add_edge(START, "pre")
    builder.add_edge("pre", "sub")
    graph = builder.compile(checkpointer=InMemorySaver())
    graph.invoke({"log": []}, THREAD)
    graph.update_state(THREAD, {"log": ["EDIT"]})
    rec.forget()
    assert graph.invoke(Command(resume="X"), THREAD)["log"][-3:] == ["s1", "ans:X", "s3"]
    assert rec.ran == ["ask", "s3"]


# -- R5, R6: edits -------------------------------------------------------------------------------------------------------


def _parallel(rec: Recorder, **options: Any) -> Any:
    builder = StateGraph(L)
    for name in "pqr":
        builder.add_node(name, rec.node(name))
    builder.add_edge(START, "p")
    builder.add_edge(START, "q")
    builder.add_edge(["p", "q"], "r")
    return builder.compile(checkpointer=InMemorySaver(), **options)


def test_an_edit_names_its_node_or_is_refused_with_the_candidates(rec: Recorder) -> None:
    graph = _parallel(rec, interrupt_before=["r"])
    graph.invoke({"log": []}, THREAD)
    before = history(graph)
    with pytest.raises(InvalidUpdateError, match=r"(?i)ambiguous.*\['p', 'q'\]"):
        graph.update_state(THREAD, {"log": ["x"]})
    with pytest.raises(InvalidUpdateError, match="'zzz' does not exist"):
        graph.update_state(THREAD, {"log": ["x"]}, as_node="zzz")
    assert history(graph) == before
    graph.update_state(THREAD, {"log": ["x"]}, as_node="p")
    state = graph.get_state(THREAD)
    assert (state.values, state.next) == ({"log": ["p", "q", "x"]}, ("r",))


@pytest.mark.parametrize(
    ("as_node", "values", "following", "log"),
    [
        (None, {"log": ["EDIT"]}, ("b",), ["a", "EDIT"]),
        ("b", {"log": ["EDIT"]}, ("c",), ["a", "EDIT"]),
        (START, {"log": ["EDIT"]}, ("a",), ["a", "EDIT"]),
        (None, None, ("b",), ["a"]),
        (END, None, (), ["a"]),
    ],
)
def test_an_edit_follows_the_edges_of_its_node(
    rec: Recorder, as_node: str | None, values: Any, following: tuple[str, ...], log: list[str]
) -> None:
    graph = rec.line("a", "b", "c")
    graph.invoke({"log": []}, THREAD)
    mid = waiting_for(graph, "b")
    rec.forget()
    state = graph.get_state(graph.update_state(mid.config, values, as_node=as_node))
    assert rec.ran == []
    assert (state.next, state.values) == (following, {"log": log})
    assert (state.metadata["source"], state.metadata["step"]) == ("update", 2)
    assert state.parent_config == mid.config


def test_a_fork_sees_nothing_of_the_abandoned_branch(rec: Recorder) -> None:
    graph = _parallel(rec)
    graph.invoke({"log": []}, THREAD)
    both = next(s for s in graph.get_state_history(THREAD) if set(s.next) == {"p", "q"})
    edited = graph.update_state(both.config, {"log": ["P!"]}, as_node="p")
    assert graph.get_state(edited).values == {"log": ["P!"]}


def test_pending_sends_survive_an_edit_but_not_one_in_their_name(rec: Recorder) -> None:
    builder = StateGraph(L)
    builder.add_node("plan", rec.node("plan"))
    builder.add_node("w", lambda state: {"log": [state["i"]]})
    builder.add_node("z", rec.node("z"))
    builder.add_edge(START, "plan")
    builder.add_conditional_edges("plan", lambda state: [Send("w", {"i": 1}), Send("w", {"i": 2})], ["w"])
    builder.add_edge("w", "z")
    graph = builder.compile(checkpointer=InMemorySaver(), interrupt_before=["w"])
    graph.invoke({"log": []}, THREAD)
    paused = graph.get_state(THREAD)
    assert paused.next == ("w", "w")
    edited = graph.update_state(THREAD, {"log": ["E"]})
    assert graph.invoke(None, edited)["log"] == ["plan", "E", 1, 2, "z"]
    assert graph.get_state(graph.update_state(paused.config, {"log": ["E"]}, as_node="w")).next == ("z",)


# -- R7, R8: answers -----------------------------------------------------------------------------------------------------


def _two_askers(rec: Recorder) -> Any:
    def asker(name: str) -> Any:
        def ask(state: Any) -> Any:
            rec.ran.append(name)
            return {"log": [f"{name}={interrupt('q' + name)}"]}

        return ask

    builder = StateGraph(L)
    builder.add_node("a", asker("a"))
    builder.add_node("b", asker("b"))
    builder.add_node("ok", rec.node("ok"))
    builder.add_node("z", rec.node("z"))
    for name in ("a", "b", "ok"):
        builder.add_edge(START, name)
    builder.add_edge(["a", "b", "ok"], "z")
    return builder.compile(checkpointer=InMemorySaver())


def test_several_questions_are_answered_by_id_and_siblings_run_once(rec: Recorder) -> None:
    graph = _two_askers(rec)
    graph.invoke({"log": []}, THREAD)
    state = graph.get_state(THREAD)
    ids = {i.value: i.id for i in state.interrupts}
    assert set(ids) == {"qa", "qb"}
    assert (state.values, state.next) == ({"log": ["ok"]}, ("a", "b"))
    with pytest.raises(RuntimeError, match="specify the interrupt id"):
        graph.invoke(Command(resume="?"), THREAD)
    assert graph.get_state(THREAD) == state
    rec.forget()
    assert graph.invoke(Command(resume={ids["qb"]: "B"}), THREAD)["log"] == ["b=B", "ok"]
    assert rec.ran == ["b"], "a got no answer, so it is not asked again"
    assert graph.get_state(THREAD).next == ("a",)
    assert graph.invoke(Command(resume={ids["qa"]: "A"}), THREAD)["log"] == ["a=A", "b=B", "ok", "z"]
    assert rec.ran == ["b", "a", "z"]


@pytest.mark.parametrize("answer", [False, 0, "", [], {"k": 1}, None, {}, {1: "v"}])
def test_any_value_is_an_answer(rec: Recorder, answer: Any) -> None:
    graph = rec.line("ask")
    graph.invoke({"log": []}, THREAD)
    assert graph.invoke(Command(resume=answer), THREAD) == {"log": [f"ans:{answer}"]}


def test_an_answer_for_no_question_is_an_error_that_changes_nothing(rec: Recorder) -> None:
    graph = rec.line("ask")
    graph.invoke({"log": []}, THREAD)
    before = graph.get_state(THREAD)
    with pytest.raises(UnknownInterruptError, match="No such interrupt"):
        graph.invoke(Command(resume={"0123456789abcdef0123456789abcdef": "v"}), THREAD)
    assert graph.get_state(THREAD) == before


def test_each_answer_is_used_once(rec: Recorder) -> None:
    builder = StateGraph(L)
    builder.add_node("two", lambda state: {"log": [interrupt("q1"), interrupt("q2")]})
    builder.add_edge(START, "two")
    graph = builder.compile(checkpointer=InMemorySaver())
    first = graph.invoke({"log": []}, THREAD)["__interrupt__"]
    second = graph.invoke(Command(resume="A"), THREAD)["__interrupt__"]
    assert [i.value for i in (*first, *second)] == ["q1", "q2"]
    assert first[0].id != second[0].id
    assert [i.value for i in graph.invoke(None, THREAD)["__interrupt__"]] == ["q2"]
    assert graph.get_state(THREAD).next == ("two",)
    assert graph.invoke(Command(resume="B"), THREAD) == {"log": ["A", "B"]}


def test_a_question_can_say_what_an_answer_looks_like() -> None:
    builder = StateGraph(L)
    builder.add_node("ask", lambda state: {"log": [interrupt("how many?", response_schema=int)]})
    builder.add_edge(START, "ask")
    graph = builder.compile(checkpointer=InMemorySaver())
    assert graph.invoke({"log": []}, THREAD)["__interrupt__"][0].response_schema == {"type": "integer"}
    assert graph.get_state(THREAD).interrupts[0].response_schema == {"type": "integer"}


# -- R9, R10, R11: truth, repair, changed code ---------------------------------------------------------------------------


def test_a_failed_sibling_is_the_only_one_to_run_again(rec: Recorder) -> None:
    failures = [ValueError("boom")]

    def bad(state: Any) -> Any:
        rec.ran.append("bad")
        if failures:
            raise failures.pop()
        return {"log": ["bad"]}

    builder = StateGraph(L)
    builder.add_node("good", rec.node("good"))
    builder.add_node("bad", bad)
    builder.add_node("z", rec.node("z"))
    builder.add_edge(START, "good")
    builder.add_edge(START, "bad")
    builder.add_edge(["good", "bad"], "z")
    graph = builder.compile(checkpointer=InMemorySaver())
    with pytest.raises(ValueError, match="boom"):
        graph.invoke({"log": []}, THREAD)
    state = graph.get_state(THREAD)
    tasks = {task.name: task for task in state.tasks}
    assert (state.next, state.values) == (("bad",), {"log": ["good"]})
    assert tasks["bad"].error == "ValueError('boom')"
    assert tasks["good"].result == {"log": ["good"]}
    assert graph.invoke(None, THREAD) == {"log": ["bad", "good", "z"]}
    assert rec.ran.count("good") == 1


def test_a_state_that_its_schema_refuses_still_reads_and_can_be_repaired() -> None:
    class Model(BaseModel):
        a: int = 0
        b: str = ""

    builder = StateGraph(Model)
    builder.add_node("n1", lambda state: {"a": "bad"})
    builder.add_node("n2", lambda state: {"b": "x"})
    builder.add_edge(START, "n1")
    builder.add_edge("n1", "n2")
    graph = builder.compile(checkpointer=InMemorySaver())
    with pytest.raises(ValidationError):
        graph.invoke({}, THREAD)
    state = graph.get_state(THREAD)
    assert (state.values, state.next) == ({"a": "bad"}, ("n2",))
    assert len(list(graph.get_state_history(THREAD))) == 3
    graph.update_state(THREAD, {"a": 5}, as_node="n1")
    assert graph.invoke(None, THREAD)["a"] == 5


def test_a_node_that_was_removed_is_named_and_refused(rec: Recorder) -> None:
    saver = InMemorySaver()
    rec.line("a", "b", "c", checkpointer=saver, interrupt_before=["b"]).invoke({"log": []}, THREAD)
    renamed = rec.line("a", "B", "c", checkpointer=saver)
    state = renamed.get_state(THREAD)
    assert state.next == ("b",)
    assert "not in graph" in str(state.tasks[0].error)
    rec.forget()
    with pytest.raises(UnknownNodeError, match=r"waits for \['b'\]"):
        renamed.invoke(None, THREAD)
    assert rec.ran == []
    renamed.update_state(THREAD, {"log": ["fix"]}, as_node="a")
    assert renamed.invoke(None, THREAD) == {"log": ["a", "fix", "B", "c"]}


def test_a_new_state_key_leaves_stored_threads_usable(rec: Recorder) -> None:
    class Wider(L):
        extra: str

    saver = InMemorySaver()
    rec.line("a", "b", "c", checkpointer=saver, interrupt_before=["b"]).invoke({"log": []}, THREAD)
    builder = StateGraph(Wider)
    builder.add_sequence([(name, rec.node(name)) for name in "abc"])
    builder.add_edge(START, "a")
    assert builder.compile(checkpointer=saver).invoke(None, THREAD) == {"log": ["a", "b", "c"]}


def test_a_jump_to_an_unknown_node_is_an_error() -> None:
    builder = StateGraph(L)
    builder.add_node("a", lambda state: Command(goto="nowhere"))
    builder.add_edge(START, "a")
    with pytest.raises(InvalidUpdateError, match="unknown node 'nowhere'"):
        builder.compile().invoke({"log": []})


# -- R15, defaults -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("durability", "checkpoints"), [("sync", 5), ("async", 5), ("exit", 1)])
def test_durability_says_how_many_checkpoints_are_kept(rec: Recorder, durability: str, checkpoints: int) -> None:
    graph = rec.line("a", "b", "c")
    assert graph.invoke({"log": []}, THREAD, durability=durability) == {"log": ["a", "b", "c"]}
    assert len(history(graph)) == checkpoints
    assert graph.get_state(THREAD).values == {"log": ["a", "b", "c"]}


def test_a_declared_default_of_a_reduced_key_is_its_start() -> None:
    class Model(BaseModel):
        total: Annotated[int, operator.add] = 100

    builder = StateGraph(Model)
    builder.add_node("add", lambda state: {"total": 5})
    builder.add_edge(START, "add")
    assert builder.compile().invoke({}) == {"total": 105}


# -- R15: a run that stops anywhere goes on from what is stored ------------------------------------------------------------


class Stopping(InMemorySaver):
    """Refuses the write whose turn it is, and all that follow, as a process that died."""

    def __init__(self, allowed: int) -> None:
        super().__init__()
        self.allowed = allowed

    def _count(self) -> None:
        self.allowed -= 1
        if self.allowed < 0:
            raise OSError("the process died here")

    def put(self, *args: Any, **kwargs: Any) -> Any:
        self._count()
        return super().put(*args, **kwargs)

    def put_writes(self, *args: Any, **kwargs: Any) -> None:
        self._count()
        super().put_writes(*args, **kwargs)


def forked(rec: Recorder, saver: InMemorySaver) -> Any:
    """START -> p and q -> r."""
    builder = StateGraph(L)
    for name in "pqr":
        builder.add_node(name, rec.node(name))
    builder.add_edge(START, "p")
    builder.add_edge(START, "q")
    builder.add_edge(["p", "q"], "r")
    return builder.compile(checkpointer=saver)


def stored(saver: InMemorySaver) -> set[str]:
    """The nodes whose writes some checkpoint or some pending write holds."""
    kept: set[str] = set()
    for item in saver.list(THREAD):
        kept.update(item.checkpoint["channel_values"].get("log", ()))
        kept.update(text for _, name, value in item.pending_writes or () if name == "log" for text in value)
    return kept


@pytest.mark.parametrize("allowed", range(1, 9))
def test_after_a_stop_at_any_write_only_tasks_without_stored_writes_run(rec: Recorder, allowed: int) -> None:
    saver = Stopping(allowed)
    graph = forked(rec, saver)
    stops = True
    try:
        graph.invoke({"log": []}, THREAD, durability="sync")
        stops = False
    except OSError as error:
        assert "died here" in str(error)  # noqa: PT017 - a run that is allowed all its writes does not stop
    done = stored(saver)
    saver.allowed = 1000
    rec.forget()
    if stops and saver.get_tuple(THREAD) is not None:
        assert graph.invoke(None, THREAD)["log"] == ["p", "q", "r"]
        assert sorted(rec.ran) == sorted({"p", "q", "r"} - done)
    assert graph.get_state(THREAD).values == {"log": ["p", "q", "r"]}


# -- shorter reports -----------------------------------------------------------------------------------------------------


def test_an_edit_as_the_end_clears_a_thread_that_waits(rec: Recorder) -> None:
    graph = rec.line("a", "ask", "z")
    graph.invoke({"log": []}, THREAD)
    graph.update_state(THREAD, None, as_node=END)
    state = graph.get_state(THREAD)
    assert (state.next, state.values, state.interrupts) == ((), {"log": ["a"]}, ())


def test_an_edit_as_the_end_of_an_old_checkpoint_applies_nothing_that_ran_after_it(rec: Recorder) -> None:
    graph = rec.line("a", "b", "c")
    graph.invoke({"log": []}, THREAD)
    graph.update_state(waiting_for(graph, "b").config, None, as_node=END)
    assert (graph.get_state(THREAD).next, graph.get_state(THREAD).values) == ((), {"log": ["a"]})


def test_a_swallowed_question_and_keys_that_no_schema_has_are_told(caplog: pytest.LogCaptureFixture) -> None:
    def careless(state: L) -> dict[str, Any]:
        with contextlib.suppress(Exception):
            interrupt("q?")
        return {"log": ["x"], "typo": 1}

    builder = StateGraph(L)
    builder.add_node("careless", careless)
    builder.add_edge(START, "careless")
    assert builder.compile(checkpointer=InMemorySaver()).invoke({"log": []}, THREAD) == {"log": ["x"]}
    told = [record.message for record in caplog.records]
    assert any("'careless' called interrupt() and swallowed" in text for text in told)
    assert any("'careless' returned ['typo']" in text for text in told)


def test_only_what_a_caller_calls_metadata_is_stored_with_a_checkpoint(rec: Recorder) -> None:
    graph = rec.line("a")
    config: Any = {"configurable": {**THREAD["configurable"], "api_key": "s3cret"}, "metadata": {"who": "me"}}
    graph.invoke({"log": []}, config)
    for state in graph.get_state_history(THREAD):
        assert state.metadata["who"] == "me"
        assert "s3cret" not in repr(state)
