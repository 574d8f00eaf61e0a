"""Tasks that a running task calls (`runtime.func.task`): what the caller hands over, and the task made of it.

The caller gets a future at once. The loop makes the task: its id follows from the caller's and from the order of calls, so
that after a pause a call finds the result that is stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from runtime.constants import NS_END, NS_SEP, PUSH, RETURN
from runtime.context import ExecutionContext
from runtime.engine.action import Action
from runtime.engine.model import Node, Task
from runtime.engine.plan import task_id
from runtime.policies import CachePolicy, RetryPolicy, TimeoutPolicy

_EXIST = [False]


def callees_exist() -> bool:
    """Whether this program has functions that tasks can call: their callers then need threads of their own."""
    return _EXIST[0]


@dataclass(frozen=True, slots=True)
class Callee:
    """A function that tasks can call, with its policies."""

    name: str
    action: Action
    """Takes (args, kwargs)."""
    retry: tuple[RetryPolicy, ...] = ()
    cache: CachePolicy[Any] | None = None
    cache_ns: tuple[str, ...] = ()
    timeout: TimeoutPolicy | None = None

    def __post_init__(self) -> None:
        _EXIST[0] = True


@dataclass(frozen=True, slots=True)
class TaskCall:
    """One call of a callee by a running task."""

    callee: Callee
    arguments: tuple[tuple[Any, ...], dict[str, Any]]
    caller: ExecutionContext
    index: int
    """Number of the call among those of its caller."""
    future: Any
    """A `concurrent.futures.Future`: gets the result once it is stored."""


def called_task(call: TaskCall, checkpoint_id: str, step: int, ns: str) -> Task:
    """The task of a call."""
    callee = call.callee
    caller = call.caller.scratchpad.task_id
    path = (PUSH, caller, call.index, callee.name)
    key = task_id(checkpoint_id, step, path)
    own_ns = f"{callee.name}{NS_END}{key}"
    node = Node(
        name=callee.name,
        action=callee.action,
        triggers=(PUSH,),
        keys=(),
        coerce=lambda values: values,
        write=lambda result: [(RETURN, result)],
        edges=(),
        branches=(),
        metadata={},
        retry=callee.retry,
        cache=callee.cache,
        cache_ns=callee.cache_ns,
    )
    return Task(
        id=key,
        name=callee.name,
        path=path,
        triggers=(PUSH,),
        input=call.arguments,
        node=node,
        step=step,
        checkpoint_ns=f"{ns}{NS_SEP}{own_ns}" if ns else own_ns,
        timeout=callee.timeout,
        caller=caller,
    )
