"""R18 of the mission's requirements: the edges that annotations and options declare are drawn, for any name, offline."""

from __future__ import annotations

import socket
from typing import Any, Literal

import pytest

from runtime.graph import END, START, StateGraph
from runtime.types import Command
from tests.runtime.programs import L
from tests.runtime.topology.drawn import shown


def nothing(state: L) -> dict[str, Any]:
    return {"log": []}


def jumps(state: L) -> Command[Literal["x", "y"]]:
    return Command(goto="x")


def routes(state: L) -> Literal["x", "y"]:
    return "x"


def graph_of(*names: str) -> StateGraph[Any, Any, Any, Any]:
    builder = StateGraph(L)
    for name in names:
        builder.add_node(name, nothing)
    return builder


TO_BOTH = {"__start__ --> a", "a -.-> x", "a -.-> y", "x --> __end__", "y --> __end__"}


def test_a_router_that_says_what_it_returns_leads_there() -> None:
    builder = graph_of("a", "x", "y")
    builder.add_edge(START, "a")
    builder.add_conditional_edges("a", routes)
    assert shown(builder.compile().get_graph()) == TO_BOTH


def test_a_node_that_says_where_it_jumps_leads_there() -> None:
    builder = graph_of("x", "y")
    builder.add_node("a", jumps)
    builder.add_edge(START, "a")
    assert shown(builder.compile().get_graph()) == TO_BOTH


@pytest.mark.parametrize("destinations", [("x", "y"), {"x": "", "y": ""}])
def test_a_node_whose_destinations_are_given_leads_there(destinations: Any) -> None:
    builder = graph_of("x", "y")
    builder.add_node("a", lambda state: Command(goto="x"), destinations=destinations)
    builder.add_edge(START, "a")
    assert shown(builder.compile().get_graph()) == TO_BOTH


def test_deferred_nodes_keep_the_edges_of_those_that_jump_to_them() -> None:
    def to_both(state: L) -> Command[Literal["B", "X"]]:
        return Command(goto=["B", "X"])

    def to_join(state: L) -> Command[Literal["J"]]:
        return Command(goto="J")

    def to_last(state: L) -> Command[Literal["Z"]]:
        return Command(goto="Z")

    builder = graph_of("Z")
    builder.add_node("A", to_both)
    builder.add_node("B", to_join)
    builder.add_node("X", to_join)
    builder.add_node("J", to_last, defer=True)
    builder.add_edge(START, "A")
    builder.add_edge("Z", END)
    assert shown(builder.compile().get_graph()) == {
        "__start__ --> A", "A -.-> B", "A -.-> X", "B -.-> J", "X -.-> J", "J -.-> Z", "Z --> __end__",
    }  # fmt: skip


def test_no_picture_asks_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    class Refused(socket.socket):
        def __init__(self, *_: Any, **__: Any) -> None:
            raise AssertionError("a picture opened a socket")

    monkeypatch.setattr(socket, "socket", Refused)
    builder = graph_of("a", "b;c", "end")
    builder.add_sequence([("last", nothing)])
    builder.add_edge(START, "a")
    drawing = builder.compile().get_graph(xray=True)
    assert drawing.draw_mermaid_png()[:4] == drawing.draw_png()[:4] == b"\x89PNG"
    assert "<svg" in str(drawing.draw_svg())
    assert drawing.draw_mermaid()
