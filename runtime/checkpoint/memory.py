"""A saver in memory: for tests, notebooks and previews. Gone with the process.

What comes back never shares anything changeable with what went in: values are kept as bytes, or as they are where nobody can
change them. One rule for callers: a checkpoint's `versions_seen` may get new inner dicts, but theirs are not changed in place.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
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
    waits_and_error,
)
from runtime.checkpoint.growth import Difference, Place, Tips, assembled
from runtime.checkpoint.serde.codec import dumps, loads
from runtime.checkpoint.serde.jsonplus import SerializerProtocol
from runtime.constants import ERROR

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

_IMMUTABLE = (str, int, float, bool, type(None), bytes)
"""Kept as they are: nobody can change them behind our back."""


_AT_ROOT = dumps({"parents": {}})
"""What the metadata of a graph that no other has called leaves to pack."""


class _Packed:
    """A value as bytes; or a list as bytes of what it has that another has not."""

    __slots__ = ("base", "head", "payload", "tail")

    def __init__(self, payload: bytes, difference: Difference | None = None) -> None:
        self.payload = payload
        self.base: _Packed | None = None
        if difference is not None:
            self.base, self.head, self.tail = difference.base, difference.head, difference.tail


@dataclass(slots=True)
class _Stored:
    """A checkpoint."""

    checkpoint: dict[str, Any]
    """Without values."""
    metadata: dict[str, Any]
    """What of it nobody can change."""
    notes: bytes
    """The rest of it."""
    parent_id: str | None
    channels: tuple[str, ...]
    """Channels that had a value."""


Writes = dict[tuple[str, int], tuple[str, Any, str]]
"""(task id, index) to (channel, frozen value, task path)."""


@dataclass(slots=True)
class _Thread:
    """All that is kept of a thread."""

    lines: dict[str, dict[str, _Stored]] = field(default_factory=dict)
    """Namespace, checkpoint id."""
    newest: dict[str, str] = field(default_factory=dict)
    """Namespace to the greatest checkpoint id."""
    values: dict[tuple[str, str, Any], Any] = field(default_factory=dict)
    """(namespace, channel, version) to frozen value."""
    writes: dict[tuple[str, str], Writes] = field(default_factory=dict)
    """(namespace, checkpoint id): they may come before their checkpoint."""


_Read = Callable[[Place, str, Any], Any]
"""(where a channel is, version, frozen value) to a value."""

_NOTHING = _Thread()
"""What a thread that nobody wrote to looks like. Never written to."""


class InMemorySaver(BaseCheckpointSaver[str]):
    """Keeps checkpoints in dicts.

    Args:
        verify: look into every item of a long list that grew (see growth.py). Costs 0.2 us an item and step.
    """

    instant = True

    def __init__(self, *, serde: SerializerProtocol | None = None, verify: bool = False) -> None:
        super().__init__(serde=serde)
        self._lock = threading.RLock()
        self._threads: dict[str, _Thread] = {}
        self._tips = Tips(verify=verify)

    def __enter__(self) -> InMemorySaver:
        return self

    def __exit__(self, *exc: object) -> None:
        return None

    async def __aenter__(self) -> InMemorySaver:
        return self

    async def __aexit__(self, *exc: object) -> None:
        return None

    # -- write ---------------------------------------------------------------------------------------------------------

    def put(
        self, config: RunnableConfig, checkpoint: Any, metadata: Any, new_versions: ChannelVersions
    ) -> RunnableConfig:
        """Store a checkpoint. Raises TypeError, naming the channel, for a value that cannot be kept."""
        configurable = config["configurable"]
        thread_id, ns = str(configurable["thread_id"]), configurable.get("checkpoint_ns", "")
        values, checkpoint_id = checkpoint["channel_values"], checkpoint["id"]
        frozen = {
            (ns, channel, version): self._freeze_version((thread_id, ns, channel), version, values[channel])
            for channel, version in new_versions.items()
            if channel in values
        }
        kept = {key: _shallow(item) for key, item in checkpoint.items() if key != "channel_values"}
        parent_id = configurable.get("checkpoint_id")
        notes = {key: item for key, item in metadata.items() if type(item) not in _IMMUTABLE}
        plain = {key: item for key, item in metadata.items() if key not in notes}
        packed = _AT_ROOT if notes == {"parents": {}} else self.dump_metadata(notes)
        stored = _Stored(kept, plain, packed, parent_id, tuple(values))
        with self._lock:
            thread = self._thread(thread_id)
            thread.values.update(frozen)
            thread.lines.setdefault(ns, {})[checkpoint_id] = stored
            thread.newest[ns] = max(thread.newest.get(ns, ""), checkpoint_id)
        return place(thread_id, ns, checkpoint_id)  # type: ignore[no-any-return]  # a RunnableConfig by shape

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store a task's writes. Raises TypeError, naming the channel, for a value that cannot be kept."""
        configurable = config["configurable"]
        frozen = {
            (task_id, index): (channel, self._freeze(channel, value), task_path)
            for index, channel, value in numbered(writes)
        }
        key = (configurable.get("checkpoint_ns", ""), configurable["checkpoint_id"])
        with self._lock:
            thread = self._thread(str(configurable["thread_id"]))
            thread.writes.setdefault(key, {}).update(frozen)

    def delete_thread(self, thread_id: str) -> None:
        """Remove all that is stored of a thread."""
        with self._lock:
            self._threads.pop(str(thread_id), None)
        self._tips.forget_thread(str(thread_id))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Give another thread the same checkpoints."""
        with self._lock:
            source, target = self._thread(str(source_thread_id)), self._thread(str(target_thread_id))
            for ns, line in source.lines.items():
                target.lines.setdefault(ns, {}).update(line)
                target.newest[ns] = max(target.newest.get(ns, ""), source.newest[ns])
            target.values.update(source.values)
            for key, writes in source.writes.items():
                target.writes.setdefault(key, {}).update(writes)

    def _thread(self, thread_id: str) -> _Thread:
        """A thread to write to."""
        found = self._threads.get(thread_id)
        if found is None:
            found = self._threads[thread_id] = _Thread()
        return found

    def _freeze(self, key: str, value: Any) -> Any:
        return value if type(value) in _IMMUTABLE else _Packed(self.dump(key, value))

    def _freeze_version(self, place: Place, version: Any, value: Any) -> Any:
        if type(value) in _IMMUTABLE:
            return value
        made = self._tips.make(place, version, value, partial(self.dump, place[2]))
        packed = _Packed(made.payload, made.difference)
        self._tips.stored(place, version, value, made, packed)
        return packed

    def _thaw(self, value: Any) -> Any:
        return self._read(value)[0] if type(value) is _Packed else value

    def _read(self, value: _Packed) -> tuple[Any, list[int]]:
        """The value, and the bytes of the full copy and of each difference to it."""
        chain = [value]
        while (base := chain[-1].base) is not None:
            chain.append(base)
        whole, *steps = reversed(chain)
        made = assembled(self.load(whole.payload), ((step.head, step.tail, self.load(step.payload)) for step in steps))
        return made, [len(packed.payload) for packed in (whole, *steps)]

    # -- read ----------------------------------------------------------------------------------------------------------

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that a config names, or the newest."""
        return self._get(config, self._plain_value)

    def checkout(self, config: RunnableConfig) -> CheckpointTuple | None:
        """`get_tuple`, for a run that goes on from there."""
        return self._get(config, self._value_to_run)

    def _get(self, config: RunnableConfig, read: _Read) -> CheckpointTuple | None:
        configurable = config["configurable"]
        thread_id, ns = str(configurable["thread_id"]), configurable.get("checkpoint_ns", "")
        with self._lock:
            thread = self._threads.get(thread_id, _NOTHING)
            wanted = configurable.get("checkpoint_id") or thread.newest.get(ns, "")
            stored = thread.lines.get(ns, {}).get(wanted)
            return None if stored is None else self._tuple(thread_id, ns, wanted, stored, read)

    def _plain_value(self, _: Place, __: str, value: Any) -> Any:
        return self._thaw(value)

    def _value_to_run(self, where: Place, version: str, value: Any) -> Any:
        if type(value) is not _Packed:
            return value
        return self._tips.open(where, version, value, lambda: self._read(value))

    def _tuple(self, thread_id: str, ns: str, checkpoint_id: str, stored: _Stored, read: _Read) -> CheckpointTuple:
        thread = self._threads.get(thread_id, _NOTHING)
        checkpoint = {key: _copied(item) for key, item in stored.checkpoint.items()}
        versions = checkpoint["channel_versions"]
        keys = {channel: (ns, channel, versions.get(channel)) for channel in stored.channels}
        checkpoint["channel_values"] = {
            channel: read((thread_id, ns, channel), key[2], thread.values[key])
            for channel, key in keys.items()
            if key in thread.values
        }
        writes = thread.writes.get((ns, checkpoint_id), {})
        return CheckpointTuple(
            place(thread_id, ns, checkpoint_id),
            checkpoint,
            _metadata(stored),
            place(thread_id, ns, stored.parent_id) if stored.parent_id else None,
            [
                (task_id, channel, self._thaw(value))
                for (task_id, _), (channel, value, _path) in sorted(
                    writes.items(), key=lambda item: (item[1][2], item[0])
                )
            ],
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
        thread_id, ns = configurable.get("thread_id"), configurable.get("checkpoint_ns")
        found = self._found(None if thread_id is None else str(thread_id), ns, checkpoint_id_of(before))
        wanted = configurable.get("checkpoint_id")
        left = len(found) if limit is None else limit
        for key, thread, line, stored in found:
            if left <= 0:
                return
            if wanted and key != wanted:
                continue
            if filter and not matches(_metadata(stored), filter):
                continue
            left -= 1
            with self._lock:
                item = self._tuple(thread, line, key, stored, self._plain_value)
            yield item

    def _found(
        self, thread_id: str | None, ns: str | None, before: str | None
    ) -> Sequence[tuple[str, str, str, _Stored]]:
        """(checkpoint id, thread, namespace, checkpoint), newest first."""
        with self._lock:
            found = [
                (key, name, at, stored)
                for name in (self._threads if thread_id is None else (thread_id,))
                for at, line in self._threads.get(name, _NOTHING).lines.items()
                if ns is None or at == ns
                for key, stored in line.items()
                if before is None or key < before
            ]
        found.sort(key=itemgetter(0), reverse=True)
        return found

    def head(self, thread_id: str, checkpoint_ns: str = "", *, besides: str | None = None) -> str | None:
        """Id of the newest checkpoint, `besides` not counted."""
        with self._lock:
            thread = self._threads.get(str(thread_id), _NOTHING)
            newest = thread.newest.get(checkpoint_ns)
            if newest is None or newest != besides:
                return newest
            return max((key for key in thread.lines[checkpoint_ns] if key != besides), default=None)

    def headers(
        self, thread_id: str, checkpoint_ns: str | None = "", *, limit: int | None = None, before: str | None = None
    ) -> Iterator[CheckpointHeader]:
        """Checkpoints, newest first, without reading a value."""
        for key, name, ns, stored in self._found(str(thread_id), checkpoint_ns, before)[:limit]:
            metadata = _metadata(stored)
            with self._lock:
                waits, error = waits_and_error(self._notes(name, ns, key))
            yield CheckpointHeader(
                thread_id=name,
                checkpoint_ns=ns,
                checkpoint_id=key,
                parent_id=stored.parent_id,
                step=metadata.get("step", -1),
                source=metadata.get("source", "loop"),
                ts=stored.checkpoint["ts"],
                metadata=metadata,
                channel_versions=dict(stored.checkpoint["channel_versions"]),
                writers=tuple(stored.checkpoint.get("writers") or ()),
                next=tuple(stored.checkpoint.get("next_nodes") or ()),
                interrupts=waits,
                error=error,
            )

    def _notes(self, thread_id: str, ns: str, checkpoint_id: str) -> Iterable[tuple[str, str, Any, bool]]:
        """(task id, channel, error, whether the task has ended) of the tasks' questions and errors."""
        writes = self._threads.get(thread_id, _NOTHING).writes.get((ns, checkpoint_id), {})
        ended = {task_id for task_id, index in writes if index >= 0}
        for (task_id, index), (channel, value, _) in writes.items():
            if index < 0:
                yield task_id, channel, self._thaw(value) if channel == ERROR else None, task_id in ended

    def namespaces(self, thread_id: str) -> Sequence[tuple[str, int]]:
        """(namespace, number of checkpoints) of a thread."""
        with self._lock:
            thread = self._threads.get(str(thread_id), _NOTHING)
            return sorted((ns, len(line)) for ns, line in thread.lines.items())

    def threads(self) -> Sequence[str]:
        """The ids of all threads."""
        with self._lock:
            return sorted(name for name, thread in self._threads.items() if thread.lines)


MemorySaver = InMemorySaver


def _metadata(stored: _Stored) -> dict[str, Any]:
    return {**stored.metadata, **loads(stored.notes)}


def _shallow(item: Any) -> Any:
    return dict(item) if type(item) is dict else [*item] if type(item) is list else item


def _copied(item: Any) -> Any:
    return {key: _shallow(inner) for key, inner in item.items()} if type(item) is dict else _shallow(item)
