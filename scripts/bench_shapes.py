"""The graphs that `scripts/bench` measures, each built from a provider's `graph`, `types` and `prebuilt` modules."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool

Build = Callable[..., Any]
"""(graph, types, prebuilt, *, asynchronous) -> a StateGraph."""


class Count(TypedDict):
    """A number that grows."""

    n: int


class Notes(TypedDict):
    """A list that tasks add to."""

    notes: Annotated[list[int], operator.add]


@dataclass(frozen=True, slots=True)
class Shape:
    """A graph to measure."""

    name: str
    build: Build
    inputs: tuple[dict[str, Any], ...]
    """What it is called with, in turn, on one thread."""
    units: int
    """What a run is divided by: super-steps, tasks of a fan-out, turns of a chat."""
    must: dict[str, float]
    """By saver, the ratio that a sync run must not pass."""
    async_must: float | None = None
    shown: Callable[[Any], Any] = lambda result: result
    """The part of the result that must be equal on both."""
    needs_saver: bool = False


def either(function: Callable[..., Any], asynchronous: bool) -> Callable[..., Any]:
    """The function, or the same as a coroutine function."""
    if not asynchronous:
        return function

    async def run(state: Any) -> Any:
        return function(state)

    return run


def chain_of(count: int) -> Build:
    """Nodes in a row."""

    def build(graph: Any, _types: Any, _prebuilt: Any, *, asynchronous: bool) -> Any:
        builder = graph.StateGraph(Count)
        names = [f"n{index}" for index in range(count)]
        for name in names:
            builder.add_node(name, either(lambda state: {"n": state["n"] + 1}, asynchronous))
        for start, end in zip([graph.START, *names], [*names, graph.END], strict=True):
            builder.add_edge(start, end)
        return builder

    return build


def loop_of(count: int) -> Build:
    """One node, many times."""

    def build(graph: Any, _types: Any, _prebuilt: Any, *, asynchronous: bool) -> Any:
        builder = graph.StateGraph(Count)
        builder.add_node("n", either(lambda state: {"n": state["n"] + 1}, asynchronous))
        builder.add_edge(graph.START, "n")
        builder.add_conditional_edges("n", lambda state: "n" if state["n"] < count else graph.END, ["n", graph.END])
        return builder

    return build


def sends_of(count: int) -> Build:
    """Tasks of one node in one super-step."""

    def build(graph: Any, types: Any, _prebuilt: Any, *, asynchronous: bool) -> Any:
        builder = graph.StateGraph(Notes)
        builder.add_node("task", either(lambda number: {"notes": [number]}, asynchronous))
        builder.add_conditional_edges(
            graph.START, lambda _: [types.Send("task", index) for index in range(count)], ["task"]
        )
        return builder

    return build


def nested_sends(graph: Any, types: Any, _prebuilt: Any, *, asynchronous: bool) -> Any:
    """A hundred tasks that are graphs of one node."""
    inner = graph.StateGraph(Notes)
    inner.add_node("task", either(lambda state: {"notes": [1]}, asynchronous))
    inner.add_edge(graph.START, "task")
    builder = graph.StateGraph(Notes)
    builder.add_node("inner", inner.compile())
    builder.add_conditional_edges(
        graph.START, lambda _: [types.Send("inner", {"notes": [index]}) for index in range(100)], ["inner"]
    )
    return builder


@tool
def look_up(query: str) -> str:
    """Look something up."""
    return f"about {query}"


def answer_calls(state: Any) -> dict[str, Any]:
    """A tool node in four lines."""
    calls = state["messages"][-1].tool_calls
    return {"messages": [ToolMessage("found", tool_call_id=c["id"], id=f"t{c['id']}") for c in calls]}


def react_with(tools: Callable[[Any, bool], Any]) -> Build:
    """A model and its tools, in turn, fifty super-steps."""

    def model(state: Any) -> dict[str, Any]:
        turn = len(state["messages"])
        calls = [{"name": "look_up", "args": {"query": str(turn)}, "id": f"c{turn}"}] if turn < 49 else []
        return {"messages": [AIMessage(f"say {turn}", id=f"a{turn}", tool_calls=calls)]}

    def build(graph: Any, _types: Any, prebuilt: Any, *, asynchronous: bool) -> Any:
        builder = graph.StateGraph(graph.MessagesState)
        builder.add_node("model", either(model, asynchronous))
        builder.add_node("tools", tools(prebuilt, asynchronous))
        builder.add_edge(graph.START, "model")
        builder.add_conditional_edges("model", prebuilt.tools_condition)
        builder.add_edge("tools", "model")
        return builder

    return build


def growing_list(graph: Any, _types: Any, _prebuilt: Any, *, asynchronous: bool) -> Any:
    """One node that adds a message of 500 characters, a thousand times."""

    def add(state: Any) -> dict[str, Any]:
        turn = len(state["messages"])
        return {"messages": [AIMessage("x" * 500, id=f"a{turn}")]}

    builder = graph.StateGraph(graph.MessagesState)
    builder.add_node("add", either(add, asynchronous))
    builder.add_edge(graph.START, "add")
    builder.add_conditional_edges(
        "add", lambda state: "add" if len(state["messages"]) < 1000 else graph.END, ["add", graph.END]
    )
    return builder


def chat(graph: Any, _types: Any, _prebuilt: Any, *, asynchronous: bool) -> Any:
    """One answer a turn."""

    def answer(state: Any) -> dict[str, list[AnyMessage]]:
        turn = len(state["messages"])
        return {"messages": [AIMessage("said " * 20, id=f"a{turn}")]}

    builder = graph.StateGraph(graph.MessagesState)
    builder.add_node("answer", either(answer, asynchronous))
    builder.add_edge(graph.START, "answer")
    return builder


def wide(graph: Any, _types: Any, _prebuilt: Any, *, asynchronous: bool) -> Any:
    """A state of 300 keys, of which each of ten nodes writes one."""
    schema = TypedDict("Wide", {f"k{index}": int for index in range(300)})  # type: ignore[misc]  # made at run time
    builder = graph.StateGraph(schema)
    names = [f"n{index}" for index in range(10)]
    for index, name in enumerate(names):
        builder.add_node(name, either(lambda state, key=f"k{index}": {key: state[key] + 1}, asynchronous))
    for start, end in zip([graph.START, *names], [*names, graph.END], strict=True):
        builder.add_edge(start, end)
    return builder


def _said(result: Any) -> list[Any]:
    return [message.content for message in result["messages"]]


STEPS = {"none": 0.25, "memory": 0.20, "sqlite": 0.40, "sqlite-normal": 0.25}
ASYNC = 0.30
_GO = ({"messages": [HumanMessage("go", id="h")]},)
_TURNS = tuple({"messages": [HumanMessage(f"turn {turn} " * 20, id=f"h{turn}")]} for turn in range(100))
SHAPES = (
    Shape("one-step invoke", chain_of(1), ({"n": 0},), 1, {**STEPS, "none": 0.20}, ASYNC),
    Shape("chain of 10", chain_of(10), ({"n": 0},), 10, STEPS, ASYNC),
    Shape("chain of 1,000", chain_of(1000), ({"n": 0},), 1000, STEPS, ASYNC),
    Shape("loop of 1,000", loop_of(1000), ({"n": 0},), 1000, STEPS, ASYNC),
    Shape("100 Sends", sends_of(100), ({"notes": []},), 100, {"none": 0.35}),
    Shape("1,000 Sends", sends_of(1000), ({"notes": []},), 1000, {"none": 0.22}),
    Shape("100 Sends into a subgraph", nested_sends, ({"notes": []},), 100, {}),
    Shape("ReAct loop of 50", react_with(lambda _, way: either(answer_calls, way)), _GO, 50, STEPS, ASYNC, _said),
    Shape(
        "ReAct loop of 50, ToolNode",
        react_with(lambda prebuilt, _: prebuilt.ToolNode([look_up])),
        _GO,
        50,
        {},
        None,
        _said,
    ),
    Shape("list growing to 1,000", growing_list, _GO, 1000, {"memory": 0.06, "sqlite": 0.10}, None, _said),
    Shape("chat of 100 turns", chat, _TURNS, 100, {}, None, _said, needs_saver=True),
    Shape("300-key state", wide, ({f"k{index}": index for index in range(300)},), 10, {"none": 0.18}),
)
