"""Graphviz DOT text of a topology, for the page's layout and for pictures. Colours are left to CSS by classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import graphviz

if TYPE_CHECKING:
    from runtime.topology.model import Topology, TopologyNode

_GRAPH = {
    "rankdir": "TB",
    "bgcolor": "transparent",
    "nodesep": "0.28",
    "ranksep": "0.42",
    "pad": "0.15",
    "fontname": "Helvetica",
    "fontsize": "11",
    "compound": "true",
}
_NODE = {
    "shape": "box",
    "style": "rounded,filled",
    "fontname": "Helvetica",
    "fontsize": "12",
    "height": "0.42",
    "margin": "0.2,0.06",
    "color": "#8b8fa3",
    "fillcolor": "#f3f2fd",
    "fontcolor": "#23233b",
}
_EDGE = {"fontname": "Helvetica", "fontsize": "10", "color": "#8b8fa3", "fontcolor": "#55586b", "arrowsize": "0.7"}


def dot(topology: Topology) -> str:
    """DOT with nested clusters. Ids: `n|node`, `e|edge`, `c|subgraph`."""
    drawing = graphviz.Digraph(graph_attr=_GRAPH, node_attr=_NODE, edge_attr=_EDGE)
    names = {part.id: f"n{index}" for index, part in enumerate(topology.parts)}
    _fill(drawing, topology, names, None)
    for edge in topology.edges:
        kind = "edge anywhere" if edge.anywhere else "edge conditional" if edge.conditional else "edge"
        style = "dotted" if edge.anywhere else "dashed" if edge.conditional else "solid"
        source, tail = _end(topology, edge.source)
        target, head = _end(topology, edge.target)
        extra = {key: f"cluster_{names[group]}" for key, group in (("ltail", tail), ("lhead", head)) if group}
        drawing.edge(
            names[source],
            names[target],
            label=graphviz.escape(f" {edge.label} ") if edge.label else None,
            id=f"e|{edge.id}",
            style=style,
            **{"class": kind},
            **extra,
        )
    return str(drawing.source)


def _end(topology: Topology, node_id: str) -> tuple[str, str | None]:
    """Where an edge ends: a node; for an opened subgraph, one of its nodes and the box to cut the edge at."""
    group = None
    while node_id in topology.groups:
        group = group or node_id
        node_id = topology.children(node_id)[0].id
    return node_id, group


def _fill(drawing: graphviz.Digraph, topology: Topology, names: dict[str, str], parent: str | None) -> None:
    for node in topology.parts:
        if node.parent != parent:
            continue
        if node.id in topology.groups:
            with drawing.subgraph(name=f"cluster_{names[node.id]}") as box:
                box.attr(
                    label=graphviz.escape(node.name),
                    id=f"c|{node.id}",
                    style="rounded,filled",
                    color="#8b8fa3",
                    fillcolor="#8b8fa31a",
                    fontcolor="#55586b",
                    margin="12",
                    **{"class": "cluster"},
                )
                _fill(box, topology, names, node.id)
        else:
            _node(drawing, node, names[node.id])


def _node(drawing: graphviz.Digraph, node: TopologyNode, name: str) -> None:
    shape = {"start": "ellipse", "end": "ellipse"}.get(node.kind, "box")
    label = {"start": "start", "end": "end"}.get(node.kind, node.name)
    peripheries = {"peripheries": "2"} if node.kind == "subgraph" else {}
    drawing.node(
        name,
        label=graphviz.escape(label),
        id=f"n|{node.id}",
        shape=shape,
        **{"class": f"node {node.kind}"},
        **peripheries,
    )
