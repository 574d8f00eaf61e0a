"""R17 of the mission's requirements: one shape of a chunk for each call, always with its namespace, questions always in it."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.checkpoint.memory import InMemorySaver
from runtime.graph import START, StateGraph
from runtime.types import Command, Interrupt, interrupt
from tests.runtime.programs import THREAD, L, Recorder

PRE = {"pre": {"log": ["pre"]}}


@pytest.fixture
def graph() -> Any:
    return Recorder().line("pre", "ask")


@pytest.fixture
def nested() -> Any:
    inner = Recorder().line("inner", "ask", checkpointer=None)
    builder = StateGraph(L)
    builder.add_node("sub", inner)
    builder.add_edge(START, "sub")
    return builder.compile(checkpointer=InMemorySaver())


def question(graph: Any) -> tuple[Interrupt, ...]:
    asked: tuple[Interrupt, ...] = graph.get_state(THREAD).interrupts
    assert [i.value for i in asked] == ["q?"]
    return asked


def test_values_end_with_the_state_and_the_question(graph: Any) -> None:
    chunks = list(graph.stream({"log": []}, THREAD, stream_mode="values"))
    assert chunks == [{"log": []}, {"log": ["pre"]}, {"log": ["pre"], "__interrupt__": question(graph)}]


def test_updates_end_with_the_question(graph: Any) -> None:
    chunks = list(graph.stream({"log": []}, THREAD, stream_mode="updates"))
    assert chunks == [PRE, {"__interrupt__": question(graph)}]


def test_of_two_modes_both_name_the_question(graph: Any) -> None:
    chunks = list(graph.stream({"log": []}, THREAD, stream_mode=["values", "updates"]))
    asked = question(graph)
    assert chunks[-2:] == [
        ("updates", {"__interrupt__": asked}),
        ("values", {"log": ["pre"], "__interrupt__": asked}),
    ]


@pytest.mark.parametrize("mode", ["updates", "values", "tasks", "debug", "checkpoints", "custom", "messages"])
def test_a_list_of_one_mode_still_names_it(graph: Any, mode: str) -> None:
    alone = list(graph.stream({"log": []}, {"configurable": {"thread_id": "a"}}, stream_mode=mode))
    listed = list(graph.stream({"log": []}, {"configurable": {"thread_id": "b"}}, stream_mode=[mode]))
    assert len(alone) == len(listed)
    assert {name for name, _ in listed} <= {mode}


@pytest.mark.parametrize("where", [{"interrupt_before": ["ask"]}, {"interrupt_after": ["pre"]}])
def test_a_breakpoint_is_an_interrupt_without_questions(graph: Any, where: Any) -> None:
    chunks = list(graph.stream({"log": []}, THREAD, stream_mode="updates", **where))
    assert chunks == [PRE, {"__interrupt__": ()}]


@pytest.mark.parametrize(
    ("options", "prefix"),
    [
        ({"stream_mode": "updates"}, lambda ns: ()),
        ({"stream_mode": ["updates"]}, lambda ns: ("updates",)),
        ({"stream_mode": "updates", "subgraphs": True}, lambda ns: (ns,)),
        ({"stream_mode": ["updates"], "subgraphs": True}, lambda ns: (ns, "updates")),
    ],
)
def test_what_stands_before_a_chunk_follows_from_the_call_alone(nested: Any, options: Any, prefix: Any) -> None:
    chunks = list(nested.stream({"log": []}, THREAD, **options))
    (task,) = nested.get_state(THREAD).tasks
    inside = (f"sub:{task.id}",)
    asked = {"__interrupt__": question(nested)}
    told: list[tuple[tuple[str, ...], Any]] = [((), asked)]
    if options.get("subgraphs"):
        told[:0] = [(inside, {"inner": {"log": ["inner"]}}), (inside, asked)]
    found = [chunk if isinstance(chunk, tuple) else (chunk,) for chunk in chunks]
    assert found == [(*prefix(ns), data) for ns, data in told]


def test_parts_of_v2_name_type_and_namespace_and_values_their_questions(nested: Any) -> None:
    parts = list(nested.stream({"log": []}, THREAD, stream_mode=["values", "updates"], subgraphs=True, version="v2"))
    asked = question(nested)
    (task,) = nested.get_state(THREAD).tasks
    assert {(part["type"], part["ns"]) for part in parts} == {
        (mode, ns) for mode in ("values", "updates") for ns in ((), (f"sub:{task.id}",))
    }
    assert all(("interrupts" in part) == (part["type"] == "values") for part in parts)
    assert [part["interrupts"] for part in parts if part["type"] == "values"][-1] == asked
    assert parts[-1] == {"type": "values", "ns": (), "data": {"log": []}, "interrupts": asked}


def test_each_of_a_nodes_questions_is_told() -> None:
    def twice(state: L) -> dict[str, Any]:
        return {"log": [interrupt("first?"), interrupt("second?")]}

    builder = StateGraph(L)
    builder.add_node("twice", twice)
    builder.add_edge(START, "twice")
    asking = builder.compile(checkpointer=InMemorySaver())
    told = [
        [
            [i.value for i in chunk["__interrupt__"]]
            for chunk in asking.stream(given, THREAD)
            if "__interrupt__" in chunk
        ]
        for given in ({"log": []}, Command(resume=1), Command(resume=2))
    ]
    assert told == [[["first?"]], [["second?"]], []]
