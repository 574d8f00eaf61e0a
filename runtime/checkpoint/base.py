"""The checkpointer's interface, as LangGraph has it, and what ours offer beyond it.

A saver keeps, for each thread and namespace, a tree of checkpoints and the writes of the tasks that ran from each. Values
live apart from checkpoints, by channel and version.
"""

from __future__ import annotations

import asyncio
import random
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, ParamSpec, TypedDict, TypeVar

from runtime.checkpoint.id import new_id
from runtime.checkpoint.serde.codec import dumps, loads, unwrap, wrap
from runtime.checkpoint.serde.jsonplus import JsonPlusSerializer, SerializerProtocol
from runtime.checkpoint.serde.types import WHOLE, OpaqueValue, allow
from runtime.constants import ERROR, INTERRUPT, RESUME
from runtime.errors import EmptyChannelError as EmptyChannelError

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

V = TypeVar("V", int, float, str)
P = ParamSpec("P")
T = TypeVar("T")
ChannelVersions = dict[str, Any]
PendingWrite = tuple[str, str, Any]
"""(task id, channel, value)."""
WRITES_IDX_MAP: Mapping[str, int] = {ERROR: -1, "__scheduled__": -2, INTERRUPT: -3, RESUME: -4}
"""Notes about a task replace themselves; its other writes are numbered from 0."""


_PAGE = 32
"""Checkpoints that `alist` reads at a time."""


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


class BaseCheckpointSaver(ABC, Generic[V]):
    """Base of all checkpointers. The same object serves sync and async code.

    A saver may have more, which runs use where it is there:
    `head(thread_id, ns, besides=None)`: the id of the newest checkpoint, so that two runs on one thread see each other.
    `checkout(config)`: `get_tuple` with lists and dicts that the saver remembers, so that it can store what they gain.
    `put_step(...)`: the arguments of `put` and then of `put_writes`, stored both or not at all.
    """

    instant: bool = False
    """Whether calls never wait, so that async code may call the sync methods directly."""
    threaded: bool = False
    """Whether the async methods are the sync ones in a thread, so that async code may make several calls in one."""

    def __init__(self, *, serde: SerializerProtocol | None = None) -> None:
        self.serde: SerializerProtocol = serde or JsonPlusSerializer()
        self._plain = type(self.serde) is JsonPlusSerializer
        """Whether values are stored in our own format, without the detour of a serialiser that somebody passed."""

    @property
    def config_specs(self) -> list[Any]:
        """Config fields beyond the usual ones: none."""
        return []

    def with_allowlist(self, classes: Iterable[type]) -> BaseCheckpointSaver[V]:
        """This saver, with classes that stored values may become in this process."""
        allow(*classes)
        return self

    def dump(self, key: str, value: Any) -> bytes:
        """Bytes of a value. Raises TypeError naming the state key and the type that cannot be kept."""
        try:
            return dumps(value) if self._plain else wrap(*self.serde.dumps_typed(value))
        except TypeError as error:
            raise TypeError(f"Key '{key}': {error}") from error

    def dump_metadata(self, metadata: Mapping[str, Any]) -> bytes:
        """Bytes of a checkpoint's metadata. Raises TypeError naming the entry that cannot be kept."""
        try:
            return dumps(dict(metadata))
        except TypeError:
            for key, value in metadata.items():
                self.dump(f"metadata.{key}", value)
            raise

    def load(self, payload: bytes) -> Any:
        """The value of bytes that `dump` made. What cannot be read comes as an OpaqueValue, never as an error."""
        typed = None if self._plain else unwrap(payload)
        if typed is None:
            return loads(payload)
        try:
            return self.serde.loads_typed(typed)
        except Exception:  # noqa: BLE001 - e.g. the wrong key: a thread that cannot be read can still be shown
            return OpaqueValue(typed[0], payload, WHOLE)

    def get(self, config: RunnableConfig) -> Any:
        """The checkpoint that a config names, or the newest; None if there is none."""
        found = self.get_tuple(config)
        return found.checkpoint if found else None

    @abstractmethod
    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that a config names, or the newest, with its writes; None if there is none."""

    def checkout(self, config: RunnableConfig) -> CheckpointTuple | None:
        """`get_tuple`, for a run that goes on from there: a saver may remember what it hands out, to store only changes."""
        return self.get_tuple(config)

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

    def put_step(
        self,
        config: RunnableConfig,
        checkpoint: Any,
        metadata: Any,
        new_versions: ChannelVersions,
        task_config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> RunnableConfig:
        """`put_writes` of a step's only task, then `put` of the checkpoint that they make: all of it is stored, or nothing."""
        self.put_writes(task_config, writes, task_id, task_path)
        return self.put(config, checkpoint, metadata, new_versions)

    @abstractmethod
    def delete_thread(self, thread_id: str) -> None:
        """Remove all that is stored of a thread."""

    @abstractmethod
    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Give another thread the same checkpoints."""

    @abstractmethod
    def headers(
        self, thread_id: str, checkpoint_ns: str | None = "", *, limit: int | None = None, before: str | None = None
    ) -> Iterator[CheckpointHeader]:
        """Checkpoints, newest first, without reading a value.

        Args:
            checkpoint_ns: None for those of all namespaces.
            limit: at most so many.
            before: only those with a smaller id.
        """

    @abstractmethod
    def namespaces(self, thread_id: str) -> Sequence[tuple[str, int]]:
        """(namespace, number of checkpoints) of a thread."""

    @abstractmethod
    def threads(self) -> Sequence[str]:
        """The ids of all threads."""

    def get_next_version(self, current: Any, channel: None) -> Any:
        """The version after `current`: greater than it, and unlike that of any other branch."""
        number = 0 if current is None else int(str(current).split(".")[0])
        return f"{number + 1:012d}.{random.getrandbits(64):016x}"  # for uniqueness, not for secrecy

    # -- async twins -----------------------------------------------------------------------------------------------------

    async def _away(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The result of a call that may wait, without making the event loop wait."""
        return call(*args, **kwargs) if self.instant else await asyncio.to_thread(call, *args, **kwargs)

    async def aget(self, config: RunnableConfig) -> Any:
        """`get`, awaited."""
        return await self._away(self.get, config)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """`get_tuple`, awaited."""
        return await self._away(self.get_tuple, config)

    async def acheckout(self, config: RunnableConfig) -> CheckpointTuple | None:
        """`checkout`, awaited."""
        return await self._away(self.checkout, config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - LangGraph's name
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """`list`, awaited page by page."""
        listed: Iterator[CheckpointTuple] = self.list(config, filter=filter, before=before, limit=limit)

        def page() -> Sequence[CheckpointTuple]:
            return [*islice(listed, _PAGE)]

        while read := await self._away(page):
            for item in read:
                yield item

    async def aput(
        self, config: RunnableConfig, checkpoint: Any, metadata: Any, new_versions: ChannelVersions
    ) -> RunnableConfig:
        """`put`, awaited."""
        return await self._away(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """`put_writes`, awaited."""
        await self._away(self.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """`delete_thread`, awaited."""
        await self._away(self.delete_thread, thread_id)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """`copy_thread`, awaited."""
        await self._away(self.copy_thread, source_thread_id, target_thread_id)


def numbered(writes: Sequence[tuple[str, Any]]) -> Iterator[tuple[int, str, Any]]:
    """(index, channel, value) of a task's writes."""
    for index, (channel, value) in enumerate(writes):
        yield WRITES_IDX_MAP.get(channel, index), channel, value


def matches(metadata: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    """Whether metadata has all the wanted entries."""
    return all(metadata.get(key) == value for key, value in (wanted or {}).items())


def waits_and_error(notes: Iterable[tuple[str, str, Any, bool]]) -> tuple[int, str | None]:
    """How many tasks of a checkpoint wait for an answer, and the first error.

    Args:
        notes: (task id, channel, error, whether the task has ended) of its tasks' questions and errors.
    """
    waits, first = 0, None
    for _, channel, error, ended in notes:
        if not ended and channel == INTERRUPT:
            waits += 1
        elif not ended and channel == ERROR:
            first = first or str(error)
    return waits, first


def place(thread_id: str, checkpoint_ns: str, checkpoint_id: str) -> Any:
    """The config of a stored checkpoint."""
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": checkpoint_ns, "checkpoint_id": checkpoint_id}}


def checkpoint_id_of(config: RunnableConfig | None) -> str | None:
    """The checkpoint that a config names."""
    return (config or {}).get("configurable", {}).get("checkpoint_id")


# -- checkpoints by hand -----------------------------------------------------------------------------------------------


def empty_checkpoint() -> Checkpoint:
    """A checkpoint in which nothing has happened yet."""
    return {
        "v": 2,
        "id": new_id(),
        "ts": datetime.now(UTC).isoformat(),
        "channel_values": {},
        "channel_versions": {},
        "versions_seen": {},
        "updated_channels": None,
    }


def copy_checkpoint(checkpoint: Checkpoint) -> Checkpoint:
    """A copy whose mappings can be changed; values are shared."""
    copied: Any = {
        **checkpoint,
        "channel_values": dict(checkpoint["channel_values"]),
        "channel_versions": dict(checkpoint["channel_versions"]),
        "versions_seen": {node: dict(seen) for node, seen in checkpoint["versions_seen"].items()},
    }
    return copied  # type: ignore[no-any-return]  # of the same keys


def create_checkpoint(
    checkpoint: Checkpoint,
    channels: Mapping[str, Any] | None,
    step: int,
    *,
    id: str | None = None,  # noqa: A002 - LangGraph's name
) -> Checkpoint:
    """The next checkpoint: a new id and time, and the values of the channels that have a version.

    Args:
        channels: by name; None keeps the values of `checkpoint`.
        step: of the checkpoint. Ids rise by themselves, so that it only says what it is for.
    """
    made = copy_checkpoint(checkpoint)
    made["id"] = id or new_id()
    made["ts"] = datetime.now(UTC).isoformat()
    if channels is not None:
        versions = checkpoint["channel_versions"]
        made["channel_values"] = {
            name: channel.checkpoint()
            for name, channel in channels.items()
            if name in versions and channel.is_available()
        }
    return made


def get_checkpoint_id(config: RunnableConfig) -> str | None:
    """The checkpoint that a config names, or None."""
    found: str | None = config["configurable"].get("checkpoint_id")
    return found


def get_checkpoint_metadata(config: RunnableConfig, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """A checkpoint's metadata with what of a run's config is stored beside it: plain values, without NUL characters, under
    keys that are not the runtime's own."""
    kept = {key: value for key, value in metadata.items() if key != "writes"}
    notes = [*(config.get("metadata") or {}).items(), *config.get("configurable", {}).items()]
    for key, value in notes:
        own = key.startswith(("__", "langgraph_")) or key in _CONFIG_KEYS
        if not own and key not in kept and isinstance(value, str | int | bool | float):
            kept[key] = value.replace("\u0000", "") if isinstance(value, str) else value
    return kept


get_serializable_checkpoint_metadata = get_checkpoint_metadata
_CONFIG_KEYS = frozenset(("thread_id", "checkpoint_id", "checkpoint_ns", "checkpoint_map"))
