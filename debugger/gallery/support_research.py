"""The support desk's research: a subgraph that has a subgraph. Run it, and each has a timeline of its own.

State keys are shared with the desk by name. None has a reducer here: a subgraph hands its whole state back, and a reducer
would add what was there before a second time.
"""

from __future__ import annotations

from typing import Any, TypedDict

from debugger.gallery.models import work
from runtime.config import get_stream_writer
from runtime.graph import END, START, StateGraph
from runtime.graph.state import CompiledStateGraph

_SHELF = {
    "refund": ["Refunds within 30 days", "Photos of damaged goods"],
    "shipping": ["Where we ship to", "When a parcel counts as lost"],
    "general": ["Opening hours", "How to reach a person"],
}


class Search(TypedDict):
    category: str
    query: str
    articles: list[str]


class Research(TypedDict):
    category: str
    articles: list[str]
    summary: str


def plan_query(state: Search) -> dict[str, Any]:
    """Say what to look for."""
    return {"query": f"{state['category']}: what do our articles say?"}


def fetch(state: Search) -> dict[str, Any]:
    """Take articles from the shelf, and tell the stream of each: these are `custom` events."""
    tell = get_stream_writer()
    found = []
    for title in _SHELF[state["category"]]:
        work(4)
        found.append(title)
        tell({"found": title, "so_far": len(found)})
    return {"articles": found}


def summarise(state: Research) -> dict[str, Any]:
    """Put what was found in a sentence."""
    return {"summary": f"{len(state['articles'])} articles: {' and '.join(state['articles'])}"}


def build_search() -> CompiledStateGraph:
    """The inner graph: two steps."""
    builder = StateGraph(Search)
    builder.add_node("plan_query", plan_query)
    builder.add_node("fetch", fetch)
    builder.add_edge(START, "plan_query")
    builder.add_edge("plan_query", "fetch")
    builder.add_edge("fetch", END)
    return builder.compile()


def build_research() -> CompiledStateGraph:
    """The outer graph: search, then sum up."""
    builder = StateGraph(Research)
    builder.add_node("search", build_search())
    builder.add_node("summarise", summarise)
    builder.add_edge(START, "search")
    builder.add_edge("search", "summarise")
    builder.add_edge("summarise", END)
    return builder.compile()
