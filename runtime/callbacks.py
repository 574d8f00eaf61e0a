"""Callbacks for the life of a graph: it pauses, it goes on. Give a `GraphCallbackHandler` in `config["callbacks"]`.

Owns: the events, who hears them. Refuses: chains, models and tools, which langchain-core's own callbacks are about.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from langchain_core.callbacks import BaseCallbackHandler

from runtime.types import Interrupt

if TYPE_CHECKING:
    from uuid import UUID

    from langchain_core.runnables import RunnableConfig

_LOG = logging.getLogger(__name__)
GraphLifecycleStatus: TypeAlias = Literal[
    "input", "pending", "done", "interrupt_before", "interrupt_after", "out_of_steps"
]


@dataclass(frozen=True, slots=True)
class GraphInterruptEvent:
    """The outermost graph pauses."""

    run_id: UUID | None
    status: GraphLifecycleStatus
    """`pending` at a question, else the kind of breakpoint."""
    checkpoint_id: str
    """Where it waits."""
    checkpoint_ns: tuple[str, ...]
    interrupts: tuple[Interrupt, ...]
    """The questions; none at a breakpoint."""


@dataclass(frozen=True, slots=True)
class GraphResumeEvent:
    """A graph goes on from a checkpoint."""

    run_id: UUID | None
    status: GraphLifecycleStatus
    checkpoint_id: str
    checkpoint_ns: tuple[str, ...]
    """() for the outermost graph."""


GraphLifecycleEvent: TypeAlias = GraphInterruptEvent | GraphResumeEvent


class GraphCallbackHandler(BaseCallbackHandler):
    """Hears when a graph pauses and when it goes on. Either method may be async, for graphs that run with asyncio."""

    def on_interrupt(self, event: GraphInterruptEvent) -> Any:
        """The graph pauses."""

    def on_resume(self, event: GraphResumeEvent) -> Any:
        """The graph goes on."""


class _GraphCallbackManager:
    """Tells handlers, in their order. What one raises is logged, unless the handler says `raise_error`."""

    def __init__(self, handlers: Iterable[GraphCallbackHandler], run_id: UUID | None) -> None:
        self.handlers = list(handlers)
        self.run_id = run_id

    def on_interrupt(self, event: GraphInterruptEvent) -> None:
        """Tell all."""
        self._tell("on_interrupt", event)

    def on_resume(self, event: GraphResumeEvent) -> None:
        """Tell all."""
        self._tell("on_resume", event)

    def _tell(self, name: str, event: GraphLifecycleEvent) -> None:
        for handler in self.handlers:
            try:
                getattr(handler, name)(event)
            except Exception as error:  # noqa: BLE001 - a handler must not stop the run
                _report(handler, name, error)


class _AsyncGraphCallbackManager(_GraphCallbackManager):
    """The same, awaiting handlers that are async."""

    async def on_interrupt(self, event: GraphInterruptEvent) -> None:  # type: ignore[override]  # the async twin
        """Tell all."""
        await self._atell("on_interrupt", event)

    async def on_resume(self, event: GraphResumeEvent) -> None:  # type: ignore[override]  # the async twin
        """Tell all."""
        await self._atell("on_resume", event)

    async def _atell(self, name: str, event: GraphLifecycleEvent) -> None:
        for handler in self.handlers:
            try:
                told = getattr(handler, name)(event)
                if inspect.isawaitable(told):
                    await told
            except Exception as error:  # noqa: BLE001 - a handler must not stop the run
                _report(handler, name, error)


def _report(handler: GraphCallbackHandler, name: str, error: Exception) -> None:
    if handler.raise_error:
        raise error
    _LOG.warning("Error in %s.%s callback: %r", type(handler).__name__, name, error)


def graph_handlers(callbacks: Any) -> list[GraphCallbackHandler]:
    """The handlers of graph events in a config's callbacks: a list, a manager, or None."""
    given = getattr(callbacks, "handlers", callbacks) or ()
    return [handler for handler in given if isinstance(handler, GraphCallbackHandler)]


def get_sync_graph_callback_manager_for_config(
    config: RunnableConfig, *, run_id: UUID | None = None
) -> _GraphCallbackManager:
    """Tells the graph handlers among a config's callbacks."""
    return _GraphCallbackManager(graph_handlers(config.get("callbacks")), run_id)


def get_async_graph_callback_manager_for_config(
    config: RunnableConfig, *, run_id: UUID | None = None
) -> _AsyncGraphCallbackManager:
    """Tells the graph handlers among a config's callbacks, with asyncio."""
    return _AsyncGraphCallbackManager(graph_handlers(config.get("callbacks")), run_id)


__all__ = (
    "GraphCallbackHandler",
    "GraphInterruptEvent",
    "GraphLifecycleEvent",
    "GraphLifecycleStatus",
    "GraphResumeEvent",
    "get_async_graph_callback_manager_for_config",
    "get_sync_graph_callback_manager_for_config",
)
