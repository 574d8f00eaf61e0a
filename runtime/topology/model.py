"""The drawing of a graph, and the views of it: some subgraphs opened, as networkx, JSON, text and pictures. Pure, but for
pictures that are written to a file."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import networkx as nx

from runtime.topology.ascii import ascii_text
from runtime.topology.dot import dot
from runtime.topology.mermaid import MermaidStyle, mermaid
from runtime.topology.parts import TopologyEdge, TopologyNode
from runtime.topology.picture import picture


@dataclass(frozen=True)
class Topology:
    """A drawing: nodes by id, edges, and the subgraphs that are drawn as boxes around nodes."""

    nodes: Mapping[str, TopologyNode]
    edges: list[TopologyEdge]
    groups: Mapping[str, TopologyNode] = field(default_factory=dict)

    @property
    def parts(self) -> list[TopologyNode]:
        """Groups and nodes, each group before what is in it."""
        return [*self.groups.values(), *self.nodes.values()]

    # -- views ---------------------------------------------------------------------------------------------------------

    def collapse(self, expanded: Collection[str] | Literal["*"]) -> Topology:
        """A view with only the chosen subgraphs opened; a closed one is a node, to which its edges go.

        Args:
            expanded: ids of subgraphs, '*' for all. One inside a closed subgraph stays unseen.
        """
        opened: set[str] = set()
        for group in self.groups.values():  # each after the group around it
            if (group.parent is None or group.parent in opened) and (expanded == "*" or group.id in expanded):
                opened.add(group.id)
        nodes: dict[str, TopologyNode] = {}
        for node in self.nodes.values():
            seen = self._seen(node.id, opened)
            nodes[seen] = node if seen == node.id else replace(self.groups[seen], expanded=False)
        edges = [
            replace(edge, source=self._seen(edge.source, opened), target=self._seen(edge.target, opened))
            for edge in self.edges
            if edge.within is None or edge.within in opened
        ]
        unique: dict[str, TopologyEdge] = {}
        for edge in edges:
            unique.setdefault(edge.id, edge)
        return Topology(nodes, list(unique.values()), {key: g for key, g in self.groups.items() if key in opened})

    def _seen(self, node_id: str, opened: Collection[str]) -> str:
        """What stands for a node: itself, or the outermost closed subgraph around it."""
        seen, parent = node_id, self.nodes[node_id].parent
        while parent is not None:
            if parent not in opened:
                seen = parent
            parent = self.groups[parent].parent
        return seen

    def to_networkx(self) -> nx.MultiDiGraph[str]:
        """The same as a networkx graph; nodes and edges carry their fields."""
        graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
        for node in self.nodes.values():
            graph.add_node(node.id, name=node.name, kind=node.kind, parent=node.parent, metadata=dict(node.metadata))
        for edge in self.edges:
            graph.add_edge(
                edge.source,
                edge.target,
                key=edge.id,
                conditional=edge.conditional,
                anywhere=edge.anywhere,
                label=edge.label,
            )
        return graph

    def to_json(self) -> dict[str, Any]:
        """Nodes and edges in the shape that the LangGraph server gives."""
        return {
            "nodes": [_node_json(node) for node in self.nodes.values()],
            "edges": [_edge_json(edge) for edge in self.edges],
        }

    # -- text ----------------------------------------------------------------------------------------------------------

    def draw_mermaid(
        self,
        *,
        with_styles: bool = True,
        curve_style: Any = "linear",
        node_colors: Any = None,
        wrap_label_n_words: int = 9,
        frontmatter_config: Mapping[str, Any] | None = None,
    ) -> str:
        """Mermaid text; parses for any node name.

        Args:
            with_styles: write the look beside the graph; without it, nodes and edges alone.
            curve_style: Mermaid's name of a curve, or langchain-core's `CurveStyle`.
            node_colors: langchain-core's `NodeStyles`: `default`, `first` and `last`, each in Mermaid's CSS.
            wrap_label_n_words: words a line in labels of edges.
            frontmatter_config: Mermaid's configuration, written above the graph; its curve wins.
        """
        style = MermaidStyle(
            with_styles=with_styles,
            curve=str(getattr(curve_style, "value", curve_style)),
            words=wrap_label_n_words,
            frontmatter=frontmatter_config or {},
        )
        if node_colors is not None:
            style = replace(style, default=node_colors.default, first=node_colors.first, last=node_colors.last)
        return mermaid(self.parts, self.edges, style)

    def draw_dot(self) -> str:
        """Graphviz text, with ids and classes on nodes, edges and clusters."""
        return dot(self.parts, self.edges)

    def draw_ascii(self) -> str:
        """A line for each node: what may follow it. `->` always, `-?>` if the node or a router so decides."""
        return ascii_text(self.parts, self.edges)

    def print_ascii(self) -> None:
        """Write `draw_ascii()` to the terminal."""
        sys.stdout.write(self.draw_ascii())

    # -- pictures ------------------------------------------------------------------------------------------------------

    def draw_png(self, output_file_path: str | Path | None = None) -> bytes:
        """A PNG, made on this machine, also written to a file if one is named.

        Raises:
            ImportError: pygraphviz is not there: install `forkpoint[export]`.
        """
        return self._draw("png", output_file_path)

    def draw_svg(self, output_file_path: str | Path | None = None) -> bytes:
        """The same as an SVG."""
        return self._draw("svg", output_file_path)

    def draw_mermaid_png(self, *, output_file_path: str | Path | None = None, **_rendering: Any) -> bytes:
        """`draw_png` under the name that people know. It never asks a service, so what says how to ask one
        (`draw_method`, `max_retries`, `base_url` ...) is accepted and has no effect."""
        return self._draw("png", output_file_path)

    def _draw(self, kind: Literal["png", "svg"], path: str | Path | None) -> bytes:
        drawn = picture(self.draw_dot(), kind)
        if path is not None:
            Path(path).write_bytes(drawn)
        return drawn


def _node_json(node: TopologyNode) -> dict[str, Any]:
    if node.kind == "end":
        return {"id": node.id}
    shown: dict[str, Any] = {
        "id": node.id,
        "type": "runnable",
        "data": {"id": ["runtime", "topology", node.kind], "name": node.id},
    }
    if node.metadata:
        shown["metadata"] = dict(node.metadata)
    return shown


def _edge_json(edge: TopologyEdge) -> dict[str, Any]:
    shown: dict[str, Any] = {"source": edge.source, "target": edge.target}
    if edge.data is not None:
        shown["data"] = edge.data
    if edge.conditional:
        shown["conditional"] = True
    return shown
