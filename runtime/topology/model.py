"""Nodes and edges of a drawing, and the views of it. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import networkx as nx

from runtime.constants import END, START

Kind = Literal["start", "end", "node", "subgraph"]


@dataclass(frozen=True, slots=True)
class TopologyNode:
    """A node of a drawing."""

    id: str
    """Path of node names joined by ':'."""
    name: str
    kind: Kind
    parent: str | None = None
    """Id of the subgraph around it."""
    expanded: bool = False
    """A subgraph drawn as a box around its nodes."""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TopologyEdge:
    """An edge of a drawing."""

    source: str
    target: str
    conditional: bool = False
    """Taken or not, as the node decides: drawn dashed."""
    label: str | None = None
    """What a router says to take it, where that is not the target's name."""
    anywhere: bool = False
    """From a router that declares no targets: it may go to any node."""

    @property
    def id(self) -> str:
        """Unique within the drawing."""
        return f"{self.source}->{self.target}"

    @property
    def data(self) -> str | None:
        """The label, as langchain-core's drawable graphs call it."""
        return self.label


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

    def to_networkx(self) -> nx.MultiDiGraph[str]:
        """The same as a networkx graph; nodes and edges carry their fields."""
        graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
        for node in self.nodes.values():
            graph.add_node(node.id, name=node.name, kind=node.kind, parent=node.parent)
        for edge in self.edges:
            graph.add_edge(edge.source, edge.target, conditional=edge.conditional, label=edge.label)
        return graph

    def children(self, node_id: str) -> list[TopologyNode]:
        """What is directly inside a subgraph."""
        return [node for node in self.parts if node.parent == node_id]

    def collapse(self, expanded: Collection[str] | Literal["*"]) -> Topology:
        """A view with only the chosen subgraphs opened; edges go to what is shown of a closed one."""

        def opened(group: str) -> bool:
            return expanded == "*" or group in expanded

        shown = {part.id for part in self.parts if all(opened(above) for above in self._above(part))}
        groups = {key: group for key, group in self.groups.items() if key in shown and opened(key)}
        closed = {
            key: replace(group, expanded=False)
            for key, group in self.groups.items()
            if key in shown and not opened(key)
        }
        nodes = {**{key: node for key, node in self.nodes.items() if key in shown}, **closed}
        edges: dict[tuple[str, str], TopologyEdge] = {}
        for edge in self.edges:
            source, target = self._shown(edge.source, shown), self._shown(edge.target, shown)
            if source == target and edge.source != edge.target:
                continue  # inside a closed subgraph
            edges.setdefault((source, target), replace(edge, source=source, target=target))
        return Topology(self._in_order(nodes), list(edges.values()), groups)

    def _in_order(self, nodes: Mapping[str, TopologyNode]) -> dict[str, TopologyNode]:
        """Nodes as they stood, with a closed subgraph where its first node was."""
        order = {part.id: index for index, part in enumerate(self.nodes.values())}

        def rank(node: TopologyNode) -> int:
            inside = [index for key, index in order.items() if key == node.id or key.startswith(f"{node.id}:")]
            return min(inside, default=len(order))

        return {node.id: node for node in sorted(nodes.values(), key=rank)}

    def _above(self, part: TopologyNode) -> list[str]:
        above = []
        parent = part.parent
        while parent is not None:
            above.append(parent)
            parent = self.groups[parent].parent
        return above

    def _shown(self, node_id: str, shown: Collection[str]) -> str:
        part = self.nodes.get(node_id) or self.groups[node_id]
        while part.id not in shown and part.parent is not None:
            part = self.groups[part.parent]
        return part.id

    # -- text ----------------------------------------------------------------------------------------------------------

    def draw_mermaid(self, **_: Any) -> str:
        """Mermaid text; parses for any node name."""
        from runtime.topology.mermaid import mermaid  # the drawings know the model

        return mermaid(self)

    def draw_dot(self) -> str:
        """Graphviz text, with ids and classes on nodes, edges and clusters."""
        from runtime.topology.dot import dot

        return dot(self)

    def to_json(self) -> dict[str, Any]:
        """Nodes and edges as the LangGraph server gives them."""
        nodes = [
            {
                "id": node.id,
                "type": "runnable" if node.kind in ("node", "subgraph") else "schema",
                "data": {"id": [node.name], "name": node.name} if node.kind in ("node", "subgraph") else node.name,
                **({"metadata": dict(node.metadata)} if node.metadata else {}),
            }
            for node in self.nodes.values()
        ]
        edges = []
        for edge in self.edges:
            shown: dict[str, Any] = {"source": edge.source, "target": edge.target}
            if edge.label is not None:
                shown["data"] = edge.label
            if edge.conditional:
                shown["conditional"] = True
            edges.append(shown)
        return {"nodes": nodes, "edges": edges}


def kind_of(name: str) -> Kind:
    """The kind of a plain node by its name."""
    return "start" if name == START else "end" if name == END else "node"
