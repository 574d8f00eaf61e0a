"""One call of a compiled graph: its session, its listeners, its loop, and who hears what.

Owns: where a call's state is stored, what its tasks are given, which of its items the caller and the graphs above get.
Refuses: the shapes of items; the public methods (runs.py).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from runtime.checkpoint.check import is_saver
from runtime.constants import NS_SEP, PREVIOUS
from runtime.context import ExecutionContext, Scope, Upstream, find_context
from runtime.engine.calls import callees_exist
from runtime.engine.drivers import AsyncInbox, Ended, adrive, drive
from runtime.engine.effects import Emit
from runtime.engine.line import strip_task_ids
from runtime.engine.loop import Loop
from runtime.engine.model import RunOptions, Task
from runtime.engine.session import Session
from runtime.graph.config import (
    breakpoints,
    inherit,
    merge_configs,
    own_notes,
    shown_metadata,
    task_base,
    task_context,
    task_runtime,
    with_callback,
)
from runtime.graph.handlers import handlers_around
from runtime.runtime import RunControl, Runtime, nobody_listens
from runtime.types import StreamWriter

if TYPE_CHECKING:
    from runtime.graph.compiled import CompiledStateGraph

_LIVE = frozenset(("messages", "custom"))


@dataclass(slots=True)  # one a run: freezing costs a microsecond a field
class CallOptions:
    """What the four methods take beside input and config."""

    context: Any
    modes: frozenset[str]
    """To give to the caller."""
    print_modes: frozenset[str]
    """To print."""
    output_keys: Sequence[str] | str | None
    interrupt_before: Sequence[str] | str | None
    interrupt_after: Sequence[str] | str | None
    durability: str | None
    subgraphs: bool
    control: RunControl | None = None
    message_events: bool = False
    """Mode messages gives the events of messages in place of their chunks."""


class Run:
    """One call in progress."""

    def __init__(
        self, graph: CompiledStateGraph, value: Any, config: Any, call: CallOptions, default_keys: Any
    ) -> None:
        self.graph = graph
        parent = self._parent(config)
        self.config = inherit(parent, graph.config, config) if parent else merge_configs(graph.config, config)
        saver, ns, thread_id = _place(graph, self.config, parent)
        self.modes = call.modes | call.print_modes
        self.print_modes = call.print_modes
        self.subgraphs = call.subgraphs
        self.upstream = parent.scope.upstream if parent else None
        self.root: tuple[str, ...] = tuple(ns.split(NS_SEP)) if ns else ()
        heard = self.modes | (self.upstream.modes if self.upstream else frozenset())
        self.inbox: Any = None
        self.tap = self._tap(call.message_events)
        keys = call.output_keys if call.output_keys is not None else default_keys
        self.session = Session(
            spec=graph.spec,
            options=RunOptions(
                config=self.config,  # type: ignore[arg-type]  # a plain dict with a RunnableConfig's keys
                context=call.context,
                input=value,
                modes=heard,
                output_keys=(keys,) if isinstance(keys, str) else tuple(keys),
                interrupt_before=breakpoints(call.interrupt_before, graph.interrupt_before_nodes),
                interrupt_after=breakpoints(call.interrupt_after, graph.interrupt_after_nodes),
                durability=call.durability or (parent.scope.durability if parent else "async"),
                subgraphs=call.subgraphs,
                notes=own_notes(self.config),
            ),
            parent=parent,
            thread_id=thread_id,
            ns=ns,
            saver=saver,
            next_version=saver.get_next_version if saver is not None else _count_up,
            tap=self.tap or (self.upstream.tap if self.upstream else None),
            use_cache=graph.cache is not None,
            run_id=_text(self.config.get("run_id") or self.config["configurable"].get("run_id")),
        )
        if saver is not None:
            inner = saver.get_next_version
            self.session.next_version = lambda current: inner(current, None)
        self.runtime = self._runtime(parent, call)
        self._scope: Scope | None = None
        self.loop = Loop(self.session, self._context, self._state_of, self.runtime.control)

    def _parent(self, config: Any) -> ExecutionContext | None:
        """The task that makes this call, unless the call names a thread of its own."""
        parent = find_context(config)
        if parent is None:
            return None
        thread = (config or {}).get("configurable", {}).get("thread_id")
        if thread is not None and thread != parent.scope.thread_id and is_saver(self.graph.checkpointer):
            return None
        return parent

    # -- what tasks are given ------------------------------------------------------------------------------------------

    def _runtime(self, parent: ExecutionContext | None, call: CallOptions) -> Runtime[Any]:
        store, context, control = self.graph.store, call.context, call.control
        if parent is not None:
            above = parent.runtime
            store = store or above.store
            context = context if context is not None else above.context
            control = control or above.control
        writer: StreamWriter = nobody_listens
        if "custom" in self.session.options.modes:
            ns = self.session.ns_path

            def send(value: Any) -> None:
                self.push(ns, "custom", value)

            writer = send

        context = _as_context(self.graph.builder.context_schema, context)
        return Runtime(context=context, store=store, stream_writer=writer, control=control or RunControl())

    def _context(self, session: Session, task: Task) -> ExecutionContext:
        if self._scope is None:
            self._scope = self._make_scope()
        return task_context(session, task, self._scope)

    def _make_scope(self) -> Scope:
        session = self.session
        previous = self._previous()
        runtime = self.runtime if previous is None else self.runtime.override(previous=previous)

        def read_state() -> dict[str, Any]:
            return session.reader.read(session.spec.branch_keys, session.step, session.stop)

        return Scope(
            thread_id=session.thread_id,
            saver=session.saver,
            line=session.line,
            upstream=self._for_children(),
            answering=session.answering,
            durability=session.options.durability,
            base=task_base(self.config),
            metadata=shown_metadata(self.config),
            trace=self.loop.trace,
            spawn=self.inbox.put if self.inbox is not None else _nobody_runs,
            saw_subgraph=self.graph.learn,
            read_state=read_state,
            make_runtime=lambda context: task_runtime(context, runtime, session.run_id),
        )

    def _previous(self) -> Any:
        """What a functional graph kept for this run."""
        channel = self.session.channels.get(PREVIOUS)
        return channel.get() if channel is not None and channel.is_available() else None

    def _state_of(self, session: Session, task: Task) -> Any:
        return child_config(self.graph, session.thread_id, task)

    # -- who listens ---------------------------------------------------------------------------------------------------

    def _tap(self, events: bool) -> Any:
        if "messages" not in self.modes:
            return None
        from runtime.stream.messages import EventTap, MessageTap  # imports langchain-core's callbacks, which is slow

        tap = (EventTap if events else MessageTap)(self.push, self.root, self.subgraphs)
        self.config["callbacks"] = with_callback(self.config, tap)
        return tap

    def _for_children(self) -> Upstream:
        """Where graphs called in this run send their items."""
        above = self.upstream
        own = self.modes if self.subgraphs else frozenset()
        tap = self.tap or (above.tap if above else None)
        return Upstream(own | (above.modes if above else frozenset()), self.push, tap)

    def push(self, ns: tuple[str, ...], mode: str, payload: Any) -> None:
        """An item from a node, a model, or a graph below; from any thread."""
        if self.upstream is not None and mode in self.upstream.modes and not self._by_tap(mode):
            self.upstream.push(ns, mode, payload)
        if self.hears(ns, mode) and self.inbox is not None:
            self.inbox.put(Emit(ns, mode, payload, forwarded=True))

    def _by_tap(self, mode: str) -> bool:
        """Whether a graph above hears this by a tap of its own."""
        return mode == "messages" and self.tap is not None

    def hears(self, ns: tuple[str, ...], mode: str) -> bool:
        """Whether this call's own caller asked for the item."""
        return mode in self.modes and (self.subgraphs or ns == self.root)

    def take(self, item: Emit) -> bool:
        """Pass a loop's item on to the graph above; True if this call's caller wants it."""
        if not item.forwarded and self.upstream is not None and item.mode in self.upstream.modes:
            self.upstream.push(item.ns, item.mode, item.payload)
        return self.hears(item.ns, item.mode)

    @property
    def live(self) -> bool:
        """Whether items are wanted while a node still runs."""
        return bool(self.modes) and (self.subgraphs or not self.modes.isdisjoint(_LIVE))

    @property
    def workers(self) -> int | None:
        """Tasks at once."""
        limit: int | None = self.config.get("max_concurrency")
        return limit

    # -- drive ---------------------------------------------------------------------------------------------------------

    def open(self, *, is_async: bool) -> None:
        """Get ready for one of the drivers."""
        self.inbox = AsyncInbox() if is_async else SimpleQueue()
        self.loop.trace = self._trace(is_async)

    @property
    def taps(self) -> list[Any]:
        """Callback handlers that follow the caller's stream."""
        return self.loop.trace.taps if self.loop.trace is not None else []

    def items(self) -> Iterator[Emit | Ended]:
        """With threads: what the caller wants, then Ended."""
        driver = drive(self.loop.run(), self.session.saver, self.inbox, **self._way())
        for item in driver:
            if isinstance(item, Ended) or self.take(item):
                yield item

    async def aitems(self) -> AsyncIterator[Emit | Ended]:
        """With asyncio: what the caller wants, then Ended."""
        driver = adrive(self.loop.run(), self.session.saver, self.inbox, **self._way())
        try:
            async for item in driver:
                if isinstance(item, Ended) or self.take(item):
                    yield item
        finally:
            await driver.aclose()  # type: ignore[attr-defined]  # an async generator

    def _way(self) -> dict[str, Any]:
        return {"live": self.live or callees_exist(), "workers": self.workers, "cache": self.graph.cache}

    def _trace(self, is_async: bool) -> Any:
        """Who tells callback handlers of this run; None where none listens."""
        if not self.config.get("callbacks") and not handlers_around():
            return None
        from runtime.stream.trace import graph_trace  # imports langchain-core's callbacks, which is slow

        return graph_trace(self.config, self.graph.name, is_async=is_async)


def _count_up(current: Any) -> int:
    """Channel versions of a run that stores nothing."""
    return (current or 0) + 1


def _as_context(schema: Any, context: Any) -> Any:
    if (
        schema is not None
        and isinstance(context, dict)
        and (hasattr(schema, "model_fields") or hasattr(schema, "__dataclass_fields__"))
    ):
        return schema(**context)
    return context


def _place(
    graph: CompiledStateGraph, config: Mapping[str, Any], parent: ExecutionContext | None
) -> tuple[Any, str, str | None]:
    """Saver, namespace and thread of a call."""
    configurable = config["configurable"]
    if parent is None:
        saver = graph.checkpointer or None
        if saver is True:
            raise RuntimeError(
                "checkpointer=True cannot be used for root graphs: it keeps a thread inside the parent's. "
                "Give a root graph a saver, e.g. InMemorySaver()."
            )
        if saver is not None and not configurable.get("thread_id"):
            raise ValueError(
                "Checkpointer requires one or more of the following 'configurable' keys: thread_id, checkpoint_ns, "
                "checkpoint_id. Call with config={'configurable': {'thread_id': '1'}}."
            )
        return saver, "", _text(configurable.get("thread_id"))
    parent.scope.saw_subgraph(parent.node, graph)
    index = parent.scratchpad.next_child()
    base = strip_task_ids(parent.checkpoint_ns) if graph.checkpointer is True else parent.checkpoint_ns
    ns = f"{base}{NS_SEP}{index}" if index else base
    return (None if graph.checkpointer is False else parent.scope.saver), ns, parent.scope.thread_id


def _nobody_runs(call: Any) -> None:
    raise RuntimeError("A task can only be called while its graph runs.")


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def child_config(graph: CompiledStateGraph, thread_id: str | None, task: Task) -> dict[str, Any] | None:
    """Where the state of the graph that a task calls is stored; None for a task that calls none."""
    known = graph.children(task.name)
    if not known:
        return None
    ns = strip_task_ids(task.checkpoint_ns) if known[0].checkpointer is True else task.checkpoint_ns
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": ns}}
