"""A LangGraph checkpointer over our store: `builder.compile(checkpointer=LangGraphSaver(SqliteSaver(conn)))`.

LangGraph is an optional package: this module is for those who have it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

from runtime.checkpoint.base import BaseCheckpointSaver

try:
    from langgraph.checkpoint.base import BaseCheckpointSaver as TheirSaver
    from langgraph.checkpoint.base import CheckpointTuple as TheirTuple
except ImportError as error:
    raise ImportError(
        "runtime.checkpoint.bridge needs LangGraph, which is not installed: pip install 'forkpoint[langgraph]'."
    ) from error


class LangGraphSaver(TheirSaver[str]):
    """What LangGraph's graphs call; our saver does the work."""

    def __init__(self, ours: BaseCheckpointSaver[Any]) -> None:
        super().__init__()
        self.ours = ours

    def get_next_version(self, current: Any, channel: None) -> Any:
        """Ours: unique over branches."""
        return self.ours.get_next_version(current, channel)

    def get_tuple(self, config: Any) -> Any:
        """The checkpoint that a config names, or the newest."""
        return _theirs(self.ours.get_tuple(config))

    def list(self, config: Any, *, filter: Any = None, before: Any = None, limit: int | None = None) -> Iterator[Any]:  # noqa: A002
        """Checkpoints, newest first."""
        for item in self.ours.list(config, filter=filter, before=before, limit=limit):
            yield _theirs(item)

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        """Store a checkpoint."""
        return self.ours.put(config, checkpoint, _plain_metadata(config, metadata), new_versions)

    def put_writes(self, config: Any, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = "") -> None:
        """Store a task's writes."""
        self.ours.put_writes(config, writes, task_id, task_path)

    def delete_thread(self, thread_id: str) -> None:
        """Remove all that is stored of a thread."""
        self.ours.delete_thread(thread_id)

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
        return await self.ours.aput(config, checkpoint, _plain_metadata(config, metadata), new_versions)

    async def aput_writes(
        self, config: Any, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """`put_writes`, awaited."""
        await self.ours.aput_writes(config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """`delete_thread`, awaited."""
        await self.ours.adelete_thread(thread_id)


_KEPT = ("run_id", "graph_id", "assistant_id", "as_node")


def _plain_metadata(config: Any, metadata: Any) -> dict[str, Any]:
    """The checkpoint's metadata, with what the caller's config adds to it (a listed set: no secrets by accident)."""
    notes = {key: value for key, value in (config.get("metadata") or {}).items() if key in _KEPT}
    return {**notes, **metadata}


def _theirs(found: Any) -> Any:
    return None if found is None else TheirTuple(*found)
