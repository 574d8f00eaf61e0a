"""The page's view of a topology, of graphs of both kinds."""

from __future__ import annotations

from typing import Any

import pytest

from debugger.graphs import ServedGraph, adapt
from debugger.topology_view import server_graph, topology_view
from runtime.checkpoint.memory import InMemorySaver
from tests.runtime.topology.drawn import START, Node, build, plan

DESK = plan([Node("s", plan("ab", (START, "a"), ("a", "b"))), "y"], (START, "s"), routers=[("s", None)])


@pytest.fixture(params=["runtime", "langgraph"])
def served(request: pytest.FixtureRequest) -> ServedGraph:
    if request.param == "langgraph":
        pytest.importorskip("langgraph")
    return adapt(build(DESK, request.param), id="desk", target="desk.py:desk", saver=InMemorySaver())


def test_subgraphs_are_closed_until_they_are_opened(served: ServedGraph) -> None:
    closed, opened = topology_view(served, ""), topology_view(served, "s")
    assert [(node.id, node.kind, node.expanded) for node in closed.nodes if node.id.startswith("s")] == [
        ("s", "subgraph", False)
    ]
    assert [(node.id, node.parent) for node in opened.nodes if node.id.startswith("s")] == [
        ("s", None), ("s:a", "s"), ("s:b", "s")
    ]  # fmt: skip
    assert topology_view(served, "*") == opened


def test_a_router_without_targets_may_go_anywhere(served: ServedGraph) -> None:
    edges = [(edge.source, edge.target, edge.conditional) for edge in topology_view(served, "").edges if edge.anywhere]
    assert edges == [("s", "s", True), ("s", "y", True), ("s", "__end__", True)]


def test_every_part_has_its_element_in_the_drawing(served: ServedGraph) -> None:
    view = topology_view(served, "*")
    ids = {f"c|{node.id}" if node.expanded else f"n|{node.id}" for node in view.nodes}
    ids |= {f"e|{edge.id}" for edge in view.edges}
    assert {name for name in ids if f'id="{name}"' not in view.dot} == set()


def test_a_graph_without_a_builder_is_shown_as_it_draws_itself() -> None:
    func = pytest.importorskip("langgraph.func")
    task: Any = func.entrypoint()(lambda state: state)
    view = topology_view(adapt(task, id="task", target="task.py:task", saver=InMemorySaver()), "*")
    assert {node.id for node in view.nodes} == set(task.get_graph().nodes)


def test_the_server_api_gets_all_levels_or_one(served: ServedGraph) -> None:
    assert [node["id"] for node in server_graph(served, False)["nodes"]] == ["__start__", "s", "y", "__end__"]
    assert [node["id"] for node in server_graph(served, 1)["nodes"]] == ["__start__", "s:a", "s:b", "y", "__end__"]
