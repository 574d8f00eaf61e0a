"""Pure: which tasks are next, and why.

A node runs when one of its trigger channels holds a value in a version that the node has not seen. Tasks made by `Send`
come from the TASKS channel. Task ids follow from the checkpoint, so a resumed run finds what its tasks already wrote.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from runtime.channels.base import MISSING
from runtime.constants import BRANCH_TO, NS_END, NS_SEP, PULL, PUSH, TASKS
from runtime.engine.effects import CacheKey
from runtime.engine.model import Channels, Checkpoint, GraphSpec, Node, Task
from runtime.errors import NodeError, UnknownNodeError
from runtime.types import Send


def task_id(checkpoint_id: str, step: int, path: tuple[Any, ...]) -> str:
    """A UUID-shaped id that follows from the checkpoint and the task's place in its step."""
    return uuid_of(f"{checkpoint_id} {step} {path}")


def uuid_of(text: str) -> str:
    """A UUID-shaped id that follows from a text."""
    hexed = blake2b(text.encode(), digest_size=16).hexdigest()
    return f"{hexed[:8]}-{hexed[8:12]}-{hexed[12:16]}-{hexed[16:20]}-{hexed[20:]}"


def plan(
    spec: GraphSpec,
    checkpoint: Checkpoint,
    channels: Channels,
    *,
    step: int,
    stop: int,
    ns: str,
    sort: bool = True,
    reader: Reader | None = None,
    due: Sequence[str] | None = None,
) -> list[Task]:
    """The tasks of the next super-step, Sends first.

    Args:
        step: number of the super-step to plan.
        stop: the step at which the recursion limit ends the run.
        ns: namespace of the graph, '' at the root.
        reader: of those channels, if the caller has one.
        sort: by name, as a run has them where it knows what was updated; else in the order the nodes were added, as
            snapshots have them.
        due: what `triggered` gives for that checkpoint, if the caller knows.

    Raises:
        UnknownNodeError: a Send names a node that is not there.
    """
    reader = reader or Reader(spec, channels)
    tasks = [_pushed(spec, checkpoint, send, index, step, ns) for index, send in enumerate(pending_sends(channels))]
    names = triggered(spec, checkpoint, channels) if due is None else due
    if len(names) > 1 and sort and checkpoint.get("updated_channels") is not None:
        names = sorted(names)
    for name in names:
        node = spec.nodes[name]
        values = reader.read(node.keys, step, stop)
        tasks.append(coerced(_task(checkpoint, node, (PULL, name), step, ns, values)))
    return tasks


def coerced(task: Task) -> Task:
    """The task with its input in the node's schema; where that fails, the reason waits in `invalid`."""
    try:
        task.input = task.node.coerce(task.input)
    except Exception as error:  # noqa: BLE001 - the author's schema may raise anything
        task.invalid = error
    return task


def orphans(spec: GraphSpec, checkpoint: Checkpoint) -> list[str]:
    """Nodes that the checkpoint waits for and that this graph does not have (its code was changed)."""
    values = checkpoint["channel_values"]
    return [key[len(BRANCH_TO) :] for key in values if key.startswith(BRANCH_TO) and key not in spec.channels]


def pending_sends(channels: Channels) -> list[Send]:
    """The Sends that wait in the TASKS channel."""
    topic = channels[TASKS]
    return list(topic.get()) if topic.is_available() else []


def triggered(spec: GraphSpec, checkpoint: Checkpoint, channels: Channels) -> list[str]:
    """Names of the nodes with a trigger they have not seen, in the order the nodes were added."""
    updated = checkpoint.get("updated_channels")
    if updated is None:
        names: Iterable[str] = spec.nodes
    else:
        hit = {name for channel in updated for name in spec.triggered_by.get(channel, ())}
        names = hit if len(hit) < 2 else sorted(hit, key=spec.places.__getitem__)
    return [name for name in names if _has_news(spec.nodes[name], checkpoint, channels)]


def _has_news(node: Node, checkpoint: Checkpoint, channels: Channels) -> bool:
    versions: Mapping[str, Any] = checkpoint["channel_versions"]
    seen: Mapping[str, Any] = checkpoint["versions_seen"].get(node.name, {})
    for trigger in node.triggers:
        version = versions.get(trigger)
        if version is None or not channels[trigger].is_available():
            continue
        known = seen.get(trigger)
        if known is None or version > known:
            return True
    return False


def read_values(
    spec: GraphSpec, channels: Channels, keys: Iterable[str], step: int = 0, stop: int = 0
) -> dict[str, Any]:
    """The values of those keys that have one."""
    values: dict[str, Any] = {}
    for key in keys:
        channel = channels.get(key)
        if channel is None:
            managed = spec.managed.get(key)
            if managed is not None:
                values[key] = managed.compute(step, stop)
        elif channel.plain:
            value = channel.value  # type: ignore[attr-defined]  # plain channels have it
            if value is not MISSING:
                values[key] = value
        elif channel.is_available():
            values[key] = channel.get()
    return values


class Reader:
    """Reads a run's channels. Keeps what it has read, so that a wide state is not gone through at each step."""

    __slots__ = ("_channels", "_kept", "_spec")

    def __init__(self, spec: GraphSpec, channels: Channels) -> None:
        self._spec = spec
        self._channels = channels
        self._kept: dict[tuple[str, ...], tuple[frozenset[str], dict[str, Any]] | None] = {}
        """By list of keys: the keys and their values; None for lists with a key that must be asked each time."""

    def read(self, keys: tuple[str, ...], step: int, stop: int) -> dict[str, Any]:
        """What `read_values` gives."""
        if keys not in self._kept:
            plain = all((channel := self._channels.get(key)) is not None and channel.plain for key in keys)
            kept = (frozenset(keys), read_values(self._spec, self._channels, keys)) if plain else None
            self._kept[keys] = kept
        kept = self._kept[keys]
        return read_values(self._spec, self._channels, keys, step, stop) if kept is None else kept[1].copy()

    def forget(self, changed: Iterable[str]) -> None:
        """These channels have changed."""
        stale = []
        for keys, kept in self._kept.items():
            if kept is None:
                continue
            known, values = kept
            for name in changed:
                if name in known:
                    value = self._channels[name].value  # type: ignore[attr-defined]  # plain channels have it
                    if value is MISSING or name not in values:
                        stale.append(keys)  # read anew, in the order of the keys
                        break
                    values[name] = value
        for keys in stale:
            del self._kept[keys]


def _pushed(spec: GraphSpec, checkpoint: Checkpoint, send: Send, index: int, step: int, ns: str) -> Task:
    node = spec.nodes.get(send.node)
    if node is None:
        raise UnknownNodeError(
            f"A Send waits for node '{send.node}', which graph '{spec.name}' does not have. "
            f"Add the node, or move on with update_state(..., as_node=<one of {sorted(spec.nodes)}>)."
        )
    task = _task(checkpoint, node, (PUSH, index, False), step, ns, send.arg)
    if send.timeout is not None:
        task.timeout = send.timeout
    return task


def handler_task(failed: Task, error: BaseException, checkpoint_id: str, ns: str, value: Any) -> Task:
    """The task that handles what `failed` raised, in the same super-step, on the same input."""
    node = failed.node.handler
    if node is None:
        raise ValueError(f"Node '{failed.name}' has no error handler.")
    task = _task({"id": checkpoint_id}, node, (PULL, node.name, failed.id), failed.step, ns, value)
    task.failure = NodeError(failed.name, error)
    task.triggers = (PUSH,)
    return task


def _task(checkpoint: Checkpoint, node: Node, path: tuple[Any, ...], step: int, ns: str, value: Any) -> Task:
    key = task_id(checkpoint["id"], step, path)
    own_ns = f"{ns}{NS_SEP}{node.name}{NS_END}{key}" if ns else f"{node.name}{NS_END}{key}"
    triggers = node.triggers if path[0] == PULL else (PUSH,)
    return Task(
        id=key,
        name=node.name,
        path=path,
        triggers=triggers,
        input=value,
        node=node,
        step=step,
        checkpoint_ns=own_ns,
        timeout=node.timeout,
    )


def cache_key(task: Task) -> CacheKey:
    """Where a task's result is remembered. Raises what the key function raises, and TypeError for a key that is no text."""
    policy = task.node.cache
    if policy is None:
        raise ValueError(f"Node '{task.name}' has no cache policy.")
    if task.caller is not None:
        args, kwargs = task.input
        key = policy.key_func(*args, **kwargs)
    else:
        key = policy.key_func(task.input)
    if isinstance(key, str):
        key = key.encode()
    if not isinstance(key, bytes):
        raise TypeError(f"The key_func of '{task.name}' must give str or bytes, got {key!r}.")
    return task.node.cache_ns, blake2b(key, digest_size=16).hexdigest()
