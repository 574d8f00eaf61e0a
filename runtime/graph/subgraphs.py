"""Find the graphs that a node calls, however it calls them.

A node that is a graph is plain. A graph called in a function is looked for in what the function can reach: its globals,
closure, defaults, bound object and partial arguments, through helper functions, methods and containers. What that misses
(a graph that arrives at run time) is learned when it first runs.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import partial
from types import CodeType, FunctionType
from typing import Any

_DEPTH = 4
"""Helper calls and containers to look through."""
_WIDTH = 200
"""Items of a container to look at."""


def is_graph(value: Any) -> bool:
    """Whether a value is a compiled graph of ours."""
    return getattr(type(value), "is_compiled_graph", False) is True


def graphs_in(target: Any) -> list[Any]:
    """The compiled graphs that a node's code can reach, each once, in the order they are found."""
    found: list[Any] = []
    for graph in _search(target, _DEPTH, set()):
        if not any(graph is known for known in found):
            found.append(graph)
    return found


def _search(value: Any, depth: int, seen: set[int]) -> Iterator[Any]:
    if id(value) in seen or depth < 0:
        return
    seen.add(id(value))
    if type(value) is FunctionType:
        yield from _function(value, depth, seen)
    elif is_graph(value):
        yield value
    elif isinstance(value, partial):
        for part in (value.func, *value.args, *value.keywords.values()):
            yield from _search(part, depth, seen)
    elif inspect.ismethod(value):
        yield from _search(value.__func__, depth, seen)
        yield from _attributes(value.__self__, _names(value.__func__.__code__), depth, seen)
    elif isinstance(value, dict):
        for item in list(value.values())[:_WIDTH]:
            yield from _search(item, depth - 1, seen)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for item in list(value)[:_WIDTH]:
            yield from _search(item, depth - 1, seen)
    else:
        yield from _object(value, depth, seen)


def _function(function: Any, depth: int, seen: set[int]) -> Iterator[Any]:
    names = _names(function.__code__)
    reachable = [function.__globals__[name] for name in names if name in function.__globals__]
    for cell in function.__closure__ or ():
        try:
            reachable.append(cell.cell_contents)
        except ValueError:  # a cell that is not filled yet
            continue
    reachable.extend(function.__defaults__ or ())
    reachable.extend((function.__kwdefaults__ or {}).values())
    wrapped = getattr(function, "__wrapped__", None)
    if wrapped is not None:
        reachable.append(wrapped)
    for part in reachable:
        if inspect.ismodule(part):
            yield from _attributes(part, names, depth, seen)
        else:
            yield from _search(part, depth - 1, seen)
            if not (is_graph(part) or inspect.isroutine(part)):
                yield from _attributes(part, names, depth, seen)


def _object(value: Any, depth: int, seen: set[int]) -> Iterator[Any]:
    """A callable object, or the steps of a Runnable."""
    call = getattr(type(value), "__call__", None)  # noqa: B004 - its code is searched, not called
    if inspect.isfunction(call) and not inspect.isclass(value):
        yield from _attributes(value, _names(call.__code__), depth, seen)
    for name in ("bound", "func", "afunc", "steps", "first", "middle", "last"):
        part = getattr(value, name, None) if not inspect.isclass(value) else None
        if part is not None and not isinstance(part, (str, int)):
            yield from _search(part, depth - 1, seen)


def _attributes(owner: Any, names: list[str], depth: int, seen: set[int]) -> Iterator[Any]:
    stored = getattr(owner, "__dict__", {})
    for name in names:
        if name in stored:
            yield from _search(stored[name], depth - 1, seen)
        elif inspect.isfunction(getattr(type(owner), name, None)):
            yield from _search(getattr(owner, name), depth - 1, seen)


def _names(code: CodeType) -> list[str]:
    """Names that the code mentions, and those of functions defined in it."""
    names = list(code.co_names)
    for const in code.co_consts:
        if isinstance(const, CodeType):
            names.extend(_names(const))
    return names
