"""A LangGraph checkpointer over our store: `builder.compile(checkpointer=LangGraphSaver(SqliteSaver(conn)))`.

LangGraph is an optional package: this module is for those who have it. Beyond handing calls on it notes, with each
checkpoint, which nodes run next and which have written, so that a timeline has them without the graph: LangGraph's own
checkpoints say it only between the lines, in the names and versions of channels.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Sequence
from typing import Any

from runtime.checkpoint.base import BaseCheckpointSaver
from runtime.checkpoint.serde.types import allow, allow_schema

try:
    from langgraph.checkpoint.base import BaseCheckpointSaver as TheirSaver
    from langgraph.checkpoint.base import CheckpointTuple as TheirTuple
except ImportError as error:
    raise ImportError(
        "runtime.checkpoint.bridge needs LangGraph, which is not installed: pip install 'forkpoint[langgraph]'."
    ) from error

_KEPT = ("run_id", "graph_id", "assistant_id", "as_node")
"""What of a config's metadata goes into a checkpoint's: a listed set, so that no secret does by accident."""
_REMEMBERED = 1024
"""Checkpoints whose next nodes are kept in memory, for the checkpoint that follows."""


class LangGraphSaver(TheirSaver[str]):
    """What LangGraph's graphs call; our saver does the work."""

    def __init__(self, ours: BaseCheckpointSaver[Any]) -> None:
        super().__init__()
        self.ours = ours
        self._next: OrderedDict[tuple[str, str, str], list[str]] = OrderedDict()
        """Of the newest checkpoints: (thread, namespace, id) to the nodes that run next."""

    def get_next_version(self, current: Any, channel: None) -> Any:
        """Ours: unique over branches."""
        return self.ours.get_next_version(current, channel)

    def with_allowlist(self, extra_allowlist: Collection[tuple[str, ...]]) -> LangGraphSaver:
        """This saver; stored values may become instances of those classes, as far as their modules are loaded."""
        for module, *names in extra_allowlist:
            found = getattr(sys.modules.get(module), names[0], None) if names else None
            if isinstance(found, type):
                allow(found)
        return self

    def get_tuple(self, config: Any) -> Any:
        """The checkpoint that a config names, or the newest."""
        return _theirs(self.ours.get_tuple(config))

    def list(self, config: Any, *, filter: Any = None, before: Any = None, limit: int | None = None) -> Iterator[Any]:  # noqa: A002
        """Checkpoints, newest first."""
        for item in self.ours.list(config, filter=filter, before=before, limit=limit):
            yield _theirs(item)

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        """Store a checkpoint."""
        return self.ours.put(config, self._noted(config, checkpoint, metadata), _kept(config, metadata), new_versions)

    def put_writes(self, config: Any, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = "") -> None:
        """Store a task's writes."""
        self.ours.put_writes(config, writes, task_id, task_path)

    def delete_thread(self, thread_id: str) -> None:
        """Remove all that is stored of a thread."""
        self.ours.delete_thread(thread_id)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Give another thread the same checkpoints."""
        self.ours.copy_thread(source_thread_id, target_thread_id)

    async def aget_tuple(self, config: Any) -> Any:
        """`get_tuple`, awaited."""
        return _theirs(await self.ours.aget_tuple(config))

    async def alist(
        self,
        config: Any,
        *,
        filter: Any = None,  # noqa: A002 - the name of LangGraph's argument
        before: Any = None,
        limit: int | None = None,
    ) -> AsyncIterator[Any]:
        """`list`, awaited."""
        async for item in self.ours.alist(config, filter=filter, before=before, limit=limit):
            yield _theirs(item)

    async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        """`put`, awaited."""
        noted = self._noted(config, checkpoint, metadata)
        return await self.ours.aput(config, noted, _kept(config, metadata), new_versions)

    async def aput_writes(
        self, config: Any, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """`put_writes`, awaited."""
        await self.ours.aput_writes(config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """`delete_thread`, awaited."""
        await self.ours.adelete_thread(thread_id)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """`copy_thread`, awaited."""
        await self.ours.acopy_thread(source_thread_id, target_thread_id)

    # -- what LangGraph does not say -----------------------------------------------------------------------------------

    def _noted(self, config: Any, checkpoint: Any, metadata: Any) -> dict[str, Any]:
        """The checkpoint with its next nodes and, after a super-step, its writers: the nodes that were next before it.

        Nothing in it is shared with LangGraph's, which goes on to change its own in place.
        """
        seen = {name: dict(versions) for name, versions in checkpoint["versions_seen"].items()}
        following = next_nodes(checkpoint)
        writers = self._next_of(config) if metadata.get("source") == "loop" else ()
        configurable = config["configurable"]
        key = (str(configurable["thread_id"]), configurable.get("checkpoint_ns", ""), checkpoint["id"])
        self._next[key] = following
        if len(self._next) > _REMEMBERED:
            self._next.popitem(last=False)
        shown = sorted({name for name in writers if not name.startswith("__")})
        return {**checkpoint, "versions_seen": seen, "next_nodes": following, "writers": shown}

    def _next_of(self, config: Any) -> Iterable[str]:
        """The next nodes of the checkpoint that a config names."""
        configurable = config["configurable"]
        parent = configurable.get("checkpoint_id")
        if parent is None:
            return ()
        thread_id, ns = str(configurable["thread_id"]), configurable.get("checkpoint_ns", "")
        known = self._next.get((thread_id, ns, parent))
        if known is not None:
            return known
        found = next(iter(self.ours.headers(thread_id, ns, limit=1, before=f"{parent}~")), None)
        return found.next if found is not None and found.checkpoint_id == parent else ()


def allow_graph(graph: Any) -> None:
    """Let stored values become instances of the classes that a compiled graph's schemas mention."""
    for found in (graph, *(nested for _, nested in graph.get_subgraphs(recurse=True))):
        builder = getattr(found, "builder", None)
        names = ("state_schema", "input_schema", "output_schema")
        owners = [builder, *getattr(builder, "nodes", {}).values()]
        schemas = (getattr(owner, name, None) for owner in owners for name in names)
        allow_schema(*(schema for schema in schemas if isinstance(schema, type)))


def next_nodes(checkpoint: Any) -> list[str]:
    """The nodes that run next, by the triggers that hold a value which the node has not seen."""
    versions, seen = checkpoint["channel_versions"], checkpoint["versions_seen"]
    found: list[str] = []
    for channel, value in checkpoint["channel_values"].items():
        node = _target(channel, value)
        known = seen.get(node, {}).get(channel) if node is not None else None
        if node is not None and (known is None or versions[channel] > known):
            found.append(node)
    found.sort()
    return [*found, *(send.node for send in checkpoint["channel_values"].get("__pregel_tasks", ()))]


def _target(channel: str, value: Any) -> str | None:
    """The node that a channel with this value triggers."""
    if channel == "__start__":
        return channel
    kind, _, rest = channel.partition(":")
    if isinstance(value, (tuple, list)) and len(value) == 2:  # of a deferred node: (value, whether all others are done)
        value, ready = value
        kind = kind if ready is True else ""
    if kind == "branch" and rest.startswith("to:"):
        return rest.removeprefix("to:")
    sources, _, node = rest.rpartition(":")
    return node if kind == "join" and sources and set(sources.split("+")) == set(value or ()) else None


def _kept(config: Any, metadata: Any) -> dict[str, Any]:
    """The checkpoint's metadata, with the listed part of what the caller's config says."""
    notes = {key: value for key, value in (config.get("metadata") or {}).items() if key in _KEPT}
    return {**notes, **metadata}


def _theirs(found: Any) -> Any:
    return None if found is None else TheirTuple(*found)
