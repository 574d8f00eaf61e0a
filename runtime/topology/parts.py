"""Nodes and edges of a drawing: values alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

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
    """Taken or not, as the node or a router decides: drawn dashed."""
    label: str | None = None
    """What a router says to take it, where that is not the target's name; several are joined by ' / '."""
    anywhere: bool = False
    """From a router that declares no targets: it may go to any node."""
    data: str | None = None
    """One label, as langchain-core's drawable graphs have it."""
    within: str | None = None
    """Id of the subgraph whose edge it is, None at the root. An edge between two subgraphs ends at nodes inside them and
    still belongs to the graph around both."""

    @property
    def id(self) -> str:
        """Unique within the drawing: an opened subgraph keeps its start or end where one of its own edges would coincide with
        one from around it."""
        return f"{self.source}->{self.target}"


MANY_WAYS = 80
"""So many ways to anywhere are drawn one by one; past it no picture can be read, or laid out in good time."""


def drawn_ways(edges: Sequence[TopologyEdge]) -> tuple[list[TopologyEdge], list[str]]:
    """The edges to draw one by one, and the nodes that get a single arrow to the words "any node" instead."""
    if sum(edge.anywhere for edge in edges) <= MANY_WAYS:
        return list(edges), []
    return [edge for edge in edges if not edge.anywhere], list(dict.fromkeys(e.source for e in edges if e.anywhere))


def kind_of(name: str) -> Kind:
    """The kind of a plain node by its name."""
    return "start" if name == START else "end" if name == END else "node"


def parent_of(node_id: str) -> str | None:
    """The subgraph that an id's path names."""
    return node_id.rpartition(":")[0] or None
