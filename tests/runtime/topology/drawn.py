"""Graphs that tests draw. Made with either library, so that the two drawings can be compared."""

from __future__ import annotations

import importlib
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

START, END = "__start__", "__end__"


class State(TypedDict):
    log: Annotated[list[str], operator.add]


def quiet(state: State) -> dict[str, Any]:
    """A node that changes nothing."""
    return {}


def router(name: str) -> Any:
    """A router of that name, for its drawing alone."""

    def route(state: State) -> str:
        raise AssertionError("a drawing ran a router")

    route.__name__ = name
    del route.__annotations__["return"]
    return route


@dataclass(frozen=True)
class Node:
    """A node as data."""

    name: str
    child: Plan | None = None
    defer: bool = False
    destinations: tuple[str, ...] | Mapping[str, str] = ()
    metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Plan:
    """A graph as data."""

    nodes: tuple[Node, ...]
    edges: tuple[tuple[str, str], ...]
    joins: tuple[tuple[tuple[str, ...], str], ...] = ()
    routers: tuple[tuple[str, Any], ...] = ()
    """(source, path map); None declares no targets."""
    checkpointer: bool | None = None


def plan(names: str | Iterable[str | Node], *edges: tuple[Any, str], routers: Any = (), **options: Any) -> Plan:
    """`plan("ab", (START, "a"), ("a", "b"))`; an edge from a tuple of names is a join."""
    return Plan(
        nodes=tuple(name if isinstance(name, Node) else Node(name) for name in names),
        edges=tuple(edge for edge in edges if isinstance(edge[0], str)),
        joins=tuple(edge for edge in edges if not isinstance(edge[0], str)),
        routers=tuple(routers),
        **options,
    )


def build(graph: Plan, library: str = "runtime", route: Callable[[Any], Any] | None = None) -> Any:
    """The plan's graph, compiled by `runtime` or `langgraph`. Give it a route to run it, too."""
    builder = importlib.import_module(f"{library}.graph").StateGraph(State)
    for node in graph.nodes:
        action = quiet if node.child is None else build(node.child, library)
        destinations = node.destinations if isinstance(node.destinations, tuple) else dict(node.destinations)
        metadata = dict(node.metadata) if node.metadata else None
        builder.add_node(node.name, action, defer=node.defer, destinations=destinations or None, metadata=metadata)
    for start, end in graph.edges:
        builder.add_edge(start, end)
    for starts, end in graph.joins:
        builder.add_edge(list(starts), end)
    for index, (source, path_map) in enumerate(graph.routers):
        builder.add_conditional_edges(source, route or router(f"router_{index}"), path_map)
    return builder.compile(checkpointer=graph.checkpointer)


def shown(drawing: Any) -> set[str]:
    """Edges of a drawing as text: `a --> b`, `a -.-> b [label]`."""
    return {
        f"{edge.source} {'-.->' if edge.conditional else '-->'} {edge.target}"
        + (f" [{edge.data}]" if edge.data else "")
        for edge in drawing.edges
    }
