"""The checkpointer's interface, as LangGraph has it, and what ours offer beyond it.

A saver keeps, for each thread and namespace, a tree of checkpoints and the writes of the tasks that ran from each. Values
live apart from checkpoints, by channel and version.
"""

from __future__ import annotations

import asyncio
import random
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypedDict, TypeVar

from runtime.checkpoint.serde.jsonplus import JsonPlusSerializer
from runtime.constants import ERROR, INTERRUPT, RESUME

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

V = TypeVar("V", int, float, str)
ChannelVersions = dict[str, Any]
PendingWrite = tuple[str, str, Any]
"""(task id, channel, value)."""
WRITES_IDX_MAP: Mapping[str, int] = {ERROR: -1, "__scheduled__": -2, INTERRUPT: -3, RESUME: -4}
"""Notes about a task replace themselves; its other writes are numbered from 0."""


class CheckpointMetadata(TypedDict, total=False):
    """What is known of how a checkpoint came about."""

    source: str
    """input, loop, update or fork."""
    step: int
    """-1 for the first input, then 0, 1, ..."""
    parents: dict[str, str]
    """Namespace to checkpoint id, of the graphs above."""


class Checkpoint(TypedDict, total=False):
    """The stored record."""

    v: int
    id: str
    ts: str
    channel_values: dict[str, Any]
    channel_versions: ChannelVersions
    versions_seen: dict[str, ChannelVersions]
    updated_channels: list[str] | None
    writers: list[str]
    """Nodes whose writes made it. Ours; LangGraph's checkpoints have none."""
    next_nodes: list[str]
    """Nodes that run next. Ours."""


class CheckpointTuple(NamedTuple):
    """A checkpoint with its surroundings."""

    config: RunnableConfig
    checkpoint: Any
    metadata: Any
    parent_config: RunnableConfig | None = None
    pending_writes: list[PendingWrite] | None = None


@dataclass(frozen=True, slots=True)
class CheckpointHeader:
    """A checkpoint without its values: what a timeline shows."""

    thread_id: str
    checkpoint_ns: str
    checkpoint_id: str
    parent_id: str | None
    step: int
    source: str
    ts: str
    metadata: Mapping[str, Any]
    channel_versions: Mapping[str, Any]
    writers: tuple[str, ...] = ()
    next: tuple[str, ...] = ()
    interrupts: int = 0
    """Tasks that wait for an answer."""
    error: str | None = None
    """Of the first task that failed here."""
    extra: Mapping[str, Any] = field(default_factory=dict)


class BaseCheckpointSaver(ABC, Generic[V]):
    """Base of all checkpointers. The same object serves sync and async code."""

    instant: bool = False
    """Whether calls never wait, so that async code may call the sync methods directly."""

    def __init__(self, *, serde: JsonPlusSerializer | None = None) -> None:
        self.serde = serde or JsonPlusSerializer()

    @property
    def config_specs(self) -> list[Any]:
        """Config fields beyond the usual ones: none."""
        return []

    def get(self, config: RunnableConfig) -> Any:
        """The checkpoint that a config names, or the newest; None if there is none."""
        found = self.get_tuple(config)
        return found.checkpoint if found else None

    @abstractmethod
    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that a config names, or the newest, with its writes; None if there is none."""

    @abstractmethod
    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - LangGraph's name
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Checkpoints, newest first. Without `checkpoint_ns` in the config: of all namespaces of the thread."""

    @abstractmethod
    def put(
        self, config: RunnableConfig, checkpoint: Any, metadata: Any, new_versions: ChannelVersions
    ) -> RunnableConfig:
        """Store a checkpoint as the child of the one that `config` names. Only values of `new_versions` are written."""

    @abstractmethod
    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store what a task that ran from a checkpoint has written."""

    @abstractmethod
    def delete_thread(self, thread_id: str) -> None:
        """Remove all that is stored of a thread."""

    @abstractmethod
    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Give another thread the same checkpoints."""

    @abstractmethod
    def headers(self, thread_id: str, checkpoint_ns: str = "") -> Iterator[CheckpointHeader]:
        """The checkpoints of a namespace, newest first, without reading a value."""

    @abstractmethod
    def namespaces(self, thread_id: str) -> Sequence[tuple[str, int]]:
        """(namespace, number of checkpoints) of a thread."""

    def get_next_version(self, current: Any, channel: None) -> Any:
        """The version after `current`: greater than it, and unlike that of any other branch."""
        number = 0 if current is None else int(str(current).split(".")[0])
        return f"{number + 1:012d}.{random.getrandbits(64):016x}"  # for uniqueness, not for secrecy

    # -- async twins -----------------------------------------------------------------------------------------------------

    async def aget(self, config: RunnableConfig) -> Any:
        """`get`, awaited."""
        return await asyncio.to_thread(self.get, config)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """`get_tuple`, awaited."""
        return await asyncio.to_thread(self.get_tuple, config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - LangGraph's name
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """`list`, awaited."""

        def read() -> Sequence[CheckpointTuple]:
            return [*self.list(config, filter=filter, before=before, limit=limit)]

        for item in await asyncio.to_thread(read):
            yield item

    async def aput(
        self, config: RunnableConfig, checkpoint: Any, metadata: Any, new_versions: ChannelVersions
    ) -> RunnableConfig:
        """`put`, awaited."""
        return await asyncio.to_thread(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """`put_writes`, awaited."""
        await asyncio.to_thread(self.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """`delete_thread`, awaited."""
        await asyncio.to_thread(self.delete_thread, thread_id)


def numbered(writes: Sequence[tuple[str, Any]]) -> Iterator[tuple[int, str, Any]]:
    """(index, channel, value) of a task's writes."""
    for index, (channel, value) in enumerate(writes):
        yield WRITES_IDX_MAP.get(channel, index), channel, value


def matches(metadata: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    """Whether metadata has all the wanted entries."""
    return all(metadata.get(key) == value for key, value in (wanted or {}).items())


def place(thread_id: str, checkpoint_ns: str, checkpoint_id: str) -> Any:
    """The config of a stored checkpoint."""
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": checkpoint_ns, "checkpoint_id": checkpoint_id}}


def checkpoint_id_of(config: RunnableConfig | None) -> str | None:
    """The checkpoint that a config names."""
    return (config or {}).get("configurable", {}).get("checkpoint_id")
