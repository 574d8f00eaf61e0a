"""Put the topologies of subgraphs in the place of the nodes that call them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from runtime.constants import END, START
from runtime.topology.model import Topology
from runtime.topology.parts import TopologyEdge, TopologyNode


def nest(outer: Topology, inner: Mapping[str, Topology]) -> Topology:
    """The outer topology with some nodes opened. Ids of what is inside are `node:inner`; edges of the outer graph go to the
    node inside where the subgraph begins, and leave from where it ends."""
    nodes: dict[str, TopologyNode] = {}
    groups: dict[str, TopologyNode] = {}
    edges: list[TopologyEdge] = []
    entries: dict[str, str] = {}
    exits: dict[str, str] = {}
    for node in outer.nodes.values():
        child = inner.get(node.id)
        if child is None:
            nodes[node.id] = node
            continue
        body, entry, exit_ = _trim(child)
        entries[node.id], exits[node.id] = f"{node.id}:{entry}", f"{node.id}:{exit_}"
        groups[node.id] = replace(node, kind="subgraph", expanded=True)
        groups |= _moved(body.groups, node.id)
        nodes |= _moved(body.nodes, node.id)
        edges += [
            replace(
                edge,
                source=f"{node.id}:{edge.source}",
                target=f"{node.id}:{edge.target}",
                within=_below(node.id, edge.within),
            )
            for edge in body.edges
        ]
    ends = [
        replace(edge, source=exits.get(edge.source, edge.source), target=entries.get(edge.target, edge.target))
        for edge in outer.edges
    ]
    return Topology(nodes, [*ends, *edges], groups)


def _moved(parts: Mapping[str, TopologyNode], above: str) -> dict[str, TopologyNode]:
    return {
        f"{above}:{part.id}": replace(part, id=f"{above}:{part.id}", parent=_below(above, part.parent))
        for part in parts.values()
    }


def _below(above: str, inner: str | None) -> str:
    return above if inner is None else f"{above}:{inner}"


def _trim(child: Topology) -> tuple[Topology, str, str]:
    """A child without its start and end, where each is only the way to or from one node that nothing else leads to or
    follows; and the nodes where one comes in and goes out."""
    own = [edge for edge in child.edges if edge.within is None]
    comes_in, goes_out = Counter(edge.target for edge in own), Counter(edge.source for edge in own)
    first = [edge for edge in own if edge.source == START]
    last = [edge for edge in own if edge.target == END]
    entry, exit_ = START, END
    if len(first) == 1 and comes_in[first[0].target] == 1:
        entry = first[0].target
    if len(last) == 1 and goes_out[last[0].source] == 1:
        exit_ = last[0].source
    elif not last:
        exit_ = list(child.nodes)[-1]  # a loop without an end: any place is as good as the last
    drop = {name for name, kept in ((START, entry), (END, exit_)) if name != kept}
    nodes = {name: node for name, node in child.nodes.items() if name not in drop}
    edges = [edge for edge in child.edges if not drop & {edge.source, edge.target}]
    return Topology(nodes, edges, child.groups), entry, exit_
