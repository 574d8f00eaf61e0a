"""An action: user code (function, method, partial, async, Runnable, graph) in one shape that drivers can call.

Owns: finding out once, at build time, how the code wants to be called. Refuses: threads, awaits; an async action gives an
awaitable that the driver awaits.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Action:
    """User code, ready to be called with (input, context)."""

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
    return inspect.iscoroutinefunction(target) or inspect.iscoroutinefunction(getattr(target, "__call__", None))  # noqa: B004


def _wanted(target: Callable[..., Any]) -> tuple[tuple[str, Callable[[ExecutionContext], Any]], ...]:
    """The injected parameters that the code asks for, with how to fill each."""
    try:
        parameters = list(inspect.signature(target).parameters.values())
    except (TypeError, ValueError):  # builtins without a signature
        return ()
    named = [p for p in parameters[1:] if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    return tuple((p.name, fill) for p in named if (fill := _filling(p)) is not None)


def _filling(parameter: inspect.Parameter) -> Callable[[ExecutionContext], Any] | None:
    """How to fill a parameter, by its name; an error handler's by its type."""
    hint = parameter.annotation
    if hint is NodeError or (isinstance(hint, str) and hint.split(".")[-1] == "NodeError"):
        return lambda ctx: ctx.failure
    return _INJECTED.get(parameter.name)
