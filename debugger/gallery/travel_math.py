"""Add one, then double. The smallest graph in which a fork shows: 1 becomes 2, then 4; fork the 2 into 10 and it ends in 20."""

from __future__ import annotations

from typing import Any, TypedDict

from runtime.graph import END, START, StateGraph
from runtime.graph.state import CompiledStateGraph


class State(TypedDict):
    value: int


def add_one(state: State) -> dict[str, Any]:
    """value + 1."""
    return {"value": state.get("value", 0) + 1}


def double(state: State) -> dict[str, Any]:
    """value * 2."""
    return {"value": state["value"] * 2}


def build() -> CompiledStateGraph:
    """The compiled graph."""
    builder = StateGraph(State)
    builder.add_node("add_one", add_one)
    builder.add_node("double", double)
    builder.add_edge(START, "add_one")
    builder.add_edge("add_one", "double")
    builder.add_edge("double", END)
    return builder.compile()
