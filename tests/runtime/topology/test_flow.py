"""What a drawing says about where a run can go, where LangGraph's says less or something else."""

from __future__ import annotations

from runtime.topology import Topology
from tests.runtime.topology.drawn import END, START, Node, Plan, build, plan, shown


def drawing(graph: Plan) -> Topology:
    topology: Topology = build(graph).get_graph()
    return topology


def anywhere(graph: Plan) -> set[tuple[str, str]]:
    return {(edge.source, edge.target) for edge in drawing(graph).edges if edge.anywhere}


def test_a_router_without_targets_may_go_to_any_node() -> None:
    graph = plan("ab", (START, "a"), routers=[("a", None)])
    assert anywhere(graph) == {("a", "a"), ("a", "b"), ("a", END)}
    assert shown(drawing(graph)) == {"__start__ --> a", "a -.-> a", "a -.-> b", "a -.-> __end__", "b --> __end__"}


def test_a_router_without_targets_at_the_start_reaches_all_nodes() -> None:
    graph = plan("ab", routers=[(START, None)])
    assert anywhere(graph) == {(START, "a"), (START, "b"), (START, END)}


def test_a_declared_edge_counts_more_than_one_that_may_go_anywhere() -> None:
    graph = plan("abc", (START, "a"), ("a", "b"), routers=[("a", None), ("a", {"x": "c"})])
    assert anywhere(graph) == {("a", "a"), ("a", END)}
    assert {"a --> b", "a -.-> c [x]"} <= shown(drawing(graph))


def test_an_edge_that_is_always_taken_hides_a_routers_choice_of_it() -> None:
    graph = plan("ab", (START, "a"), ("a", "b"), routers=[("a", {"x": "b", "y": END})])
    assert shown(drawing(graph)) == {"__start__ --> a", "a --> b", "a -.-> __end__ [y]", "b --> __end__"}


def test_a_loop_that_nothing_leaves_has_no_end() -> None:
    topology = drawing(plan("ab", (START, "a"), ("a", "b"), ("b", "a")))
    assert END not in topology.nodes
    assert shown(topology) == {"__start__ --> a", "a --> b", "b --> a"}


def test_all_that_a_router_says_for_one_node_is_on_its_edge() -> None:
    (edge,) = (
        edge for edge in drawing(plan("ab", (START, "a"), routers=[("a", {"y": "b", "x": "b"})])).edges if edge.data
    )
    assert (edge.label, edge.data) == ("y / x", "x")


def test_a_label_that_is_the_targets_name_is_not_written() -> None:
    topology = drawing(plan("ab", (START, "a"), routers=[("a", ["b", END])]))
    assert [edge.label for edge in topology.edges] == [None, None, None, None]


def test_labels_may_be_mixed_with_jumps_that_have_none() -> None:
    nodes = [Node("a", destinations=("b",)), "b", "c"]
    topology = drawing(plan(nodes, (START, "a"), routers=[("a", {"x": "b", "y": "c"})]))
    assert {"a -.-> b [x]", "a -.-> c [y]"} <= shown(topology)


def test_a_deferred_node_that_leads_back_ends_where_the_run_does() -> None:
    topology = drawing(plan([Node("late", defer=True), "b"], (START, "late"), (START, "b"), ("late", "b")))
    assert {"b -.-> late", "b -.-> __end__"} <= shown(topology)


def test_a_deferred_node_follows_what_runs_last_though_a_node_runs_twice() -> None:
    nodes = ["a", "x", "b", "c", Node("late", defer=True)]
    ways = [(START, "a"), (START, "b"), (START, "late"), ("a", "x"), ("x", "b"), ("a", "b")]
    compiled = build(plan(nodes, *ways, routers=[("b", {"c": "c"})]), route=lambda state: "c")
    ran = [sorted(update) for update in compiled.stream({"log": []}, stream_mode="updates")]
    assert ran[-2:] == [["c"], ["late"]]
    assert {edge.target for edge in compiled.get_graph().edges if edge.source == "c"} == {"late"}


def test_an_empty_way_from_start_to_end_is_drawn() -> None:
    assert "__start__ --> __end__" in shown(drawing(plan("a", (START, END), ("a", END))))


def test_nodes_and_edges_stand_in_the_order_of_declaration() -> None:
    topology = drawing(plan("zya", (START, "z"), ("z", "a"), ("z", "y"), ("y", "a")))
    assert list(topology.nodes) == [START, "z", "y", "a", END]
    assert [edge.id for edge in topology.edges] == ["__start__->z", "z->y", "z->a", "y->a", "a->__end__"]
