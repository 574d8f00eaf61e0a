"""Which of a graph's declared ways a run can take, as edges of a drawing.

A dry run goes through the super-steps with every router taking all its ways. It finds what can be reached (a join only once
all that it waits for is), and after which nodes a deferred node really starts: it waits until nothing else can run, so it
follows the last ones, not only those that lead to it. An end is drawn where a path can end: an edge to END beside other
edges of the same node changes nothing in a run, and is left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from runtime.constants import END, START
from runtime.topology.parts import TopologyEdge

Kind = Literal["anywhere", "plain", "conditional", "join"]
_STRENGTH: Mapping[Kind, int] = {"anywhere": 0, "conditional": 1, "join": 2, "plain": 2}
"""Which kind shows where several ways lead from one node to another: what is always taken hides what may be."""


@dataclass(frozen=True, slots=True)
class Way:
    """A declared way from one node to another."""

    source: str
    target: str
    kind: Kind = "plain"
    said: tuple[str, ...] = ()
    """What a router says to take it."""


@dataclass(frozen=True, slots=True)
class Declared:
    """What a builder declares."""

    nodes: tuple[str, ...]
    ways: tuple[Way, ...]
    joins: tuple[tuple[tuple[str, ...], str], ...]
    deferred: frozenset[str] = frozenset()


@dataclass(slots=True)
class _DryRun:
    reached: set[str] = field(default_factory=lambda: {START})
    added: list[Way] = field(default_factory=list)
    """From the last nodes of a stretch to the deferred nodes that waited for it."""
    last: set[str] = field(default_factory=set)
    """The nodes after which nothing runs."""


def edges_of(declared: Declared) -> list[TopologyEdge]:
    """The edges of the drawing, those of the start first, each pair of nodes once."""
    run = _dry_run(declared)
    joined = [
        Way(source, target, "join")
        for sources, target in declared.joins
        if run.reached.issuperset(sources)
        for source in sources
    ]
    plain_end = [way for way in declared.ways if way.target == END and way.kind == "plain"]
    ways = [way for way in declared.ways if way.source in run.reached and way not in plain_end]
    ways += [way for way in joined if way.target != END]
    leaving, waited_for = {way.source for way in ways}, {way.source for way in run.added}
    for name in declared.nodes:
        if name in run.reached and name not in leaving and (name in run.last or name not in waited_for):
            ways.append(Way(name, END, "conditional" if name in waited_for else "plain"))
    ways += run.added
    if START not in leaving:
        ways += [way for way in plain_end if way.source == START]
    rank = {name: index for index, name in enumerate([START, *declared.nodes, END])}
    return [_edge(way) for way in sorted(_once(ways), key=lambda way: (rank[way.source], rank[way.target]))]


def _dry_run(declared: Declared) -> _DryRun:
    follow: dict[str, set[str]] = {}
    for way in declared.ways:
        follow.setdefault(way.source, set()).add(way.target)
    run = _DryRun()
    frontier, stretch, waiting = {START}, set[str](), set[str]()
    seen: set[tuple[frozenset[str], int]] = set()
    while True:
        found = {target for name in frontier for target in follow.get(name, ())}
        found |= {target for sources, target in declared.joins if _joined(sources, frontier, run.reached)}
        waiting |= (found & declared.deferred) - run.reached
        following = found - declared.deferred - {END}
        step = (frozenset(following), len(run.reached | following))
        loops = step in seen or len(seen) > 2 * len(declared.nodes)
        if following and not loops:
            seen.add(step)
            frontier = following
        elif waiting:
            run.added += _deferred_ways(declared, stretch if following else frontier, waiting, loops=bool(following))
            frontier, stretch, waiting, seen = waiting, set(), set(), set()
        else:
            run.last = set() if following else frontier
            return run
        run.reached |= frontier
        stretch |= frontier


def _joined(sources: Iterable[str], frontier: Collection[str], reached: Collection[str]) -> bool:
    return all(source in reached for source in sources) and any(source in frontier for source in sources)


def _deferred_ways(
    declared: Declared, last: Collection[str], waiting: Collection[str], *, loops: bool
) -> Iterator[Way]:
    """From where a stretch of super-steps ends to what waited for that; nothing where those nodes lead there themselves.

    Args:
        last: the nodes of the last super-step; of the whole stretch, when it loops. Then it ends where a router says so.
    """
    ending = {way.source for way in declared.ways if way.target == END and way.kind == "conditional"}
    leads = {(way.source, way.target) for way in declared.ways}
    leads |= {(source, target) for sources, target in declared.joins for source in sources}
    sources = [name for name in last if name != START and (name in ending or not loops)]
    for target in waiting:
        if not any((source, target) in leads for source in sources):
            yield from (Way(source, target, "conditional") for source in sources)


def _once(ways: Iterable[Way]) -> list[Way]:
    """Each pair of nodes once: by its strongest kind, with all that is said to take it."""
    found: dict[tuple[str, str], Way] = {}
    for way in ways:
        pair = (way.source, way.target)
        known = found.get(pair)
        if known is None or _STRENGTH[way.kind] > _STRENGTH[known.kind]:
            found[pair] = way
        elif _STRENGTH[way.kind] == _STRENGTH[known.kind]:
            said = tuple(dict.fromkeys([*known.said, *way.said]))
            found[pair] = Way(way.source, way.target, way.kind, said)
    return list(found.values())


def _edge(way: Way) -> TopologyEdge:
    plain_name = way.said in ((), (way.target,))
    first = min(way.said, default=way.target)
    return TopologyEdge(
        way.source,
        way.target,
        conditional=way.kind in ("conditional", "anywhere"),
        label=None if plain_name else " / ".join(way.said),
        anywhere=way.kind == "anywhere",
        data=None if first == way.target else first,
    )
