"""An action: user code (function, method, partial, async, Runnable, graph) in one shape that drivers can call.

Owns: finding out once, at build time, how the code wants to be called. Refuses: threads, awaits; an async action gives an
awaitable that the driver awaits.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from runtime.context import ExecutionContext
from runtime.errors import NodeError

_INJECTED: Mapping[str, Callable[[ExecutionContext], Any]] = {
    "config": lambda ctx: ctx.config,
    "runtime": lambda ctx: ctx.runtime,
    "writer": lambda ctx: ctx.runtime.stream_writer,
    "store": lambda ctx: ctx.runtime.store,
    "previous": lambda ctx: ctx.runtime.previous,
}
"""Parameters that the engine fills, by name."""


@dataclass(slots=True, eq=False)  # as for Node
class Action:
    """User code, ready to be called with (input, context). Nobody changes it."""

    name: str
    target: Any
    """What the author gave: the function, Runnable or graph."""
    call: Callable[[Any, ExecutionContext], Any] | None
    """Runs it now. None when there is only an async form."""
    acall: Callable[[Any, ExecutionContext], Any] | None
    """Gives an awaitable. None when there is only a sync form."""


def make_action(target: Any, name: str | None = None) -> Action:
    """The action of a function, a Runnable, or a compiled graph. Raises TypeError for anything else."""
    if hasattr(target, "invoke") and hasattr(target, "ainvoke"):
        return _from_runnable(target, name or getattr(target, "name", None) or type(target).__name__)
    if not callable(target):
        raise TypeError(
            f"Expected a function, a Runnable or a compiled graph, got {target!r} of type {type(target).__name__}."
        )
    return _from_callable(target, name or callable_name(target))


def callable_name(target: Any) -> str:
    """The name a node gets when none is given."""
    name = getattr(target, "__name__", None) or getattr(getattr(target, "func", None), "__name__", None)
    return str(name or type(target).__name__)


def _from_runnable(target: Any, name: str) -> Action:
    return Action(
        name,
        target,
        lambda value, ctx: target.invoke(value, ctx.config),
        lambda value, ctx: target.ainvoke(value, ctx.config),
    )


def _from_callable(target: Callable[..., Any], name: str) -> Action:
    wanted = _wanted(target)
    if not wanted:

        def call(value: Any, ctx: ExecutionContext) -> Any:
            return target(value)
    else:

        def call(value: Any, ctx: ExecutionContext) -> Any:
            return target(value, **{key: fill(ctx) for key, fill in wanted})

    if is_async(target):
        return Action(name, target, None, call)
    return Action(name, target, call, None)


def is_async(target: Any) -> bool:
    """Whether calling it gives a coroutine."""
    if type(target) is FunctionType and not target.__dict__:
        return bool(target.__code__.co_flags & inspect.CO_COROUTINE)
    return inspect.iscoroutinefunction(target) or inspect.iscoroutinefunction(getattr(target, "__call__", None))  # noqa: B004


def parameters(target: Any) -> list[tuple[str, Any, bool]]:
    """The parameters of a callable: (name, annotation or None, whether it can be given by name). [] where none can be known.

    A plain function's are read off its code, ten times as fast as `inspect.signature` makes its objects.
    """
    if type(target) is FunctionType and not target.__dict__:
        code, hints = target.__code__, target.__annotations__
        first, last = code.co_posonlyargcount, code.co_argcount
        names = code.co_varnames
        found = [(name, hints.get(name), at >= first) for at, name in enumerate(names[:last])]
        if code.co_flags & inspect.CO_VARARGS:
            found.append((names[last + code.co_kwonlyargcount], None, False))
        return [*found, *((name, hints.get(name), True) for name in names[last : last + code.co_kwonlyargcount])]
    try:
        given = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):  # builtins without a signature
        return []
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [(p.name, None if p.annotation is p.empty else p.annotation, p.kind in by_name) for p in given]


def _wanted(target: Callable[..., Any]) -> tuple[tuple[str, Callable[[ExecutionContext], Any]], ...]:
    """The injected parameters that the code asks for, with how to fill each."""
    found = ((name, _filling(name, hint)) for name, hint, by_name in parameters(target)[1:] if by_name)
    return tuple((name, fill) for name, fill in found if fill is not None)


def _filling(name: str, hint: Any) -> Callable[[ExecutionContext], Any] | None:
    """How to fill a parameter, by its name; an error handler's by its type."""
    if hint is NodeError or (isinstance(hint, str) and hint.split(".")[-1] == "NodeError"):
        return lambda ctx: ctx.failure
    return _INJECTED.get(name)
