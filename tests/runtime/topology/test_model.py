"""Topologies as networkx graphs, as JSON, for terminals, and as pictures."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from runtime.topology import Topology
from tests.runtime.topology.drawn import END, START, Node, build, plan

AGENT = plan(
    ["agent", Node("tools", metadata={"side_effects": True}), Node("late", defer=True)],
    (START, "agent"),
    ("tools", "agent"),
    routers=[("agent", {"call": "tools", "stop": "late"})],
)


@pytest.fixture
def topology() -> Topology:
    drawn: Topology = build(AGENT).get_graph()
    return drawn


def test_networkx_has_the_same_nodes_and_edges(topology: Topology) -> None:
    graph = topology.to_networkx()
    assert set(graph) == {START, "agent", "tools", "late", END}
    assert graph.nodes["tools"]["metadata"] == {"side_effects": True}
    assert graph.edges["agent", "tools", "agent->tools"] == {"conditional": True, "anywhere": False, "label": "call"}
    assert graph.number_of_edges() == len(topology.edges)


def test_json_has_the_servers_shape(topology: Topology) -> None:
    found = topology.to_json()
    assert found["nodes"][2] == {
        "id": "tools",
        "type": "runnable",
        "data": {"id": ["runtime", "topology", "node"], "name": "tools"},
        "metadata": {"side_effects": True},
    }
    assert found["nodes"][3]["metadata"] == {"defer": True}
    assert found["nodes"][-1] == {"id": END}
    assert found["edges"] == [
        {"source": START, "target": "agent"},
        {"source": "agent", "target": "tools", "data": "call", "conditional": True},
        {"source": "agent", "target": "late", "data": "stop", "conditional": True},
        {"source": "tools", "target": "agent"},
        {"source": "late", "target": END},
    ]


def test_a_terminal_shows_a_line_a_node(topology: Topology) -> None:
    assert topology.draw_ascii() == (
        "__start__ -> agent\nagent -?> tools (call), late (stop)\ntools -> agent\nlate -> __end__\n"
    )


def test_a_terminal_names_a_router_without_targets_once() -> None:
    assert "a -?> anywhere\n" in build(plan("ab", (START, "a"), routers=[("a", None)])).get_graph().draw_ascii()


def test_ascii_is_printed(topology: Topology, capsys: pytest.CaptureFixture[str]) -> None:
    topology.print_ascii()
    assert capsys.readouterr().out == topology.draw_ascii()


def test_without_pygraphviz_a_picture_names_the_extra(topology: Topology, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    with pytest.raises(ImportError, match=r"pip install 'forkpoint\[export\]'"):
        topology.draw_mermaid_png(max_retries=5)


def test_pictures_are_made_here(topology: Topology, tmp_path: Path) -> None:
    pytest.importorskip("pygraphviz")
    drawn = topology.draw_png(tmp_path / "agent.png")
    assert drawn.startswith(b"\x89PNG")
    assert (tmp_path / "agent.png").read_bytes() == drawn
    assert b'id="n|tools"' in topology.draw_svg()
