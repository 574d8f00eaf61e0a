"""Two runs on one thread: neither hides the other (requirement R16)."""

import asyncio
import logging
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import TypedDict

from runtime.checkpoint.memory import InMemorySaver
from runtime.checkpoint.sqlite import SqliteSaver
from runtime.graph import START, StateGraph

CONFIG: Any = {"configurable": {"thread_id": "t"}}


class State(TypedDict):
    x: str


@pytest.fixture(params=["memory", "sqlite"])
def saver(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    if request.param == "memory":
        yield InMemorySaver()
    else:
        with SqliteSaver.from_conn_string(tmp_path / "s.sqlite") as made:
            yield made


def waiting(saver: Any, parties: int = 2) -> Any:
    """A graph whose first node waits until so many runs are in it."""
    gate = threading.Barrier(parties)

    def first(state: State) -> State:
        gate.wait(10)
        return {"x": state["x"] + "1"}

    builder = StateGraph(State).add_node("first", first).add_node("second", lambda state: {"x": state["x"] + "2"})
    return builder.add_edge(START, "first").add_edge("first", "second").compile(checkpointer=saver)


def both(graph: Any, **options: Any) -> None:
    threads = [threading.Thread(target=graph.invoke, args=({"x": name}, CONFIG), kwargs=options) for name in ("A", "B")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)


def leaves(graph: Any) -> list[Any]:
    history = list(graph.get_state_history(CONFIG))
    parents = {s.parent_config["configurable"]["checkpoint_id"] for s in history if s.parent_config}
    return [s for s in history if s.config["configurable"]["checkpoint_id"] not in parents]


def names_the_other(graph: Any, leaf: Any, other: Any) -> bool:
    """`leaf` is marked with a checkpoint of the branch that `other` ends."""
    branch, at = set(), other
    while at is not None:
        branch.add(at.config["configurable"]["checkpoint_id"])
        at = graph.get_state(at.parent_config) if at.parent_config else None
    return leaf.metadata.get("concurrent") in branch


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_the_run_that_stores_last_names_the_branch_of_the_other(
    saver: Any, durability: Any, caplog: pytest.LogCaptureFixture
) -> None:
    inside, go_on = threading.Event(), threading.Event()

    def node(state: State) -> State:
        if state["x"] == "slow":
            inside.set()
            go_on.wait(10)
        return {"x": state["x"] + "!"}

    graph = StateGraph(State).add_node("node", node).add_edge(START, "node").compile(checkpointer=saver)
    slow = threading.Thread(target=graph.invoke, args=({"x": "slow"}, CONFIG), kwargs={"durability": durability})
    slow.start()
    assert inside.wait(10)
    graph.invoke({"x": "quick"}, CONFIG, durability=durability)
    with caplog.at_level(logging.WARNING, "runtime"):
        go_on.set()
        slow.join(20)
    newest, other = leaves(graph)
    assert (newest.values, other.values) == ({"x": "slow!"}, {"x": "quick!"})
    assert names_the_other(graph, newest, other)
    assert "another run has stored checkpoint" in caplog.text


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_no_leaf_is_lost_and_one_names_the_other(saver: Any, durability: Any) -> None:
    graph = waiting(saver)
    for _ in range(10):
        both(graph, durability=durability)
        one, other = leaves(graph)[:2]
        assert {one.values["x"], other.values["x"]} == {"A12", "B12"}
        assert names_the_other(graph, one, other) or names_the_other(graph, other, one)


def test_async_runs_are_marked_too(saver: Any) -> None:
    async def main() -> None:
        gate = asyncio.Barrier(2)

        async def first(state: State) -> State:
            await gate.wait()
            return {"x": state["x"] + "1"}

        graph = StateGraph(State).add_node("first", first).add_edge(START, "first").compile(checkpointer=saver)
        await asyncio.gather(graph.ainvoke({"x": "A"}, CONFIG), graph.ainvoke({"x": "B"}, CONFIG))
        one, other = leaves(graph)
        assert {one.values["x"], other.values["x"]} == {"A1", "B1"}
        assert names_the_other(graph, one, other) or names_the_other(graph, other, one)

    asyncio.run(main())


def test_an_edit_during_a_run_is_seen(saver: Any) -> None:
    def node(state: State) -> State:
        graph.update_state(CONFIG, {"x": "edited"}, as_node="node")
        return {"x": "run"}

    graph = StateGraph(State).add_node("node", node).add_edge(START, "node").compile(checkpointer=saver)
    graph.invoke({"x": "in"}, CONFIG)
    newest, *older = graph.get_state_history(CONFIG)
    edit = next(s for s in older if s.metadata["source"] == "update")
    assert newest.values == {"x": "run"}
    assert newest.metadata["concurrent"] == edit.config["configurable"]["checkpoint_id"]


def test_one_run_after_another_is_not_marked(saver: Any) -> None:
    graph = waiting(saver, parties=1)
    for name in ("A", "B"):
        graph.invoke({"x": name}, CONFIG)
    middle = list(graph.get_state_history(CONFIG))[3]
    graph.invoke(None, middle.config)
    graph.update_state(middle.config, {"x": "edit"})
    graph.invoke(None, CONFIG)
    assert [s for s in graph.get_state_history(CONFIG) if "concurrent" in s.metadata] == []


def test_connections_to_one_file_do_not_lock_each_other_out(tmp_path: Path) -> None:
    errors: list[BaseException] = []

    def work(name: str) -> None:
        try:
            with SqliteSaver.from_conn_string(tmp_path / "s.sqlite") as own:
                graph = waiting(own, parties=1)
                for number in range(20):
                    graph.invoke({"x": "in"}, {"configurable": {"thread_id": f"{name} {number % 4}"}})
        except BaseException as error:  # noqa: BLE001 - told by the main thread
            errors.append(error)

    threads = [threading.Thread(target=work, args=(str(number),)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert errors == []
    with SqliteSaver.from_conn_string(tmp_path / "s.sqlite") as saver:
        assert len(saver.threads()) == 32
