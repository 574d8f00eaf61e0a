"""Tell langchain-core's callback handlers of a run, its nodes and its routers: what tracers and `astream_events` hear.

Names, tags and metadata are those that LangGraph gives. Methods give what the manager gives: a value, or with asyncio
something to await; drivers know which. Imported only where somebody listens.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Any
from uuid import UUID, uuid4

from langchain_core.callbacks import AsyncCallbackManager, CallbackManager

from runtime.callbacks import (
    GraphInterruptEvent,
    GraphResumeEvent,
    get_async_graph_callback_manager_for_config,
    get_sync_graph_callback_manager_for_config,
)
from runtime.constants import TAG_HIDDEN
from runtime.engine.model import Task
from runtime.types import Interrupt


def graph_trace(config: Mapping[str, Any], name: str, *, is_async: bool) -> GraphTrace | None:
    """The trace of a run; None if no handler wants to hear of chains."""
    kind: Any = AsyncCallbackManager if is_async else CallbackManager
    shown = {"thread_id": config["configurable"]["thread_id"]} if "thread_id" in config["configurable"] else {}
    manager = kind.configure(
        inheritable_callbacks=config.get("callbacks"),
        inheritable_tags=config.get("tags"),
        inheritable_metadata={**shown, **config["metadata"]},
    )
    if all(handler.ignore_chain for handler in manager.handlers):
        return None
    run_id = config.get("run_id") or uuid4()
    return GraphTrace(manager, config.get("run_name") or name, run_id if isinstance(run_id, UUID) else UUID(run_id))


def _then(given: Any, use: Callable[[Any], Any]) -> Any:
    """`use` on a value, or on what it becomes when awaited."""
    if not inspect.isawaitable(given):
        return use(given)

    async def later() -> Any:
        return use(await given)

    return later()


class Span:
    """One run of something, started."""

    def __init__(self, run: Any) -> None:
        self._run = run

    def end(self, value: Any) -> Any:
        """It ended well, and gave this."""
        return self._run.on_chain_end(value)

    def fail(self, error: BaseException) -> Any:
        """It raised; a pause counts as that."""
        return self._run.on_chain_error(error)


async def _drain(run_id: UUID, taps: Iterable[Any], value: Any) -> None:
    async def one() -> AsyncIterator[Any]:
        yield value

    for tap in taps:
        async for _ in tap.tap_output_aiter(run_id, one()):
            pass


class NodeSpan(Span):
    """A node that runs."""

    def __init__(self, run: Any, task: Task) -> None:
        super().__init__(run)
        self._task = task
        self.output: Any = None
        """What the node gave, once it has."""

    def config(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """The config for what the node calls."""
        return {**config, "callbacks": self._run.get_child("seq:step:1")}

    def show(self, value: Any) -> Any:
        """The node and its routers are through; handlers that follow streams see what it gave as one chunk."""
        taps = [handler for handler in self._run.handlers if hasattr(handler, "tap_output_iter")]
        if not taps:
            return None
        if isinstance(self._run.get_child(), AsyncCallbackManager):
            return _drain(self._run.run_id, taps, value)
        for tap in taps:
            for _ in tap.tap_output_iter(self._run.run_id, iter((value,))):
                pass
        return None

    def end(self, value: Any) -> Any:
        """The node and its routers ended well."""
        policy = self._task.node.trace
        if policy is not None and policy.process_outputs is not None:
            value = policy.process_outputs(value)
        return super().end(value)

    def start_router(self, name: str, value: Any, number: int) -> Any:
        """A router of the node begins; gives its span."""
        child = self._run.get_child()
        child.tags.insert(0, f"seq:step:{(2 if self._task.node.hidden else 3) + number}")
        return _then(child.on_chain_start(None, value, name=name), RouterSpan)


class RouterSpan(Span):
    """A router that runs."""

    def config(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """The config for what the router calls."""
        return {**config, "callbacks": self._run.get_child()}


class GraphTrace:
    """The run of a graph."""

    def __init__(self, manager: Any, name: str, run_id: UUID) -> None:
        self.run_id = run_id
        self._manager = manager
        self._name = name
        self._run: Any = None

    @property
    def taps(self) -> list[Any]:
        """Handlers that follow streams."""
        return [handler for handler in self._manager.handlers if hasattr(handler, "tap_output_iter")]

    def begin(self, value: Any) -> Any:
        """The run begins."""
        return _then(self._manager.on_chain_start(None, value, name=self._name, run_id=self.run_id), self._begun)

    def _begun(self, run: Any) -> None:
        self._run = run

    def finish(self, values: Any) -> Any:
        """The run ended, or pauses at a question."""
        return self._run.on_chain_end(values)

    def fail(self, error: BaseException) -> Any:
        """The run raised."""
        return self._run.on_chain_error(error)

    def start(self, task: Task, config: Mapping[str, Any]) -> Any:
        """A task begins; gives its span."""
        child = self._run.get_child()
        child.tags.insert(0, f"graph:step:{task.step}")
        child.add_metadata(dict(config["metadata"]))
        if task.node.hidden:
            child.add_tags([TAG_HIDDEN])
        policy = task.node.trace
        value = task.input
        if policy is not None and policy.process_inputs is not None:
            value = policy.process_inputs(value)
        return _then(child.on_chain_start(None, value, name=task.name), lambda run: NodeSpan(run, task))

    # -- the life of the graph -----------------------------------------------------------------------------------------

    def resumed(self, checkpoint_id: str, ns: tuple[str, ...]) -> Any:
        """The run goes on from a checkpoint."""
        return self._life().on_resume(GraphResumeEvent(self.run_id, "pending", checkpoint_id, ns))

    def interrupted(self, status: Any, checkpoint_id: str, interrupts: tuple[Interrupt, ...]) -> Any:
        """The outermost run pauses."""
        return self._life().on_interrupt(GraphInterruptEvent(self.run_id, status, checkpoint_id, (), interrupts))

    def _life(self) -> Any:
        config: Any = {"callbacks": self._manager}
        if isinstance(self._manager, AsyncCallbackManager):
            return get_async_graph_callback_manager_for_config(config, run_id=self.run_id)
        return get_sync_graph_callback_manager_for_config(config, run_id=self.run_id)
