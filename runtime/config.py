"""What code inside a node can ask of the run around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.context import current_context

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from runtime.store.base import BaseStore
    from runtime.types import StreamWriter


def get_config() -> RunnableConfig:
    """The config of the task that is running. Raises RuntimeError outside one."""
    return current_context().config


def get_store() -> BaseStore:
    """The store that the graph was compiled with. Raises RuntimeError outside a task or without a store."""
    store = current_context().runtime.store
    if store is None:
        raise RuntimeError("This graph has no store. Give it one: builder.compile(store=InMemoryStore()).")
    return store


def get_stream_writer() -> StreamWriter:
    """Sends values to `stream_mode="custom"`; does nothing where nobody listens. Raises RuntimeError outside a task."""
    return current_context().runtime.stream_writer
