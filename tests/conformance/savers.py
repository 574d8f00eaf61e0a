"""Every saver, and calls on it that are made the sync or the async way."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from runtime.checkpoint.id import new_id
from runtime.checkpoint.memory import InMemorySaver
from runtime.checkpoint.sqlite import SqliteSaver

KINDS = ("memory", "sqlite", "sqlite in memory")


@contextmanager
def opened(kind: str, folder: Path) -> Iterator[Any]:
    """A new, empty saver."""
    if kind == "memory":
        yield InMemorySaver()
    else:
        with SqliteSaver.from_conn_string(":memory:" if "in memory" in kind else folder / "store.sqlite") as saver:
            yield saver


class Sync:
    """Calls as sync code makes them."""

    def __init__(self, saver: Any) -> None:
        self.saver = saver

    def put(self, *args: Any) -> Any:
        return self.saver.put(*args)

    def put_writes(self, *args: Any) -> None:
        self.saver.put_writes(*args)

    def get(self, config: Any) -> Any:
        return self.saver.get(config)

    def get_tuple(self, config: Any) -> Any:
        return self.saver.get_tuple(config)

    def list(self, config: Any, **options: Any) -> Sequence[Any]:
        return [*self.saver.list(config, **options)]

    def delete_thread(self, thread_id: str) -> None:
        self.saver.delete_thread(thread_id)

    def copy_thread(self, source: str, target: str) -> None:
        self.saver.copy_thread(source, target)


class Async:
    """The same calls through the async twins, each in an event loop of its own."""

    def __init__(self, saver: Any) -> None:
        self.saver = saver

    def put(self, *args: Any) -> Any:
        return asyncio.run(self.saver.aput(*args))

    def put_writes(self, *args: Any) -> None:
        asyncio.run(self.saver.aput_writes(*args))

    def get(self, config: Any) -> Any:
        return asyncio.run(self.saver.aget(config))

    def get_tuple(self, config: Any) -> Any:
        return asyncio.run(self.saver.aget_tuple(config))

    def list(self, config: Any, **options: Any) -> Sequence[Any]:
        async def read() -> Sequence[Any]:
            return [item async for item in self.saver.alist(config, **options)]

        return asyncio.run(read())

    def delete_thread(self, thread_id: str) -> None:
        asyncio.run(self.saver.adelete_thread(thread_id))

    def copy_thread(self, source: str, target: str) -> None:
        asyncio.run(self.saver.acopy_thread(source, target))


def at(thread_id: str, ns: str = "", checkpoint_id: str | None = None) -> Any:
    """The config of a place."""
    configurable = {"thread_id": thread_id, "checkpoint_ns": ns}
    return {"configurable": configurable if checkpoint_id is None else {**configurable, "checkpoint_id": checkpoint_id}}


def record(values: dict[str, Any], versions: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A checkpoint, as the engine makes one."""
    return {
        "v": 4,
        "id": new_id(),
        "ts": "2026-01-02T03:04:05+00:00",
        "channel_values": values,
        "channel_versions": versions,
        "versions_seen": {"a": {"branch:to:a": "1"}},
        "updated_channels": [*values],
        **more,
    }


def line(calls: Any, thread_id: str, count: int, ns: str = "", **more: Any) -> list[Any]:
    """A thread of `count` checkpoints, each with `n` raised by one. Returns their configs, oldest first."""
    config, configs = at(thread_id, ns), []
    for number in range(count):
        version = f"{number + 1:012d}.x"
        metadata = {"source": "input" if number == 0 else "loop", "step": number - 1, "parents": {}, **more}
        config = calls.put(config, record({"n": number}, {"n": version}), metadata, {"n": version})
        configs.append(config)
    return configs
