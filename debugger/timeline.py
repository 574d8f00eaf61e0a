"""Pure: checkpoint headers -> branches and lanes.

A checkpoint's first child goes on in its branch; each further child starts a branch of its own. A lane is a column that
branches share when they do not overlap in time, as in a good git client.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import networkx as nx

from debugger.wire import Branch


@dataclass(frozen=True, slots=True)
class Header:
    """A checkpoint without its values."""

    checkpoint_id: str
    parent_id: str | None
    step: int
    source: str
    created_at: str
    writers: tuple[str, ...] = ()
    next: tuple[str, ...] = ()
    versions: Mapping[str, Any] = field(default_factory=dict)
    """Channel to version."""
    interrupts: int = 0
    error: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Lanes:
    """Where each checkpoint is drawn."""

    branch_of: Mapping[str, str]
    """Checkpoint id to branch id."""
    branches: Sequence[Branch]
    """Oldest first."""

    def lane(self, checkpoint_id: str) -> int:
        """The column of a checkpoint."""
        by_id = {branch.id: branch.lane for branch in self.branches}
        return by_id[self.branch_of[checkpoint_id]]


def tree(headers: Iterable[Header]) -> nx.DiGraph[str]:
    """The checkpoints, with an edge from each parent to its child."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    known = {header.checkpoint_id for header in headers}
    for header in sorted(headers, key=lambda header: header.checkpoint_id):
        graph.add_node(header.checkpoint_id)
        if header.parent_id in known:
            graph.add_edge(header.parent_id, header.checkpoint_id)
    return graph


def lanes(headers: Sequence[Header]) -> Lanes:
    """Branches and their columns, for all headers of a namespace in any order."""
    graph = tree(headers)
    branch_of: dict[str, str] = {}
    members: dict[str, list[str]] = {}
    forked_from: dict[str, str | None] = {}
    for checkpoint_id in sorted(graph):  # ids sort by time, so a parent comes before its children
        parent = next(iter(graph.predecessors(checkpoint_id)), None)
        first = parent is not None and min(graph.successors(parent)) == checkpoint_id
        branch = branch_of[parent] if first and parent is not None else checkpoint_id
        branch_of[checkpoint_id] = branch
        members.setdefault(branch, []).append(checkpoint_id)
        forked_from.setdefault(branch, parent)
    return Lanes(branch_of, _place(members, forked_from))


def _place(members: Mapping[str, Sequence[str]], forked_from: Mapping[str, str | None]) -> list[Branch]:
    """Give each branch the leftmost column that is free from its fork to its tip."""
    busy_until: list[str] = []
    placed = []
    for branch, ids in members.items():
        start = forked_from[branch] or ids[0]
        lane = next((i for i, until in enumerate(busy_until) if i > 0 and until < start), None)
        if lane is None:
            lane = len(busy_until)
            busy_until.append("")
        busy_until[lane] = ids[-1]
        placed.append(Branch(id=branch, lane=lane, tip=ids[-1], forked_from=forked_from[branch], count=len(ids)))
    return placed


def changed_channels(header: Header, parent: Header | None, keys: Iterable[str]) -> list[str]:
    """State keys whose version differs from the parent's."""
    before = parent.versions if parent else {}
    return sorted(key for key in keys if key in header.versions and header.versions[key] != before.get(key))
