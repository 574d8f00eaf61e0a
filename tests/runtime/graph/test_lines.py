"""Per-thread graphs on a thread with branches: each branch has the history that its own turns made, however deep."""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

from runtime.checkpoint.memory import InMemorySaver
from runtime.checkpoint.sqlite import SqliteSaver
from runtime.graph import START, StateGraph
from runtime.types import Command, interrupt
from tests.runtime.programs import THREAD


class Child(TypedDict):
    seen: Annotated[list[str], operator.add]


class Outer(TypedDict, total=False):
    q: str
    out: Annotated[list[list[str]], operator.add]


class Play:
    """START -> pre -> call; `call` runs first -> second of a per-thread graph, `depth` levels down."""

    def __init__(self, saver: Any, *, asks: bool = False, depth: int = 1) -> None:
        self.ran: list[str] = []
        self.asks = asks
        child = StateGraph(Child)
        child.add_node("first", self.first).add_node("second", self.second)
        child.add_edge(START, "first").add_edge("first", "second")
        below = child.compile(checkpointer=True)
        for _ in range(depth - 1):
            below = self.wrapped(below)
        self.below = below
        builder = StateGraph(Outer)
        builder.add_node("pre", lambda state: None)
        builder.add_node("call", self.call)
        builder.add_edge(START, "pre").add_edge("pre", "call")
        self.graph = builder.compile(checkpointer=saver)

    def first(self, state: Child) -> dict[str, Any]:
        self.ran.append("first")
        return {"seen": ["first"]}

    def second(self, state: Child) -> dict[str, Any]:
        self.ran.append("second")
        return {"seen": [f"={interrupt('q?')}" if self.asks else f"#{len(state['seen'])}"]}

    def wrapped(self, inner: Any) -> Any:
        def mid(state: Child) -> dict[str, Any]:
            return {"seen": inner.invoke({"seen": state["seen"][-1:]})["seen"][-1:]}

        builder = StateGraph(Child)
        builder.add_node("mid", mid)
        builder.add_edge(START, "mid")
        return builder.compile(checkpointer=True)

    def call(self, state: Outer) -> dict[str, Any]:
        self.ran.append("call")
        return {"out": [[*self.below.invoke({"seen": [state["q"]]})["seen"]]]}

    def turn(self, value: Any, config: Any = THREAD, **options: Any) -> str:
        """The newest turn's output as one text: what the per-thread graph has seen, without its first node."""
        self.ran.clear()
        out = self.graph.invoke(value, config, **options).get("out")
        return " ".join(item for item in out[-1] if item != "first") if out else ""

    def before_call(self, q: str) -> Any:
        """The oldest checkpoint where `call` is next for this input."""
        return [s for s in self.graph.get_state_history(THREAD) if s.next == ("call",) and s.values.get("q") == q][-1]


@pytest.fixture(params=["memory", "sqlite"])
def saver(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    if request.param == "memory":
        yield InMemorySaver()
        return
    with SqliteSaver.from_conn_string(tmp_path / "threads.sqlite") as opened:
        yield opened


def turns(play: Play, **options: Any) -> None:
    """Three turns."""
    for q in "abc":
        play.turn({"q": q}, **options)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_each_branch_has_its_own_past(saver: Any, depth: int) -> None:
    play = Play(saver, depth=depth)
    turns(play)
    size = 3  # of a turn in the state of the graph that counts, which is the innermost

    def seen(*turns_: str) -> str:
        return " ".join(f"{q} #{number * size + 2}" for number, q in enumerate(turns_))

    assert play.turn(None, play.before_call("b").config) == seen("a", "b")
    assert play.turn({"q": "d"}) == seen("a", "b", "d")
    assert play.turn(None, play.before_call("c").config) == seen("a", "b", "c")
    assert play.turn({"q": "e"}) == seen("a", "b", "c", "e")
    fork = play.graph.update_state(play.before_call("a").config, {"q": "z"}, as_node="pre")
    assert play.turn(None, fork) == seen("z")
    assert play.turn({"q": "f"}) == seen("z", "f")
    play.graph.update_state(play.before_call("b").config, {"q": "y"}, as_node="pre")
    assert play.turn(None) == seen("a", "y"), "a run that names no checkpoint is on the newest branch too"
    assert play.turn({"q": "g"}) == seen("a", "y", "g")


def test_runs_that_store_only_their_end_have_a_past_too(saver: Any) -> None:
    play = Play(saver)
    turns(play, durability="exit")
    ends = [s for s in play.graph.get_state_history(THREAD) if not s.next]
    assert len(ends) == 3
    assert play.turn({"q": "d"}, durability="exit") == "a #2 b #5 c #8 d #11"
    assert play.turn({"q": "e"}, ends[1].config, durability="exit") == "a #2 b #5 e #8"
    assert play.turn({"q": "f"}) == "a #2 b #5 e #8 f #11"


def test_in_async_code_too() -> None:
    play = Play(InMemorySaver())

    async def both() -> Any:
        for q in "ab":
            await play.graph.ainvoke({"q": q}, THREAD)
        return await play.graph.ainvoke(None, play.before_call("a").config)

    assert asyncio.run(both())["out"] == [["a", "first", "#2"]]


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_an_older_pause_takes_the_answer_given_now(saver: Any, depth: int) -> None:
    play = Play(saver, asks=True, depth=depth)
    pauses = []
    for q, answer in (("a", 1), ("b", 2)):
        play.turn({"q": q})
        pauses.append(play.graph.get_state(THREAD).config)
        play.turn(Command(resume=answer))
        assert play.ran == ["call", "second"]
    assert play.turn(Command(resume=3), pauses[1]) == "a =1 b =3"
    assert play.ran == ["call", "second"]
    play.turn({"q": "c"})
    assert play.turn(Command(resume=4)) == "a =1 b =3 c =4"
    (asked,) = play.graph.get_state(pauses[0]).interrupts
    assert play.turn(Command(resume={asked.id: 5}), pauses[0]) == "a =5"
    play.turn(None, pauses[1])
    assert play.ran == ["call", "first", "second"], "a replay asks again"
    assert play.turn(Command(resume=6)) == "a =1 b =6"


@pytest.mark.parametrize("depth", [1, 2])
def test_an_edit_of_the_caller_leaves_what_waits_where_it_is(saver: Any, depth: int) -> None:
    play = Play(saver, asks=True, depth=depth)
    play.turn({"q": "a"})
    play.turn(Command(resume=1))
    play.turn({"q": "b"})
    play.graph.update_state(THREAD, {"q": "other"}, as_node="pre")
    (task,) = play.graph.get_state(THREAD, subgraphs=True).tasks
    assert task.state.next == ("second" if depth == 1 else "mid",)
    assert play.turn(Command(resume=2)) == "a =1 b =2"
    assert play.ran == ["call", "second"]


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_place_inside_can_be_travelled_to(saver: Any, depth: int) -> None:
    play = Play(saver, depth=depth)
    turns(play)
    ns = "|".join(["call", *["mid"] * (depth - 1)])
    inner: Any = {"configurable": {"thread_id": "1", "checkpoint_ns": ns}}
    before_second = [s for s in play.graph.get_state_history(inner) if s.next == ("second",)]
    assert len(before_second) == 3
    assert play.turn(None, before_second[1].config) == "a #2 b #5"
    assert play.ran == ["call", "second"]
    assert play.turn({"q": "d"}) == "a #2 b #5 d #8"


def test_a_pause_inside_can_be_answered_from_there(saver: Any) -> None:
    play = Play(saver, asks=True)
    for q, answer in (("a", 1), ("b", 2)):
        play.turn({"q": q})
        play.turn(Command(resume=answer))
    inner: Any = {"configurable": {"thread_id": "1", "checkpoint_ns": "call"}}
    asking = [s for s in play.graph.get_state_history(inner) if s.next == ("second",)]
    assert play.turn(Command(resume=7), asking[0].config) == "a =1 b =7"
    assert play.ran == ["call", "second"]
    assert play.turn(Command(resume=8), asking[1].config) == "a =8"
