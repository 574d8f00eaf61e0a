"""What a node returned, or a router said -> writes to channels."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Hashable, Mapping
from typing import Any

from runtime.constants import BRANCH_TO, END, ROOT, TASKS
from runtime.engine.model import Write
from runtime.errors import InvalidUpdateError, ParentCommand
from runtime.graph.schema import as_items
from runtime.types import Command, Send

_LOG = logging.getLogger(__name__)


def node_writer(
    name: str, keys: Collection[str], nodes: Collection[str], *, is_graph: bool = False
) -> Callable[[Any], list[Write]]:
    """How to read what the node `name` returned.

    Args:
        keys: all state keys.
        nodes: where it may jump.
        is_graph: the node is a graph, whose own keys the parent need not know.
    """

    root = ROOT in keys
    known = frozenset(keys)

    def write(result: Any) -> list[Write]:
        if result is None:
            return []
        if type(result) is dict and not root:
            if result.keys() <= known:
                return list(result.items())
        elif isinstance(result, Command):
            return _command(name, result, keys, nodes)
        if is_graph and isinstance(result, Mapping):
            return [(key, value) for key, value in result.items() if key in keys]
        if isinstance(result, (list, tuple)) and any(isinstance(part, Command) for part in result):
            return [w for part in result for w in write(part)]
        return [(ROOT, result)] if root else _update(name, result, keys)

    return write


def _update(name: str, result: Any, keys: Collection[str]) -> list[Write]:
    items = list(result.items()) if isinstance(result, Mapping) else as_items(result)
    if items is None:
        raise InvalidUpdateError(
            f"Expected dict, got {result!r} from node '{name}'. Return a dict of state keys, a Command, or None."
        )
    return _known(name, items, keys)


def _known(name: str, items: list[tuple[str, Any]], keys: Collection[str]) -> list[Write]:
    unknown = [key for key, _ in items if key not in keys]
    if unknown:
        _LOG.warning("Node '%s' returned %s, which the state schema does not have: dropped.", name, unknown)
    return [(key, value) for key, value in items if key in keys]


def _command(name: str, command: Command[Any], keys: Collection[str], nodes: Collection[str]) -> list[Write]:
    if command.graph == Command.PARENT:
        raise ParentCommand(command)
    if command.graph is not None:
        raise InvalidUpdateError(
            f"Node '{name}' returned Command(graph={command.graph!r}). Use Command.PARENT, or leave graph out."
        )
    items = as_items(command.update) if command.update is not None and ROOT not in keys else None
    if command.update is None:
        items = []
    writes = _known(name, list(command._update_as_tuples()) if items is None else items, keys)
    goto = command.goto
    for target in goto if isinstance(goto, (list, tuple)) else (goto,):
        if isinstance(target, Send):
            writes.append((TASKS, target))
        elif target != END:
            if target not in nodes:
                raise InvalidUpdateError(
                    f"Node '{name}' jumps to unknown node '{target}'. The nodes are {sorted(nodes)}; "
                    f"for a node of the graph above, use Command(graph=Command.PARENT)."
                )
            writes.append((f"{BRANCH_TO}{target}", None))
    return writes


def branch_writer(
    router: str, ends: Mapping[Hashable, str] | None, nodes: Collection[str]
) -> Callable[[Any], list[Write]]:
    """How to read what a router said. `ends`: its map, if it has one."""

    def write(said: Any) -> list[Write]:
        writes: list[Write] = []
        for place in said if isinstance(said, (list, tuple)) else (said,):
            target = place if isinstance(place, Send) or ends is None else _look_up(router, place, ends)
            if isinstance(target, Send):
                if target.node == END:
                    raise InvalidUpdateError(f"Router '{router}' sends a packet to END: Cannot send a packet to END.")
                writes.append((TASKS, target))
            elif target is None:
                raise ValueError(f"Router '{router}' did not return a valid destination: it returned None.")
            elif target != END:
                if target not in nodes:
                    raise ValueError(
                        f"Router '{router}' returned '{target}', which is no node. The nodes are {sorted(nodes)}."
                    )
                writes.append((f"{BRANCH_TO}{target}", None))
        return writes

    return write


class UnmappedRouteError(KeyError, ValueError):
    """A router returned a value that its map lacks."""

    def __str__(self) -> str:
        return str(self.args[0])


def _look_up(router: str, place: Any, ends: Mapping[Hashable, str]) -> Any:
    if place in ends:
        return ends[place]
    raise UnmappedRouteError(
        f"Router '{router}' returned {place!r}, which its map lacks. The map has {sorted(map(str, ends))}: "
        f"add {place!r} to it, or return one of these."
    )
