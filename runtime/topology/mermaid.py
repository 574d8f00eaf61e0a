"""Mermaid text of a topology. Ids are numbered and labels quoted, so that no node name can break the drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runtime.topology.model import Topology, TopologyNode


def mermaid(topology: Topology) -> str:
    """A flowchart. Dashed arrows are conditional."""
    ids = {part.id: f"n{index}" for index, part in enumerate(topology.parts)}
    lines = ["graph TD;"]
    lines.extend(_nodes(topology, ids, None, 1))
    for edge in topology.edges:
        label = f'|"{_text(edge.label)}"|' if edge.label else ""
        arrow = "-.->" if edge.conditional else "-->"
        lines.append(f"\t{ids[edge.source]} {arrow}{label} {ids[edge.target]};")
    lines.append("\tclassDef first fill-opacity:0;")
    lines.append("\tclassDef last fill:#bfb6fc;")
    for name, kind in (("first", "start"), ("last", "end")):
        members = ",".join(ids[node.id] for node in topology.nodes.values() if node.kind == kind)
        if members:
            lines.append(f"\tclass {members} {name};")
    return "\n".join(lines) + "\n"


def _nodes(topology: Topology, ids: dict[str, str], parent: str | None, depth: int) -> list[str]:
    lines = []
    pad = "\t" * depth
    for node in topology.parts:
        if node.parent != parent:
            continue
        if node.id in topology.groups:
            lines.append(f'{pad}subgraph {ids[node.id]}["{_text(node.name)}"];')
            lines.extend(_nodes(topology, ids, node.id, depth + 1))
            lines.append(f"{pad}end;")
        else:
            lines.append(f"{pad}{ids[node.id]}{_shape(node)};")
    return lines


def _shape(node: TopologyNode) -> str:
    text = _text(node.name)
    if node.kind in ("start", "end"):
        return f'(["{text}"])'
    return f'[["{text}"]]' if node.kind == "subgraph" else f'("{text}")'


def _text(text: str) -> str:
    """A label between quotes: what Mermaid would read is written as entities."""
    return "".join(c if c.isalnum() or c in " _-.,/+" else f"#{ord(c)};" for c in text)
