"""The same graph has the same nodes and edges in our drawing and in LangGraph's.

Left out is where ours is to differ, or LangGraph's drawing is not about what runs: routers without targets (requirement R18),
graphs without an end (it draws one), subgraphs with nodes that nothing leads to (it does not open them), a plain edge beside
a router's to the same node (it shows now one, now the other), deferred nodes in loops, and
deferred nodes behind routers of nodes that run more than once (it contradicts what then runs). `test_flow.py` says what ours
shows there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.topology import topology_of
from tests.runtime.topology.drawn import END, START, Node, Plan, build, plan, shown

pytest.importorskip("langgraph")

LINE = plan("ab", (START, "a"), ("a", "b"))
CHOICE = plan("abc", (START, "a"), routers=[("a", {"x": "b", "y": "c", "z": END})])
INNER = plan(["i", Node("j", LINE)], (START, "i"), ("i", "j"))
PLANS = {
    "line": LINE,
    "explicit ends": plan("ab", (START, "a"), ("a", "b"), ("a", END), ("b", END)),
    "fan and join": plan("abcd", (START, "a"), (START, "b"), (("a", "b"), "c"), ("c", END), (("a", "c"), "d")),
    "join that never fires": plan("abc", (START, "a"), (("a", "b"), "c")),
    "path map": CHOICE,
    "path map as a list": plan("abc", (START, "a"), routers=[("a", ["b", "c"])]),
    "two keys for one node": plan("ab", (START, "a"), routers=[("a", {"y": "b", "x": "b"})]),
    "truth values as keys": plan("ab", (START, "a"), routers=[("a", {True: "b", False: END})]),
    "two routers": plan("abc", (START, "a"), routers=[("a", ["b"]), ("a", {"q": "c", "b": "b"})]),
    "router at the start": plan("ab", routers=[(START, ["a", "b", END])]),
    "router and end": plan("ab", (START, "a"), ("a", END), routers=[("a", {"m": "b"})]),
    "loop with a way out": plan("ab", (START, "a"), ("b", "a"), routers=[("a", ["b", END])]),
    "destinations": plan([Node("a", destinations=("b", END)), "b"], (START, "a")),
    "labelled destinations": plan([Node("a", destinations={"b": "go", "c": "c", END: "bye"}), "b", "c"], (START, "a")),
    "nothing leads there": plan("abc", (START, "a"), ("b", "c")),
    "deferred": plan(
        ["a", "b", "c", Node("d", defer=True)], (START, "a"), ("a", "b"), ("a", "c"), ("c", "d"), ("b", "d")
    ),
    "deferred behind a long way": plan(
        ["a", "b", "c", Node("d", defer=True), "z"], (START, "a"), ("a", "d"), ("a", "b"), ("b", "c"), ("d", "z")
    ),
    "deferred twice": plan(
        ["a", "b", Node("d", defer=True), Node("e", defer=True)], (START, "a"), ("a", "d"), ("a", "b"), ("d", "e")
    ),
    "deferred after a loop": plan(
        ["a", "b", "c", Node("d", defer=True)],
        (START, "a"),
        ("a", "d"),
        ("a", "b"),
        ("c", "b"),
        routers=[("b", ["c", END])],
    ),
    "deferred behind a router": plan(
        ["a", "b", "c", Node("d", defer=True)], (START, "a"), ("b", "c"), routers=[("a", ["b", "d"])]
    ),
    "deferred join": plan(
        ["a", "b", "c", Node("d", defer=True)], (START, "a"), (START, "b"), (("a", "b"), "d"), ("b", "c")
    ),
    "subgraph": plan(["x", Node("s", LINE), "y"], (START, "x"), ("x", "s"), ("s", "y")),
    "subgraph that chooses": plan([Node("s", CHOICE), "y"], (START, "s"), ("s", "y")),
    "subgraph with a router's only way": plan(
        [Node("s", plan("a", routers=[(START, {"k": "a"}), ("a", {"q": END})])), "y"], (START, "s"), ("s", "y")
    ),
    "routers around a subgraph": plan(
        ["x", Node("s", LINE), "y"],
        (START, "x"),
        routers=[("x", {"go": "s", "no": "y"}), ("s", {"more": "s", "y": "y"})],
    ),
    "subgraph after itself": plan([Node("s", LINE)], (START, "s"), routers=[("s", ["s", END])]),
    "two levels": plan([Node("s", INNER), Node("t", CHOICE)], (START, "s"), ("s", "t")),
    "three levels": plan([Node("r", plan([Node("s", INNER)], (START, "s"))), "z"], (START, "r"), ("r", "z")),
    "stateless subgraph": plan([Node("s", plan("a", (START, "a"), checkpointer=False)), "y"], (START, "s"), ("s", "y")),
    "thread of its own": plan([Node("s", plan("a", (START, "a"), checkpointer=True)), "y"], (START, "s"), ("s", "y")),
    "metadata": plan([Node("a", metadata={"k": 1})], (START, "a")),
}


@pytest.mark.parametrize("xray", [False, True, 1, 2])
@pytest.mark.parametrize("name", PLANS)
def test_drawing_agrees(name: str, xray: bool | int) -> None:
    agree(PLANS[name], xray)


@pytest.mark.parametrize("name", PLANS)
def test_a_graph_of_langgraph_is_drawn_as_our_own(name: str) -> None:
    ours, theirs = (topology_of(build(PLANS[name], library), xray=True) for library in ("runtime", "langgraph"))
    assert ours == theirs


@settings(max_examples=1500)
@given(st.data())
def test_generated_graphs_agree(data: st.DataObject) -> None:
    agree(data.draw(plans()), data.draw(st.booleans()))


def agree(graph: Plan, xray: bool | int) -> None:
    ours, theirs = (build(graph, library).get_graph(xray=xray) for library in ("runtime", "langgraph"))
    assert set(ours.nodes) == set(theirs.nodes)
    assert shown(ours) == shown(theirs)
    assert {key: dict(node.metadata) for key, node in ours.nodes.items() if node.metadata} == {
        key: node.metadata for key, node in theirs.nodes.items() if node.metadata
    }


# -- generated plans ---------------------------------------------------------------------------------------------------


@st.composite
def plans(draw: Any, depth: int = 2) -> Plan:
    """A plan in which each node can be reached and there is an end. The last node may be deferred where all edges go forward
    and there are no routers."""
    names = "abcde"[: draw(st.integers(1, 5 if depth == 2 else 3))]
    forward, defer = draw(st.sampled_from([(False, False), (True, False), (True, True)]))
    ways = {(draw(st.sampled_from([START, *names[:at]])), name) for at, name in enumerate(names)}
    ways |= set(draw(st.lists(st.sampled_from(list(_ways(names, forward))), max_size=4)))
    choosing = {source for source, _ in sorted(ways) if source != START and not defer and draw(st.booleans())}
    edges = sorted(way for way in ways if way[0] not in choosing)
    routers = []
    for name in sorted(choosing):
        targets = {target for source, target in ways if source == name}
        routers.append((name, _path_map(draw, sorted(targets | {END}))))
    if not forward:
        routers.append((names[-1], [END]))
    children = st.none() | plans(depth - 1) if depth else st.none()
    nodes = [Node(name, draw(children), defer and name == names[-1]) for name in names]
    return plan(nodes, *edges, routers=routers)


def _ways(names: str, forward: bool) -> Iterator[tuple[str, str]]:
    for at, source in enumerate(names):
        yield from ((source, target) for target in (names[at + 1 :] if forward else names))
        yield source, END


def _path_map(draw: Any, targets: list[str]) -> dict[str, str]:
    return {draw(st.sampled_from([target, f"to_{target}"])): target for target in targets}
