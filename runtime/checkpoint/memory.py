"""A saver in memory: for tests, notebooks and previews. Gone with the process."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from runtime.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    CheckpointHeader,
    CheckpointTuple,
    checkpoint_id_of,
    matches,
    numbered,
    place,
)
from runtime.checkpoint.serde.jsonplus import JsonPlusSerializer, dumps, loads
from runtime.constants import ERROR, INTERRUPT

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

_IMMUTABLE = (str, int, float, bool, type(None), bytes)
"""Kept as they are: nobody can change them behind our back."""


@dataclass(slots=True)
class _Stored:
    checkpoint: dict[str, Any]
    """Without values."""
    metadata: bytes
    parent_id: str | None
    channels: tuple[str, ...]
    """Channels that had a value."""
    writes: dict[tuple[str, int], tuple[str, Any, str]] = field(default_factory=dict)
    """(task id, index) to (channel, frozen value, task path)."""


def _freeze(value: Any) -> Any:
    return value if type(value) in _IMMUTABLE else _Packed(dumps(value))


class _Packed:
    """A value as bytes: what comes back never shares with what went in."""

    __slots__ = ("payload",)

    def __init__(self, payload: bytes) -> None:
        self.payload = payload


def _thaw(value: Any) -> Any:
    return loads(value.payload) if type(value) is _Packed else value


class InMemorySaver(BaseCheckpointSaver[str]):
    """Keeps checkpoints in dicts."""

    instant = True

    def __init__(self, *, serde: JsonPlusSerializer | None = None) -> None:
        super().__init__(serde=serde)
        self._lock = threading.RLock()
        self._checkpoints: dict[str, dict[str, dict[str, _Stored]]] = {}
        """Thread, namespace, checkpoint id (in the order they were put)."""
        self._values: dict[tuple[str, str, str, Any], Any] = {}
        """(thread, namespace, channel, version) to frozen value."""
        self._newest: dict[tuple[str, str], str] = {}

    def __enter__(self) -> InMemorySaver:
        return self

    def __exit__(self, *exc: object) -> None:
        return None

    # -- write ---------------------------------------------------------------------------------------------------------

    def put(
        self, config: RunnableConfig, checkpoint: Any, metadata: Any, new_versions: ChannelVersions
    ) -> RunnableConfig:
        """Store a checkpoint. Raises TypeError, naming the channel, for a value that cannot be kept."""
        configurable = config["configurable"]
        thread_id, ns = str(configurable["thread_id"]), configurable.get("checkpoint_ns", "")
        values = checkpoint["channel_values"]
        frozen = {}
        for channel, version in new_versions.items():
            if channel in values:
                frozen[(thread_id, ns, channel, version)] = freeze_channel(channel, values[channel])
        kept = {key: value for key, value in checkpoint.items() if key != "channel_values"}
        stored = _Stored(kept, dumps(dict(metadata)), configurable.get("checkpoint_id"), tuple(values))
        with self._lock:
            self._values.update(frozen)
            line = self._checkpoints.setdefault(thread_id, {}).setdefault(ns, {})
            old = line.get(checkpoint["id"])
            if old is not None:
                stored.writes = old.writes
            line[checkpoint["id"]] = stored
            key = (thread_id, ns)
            self._newest[key] = max(self._newest.get(key, ""), checkpoint["id"])
        return place(thread_id, ns, checkpoint["id"])  # type: ignore[no-any-return]  # a RunnableConfig by shape

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store a task's writes. Raises TypeError, naming the channel, for a value that cannot be kept."""
        configurable = config["configurable"]
        frozen = {
            (task_id, index): (channel, freeze_channel(channel, value), task_path)
            for index, channel, value in numbered(writes)
        }
        thread_id, ns = str(configurable["thread_id"]), configurable.get("checkpoint_ns", "")
        with self._lock:
            stored = self._checkpoints.get(thread_id, {}).get(ns, {}).get(configurable["checkpoint_id"])
            if stored is not None:
                stored.writes.update(frozen)

    def delete_thread(self, thread_id: str) -> None:
        """Remove all that is stored of a thread."""
        with self._lock:
            self._checkpoints.pop(thread_id, None)
            self._values = {key: value for key, value in self._values.items() if key[0] != thread_id}
            self._newest = {key: value for key, value in self._newest.items() if key[0] != thread_id}

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Give another thread the same checkpoints."""
        with self._lock:
            for ns, line in self._checkpoints.get(source_thread_id, {}).items():
                copies = {
                    key: _Stored(s.checkpoint, s.metadata, s.parent_id, s.channels, dict(s.writes))
                    for key, s in line.items()
                }
                self._checkpoints.setdefault(target_thread_id, {})[ns] = copies
                self._newest[(target_thread_id, ns)] = self._newest[(source_thread_id, ns)]
            self._values.update(
                {(target_thread_id, *key[1:]): v for key, v in self._values.items() if key[0] == source_thread_id}
            )

    # -- read ----------------------------------------------------------------------------------------------------------

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that a config names, or the newest."""
        configurable = config["configurable"]
        thread_id, ns = str(configurable["thread_id"]), configurable.get("checkpoint_ns", "")
        with self._lock:
            wanted = configurable.get("checkpoint_id") or self._newest.get((thread_id, ns))
            stored = self._checkpoints.get(thread_id, {}).get(ns, {}).get(wanted or "")
            return None if stored is None or wanted is None else self._tuple(thread_id, ns, wanted, stored)

    def _tuple(self, thread_id: str, ns: str, checkpoint_id: str, stored: _Stored) -> CheckpointTuple:
        versions = stored.checkpoint["channel_versions"]
        values = {}
        for channel in stored.channels:
            key = (thread_id, ns, channel, versions.get(channel))
            if key in self._values:
                values[channel] = _thaw(self._values[key])
        writes = [
            (task_id, channel, _thaw(value))
            for (task_id, _), (channel, value, _path) in sorted(
                stored.writes.items(), key=lambda item: (item[1][2], item[0][0], item[0][1])
            )
        ]
        return CheckpointTuple(
            place(thread_id, ns, checkpoint_id),
            {**stored.checkpoint, "channel_values": values},
            loads(stored.metadata),
            place(thread_id, ns, stored.parent_id) if stored.parent_id else None,
            writes,
        )

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - LangGraph's name
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Checkpoints, newest first."""
        configurable = (config or {}).get("configurable", {})
        wanted_ns, wanted_id = configurable.get("checkpoint_ns"), configurable.get("checkpoint_id")
        stop = checkpoint_id_of(before)
        with self._lock:
            threads = [str(configurable["thread_id"])] if "thread_id" in configurable else [*self._checkpoints]
            found = [
                (key, thread_id, ns, stored)
                for thread_id in threads
                for ns, line in self._checkpoints.get(thread_id, {}).items()
                if wanted_ns is None or ns == wanted_ns
                for key, stored in line.items()
                if (wanted_id is None or key == wanted_id) and (stop is None or key < stop)
            ]
        found.sort(key=lambda item: item[0], reverse=True)
        left = limit
        for key, thread_id, ns, stored in found:
            if left is not None and left <= 0:
                return
            if filter and not matches(loads(stored.metadata), filter):
                continue
            left = None if left is None else left - 1
            with self._lock:
                item = self._tuple(thread_id, ns, key, stored)
            yield item

    def headers(self, thread_id: str, checkpoint_ns: str = "") -> Iterator[CheckpointHeader]:
        """The checkpoints of a namespace, newest first, without reading a value."""
        with self._lock:
            line = sorted(self._checkpoints.get(thread_id, {}).get(checkpoint_ns, {}).items(), reverse=True)
            for key, stored in line:
                metadata = loads(stored.metadata)
                waits, error = _notes(stored)
                yield CheckpointHeader(
                    thread_id=thread_id,
                    checkpoint_ns=checkpoint_ns,
                    checkpoint_id=key,
                    parent_id=stored.parent_id,
                    step=metadata.get("step", -1),
                    source=metadata.get("source", "loop"),
                    ts=stored.checkpoint["ts"],
                    metadata=metadata,
                    channel_versions=stored.checkpoint["channel_versions"],
                    writers=tuple(stored.checkpoint.get("writers") or ()),
                    next=tuple(stored.checkpoint.get("next_nodes") or ()),
                    interrupts=waits,
                    error=error,
                )

    def namespaces(self, thread_id: str) -> Sequence[tuple[str, int]]:
        """(namespace, number of checkpoints) of a thread."""
        with self._lock:
            return sorted((ns, len(line)) for ns, line in self._checkpoints.get(thread_id, {}).items())


MemorySaver = InMemorySaver


def freeze_channel(channel: str, value: Any) -> Any:
    """A value that nobody can change any more. Raises TypeError naming channel and type."""
    try:
        return _freeze(value)
    except TypeError as error:
        raise TypeError(f"Key '{channel}': {error}") from error


def _notes(stored: _Stored) -> tuple[int, str | None]:
    """How many tasks wait for an answer, and the first error."""
    asked, ended, error = set(), set(), None
    for (task_id, index), (channel, value, _) in stored.writes.items():
        if channel == INTERRUPT:
            asked.add(task_id)
        elif channel == ERROR:
            error = error or str(_thaw(value))
        elif index >= 0:
            ended.add(task_id)
    return len(asked - ended), error
