"""Compiled graph -> topology: true edges for routers, jumps, joins and nested graphs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from runtime.constants import END, START
from runtime.topology.model import Topology, TopologyEdge, TopologyNode, kind_of


class _Compiled(Protocol):
    """What is asked of a compiled graph."""

    builder: Any

    def get_subgraphs(self, *, namespace: str | None = None, recurse: bool = False) -> Iterator[tuple[str, Any]]:
        """(node, graph)."""


def topology_of(compiled: _Compiled, *, xray: bool | int = False) -> Topology:
    """The topology of one of our compiled graphs.

    Args:
        xray: open subgraphs: all, or to a depth. Ids of what is inside are `node:inner`.
    """
    flat = _flat(compiled.builder)
    if not xray:
        return flat
    depth = xray if isinstance(xray, bool) else xray - 1
    inner = {node: graph for node, graph in compiled.get_subgraphs() if hasattr(graph, "builder")}
    opened = {
        node: topology_of(graph, xray=depth if depth is True or depth > 0 else False) for node, graph in inner.items()
    }
    return _nest(flat, opened)


def _flat(builder: Any) -> Topology:
    edges = [TopologyEdge(start, end) for start, end in sorted(builder.edges)]
    for starts, end in sorted(builder.waiting_edges):
        edges.extend(TopologyEdge(start, end) for start in starts)
    for source, branches in builder.branches.items():
        for branch in branches.values():
            edges.extend(_branch(source, branch.ends, builder.nodes))
    for name, spec in builder.nodes.items():
        labels = spec.ends if isinstance(spec.ends, Mapping) else {}
        edges.extend(TopologyEdge(name, end, True, labels.get(end)) for end in spec.ends)
    used = {edge.source for edge in edges}
    edges.extend(TopologyEdge(name, END) for name in builder.nodes if name not in used)
    edges = _reachable(_once(edges))
    names = [START, *builder.nodes]
    if any(edge.target == END for edge in edges):
        names.append(END)
    nodes = {
        name: TopologyNode(name, name, kind_of(name), metadata=_metadata(builder.nodes.get(name))) for name in names
    }
    return Topology(nodes, edges)


def _metadata(spec: Any) -> Mapping[str, Any]:
    if spec is None:
        return {}
    return {**(spec.metadata or {}), **({"defer": True} if spec.defer else {})}


def _branch(source: str, ends: Mapping[Any, str] | None, nodes: Iterable[str]) -> Iterator[TopologyEdge]:
    if ends is None:
        for target in [*(name for name in nodes if name != source), END]:
            yield TopologyEdge(source, target, conditional=True, anywhere=True)
        return
    for said, target in ends.items():
        yield TopologyEdge(source, target, True, None if str(said) == target else str(said))


def _once(edges: Iterable[TopologyEdge]) -> list[TopologyEdge]:
    """Each pair of places once: a declared edge counts more than one that may go anywhere."""
    found: dict[tuple[str, str], TopologyEdge] = {}
    for edge in edges:
        key = (edge.source, edge.target)
        known = found.get(key)
        if known is None or (known.anywhere and not edge.anywhere):
            found[key] = edge
        elif known.label and edge.label and edge.label not in known.label.split(" / "):
            found[key] = replace(known, label=f"{known.label} / {edge.label}")
    return list(found.values())


def _reachable(edges: Sequence[TopologyEdge]) -> list[TopologyEdge]:
    """The edges that a run can come to from the start."""
    found = {START}
    size = 0
    while size != len(found):
        size = len(found)
        found |= {edge.target for edge in edges if edge.source in found}
    return [edge for edge in edges if edge.source in found]


def _nest(outer: Topology, inner: Mapping[str, Topology]) -> Topology:
    """Put topologies in the place of the nodes that call them."""
    nodes: dict[str, TopologyNode] = {}
    groups: dict[str, TopologyNode] = {}
    edges: list[TopologyEdge] = []
    entry: dict[str, str] = {}
    exit_: dict[str, str] = {}
    for node in outer.nodes.values():
        child = inner.get(node.id)
        if child is None:
            nodes[node.id] = node
            continue
        groups[node.id] = replace(node, kind="subgraph", expanded=True)
        body, entry[node.id], exit_[node.id] = _trim(child)
        for into, parts in ((groups, body.groups), (nodes, body.nodes)):
            for part in parts.values():
                parent = f"{node.id}:{part.parent}" if part.parent else node.id
                into[f"{node.id}:{part.id}"] = replace(part, id=f"{node.id}:{part.id}", parent=parent)
        edges.extend(replace(e, source=f"{node.id}:{e.source}", target=f"{node.id}:{e.target}") for e in body.edges)
    for edge in outer.edges:
        source = f"{edge.source}:{exit_[edge.source]}" if edge.source in exit_ else edge.source
        target = f"{edge.target}:{entry[edge.target]}" if edge.target in entry else edge.target
        edges.append(replace(edge, source=source, target=target))
    return Topology(nodes, edges, groups)


def _trim(child: Topology) -> tuple[Topology, str, str]:
    """A child without its start and end where each is only a way to one node that nothing else leads to or from; and where
    one comes in and goes out."""
    first = [edge for edge in child.edges if edge.source == START]
    last = [edge for edge in child.edges if edge.target == END]
    drop = set()
    entry, exit_ = START, END
    if len(first) == 1 and not first[0].conditional and _count(child, "target", first[0].target) == 1:
        drop.add(START)
        entry = first[0].target
    if len(last) == 1 and not last[0].conditional and _count(child, "source", last[0].source) == 1:
        drop.add(END)
        exit_ = last[0].source
    elif not last:
        exit_ = next(name for name in child.nodes if name != START)
    nodes = {key: node for key, node in child.nodes.items() if key not in drop}
    edges = [edge for edge in child.edges if not drop & {edge.source, edge.target}]
    return Topology(nodes, edges, child.groups), entry, exit_


def _count(topology: Topology, side: str, node: str) -> int:
    return sum(getattr(edge, side) == node for edge in topology.edges)


def topology_from_drawable(drawable: Any) -> Topology:
    """The topology of a langchain-core drawable graph, as LangGraph's `get_graph(xray=True)` gives it: the path before the
    last ':' of an id names the subgraph around it."""
    nodes: dict[str, TopologyNode] = {}
    groups: dict[str, TopologyNode] = {}
    for node_id, found in drawable.nodes.items():
        parts = node_id.split(":")
        for size in range(1, len(parts)):
            above = ":".join(parts[:size])
            groups.setdefault(
                above, TopologyNode(above, parts[size - 1], "subgraph", ":".join(parts[: size - 1]) or None, True)
            )
        metadata = getattr(found, "metadata", None) or {}
        nodes[node_id] = TopologyNode(
            node_id, parts[-1], kind_of(parts[-1]), ":".join(parts[:-1]) or None, metadata=metadata
        )
    edges = [
        TopologyEdge(edge.source, edge.target, bool(edge.conditional), None if edge.data is None else str(edge.data))
        for edge in drawable.edges
    ]
    return Topology(nodes, _once(edges), groups)
