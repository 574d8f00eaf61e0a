"""Graphviz DOT text of a topology, for the page's layout and for pictures.

Graphviz writes each id and class into the SVG, where the page's style sheet gives the colours; those here are for pictures
without one. Ids: `n|node`, `e|edge`, `c|subgraph`. Classes, beside the `node`, `edge` and `cluster` that Graphviz itself
writes: `start`, `end`, `subgraph`, `conditional`, `anywhere`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import graphviz

from runtime.topology.parts import TopologyEdge, TopologyNode, drawn_ways

_GRAPH = {
    "rankdir": "TB",
    "bgcolor": "transparent",
    "nodesep": "0.28",
    "ranksep": "0.42",
    "pad": "0.15",
    "fontname": "Helvetica",
    "fontsize": "11",
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
_BOX = {
    "style": "rounded,filled",
    "color": "#8b8fa3",
    "fillcolor": "#8b8fa31a",
    "fontcolor": "#55586b",
    "labeljust": "l",
    "margin": "12",
}


def dot(parts: Sequence[TopologyNode], edges: Sequence[TopologyEdge]) -> str:
    """DOT with nested clusters."""
    drawing = graphviz.Digraph(graph_attr=_GRAPH, node_attr=_NODE, edge_attr=_EDGE)
    names = {part.id: f"n{index}" for index, part in enumerate(parts)}
    inside: dict[str | None, list[TopologyNode]] = {}
    for part in parts:
        inside.setdefault(part.parent, []).append(part)
    _fill(drawing, inside, names, None)
    led_to = {edge.target for edge in edges if not edge.anywhere}
    ways, open_ended = drawn_ways(edges)
    for edge in ways:
        drawing.edge(
            names[edge.source],
            names[edge.target],
            label=_text(f" {edge.label} ") if edge.label else None,
            **_edge(edge, constrain=not edge.anywhere or edge.target not in led_to),
        )
    for source in open_ended:
        _open_end(drawing, names[source], source)
    return str(drawing.source)


def _open_end(drawing: graphviz.Digraph, name: str, source: str) -> None:
    """One arrow for all the ways to anywhere."""
    look = {"class": "anywhere", "style": "dotted"}
    drawing.node(f"{name}_any", label="any node", shape="plaintext", style="", **{"class": "anywhere"})
    drawing.edge(name, f"{name}_any", id=_text(f"e|{source}->*"), **look)


def _text(text: str) -> str:
    """Any text as Graphviz reads it: no escapes, no HTML (the type that `escape` gives says so), no entities."""
    escaped: str = graphviz.escape(text.replace("&", "&amp;"))
    return escaped


def _edge(edge: TopologyEdge, *, constrain: bool) -> dict[str, str]:
    """An edge that may go anywhere places its target only where nothing else does."""
    kind = {"class": "anywhere"} if edge.anywhere else {"class": "conditional"} if edge.conditional else {}
    style = "dotted" if edge.anywhere else "dashed" if edge.conditional else "solid"
    return {"id": _text(f"e|{edge.id}"), "style": style, **kind, **({} if constrain else {"constraint": "false"})}


def _fill(
    drawing: graphviz.Digraph,
    inside: Mapping[str | None, Iterable[TopologyNode]],
    names: Mapping[str, str],
    parent: str | None,
) -> None:
    for node in inside.get(parent, ()):
        if not node.expanded:
            drawing.node(names[node.id], label=_label(node), id=_text(f"n|{node.id}"), **_look(node))
            continue
        with drawing.subgraph(name=f"cluster_{names[node.id]}") as box:
            box.attr(label=_text(node.name), id=_text(f"c|{node.id}"), **{**_BOX, "class": "subgraph"})
            _fill(box, inside, names, node.id)


def _label(node: TopologyNode) -> str:
    return {"start": "start", "end": "end"}.get(node.kind) or _text(node.name)


def _look(node: TopologyNode) -> dict[str, str]:
    match node.kind:
        case "start" | "end":
            return {"class": node.kind, "shape": "ellipse"}
        case "subgraph":
            return {"class": node.kind, "peripheries": "2"}
        case "node":
            return {}
