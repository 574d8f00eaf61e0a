"""Three steps that each say their name. Replay from before B: A stays silent, B and C speak again."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage

from runtime.graph import END, START, MessagesState, StateGraph
from runtime.graph.state import CompiledStateGraph


def _step(name: str) -> Any:
    def say(state: MessagesState) -> dict[str, Any]:
        heard = state["messages"][-1].text if state["messages"] else "nothing"
        return {"messages": [AIMessage(f"{name} heard: {heard}")]}

    return say


def build() -> CompiledStateGraph:
    """The compiled graph."""
    builder = StateGraph(MessagesState)
    for name in ("a", "b", "c"):
        builder.add_node(name, _step(name.upper()))
    builder.add_edge(START, "a")
    builder.add_edge("a", "b")
    builder.add_edge("b", "c")
    builder.add_edge("c", END)
    return builder.compile()
