"""A task's program: call the node, then its routers, and collect the writes; try again where the node's policies say so.

A generator of requests, so that the same steps serve threads and asyncio: the driver calls user code and sends back what
it returned, or throws what it raised.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Mapping
from dataclasses import replace
from time import time
from typing import Any

from runtime.constants import TASKS
from runtime.context import ExecutionContext, interrupt_id
from runtime.engine.apply import check_sends
from runtime.engine.effects import Call, Request, Sleep, Tell
from runtime.engine.model import Channels, Drained, Failed, Finished, GraphSpec, Jumped, Outcome, Paused, Task, Write
from runtime.errors import GraphDrained, GraphInterrupt, NodeInterrupt, ParentCommand
from runtime.policies import retry_pause
from runtime.types import Command, Interrupt

_LOG = logging.getLogger(__name__)
Program = Generator[Request, Any, Outcome]
FreshState = Callable[[list[Write]], Mapping[str, Any]]
"""A task's writes so far -> the state as it would be after them."""


def program(spec: GraphSpec, task: Task, context: ExecutionContext, fresh: FreshState) -> Program:
    """Run one task to its outcome. Never raises: what user code raises becomes the outcome."""
    attempt = 1
    began = time() if task.node.retry else 0.0
    while True:
        try:
            if context.scope.trace is None:
                return (yield from _steps(spec, task, context, fresh, None))
            return (yield from _traced(spec, task, context, fresh))
        except ParentCommand as up:
            return Jumped(up.command)
        except GraphInterrupt as pause:
            return Paused(_questions(task, pause))
        except GraphDrained as drained:
            return Drained(drained)
        except Exception as error:  # noqa: BLE001 - whatever user code raises is this task's outcome
            pause_for = retry_pause(task.node.retry, error, attempt) if task.node.retry else None
            if pause_for is None:
                return Failed(error)
            _LOG.info("Node '%s' failed at try %d, trying again in %.2f s: %r", task.name, attempt, pause_for, error)
            yield Sleep(pause_for)
            attempt += 1
            context = context.again(attempt, began)


def _questions(task: Task, pause: GraphInterrupt) -> tuple[Interrupt, ...]:
    if isinstance(pause, NodeInterrupt) and not pause.interrupts:
        return (Interrupt(pause.value, pause.id or interrupt_id(task.id, 0)),)
    return pause.interrupts


def _traced(spec: GraphSpec, task: Task, context: ExecutionContext, fresh: FreshState) -> Program:
    """The same, with callback handlers told of its start and end."""
    trace = yield Tell(lambda: context.scope.trace.start(task, context.config))
    inside = context.with_config(trace.config(context.config))
    try:
        outcome = yield from _steps(spec, task, inside, fresh, trace)
    except Exception as error:
        failure = error  # `error` is gone when the handler is called
        yield Tell(lambda: trace.fail(failure))
        raise
    yield Tell(lambda: trace.show(trace.output))
    yield Tell(lambda: trace.end(trace.output))
    return outcome


def _steps(spec: GraphSpec, task: Task, context: ExecutionContext, fresh: FreshState, trace: Any) -> Program:
    node = task.node
    if task.invalid is not None:
        raise task.invalid
    try:
        result = yield Call(node.action, task.input, context, task.timeout)
    except ParentCommand as up:
        if up.command.graph is not None:
            raise
        result = up.command  # a graph called in this node jumps here: as if the node had returned it
    if trace is not None:
        trace.output = result
    writes = node.write(result)
    if context.scratchpad.written:
        writes[:0] = context.scratchpad.written
    if node.branches:
        own = list(writes)
        writes.extend(node.edges)
        for number, branch in enumerate(node.branches):
            value = branch.read(fresh(own))
            if trace is None:
                said = yield Call(branch.router, value, context)
            else:
                said = yield from _routed(branch.router, value, number, context, trace)
            writes.extend(branch.write(said))
    else:
        writes.extend(node.edges)
    for name, _ in writes:
        if name == TASKS:
            check_sends(spec, writes)
            break
    if context.scratchpad.paused:
        _LOG.warning(
            "Node '%s' called interrupt() and swallowed the pause, so nobody is asked. "
            "Do not wrap interrupt() in 'except Exception': catch narrower errors, or re-raise GraphBubbleUp.",
            task.name,
        )
    return Finished(writes)


def _routed(
    router: Any, value: Any, number: int, context: ExecutionContext, trace: Any
) -> Generator[Request, Any, Any]:
    """A router, with callback handlers told of it."""
    child = yield Tell(lambda: trace.start_router(router.name, value, number))
    try:
        said = yield Call(router, value, context.with_config(child.config(context.config)))
    except Exception as error:
        failure = error
        yield Tell(lambda: child.fail(failure))
        raise
    yield Tell(lambda: child.end(said))
    return said


def for_parent(command: Command[Any]) -> ParentCommand:
    """The command as the graph above sees it: one level closer to its target."""
    return ParentCommand(replace(command, graph=None))


def state_after(channels: Channels, read: Callable[[Channels], dict[str, Any]]) -> FreshState:
    """How a task sees the state with its own writes, and none of its siblings', applied."""

    def fresh(writes: list[Write]) -> Mapping[str, Any]:
        return read({**channels, **written_channels(channels, writes)})

    return fresh


def written_channels(channels: Channels, writes: list[Write]) -> Channels:
    """Copies of the channels that are written to, as they would be after."""
    by_channel: dict[str, list[Any]] = {}
    for name, value in writes:
        by_channel.setdefault(name, []).append(value)
    written: Channels = {}
    for name, values in by_channel.items():
        if name in channels:
            written[name] = channels[name].copy()
            written[name].update(values)
    return written
