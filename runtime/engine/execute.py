"""A task's program: call the node, then its routers, and collect the writes.

A generator of `Call`s, so that the same steps serve threads and asyncio: the driver calls user code and sends back what
it returned, or throws what it raised.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Mapping
from dataclasses import replace
from typing import Any

from runtime.context import ExecutionContext
from runtime.engine.apply import check_sends
from runtime.engine.effects import Call
from runtime.engine.model import Channels, Failed, Finished, GraphSpec, Jumped, Outcome, Paused, Task, Write
from runtime.errors import GraphInterrupt, ParentCommand
from runtime.types import Command

_LOG = logging.getLogger(__name__)
Program = Generator[Call, Any, Outcome]
FreshState = Callable[[list[Write]], Mapping[str, Any]]
"""A task's writes so far -> the state as it would be after them."""


def program(spec: GraphSpec, task: Task, context: ExecutionContext, fresh: FreshState) -> Program:
    """Run one task to its outcome. Never raises: what user code raises becomes the outcome."""
    try:
        return (yield from _steps(spec, task, context, fresh))
    except ParentCommand as up:
        return Jumped(up.command)
    except GraphInterrupt as pause:
        return Paused(pause.interrupts)
    except Exception as error:  # noqa: BLE001 - whatever user code raises is this task's outcome
        return Failed(error)


def _steps(spec: GraphSpec, task: Task, context: ExecutionContext, fresh: FreshState) -> Program:
    node = task.node
    if task.invalid is not None:
        raise task.invalid
    try:
        result = yield Call(node.action, task.input, context)
    except ParentCommand as up:
        if up.command.graph is not None:
            raise
        result = up.command  # a graph called in this node jumps here: as if the node had returned it
    writes = node.write(result)
    own = list(writes)
    writes.extend(node.edges)
    for branch in node.branches:
        said = yield Call(branch.router, branch.read(fresh(own)), context)
        writes.extend(branch.write(said))
    check_sends(spec, writes)
    if context.scratchpad.paused:
        _LOG.warning(
            "Node '%s' called interrupt() and swallowed the pause, so nobody is asked. "
            "Do not wrap interrupt() in 'except Exception': catch narrower errors, or re-raise GraphBubbleUp.",
            task.name,
        )
    return Finished(writes)


def for_parent(command: Command[Any]) -> ParentCommand:
    """The command as the graph above sees it: one level closer to its target."""
    return ParentCommand(replace(command, graph=None))


def state_after(channels: Channels, read: Callable[[Channels], dict[str, Any]]) -> FreshState:
    """How a task sees the state with its own writes, and none of its siblings', applied."""

    def fresh(writes: list[Write]) -> Mapping[str, Any]:
        by_channel: dict[str, list[Any]] = {}
        for name, value in writes:
            by_channel.setdefault(name, []).append(value)
        view = dict(channels)
        for name, values in by_channel.items():
            if name in view:
                view[name] = view[name].copy()
                view[name].update(values)
        return read(view)

    return fresh
