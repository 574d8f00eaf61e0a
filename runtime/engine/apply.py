"""Pure: the writes of a super-step -> new channel values and versions. No input, no output, no clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from runtime.channels.base import MISSING
from runtime.channels.last_value import LastValue
from runtime.constants import ERROR, INTERRUPT, NO_WRITES, RESUME, TASKS
from runtime.engine.model import Channels, Checkpoint, GraphSpec, Write
from runtime.errors import InvalidUpdateError
from runtime.types import Send

RESERVED = frozenset((ERROR, INTERRUPT, NO_WRITES, RESUME))
"""Names of writes that are notes about a task, not for a channel."""


class Writer(Protocol):
    """What `apply_writes` needs of a task."""

    @property
    def name(self) -> str:
        """The node."""
        ...

    @property
    def path(self) -> tuple[Any, ...]:
        """Its place in the super-step."""
        ...

    @property
    def writes(self) -> Sequence[Write] | None:
        """What it wrote."""
        ...

    @property
    def triggers(self) -> Sequence[str]:
        """The channels that made it run."""
        ...


@dataclass(slots=True)
class TaskWrites:
    """Writes that no task of the step has made."""

    name: str
    path: tuple[Any, ...]
    writes: Sequence[Write]
    triggers: Sequence[str]


def order_of(path: tuple[Any, ...]) -> list[str]:
    """Sort key: the order in which the writes of a super-step's tasks are merged."""
    return [str(part) if not isinstance(part, int) else f"{part:09d}" for part in path]


@dataclass(frozen=True, slots=True)
class Applied:
    """What a super-step's writes did."""

    changed: set[str]
    """Channels that got a new version."""
    version: Any
    """The version they got; now the newest of all."""


def apply_writes(
    spec: GraphSpec,
    checkpoint: Checkpoint,
    channels: Channels,
    tasks: Sequence[Writer],
    next_version: Callable[[Any], Any],
    *,
    newest: Any = None,
    own: bool = False,
) -> Applied:
    """Merge the tasks' writes into `channels`, in the order of the tasks' paths, and stamp what changed.

    `checkpoint` gets new `channel_versions`, `versions_seen`, `channel_values` and `updated_channels`. The cost follows
    what was written, not how many channels there are, but for copies of those dicts.

    Args:
        newest: the greatest channel version so far, if the caller knows it.
        own: nobody else has the checkpoint's dicts: they are changed in place.

    Raises:
        InvalidUpdateError: a channel refuses its writes (two writers of a plain key, ...).
    """
    ordered = tasks if len(tasks) < 2 else sorted(tasks, key=lambda task: order_of(task.path))
    if not own:
        for part in ("channel_versions", "versions_seen", "channel_values"):
            checkpoint[part] = dict(checkpoint[part])
    versions: dict[str, Any] = checkpoint["channel_versions"]
    _mark_seen(checkpoint["versions_seen"], ordered, versions, own)
    stamp = next_version(newest if newest is not None else max(versions.values(), default=None))
    changed = _consume(channels, ordered)
    updated: set[str] = set()
    written = _by_channel(ordered)
    for name, values in written.items():
        channel = channels.get(name)
        if channel is not None and channel.update(values):
            changed.add(name)
            if channel.plain or channel.is_available():
                updated.add(name)
    if any(task.triggers for task in ordered):
        _tick(spec, channels, written, checkpoint["channel_values"], changed)
        if spec.finishing and updated.isdisjoint(spec.triggered_by) and not channels[TASKS].is_available():
            _finish(spec, channels, updated, changed)
    stored: dict[str, Any] = checkpoint["channel_values"]
    for name in changed:
        versions[name] = stamp
        value = channels[name].checkpoint()
        if value is MISSING:
            stored.pop(name, None)
        else:
            stored[name] = value
    checkpoint["updated_channels"] = sorted(updated) if len(updated) > 1 else list(updated)
    return Applied(changed, stamp)


def _mark_seen(seen: dict[str, dict[str, Any]], tasks: Sequence[Writer], versions: dict[str, Any], own: bool) -> None:
    for task in tasks:
        known = {trigger: versions[trigger] for trigger in task.triggers if trigger in versions}
        if not known:
            continue
        before = seen.get(task.name)
        if before is None:
            seen[task.name] = known
        elif own:
            before.update(known)
        else:
            seen[task.name] = {**before, **known}


def _consume(channels: Channels, tasks: Sequence[Writer]) -> set[str]:
    changed: set[str] = set()
    for task in tasks:
        for name in task.triggers:
            if name not in changed and name in channels and channels[name].consume():
                changed.add(name)
    return changed


def _by_channel(tasks: Sequence[Writer]) -> dict[str, list[Any]]:
    grouped: dict[str, list[Any]] = {}
    for task in tasks:
        for name, value in task.writes or ():
            if name in grouped:
                grouped[name].append(value)
            elif name not in RESERVED:
                grouped[name] = [value]
    return grouped


def _tick(
    spec: GraphSpec, channels: Channels, written: Mapping[str, Any], values: Mapping[str, Any], changed: set[str]
) -> None:
    """Empty what lasts one step. Only channels that hold a value can change, and those are among the stored values."""
    few = spec.ticking if len(spec.ticking) < len(values) else [name for name in values if name in spec.ticking_set]
    for name in few:
        if name not in written and channels[name].update(()):
            changed.add(name)


def _finish(spec: GraphSpec, channels: Channels, updated: set[str], changed: set[str]) -> None:
    for name in spec.finishing:
        if channels[name].finish():
            changed.add(name)
            if channels[name].is_available():
                updated.add(name)


def restore_channels(spec: GraphSpec, values: dict[str, Any]) -> Channels:
    """Channels that hold the stored values."""
    get = values.get
    made: Channels = {}
    for name, channel in spec.channels.items():
        if type(channel) is LastValue:  # most channels are: no calls
            copy = _NEW(LastValue)
            copy.key, copy.typ, copy.value = channel.key, channel.typ, get(name, MISSING)
            made[name] = copy
        else:
            made[name] = channel.from_checkpoint(get(name, MISSING))
    return made


_NEW = LastValue.__new__


def check_sends(spec: GraphSpec, writes: Iterable[Write]) -> None:
    """Raises InvalidUpdateError for a jump to a node that is not there."""
    for name, value in writes:
        if name == TASKS and (not isinstance(value, Send) or value.node not in spec.nodes):
            where = value.node if isinstance(value, Send) else value
            raise InvalidUpdateError(f"A Send goes to unknown node '{where}'. The nodes are {sorted(spec.nodes)}.")
