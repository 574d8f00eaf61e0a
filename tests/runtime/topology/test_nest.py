"""Opened subgraphs, and views with some of them closed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from runtime.graph import StateGraph
from runtime.topology import Topology, topology_of
from tests.runtime.topology.drawn import END, START, Node, Plan, State, build, plan, shown
from tests.runtime.topology.test_agreement import plans

LINE = plan("ab", (START, "a"), ("a", "b"))
TWO_LEVELS = plan(
    ["x", Node("s", plan(["p", Node("t", LINE)], (START, "p"), ("p", "t"))), "y"], (START, "x"), ("x", "s"), ("s", "y")
)


def whole(graph: Plan) -> Topology:
    return topology_of(build(graph), xray=True)


def test_an_opened_subgraph_is_a_box_around_its_nodes() -> None:
    topology = whole(TWO_LEVELS)
    assert list(topology.nodes) == [START, "x", "s:p", "s:t:a", "s:t:b", "y", END]
    assert {key: (group.kind, group.parent, group.expanded) for key, group in topology.groups.items()} == {
        "s": ("subgraph", None, True),
        "s:t": ("subgraph", "s", True),
    }
    assert topology.nodes["s:t:a"].name == "a"
    assert topology.nodes["s:t:a"].parent == "s:t"


def test_edges_lead_into_a_subgraph_and_out_of_it() -> None:
    topology = whole(TWO_LEVELS)
    assert {"x --> s:p", "s:p --> s:t:a", "s:t:a --> s:t:b", "s:t:b --> y"} <= shown(topology)
    assert {edge.id: edge.within for edge in topology.edges}["s:p->s:t:a"] == "s"
    assert {edge.id: edge.within for edge in topology.edges}["s:t:b->y"] is None


def test_a_closed_subgraph_is_one_node() -> None:
    view = whole(TWO_LEVELS).collapse({"s"})
    assert list(view.nodes) == [START, "x", "s:p", "s:t", "y", END]
    assert (view.nodes["s:t"].kind, view.nodes["s:t"].expanded, view.nodes["s:t"].parent) == ("subgraph", False, "s")
    assert list(view.groups) == ["s"]
    assert shown(view) == {"__start__ --> x", "x --> s:p", "s:p --> s:t", "s:t --> y", "y --> __end__"}


def test_a_subgraph_inside_a_closed_one_stays_unseen() -> None:
    assert whole(TWO_LEVELS).collapse({"s:t"}) == whole(TWO_LEVELS).collapse(())


def test_opening_all_changes_nothing() -> None:
    assert whole(TWO_LEVELS).collapse("*") == whole(TWO_LEVELS)


def test_a_subgraph_that_follows_itself_keeps_that_edge_when_closed() -> None:
    topology = whole(plan([Node("s", LINE)], (START, "s"), ("s", "s")))
    assert [edge.id for edge in topology.edges] == ["__start__->s:a", "s:b->s:a", "s:a->s:b"]
    assert [edge.id for edge in topology.collapse(()).edges] == ["__start__->s", "s->s"]


def test_a_loop_around_a_loop_is_told_apart_from_it() -> None:
    loop = plan("ab", (START, "a"), ("a", "b"), ("b", "a"))
    topology = whole(plan([Node("s", loop)], (START, "s"), ("s", "s")))
    assert {"s:b --> s:__start__", "s:b --> s:a"} <= shown(topology)
    assert [edge.id for edge in topology.collapse(()).edges] == ["__start__->s", "s->s"]


@given(plans())
def test_closing_is_the_opposite_of_opening(graph: Plan) -> None:
    compiled = build(graph)
    opened = topology_of(compiled, xray=True)
    for depth in (0, 1):
        closed = opened.collapse({group for group in opened.groups if group.count(":") < depth})
        less = topology_of(compiled, xray=depth)
        assert list(closed.nodes) == list(less.nodes)
        assert closed.edges == less.edges
    assert len({edge.id for edge in opened.edges}) == len(opened.edges)


@pytest.mark.parametrize("xray", [True, 1])
def test_a_subgraph_with_nodes_that_nothing_leads_to_is_opened_too(xray: bool | int) -> None:
    child = plan("ab", (START, "a"), ("a", END))
    assert "s:b" in topology_of(build(plan([Node("s", child)], (START, "s"))), xray=xray).nodes


def test_a_loop_in_a_subgraph_is_left_from_its_last_node() -> None:
    loop = plan("ab", (START, "a"), ("a", "b"), ("b", "a"))
    assert "s:b --> y" in shown(whole(plan([Node("s", loop), "y"], (START, "s"), ("s", "y"))))


def test_a_graph_that_calls_itself_is_opened_once() -> None:
    compiled: Any = None

    def again(state: State) -> dict[str, Any]:
        return compiled.invoke(state) if not state["log"] else {"log": ["done"]}

    builder = StateGraph(State)
    builder.add_node("again", again)
    builder.add_edge(START, "again")
    compiled = builder.compile()
    compiled.get_subgraphs = lambda **_: iter([("again", compiled)])
    assert list(topology_of(compiled, xray=True).nodes) == [START, "again", END]
