"""Tools that ask side by side: each question gets its own answer, and nothing that has ended runs again."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from runtime.checkpoint.memory import InMemorySaver
from runtime.graph import START, MessagesState, StateGraph
from runtime.prebuilt import ToolNode
from runtime.types import Command, interrupt

THREAD: Any = {"configurable": {"thread_id": "t"}}


class Desk:
    """A graph with one tool node, whose tools note when they are done."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.later = threading.Event()
        names = ("slow", "quick", "free")
        call = AIMessage("", tool_calls=[{"name": n, "args": {"what": n}, "id": f"c-{n}"} for n in names])
        builder = StateGraph(MessagesState)
        builder.add_node("tools", ToolNode([self.slow, self.quick, self.free]))
        builder.add_edge(START, "tools")
        self.graph = builder.compile(checkpointer=InMemorySaver())
        self.question = {"messages": [HumanMessage("go", id="h"), call]}

    def slow(self, what: str) -> str:
        """Asks last."""
        self.later.wait(5)
        return self.ask(what)

    def quick(self, what: str) -> str:
        """Asks first."""
        self.later.set() if not self.later.is_set() else None
        return self.ask(what)

    def free(self, what: str) -> str:
        """Asks nothing."""
        self.done.append(what)
        return what

    def ask(self, what: str) -> str:
        answer = interrupt(f"{what}?")
        self.done.append(what)
        return f"{what}: {answer}"

    def waiting(self) -> dict[str, str]:
        return {i.value: i.id for i in self.graph.get_state(THREAD).interrupts}

    def answers(self) -> list[Any]:
        return [m.content for m in self.graph.get_state(THREAD).values["messages"][2:]]


@pytest.fixture
def desk() -> Desk:
    desk = Desk()
    desk.graph.invoke(desk.question, THREAD)
    return desk


def test_all_questions_wait_at_once(desk: Desk) -> None:
    assert sorted(desk.waiting()) == ["quick?", "slow?"]
    assert desk.done == ["free"]


def test_answers_by_id_reach_their_tools(desk: Desk) -> None:
    found = desk.waiting()
    desk.graph.invoke(Command(resume={found["quick?"]: "Q", found["slow?"]: "S"}), THREAD)
    assert desk.answers() == ["slow: S", "quick: Q", "free"]


@pytest.mark.parametrize("order", [("slow?", "quick?"), ("quick?", "slow?")])
def test_answers_one_by_one_run_each_tool_once(desk: Desk, order: tuple[str, str]) -> None:
    for question in order:
        found = desk.waiting()
        desk.graph.invoke(Command(resume={found[question]: question.upper()}), THREAD)
    assert desk.answers() == ["slow: SLOW?", "quick: QUICK?", "free"]
    assert sorted(desk.done) == ["free", "quick", "slow"]


def test_a_bare_answer_to_two_questions_is_refused_and_changes_nothing(desk: Desk) -> None:
    before = desk.waiting()
    with pytest.raises(RuntimeError, match=r"specify the interrupt id"):
        desk.graph.invoke(Command(resume="yes"), THREAD)
    assert desk.waiting() == before
    assert desk.done == ["free"]


def test_an_older_pause_is_answered_by_the_ids_that_it_shows(desk: Desk) -> None:
    paused = desk.graph.get_state(THREAD).config
    found = desk.waiting()
    desk.graph.invoke(Command(resume={found["slow?"]: "one", found["quick?"]: "two"}), THREAD)
    desk.graph.invoke(Command(resume={found["slow?"]: "three", found["quick?"]: "four"}), paused)
    assert desk.answers() == ["slow: three", "quick: four", "free"]
    assert desk.done.count("free") == 1


async def test_async_runs_keep_answers_apart_too() -> None:
    desk = Desk()
    await desk.graph.ainvoke(desk.question, THREAD)
    found = desk.waiting()
    await desk.graph.ainvoke(Command(resume={found["slow?"]: "S"}), THREAD)
    await desk.graph.ainvoke(Command(resume={found["quick?"]: "Q"}), THREAD)
    assert desk.answers() == ["slow: S", "quick: Q", "free"]
    assert sorted(desk.done) == ["free", "quick", "slow"]
