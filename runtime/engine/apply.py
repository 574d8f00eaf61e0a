"""Pure: the writes of a super-step -> new channel values and versions. No input, no output, no clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from runtime.channels.base import MISSING
from runtime.constants import ERROR, INTERRUPT, NO_WRITES, RESUME, TASKS
from runtime.engine.model import Channels, Checkpoint, GraphSpec, Write
from runtime.errors import InvalidUpdateError
from runtime.types import Send

RESERVED = frozenset((ERROR, INTERRUPT, NO_WRITES, RESUME))
"""Names of writes that are notes about a task, not for a channel."""


@dataclass(frozen=True, slots=True)
class TaskWrites:
    """What `apply_writes` needs of a task."""

    name: str
    path: tuple[Any, ...]
    writes: Sequence[Write]
    triggers: Sequence[str]


def order_of(path: tuple[Any, ...]) -> list[str]:
    """Sort key: the order in which the writes of a super-step's tasks are merged."""
    return [str(part) if not isinstance(part, int) else f"{part:09d}" for part in path]


def apply_writes(
    spec: GraphSpec,
    checkpoint: Checkpoint,
    channels: Channels,
    tasks: Iterable[TaskWrites],
    next_version: Callable[[Any], Any],
) -> set[str]:
    """Merge the tasks' writes into `channels`, in the order of the tasks' paths, and stamp what changed.

    `checkpoint` gets new `channel_versions`, `versions_seen` and `updated_channels`; its old dicts are left as they were.
    Returns the names of the channels that changed and hold a value.

    Raises:
        InvalidUpdateError: a channel refuses its writes (two writers of a plain key, ...).
    """
    ordered = sorted(tasks, key=lambda task: order_of(task.path))
    versions = dict(checkpoint["channel_versions"])
    _mark_seen(checkpoint, ordered, versions)
    stamp = next_version(max(versions.values(), default=None))
    changed = _consume(channels, ordered, versions, stamp)
    updated: set[str] = set()
    written: set[str] = set()
    for name, values in _by_channel(ordered).items():
        channel = channels.get(name)
        if channel is None:
            continue
        written.add(name)
        if channel.update(values):
            versions[name] = stamp
            changed.add(name)
            if channel.is_available():
                updated.add(name)
    if any(task.triggers for task in ordered):
        _tick(spec, channels, written, versions, stamp, changed)
        if updated.isdisjoint(spec.triggered_by) and not channels[TASKS].is_available():
            _finish(spec, channels, versions, stamp, updated, changed)
    checkpoint["channel_versions"] = versions
    checkpoint["updated_channels"] = sorted(updated)
    checkpoint["channel_values"] = _values_after(checkpoint["channel_values"], channels, changed)
    return updated


def _mark_seen(checkpoint: Checkpoint, tasks: Sequence[TaskWrites], versions: dict[str, Any]) -> None:
    seen = dict(checkpoint["versions_seen"])
    for task in tasks:
        known = {trigger: versions[trigger] for trigger in task.triggers if trigger in versions}
        if known:
            seen[task.name] = {**seen.get(task.name, {}), **known}
    checkpoint["versions_seen"] = seen


def _consume(channels: Channels, tasks: Sequence[TaskWrites], versions: dict[str, Any], stamp: Any) -> set[str]:
    changed = set()
    for name in {trigger for task in tasks for trigger in task.triggers if trigger in channels}:
        if channels[name].consume():
            versions[name] = stamp
            changed.add(name)
    return changed


def _by_channel(tasks: Sequence[TaskWrites]) -> dict[str, list[Any]]:
    grouped: dict[str, list[Any]] = {}
    for task in tasks:
        for name, value in task.writes:
            if name not in RESERVED:
                grouped.setdefault(name, []).append(value)
    return grouped


def _tick(
    spec: GraphSpec, channels: Channels, written: set[str], versions: dict[str, Any], stamp: Any, changed: set[str]
) -> None:
    for name in spec.ticking:
        if name not in written and channels[name].update(()):
            versions[name] = stamp
            changed.add(name)


def _finish(
    spec: GraphSpec, channels: Channels, versions: dict[str, Any], stamp: Any, updated: set[str], changed: set[str]
) -> None:
    for name in spec.finishing:
        if channels[name].finish():
            versions[name] = stamp
            changed.add(name)
            if channels[name].is_available():
                updated.add(name)


def _values_after(values: dict[str, Any], channels: Channels, changed: set[str]) -> dict[str, Any]:
    """The stored values with the changed ones replaced: cost in proportion to what changed."""
    after = dict(values)
    for name in changed:
        stored = channels[name].checkpoint()
        if stored is MISSING:
            after.pop(name, None)
        else:
            after[name] = stored
    return after


def restore_channels(spec: GraphSpec, values: dict[str, Any]) -> Channels:
    """Channels that hold the stored values."""
    get = values.get
    return {name: channel.from_checkpoint(get(name, MISSING)) for name, channel in spec.channels.items()}


def check_sends(spec: GraphSpec, writes: Iterable[Write]) -> None:
    """Raises InvalidUpdateError for a jump to a node that is not there."""
    for name, value in writes:
        if name == TASKS and (not isinstance(value, Send) or value.node not in spec.nodes):
            where = value.node if isinstance(value, Send) else value
            raise InvalidUpdateError(f"A Send goes to unknown node '{where}'. The nodes are {sorted(spec.nodes)}.")
