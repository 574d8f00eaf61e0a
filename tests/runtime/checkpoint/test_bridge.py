"""A real LangGraph graph over our savers behaves as over LangGraph's own, and our timeline knows what it did."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

pytest.importorskip("langgraph")

from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver as TheirMemory
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, Interrupt, Overwrite, Send, interrupt

from runtime.checkpoint.bridge import LangGraphSaver
from runtime.checkpoint.memory import InMemorySaver
from runtime.checkpoint.serde.codec import dumps, loads
from runtime.checkpoint.sqlite import SqliteSaver

THREAD: Any = {"configurable": {"thread_id": "1"}}


class L(TypedDict, total=False):
    log: Annotated[list[Any], operator.add]
    messages: Annotated[list[Any], add_messages]


@pytest.fixture(params=["memory", "sqlite"])
def ours(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    if request.param == "memory":
        yield InMemorySaver()
    else:
        with SqliteSaver.from_conn_string(tmp_path / "store.sqlite") as saver:
            yield saver


def node(name: str) -> Callable[[Any], Any]:
    def run(state: Any) -> Any:
        return {"log": [f"ans:{interrupt('q?')}" if name.startswith("ask") else name]}

    return run


def wide(saver: Any) -> Any:
    """A fork, a join, two tasks of one node by Send, a nested graph with a question in it."""
    inner = StateGraph(L)
    inner.add_node("s1", node("s1"))
    inner.add_node("ask", node("ask"))
    inner.add_edge(START, "s1")
    inner.add_edge("s1", "ask")
    builder = StateGraph(L)
    for name in ("a", "b", "c", "j", "w"):
        builder.add_node(name, node(name))
    builder.add_node("sub", inner.compile())
    builder.add_edge(START, "a")
    builder.add_edge("a", "b")
    builder.add_edge("a", "c")
    builder.add_edge(["b", "c"], "j")
    builder.add_conditional_edges("j", lambda _: [Send("w", {"log": []}), Send("w", {"log": []})], ["w"])
    builder.add_edge("w", "sub")
    return builder.compile(checkpointer=saver)


def journey(graph: Any) -> list[Any]:
    """Run, pause, look, edit a past state, run from there, answer, answer again elsewhere."""
    seen: list[Any] = []
    said = {"log": [], "messages": [HumanMessage("hi", id="m1")]}
    seen.append(graph.invoke(said, THREAD)["log"])
    inside = graph.get_state(THREAD, subgraphs=True).tasks[0].state
    seen.append((inside.values["log"], inside.next))
    seen.append(graph.invoke(Command(resume="one"), THREAD)["log"])
    seen.append(told(graph))
    past = next(s for s in graph.get_state_history(THREAD) if set(s.next) == {"b", "c"})
    forked = graph.update_state(past.config, {"log": ["EDIT"]}, as_node="a")
    seen.append(graph.invoke(None, forked)["log"])
    seen.append(graph.invoke(Command(resume="two"), THREAD)["log"])
    seen.append(graph.invoke(None, past.config)["log"])
    seen.append(told(graph))
    return seen


def told(graph: Any) -> list[Any]:
    return [
        (s.metadata["source"], s.metadata["step"], s.next, s.values, len(s.interrupts), s.parent_config is None)
        for s in graph.get_state_history(THREAD)
    ]


def test_a_graph_sees_no_difference(ours: Any) -> None:
    assert journey(wide(LangGraphSaver(ours))) == journey(wide(TheirMemory()))


async def test_nor_does_an_async_one(ours: Any) -> None:
    async def walk(graph: Any) -> list[Any]:
        seen = [(await graph.ainvoke({"log": []}, THREAD))["log"]]
        seen.append((await graph.ainvoke(Command(resume="one"), THREAD))["log"])
        seen += [(s.next, s.values) async for s in graph.aget_state_history(THREAD)]
        return seen

    assert await walk(wide(LangGraphSaver(ours))) == await walk(wide(TheirMemory()))


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_every_durability_keeps_the_same_history(ours: Any, durability: str) -> None:
    graphs = [wide(LangGraphSaver(ours)), wide(TheirMemory())]
    for graph in graphs:
        graph.invoke({"log": []}, THREAD, durability=durability)

    assert told(graphs[0]) == told(graphs[1])


def test_the_timeline_knows_next_nodes_and_writers(ours: Any) -> None:
    graph = wide(LangGraphSaver(ours))
    journey(graph)

    headers = {header.checkpoint_id: header for header in ours.headers("1")}
    snapshots = [*graph.get_state_history(THREAD)]

    assert len(snapshots) == len(headers)
    for snapshot in snapshots:
        header = headers[snapshot.config["configurable"]["checkpoint_id"]]
        assert sorted(header.next) == sorted(snapshot.next)
    by_step = {header.step: header.writers for header in headers.values() if header.source == "loop"}
    assert by_step[0] == ()
    assert by_step[1] == ("a",)
    assert by_step[2] == ("b", "c")
    assert by_step[4] == ("w",)
    assert by_step[5] == ("sub",)


def test_writers_are_known_to_a_process_that_did_not_see_the_step_before(ours: Any) -> None:
    wide(LangGraphSaver(ours)).invoke({"log": []}, THREAD)
    wide(LangGraphSaver(ours)).invoke(Command(resume="one"), THREAD)

    newest = next(ours.headers("1"))

    assert newest.writers == ("sub",)


def test_a_deferred_node_is_next_only_when_the_others_are_done(ours: Any) -> None:
    builder = StateGraph(L)
    builder.add_node("a", node("a"))
    builder.add_node("b", node("b"))
    builder.add_node("z", node("z"), defer=True)
    for edge in ((START, "a"), ("a", "b"), ("a", "z"), ("b", "z")):
        builder.add_edge(*edge)
    graph = builder.compile(checkpointer=LangGraphSaver(ours))
    graph.invoke({"log": []}, THREAD)

    told_next = [set(s.next) for s in graph.get_state_history(THREAD)]

    assert [set(header.next) for header in ours.headers("1")] == told_next


def test_a_pause_counts_in_the_timeline(ours: Any) -> None:
    graph = wide(LangGraphSaver(ours))
    graph.invoke({"log": []}, THREAD)

    assert next(ours.headers("1")).interrupts == 1
    graph.invoke(Command(resume="one"), THREAD)
    assert [header.interrupts for header in ours.headers("1")].count(1) == 0


@pytest.mark.parametrize(
    "value",
    [
        Send("w", {"log": [1]}),
        Interrupt("q?", id="i1"),
        Command(goto="w", update={"log": ["x"]}, resume={"i1": 1}),
        Overwrite(["x"]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_langgraph_types_come_back_as_themselves(value: Any) -> None:
    back = loads(dumps(value))

    assert type(back) is type(value)
    assert back == value


def test_run_options_stay_out_of_the_metadata(ours: Any) -> None:
    graph = wide(LangGraphSaver(ours))
    graph.invoke(
        {"log": []}, {"configurable": {"thread_id": "1", "api_key": "s3cret"}, "metadata": {"token": "s3cret"}}
    )

    assert "s3cret" not in str([header.metadata for header in ours.headers("1")])


def test_what_cannot_be_kept_fails_the_run_and_names_the_key(ours: Any) -> None:
    builder = StateGraph(L)
    builder.add_node("bad", lambda _: {"log": [lambda: None]})
    builder.add_edge(START, "bad")
    graph = builder.compile(checkpointer=LangGraphSaver(ours))

    with pytest.raises(TypeError, match=r"Key 'log'.*function"):
        graph.invoke({"log": []}, THREAD)


def test_allowlist_entries_of_loaded_modules_are_allowed() -> None:
    saver = LangGraphSaver(InMemorySaver())

    assert saver.with_allowlist([(__name__, "L"), ("no_such_module", "X"), (__name__, "missing")]) is saver
