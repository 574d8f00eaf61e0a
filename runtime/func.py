"""The functional API: `@entrypoint` makes a graph of one function, `@task` makes functions that a running graph calls.

A task's result is stored as it ends. When the calling function runs again, after a pause or a failure, each call finds the
result of the call with the same number: so what is called must not depend on the clock or on chance outside of tasks.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Generic, get_args, get_origin

from typing_extensions import TypeVar

from runtime.channels import EphemeralValue, LastValue, Topic
from runtime.checkpoint.serde.types import allow_schema
from runtime.constants import END, PREVIOUS, ROOT, START, TASKS
from runtime.context import current_context
from runtime.engine.action import Action, callable_name, is_async, make_action
from runtime.engine.calls import Callee, TaskCall
from runtime.engine.model import GraphSpec, Node, Write
from runtime.graph.compiled import CompiledStateGraph
from runtime.graph.runnable import graph_class
from runtime.graph.schema import Schema, first_hint, return_hint
from runtime.graph.spec import cache_namespace
from runtime.graph.state import NodeSpec
from runtime.policies import CachePolicy, RetryPolicy, TimeoutPolicy, retry_policies
from runtime.types import Send

if TYPE_CHECKING:
    from runtime.cache.base import BaseCache
    from runtime.checkpoint.base import BaseCheckpointSaver
    from runtime.store.base import BaseStore

R = TypeVar("R")
S = TypeVar("S", default=Any)


class TaskFunction:
    """What `@task` makes of a function: calling it gives a future (something to await, in an async caller)."""

    def __init__(self, function: Callable[..., Any], callee: Callee) -> None:
        functools.update_wrapper(self, function)
        self.func = function
        self.name = callee.name
        self._callee = callee

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Start the task. Raises RuntimeError outside a running graph."""
        context = current_context()
        call = TaskCall(self._callee, (args, kwargs), context, context.scratchpad.next_call(), Future())
        context.scope.spawn(call)
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return call.future
        return asyncio.wrap_future(call.future, loop=loop)

    def __get__(self, owner: Any, owner_type: Any = None) -> Any:
        """As a method, it is given its object."""
        return self if owner is None else functools.partial(self, owner)

    def clear_cache(self, cache: BaseCache[Any]) -> None:
        """Forget the results that a cache has of it."""
        cache.clear((self._callee.cache_ns,))

    async def aclear_cache(self, cache: BaseCache[Any]) -> None:
        """`clear_cache`, awaited."""
        await cache.aclear((self._callee.cache_ns,))


def task(
    function: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    retry_policy: RetryPolicy | Sequence[RetryPolicy] | None = None,
    cache_policy: CachePolicy[Any] | None = None,
    timeout: float | timedelta | TimeoutPolicy | None = None,
) -> Any:
    """Make a function a task of the graphs that call it: `@task`, or `@task(name=..., ...)`.

    Args:
        name: shown in streams; the function's by default.
        retry_policy: when to try it again.
        cache_policy: remember its results by its arguments, where the graph has a cache.
        timeout: seconds, a timedelta or a TimeoutPolicy, for each try of an async function.

    Returns:
        A TaskFunction. Called in a running graph, it gives a future at once.

    Raises:
        TypeError: not a function.
        ValueError: a timeout on a sync function.
    """

    def make(target: Callable[..., Any]) -> TaskFunction:
        if not callable(target):
            raise TypeError(f"@task needs a function, got {target!r}.")
        called = name or callable_name(target)
        _allow(return_hint(target))
        limit = TimeoutPolicy.coerce(timeout)
        if limit is not None and not is_async(target):
            raise ValueError(f"Timeouts are only supported for async functions; task '{called}' is sync.")
        callee = Callee(
            called,
            _spreading(target, called),
            retry_policies(retry_policy),
            cache_policy,
            cache_namespace(target, called),
            limit,
        )
        return TaskFunction(target, callee)

    return make if function is None else make(function)


def _spreading(target: Callable[..., Any], name: str) -> Action:
    """The action of a function whose input is (args, kwargs)."""

    def call(value: Any, ctx: Any) -> Any:
        args, kwargs = value
        return target(*args, **kwargs)

    return Action(name, target, None, call) if is_async(target) else Action(name, target, call, None)


@dataclass(frozen=True, slots=True)
class Final(Generic[R, S]):
    """Give `value` to the caller, and keep `save` as `previous` of the thread's next run."""

    value: R
    save: S


@dataclass(slots=True)
class _FunctionBuilder:
    """A graph of one function, as a builder."""

    name: str
    action: Action
    schemas: dict[Any, Schema]
    context_schema: Any
    retry: tuple[RetryPolicy, ...]
    cache: CachePolicy[Any] | None
    timeout: TimeoutPolicy | None
    input_schema: Any = "input"
    output_schema: Any = "output"
    waiting_edges: set[tuple[tuple[str, ...], str]] = field(default_factory=set)
    branches: dict[str, Any] = field(default_factory=dict)

    @property
    def nodes(self) -> dict[str, NodeSpec]:
        """The one node."""
        return {self.name: NodeSpec(self.name, self.action, None, None, False, ())}

    @property
    def edges(self) -> set[tuple[str, str]]:
        """In and out."""
        return {(START, self.name), (self.name, END)}

    def to_spec(self, name: str) -> GraphSpec:
        """The engine's form of it: the input triggers the node, its result is the state."""
        node = Node(
            name=self.name,
            action=self.action,
            triggers=(START,),
            keys=(START,),
            coerce=lambda values: values.get(START),
            write=_result_writes,
            edges=(),
            branches=(),
            metadata={},
            retry=self.retry,
            timeout=self.timeout,
            cache=self.cache,
            cache_ns=cache_namespace(self.action.target, self.name),
        )
        start = EphemeralValue(Any, key=START)
        tasks = Topic(Send, accumulate=False, key=TASKS)
        return GraphSpec(
            name=name,
            nodes={self.name: node},
            channels={START: start, END: LastValue(Any, END), PREVIOUS: LastValue(Any, PREVIOUS), TASKS: tasks},
            managed={},
            triggered_by={START: (self.name,)},
            ticking=(START, TASKS),
            finishing=(),
            output_keys=(END,),
            stream_keys=(END,),
            branch_keys=(END,),
            root=END,
        )


def _result_writes(result: Any) -> list[Write]:
    if isinstance(result, Final):
        return [(END, result.value), (PREVIOUS, result.save)]
    return [(END, result), (PREVIOUS, result)]


class entrypoint:  # noqa: N801 - a decorator, LangGraph's name
    """Make a function a graph: `@entrypoint(checkpointer=...)`.

    The function's first parameter is the input; it may also take `config`, `previous`, `runtime`, `store` and `writer`.
    What it returns is the output, and `previous` of the thread's next run; `entrypoint.final(value=..., save=...)` tells
    the two apart.

    Args:
        checkpointer: keeps results of tasks and what the thread's next run sees as `previous`.
        store, cache, context_schema: as for `StateGraph.compile`.
        cache_policy, retry_policy, timeout: of the function as a whole.
    """

    final = Final

    def __init__(
        self,
        checkpointer: BaseCheckpointSaver[Any] | None = None,
        store: BaseStore | None = None,
        cache: BaseCache[Any] | None = None,
        context_schema: Any = None,
        cache_policy: CachePolicy[Any] | None = None,
        retry_policy: RetryPolicy | Sequence[RetryPolicy] | None = None,
        timeout: float | timedelta | TimeoutPolicy | None = None,
    ) -> None:
        self.checkpointer = checkpointer
        self.store = store
        self.cache = cache
        self.context_schema = context_schema
        self.cache_policy = cache_policy
        self.retry_policy = retry_policies(retry_policy)
        self.timeout = TimeoutPolicy.coerce(timeout)

    def __call__(self, function: Callable[..., Any]) -> CompiledStateGraph:
        """The graph.

        Raises:
            ValueError: a function without a parameter for the input; a timeout on a sync function.
            NotImplementedError: a generator.
        """
        name = callable_name(function)
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise NotImplementedError(
                f"Entrypoint '{name}' is a generator, which is not supported: stream by a `writer` parameter instead."
            )
        if not inspect.signature(function).parameters:
            raise ValueError(f"Entrypoint function '{name}' must have at least one parameter: its input.")
        if self.timeout is not None and not is_async(function):
            raise ValueError(f"Timeouts are only supported for async functions; entrypoint '{name}' is sync.")
        _allow(first_hint(function), return_hint(function))
        builder = _FunctionBuilder(
            name,
            make_action(function, name),
            {"input": _bare(first_hint(function)), "output": _bare(_output_hint(function))},
            self.context_schema,
            self.retry_policy,
            self.cache_policy,
            self.timeout,
        )
        return graph_class()(
            builder,
            checkpointer=self.checkpointer,
            store=self.store,
            cache=self.cache,
            before=(),
            after=(),
            debug=False,
            name=None,
        )


def _allow(*hints: Any) -> None:
    """Let stored values become instances of what these annotations mention."""
    for hint in hints:
        if isinstance(hint, type) or get_origin(hint) is not None:
            allow_schema(hint)


def _bare(hint: Any) -> Schema:
    typ = Any if hint is None else hint
    return Schema(typ, {ROOT: LastValue(typ, ROOT)}, {})


def _output_hint(function: Any) -> Any:
    hint = return_hint(function)
    if get_origin(hint) is Final:
        return get_args(hint)[0]
    return hint


__all__ = ["entrypoint", "task"]
