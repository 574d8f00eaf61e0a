"""Mermaid text of a topology. Ids are numbered and labels quoted, so that no node name can break the drawing."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from runtime.topology.parts import TopologyEdge, TopologyNode, drawn_ways


@dataclass(frozen=True, slots=True)
class MermaidStyle:
    """How a Mermaid drawing looks. Colours are in Mermaid's CSS."""

    with_styles: bool = True
    curve: str = "linear"
    words: int = 9
    """Words a line in labels of edges."""
    frontmatter: Mapping[str, Any] = field(default_factory=dict)
    default: str = "fill:#f2f0ff,line-height:1.2"
    first: str = "fill-opacity:0"
    last: str = "fill:#bfb6fc"
    anywhere: str = "stroke-dasharray:1 5,opacity:0.6"


def mermaid(parts: Sequence[TopologyNode], edges: Sequence[TopologyEdge], style: MermaidStyle) -> str:
    """A flowchart. Dashed arrows are conditional, dotted ones may go anywhere."""
    ids = {part.id: _id(index, part) for index, part in enumerate(parts)}
    lines = [*_frontmatter(style), "graph TD;", *_nodes(parts, ids, None, 1)]
    ways, open_ended = drawn_ways(edges)
    for edge in ways:
        label = f'|"{_wrapped(edge.label, style.words)}"|' if edge.label else ""
        arrow = "-.->" if edge.conditional else "-->"
        lines.append(f"\t{ids[edge.source]} {arrow}{label} {ids[edge.target]};")
    lines += [f'\t{ids[source]} -.-> {ids[source]}_any["any node"];' for source in open_ended]
    if style.with_styles:
        lines += _styles(parts, ways, ids, style)
    return "\n".join(lines) + "\n"


def _id(index: int, part: TopologyNode) -> str:
    """A number, which no word of Mermaid begins with, and for readers what the name has of plain letters."""
    readable = re.sub(r"\W+", "_", part.name, flags=re.ASCII).strip("_")
    return f"n{index}_{readable}".rstrip("_")


def _frontmatter(style: MermaidStyle) -> list[str]:
    if not style.with_styles:
        return []
    config = dict(style.frontmatter.get("config", {}))
    config["flowchart"] = {**config.get("flowchart", {}), "curve": style.curve}
    others = [f"{key}: {json.dumps(value)}" for key, value in style.frontmatter.items() if key != "config"]
    return ["---", f"config: {json.dumps(config)}", *others, "---"]


def _nodes(parts: Sequence[TopologyNode], ids: Mapping[str, str], parent: str | None, depth: int) -> list[str]:
    lines = []
    pad = "\t" * depth
    for node in parts:
        if node.parent != parent:
            continue
        if node.expanded:
            lines.append(f'{pad}subgraph {ids[node.id]}["{_text(node.name)}"]')
            lines.extend(_nodes(parts, ids, node.id, depth + 1))
            lines.append(f"{pad}end")
        else:
            lines.append(f"{pad}{ids[node.id]}{_shape(node)};")
    return lines


def _shape(node: TopologyNode) -> str:
    text = _text(node.name)
    if node.kind in ("start", "end"):
        return f'(["{text}"])'
    return f'[["{text}"]]' if node.kind == "subgraph" else f'("{text}")'


def _styles(
    parts: Sequence[TopologyNode], edges: Sequence[TopologyEdge], ids: Mapping[str, str], style: MermaidStyle
) -> list[str]:
    lines = [
        f"\tclassDef default {style.default};",
        f"\tclassDef first {style.first};",
        f"\tclassDef last {style.last};",
    ]
    for name, kind in (("first", "start"), ("last", "end")):
        members = ",".join(ids[part.id] for part in parts if part.kind == kind)
        if members:
            lines.append(f"\tclass {members} {name};")
    anywhere = ",".join(str(index) for index, edge in enumerate(edges) if edge.anywhere)
    return [*lines, f"\tlinkStyle {anywhere} {style.anywhere};"] if anywhere else lines


def _wrapped(label: str, words: int) -> str:
    parts = label.split()
    return "<br>".join(_text(" ".join(parts[at : at + words])) for at in range(0, len(parts), words)) or " "


def _text(text: str) -> str:
    """A label between quotes: what Mermaid would read is written as entities."""
    return "".join(c if c.isalnum() or c in " _-.,/+" else f"#{ord(c)};" for c in text) or " "
