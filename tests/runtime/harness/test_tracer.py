"""Traces change nothing, and know what ran under what."""

import asyncio
import contextvars
import json
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from typing_extensions import TypedDict

from runtime.graph import START, StateGraph
from runtime.harness import Tracer


def tree(tracer: Tracer) -> dict[str, str | None]:
    names = {span["span_id"]: span["name"] for span in tracer.spans}
    return {span["name"]: names.get(span["parent_id"] or "") for span in tracer.spans}


def test_async_calls_keep_their_parents_apart() -> None:
    tracer = Tracer()

    async def main() -> None:
        @tracer.trace("leaf")
        async def leaf(name: str) -> None:
            with tracer.open(f"leaf of {name}"):
                await asyncio.sleep(0.01)

        async def branch(name: str) -> None:
            with tracer.open(name):
                await leaf(name)

        with tracer.open("root"):
            await asyncio.gather(branch("a"), branch("b"))

    asyncio.run(main())
    assert tree(tracer) == {
        "leaf of a": "leaf",
        "leaf of b": "leaf",
        "leaf": "b",
        "a": "root",
        "b": "root",
        "root": None,
    }
    lines = tracer.summary().split("\n")
    assert [len(line) - len(line.lstrip()) for line in lines] == [0, 2, 4, 6, 2, 4, 6]


def test_a_pool_that_copies_the_context_keeps_the_parent() -> None:
    tracer = Tracer()
    child = tracer.trace("child")(lambda: 1)
    with ThreadPoolExecutor() as pool, tracer.open("root"):
        assert pool.submit(contextvars.copy_context().run, child).result() == 1
    assert tree(tracer) == {"child": "root", "root": None}


def test_generators_last_until_they_end() -> None:
    tracer = Tracer()

    @tracer.trace()
    def numbers() -> Iterator[int]:
        yield 1
        raise ValueError("bad")

    @tracer.trace()
    async def stream() -> AsyncIterator[int]:
        yield 1

    async def read() -> list[int]:
        return [item async for item in stream()]

    running = numbers()
    assert (next(running), tracer.spans) == (1, [])
    with pytest.raises(ValueError, match="bad"):
        next(running)
    assert asyncio.run(read()) == [1]
    assert [(span["name"], span["err"]) for span in tracer.spans] == [("numbers", "ValueError: bad"), ("stream", None)]


def test_nodes_of_a_graph_are_under_the_run() -> None:
    tracer = Tracer()

    class State(TypedDict, total=False):
        x: int

    @tracer.trace()
    def helper() -> int:
        return 1

    @tracer.trace()
    def node(state: State) -> State:
        return {"x": helper()}

    graph = StateGraph(State).add_node("node", node).add_edge(START, "node").compile()
    with tracer.open("run"):
        assert graph.invoke({"x": 0}) == {"x": 1}
    assert tree(tracer) == {"helper": "node", "node": "run", "run": None}


def test_spans_go_to_a_file_too(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "trace.jsonl"
    tracer = Tracer(path)
    tracer.trace("a")(lambda: 1)()
    tracer.clear()
    tracer.record("b", ms=1, ok=False, err="E")
    assert [json.loads(line)["name"] for line in path.read_text().splitlines()] == ["a", "b"]


def test_what_is_no_error_of_the_code_passes_too() -> None:
    tracer = Tracer()

    def leave() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tracer.trace()(leave)()
    assert tracer.spans[0]["ok"] is False
