"""langchain-core's drawable graph -> topology: for graphs that show only how they are drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from runtime.topology.model import Topology
from runtime.topology.parts import TopologyEdge, TopologyNode, kind_of, parent_of


class DrawnNode(Protocol):
    """A node of a drawable graph."""

    metadata: Any


class DrawnEdge(Protocol):
    """An edge of a drawable graph."""

    source: str
    target: str
    data: Any
    conditional: bool


class Drawable(Protocol):
    """A drawable graph, as `get_graph(xray=...)` of any Runnable gives it."""

    nodes: Mapping[str, Any]
    edges: Sequence[Any]


def topology_from_drawable(drawable: Drawable) -> Topology:
    """The topology of a drawable graph. The path before the last ':' of an id names the subgraph around a node."""
    nodes: dict[str, TopologyNode] = {}
    groups: dict[str, TopologyNode] = {}
    for node_id, drawn in drawable.nodes.items():
        name = _name(node_id)
        _add_groups(groups, parent_of(node_id))
        metadata = getattr(drawn, "metadata", None) or {}
        nodes[node_id] = TopologyNode(node_id, name, kind_of(name), parent_of(node_id), metadata=metadata)
    edges: dict[str, TopologyEdge] = {}
    for line in drawable.edges:
        label = None if line.data is None else str(line.data)
        within = _around(line.source, line.target)
        edge = TopologyEdge(line.source, line.target, bool(line.conditional), label, data=label, within=within)
        edges.setdefault(edge.id, edge)
    return Topology(nodes, list(edges.values()), groups)


def _name(node_id: str) -> str:
    return node_id.rpartition(":")[2]


def _add_groups(groups: dict[str, TopologyNode], group: str | None) -> None:
    if group is None or group in groups:
        return
    _add_groups(groups, parent_of(group))
    groups[group] = TopologyNode(group, _name(group), "subgraph", parent_of(group), expanded=True)


def _around(source: str, target: str) -> str | None:
    """The innermost subgraph around both ends."""
    shared = []
    for one, other in zip(source.split(":")[:-1], target.split(":")[:-1], strict=False):
        if one != other:
            break
        shared.append(one)
    return ":".join(shared) or None
