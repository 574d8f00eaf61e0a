"""Compiled graph -> topology: true edges for routers, jumps, joins and deferred nodes, and its subgraphs in their places.

Reads builders through a protocol, so it draws our graphs and LangGraph's alike.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from typing import Any, Protocol, cast

from runtime.constants import END, START
from runtime.topology.flow import Declared, Way, edges_of
from runtime.topology.model import Topology
from runtime.topology.nest import nest
from runtime.topology.parts import TopologyNode, kind_of


class NodeLike(Protocol):
    """A node as it was added to a builder."""

    metadata: Mapping[str, Any] | None
    defer: bool
    ends: Collection[str] | Mapping[str, str] | None
    """Where it may jump; a mapping has labels."""


class BranchLike(Protocol):
    """A router as it was added to a builder."""

    ends: Mapping[Hashable, str] | None
    """What it says -> node; None when nothing is declared."""


class BuilderLike(Protocol):
    """What a builder declares."""

    nodes: Mapping[str, NodeLike]
    edges: Iterable[tuple[str, str]]
    waiting_edges: Iterable[tuple[tuple[str, ...], str]]
    branches: Mapping[str, Mapping[str, BranchLike]]


class CompiledLike(Protocol):
    """A compiled graph that keeps its builder."""

    builder: Any
    """A `BuilderLike`."""

    def get_subgraphs(self, *, namespace: str | None = None, recurse: bool = False) -> Iterable[tuple[str, Any]]:
        """(node, graph) for each node that calls a graph whose state is kept."""


def topology_of(compiled: CompiledLike, *, xray: bool | int = False) -> Topology:
    """The topology of a compiled graph.

    Args:
        xray: open subgraphs: all, or to a depth. Ids of what is inside are `node:inner`. A graph that calls itself is
            opened once.
    """
    return _opened(compiled, xray, ())


def has_builder(graph: object) -> bool:
    """Whether a graph keeps what it was built from, as `topology_of` needs it."""
    builder = getattr(graph, "builder", None)
    return all(hasattr(builder, name) for name in ("nodes", "edges", "waiting_edges", "branches"))


def _opened(compiled: CompiledLike, xray: bool | int, above: tuple[Any, ...]) -> Topology:
    flat = _flat(cast(BuilderLike, compiled.builder))
    if not xray:
        return flat
    around = (*above, compiled.builder)
    deeper = xray if isinstance(xray, bool) else xray - 1
    inner = {
        node: _opened(graph, deeper, around)
        for node, graph in compiled.get_subgraphs()
        if has_builder(graph) and not any(graph.builder is known for known in around)
    }
    return nest(flat, inner)


def _flat(builder: BuilderLike) -> Topology:
    declared = Declared(
        nodes=tuple(builder.nodes),
        ways=tuple(_ways(builder)),
        joins=tuple(sorted(builder.waiting_edges)),
        deferred=frozenset(name for name, spec in builder.nodes.items() if spec.defer),
    )
    edges = edges_of(declared)
    names = [START, *builder.nodes, *([END] if any(edge.target == END for edge in edges) else [])]
    nodes = {
        name: TopologyNode(name, name, kind_of(name), metadata=_metadata(builder.nodes.get(name))) for name in names
    }
    return Topology(nodes, edges)


def _metadata(spec: NodeLike | None) -> dict[str, Any]:
    if spec is None:
        return {}
    return {**(spec.metadata or {}), **({"defer": True} if spec.defer else {})}


def _ways(builder: BuilderLike) -> Iterator[Way]:
    for source, target in sorted(builder.edges):
        yield Way(source, target)
    for source, branches in builder.branches.items():
        for branch in branches.values():
            yield from _router(source, branch.ends, builder.nodes)
    for name, spec in builder.nodes.items():
        labels = spec.ends if isinstance(spec.ends, Mapping) else {}
        for target in spec.ends or ():
            yield Way(name, target, "conditional", (labels[target],) if target in labels else ())


def _router(source: str, ends: Mapping[Hashable, str] | None, nodes: Iterable[str]) -> Iterator[Way]:
    if ends is None:
        yield from (Way(source, target, "anywhere") for target in [*nodes, END])
        return
    for said, target in ends.items():
        yield Way(source, target, "conditional", (str(said),))
