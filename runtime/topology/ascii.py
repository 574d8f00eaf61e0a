"""A drawing for a terminal: a line for each node, with what may follow it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from runtime.topology.parts import TopologyEdge, TopologyNode


def ascii_text(parts: Iterable[TopologyNode], edges: Iterable[TopologyEdge]) -> str:
    """`triage -> find_order, find_policy`; a router's choice as `agent -?> tools`; any node as `router -?> anywhere`."""
    all_edges = list(edges)
    lines = []
    for node in parts:
        if node.expanded or node.kind == "end":
            continue
        follow = [f"{arrow} {', '.join(names)}" for arrow, names in _following(node.id, all_edges) if names]
        lines.append(" ".join([node.id, *follow]))
    return "\n".join(lines) + "\n"


def _following(node_id: str, edges: list[TopologyEdge]) -> Iterator[tuple[str, list[str]]]:
    mine = [edge for edge in edges if edge.source == node_id]
    yield "->", [edge.target for edge in mine if not edge.conditional]
    chosen = [
        f"{edge.target} ({edge.label})" if edge.label else edge.target
        for edge in mine
        if edge.conditional and not edge.anywhere
    ]
    yield "-?>", [*chosen, *(["anywhere"] if any(edge.anywhere for edge in mine) else [])]
