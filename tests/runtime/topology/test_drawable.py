"""Drawable graphs of langchain-core."""

from __future__ import annotations

import pytest
from langchain_core.runnables import RunnableLambda

from runtime.topology import topology_from_drawable, topology_of
from tests.runtime.topology.drawn import END, START, Node, build, plan

LINE = plan("ab", (START, "a"), ("a", "b"))
CHOICE = plan("abc", (START, "a"), routers=[("a", {"x": "b", "y": "c", "z": END})])
DESK = plan(
    ["x", Node("s", plan(["p", Node("t", CHOICE)], (START, "p"), ("p", "t"))), Node("l", LINE)],
    (START, "x"),
    ("x", "s"),
    ("s", "l"),
)


def test_langgraphs_drawing_gives_the_same_topology() -> None:
    pytest.importorskip("langgraph")
    found = topology_from_drawable(build(DESK, "langgraph").get_graph(xray=True))
    ours = topology_of(build(DESK), xray=True)
    assert dict(found.nodes) == dict(ours.nodes)
    assert {key: (group.parent, group.expanded) for key, group in found.groups.items()} == {
        key: (group.parent, group.expanded) for key, group in ours.groups.items()
    }
    assert {edge.id: edge for edge in found.edges} == {edge.id: edge for edge in ours.edges}


def test_closing_its_subgraphs_gives_the_plain_drawing() -> None:
    pytest.importorskip("langgraph")
    compiled = build(DESK, "langgraph")
    closed = topology_from_drawable(compiled.get_graph(xray=True)).collapse(())
    assert set(closed.nodes) == set(compiled.get_graph().nodes)
    assert {(edge.source, edge.target) for edge in closed.edges} == {
        (edge.source, edge.target) for edge in compiled.get_graph().edges
    }


def test_any_runnable_can_be_drawn() -> None:
    chain = RunnableLambda(lambda x: x) | RunnableLambda(lambda x: x)
    topology = topology_from_drawable(chain.get_graph())
    assert len(topology.nodes) == 4
    assert len(topology.edges) == 3
    assert topology.draw_mermaid()
