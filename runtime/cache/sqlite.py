"""A cache in a SQLite file: results outlive the process, and processes share them."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from runtime.cache.base import BaseCache, FullKey, Namespace, ValueT, encoded
from runtime.checkpoint.sqlite_file import BUSY_SECONDS, connect, explained, turn_of, use_wal

_TABLE = """CREATE TABLE IF NOT EXISTS cached (namespace TEXT, key TEXT, until REAL, kind TEXT, data BLOB,
 PRIMARY KEY (namespace, key))"""


class SqliteCache(BaseCache[ValueT]):
    """Remembers results in a file.

    Args:
        path: of the file, or ":memory:".

    Raises DatabaseError, which names the file and the fix, when it cannot be read or written.
    """

    def __init__(self, *, path: str | os.PathLike[str], serde: Any = None) -> None:
        super().__init__(serde=serde)
        self._conn = connect(path)
        self._lock = threading.RLock()
        self._turn = turn_of(self._conn)
        with self._turn.lock, self._at_work():
            self._conn.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}")
            use_wal(self._conn)
            self._conn.execute(_TABLE)

    def close(self) -> None:
        """Let go of the file."""
        self._conn.close()

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        with self._lock:
            try:
                yield
            except sqlite3.Error as error:
                raise explained(self._conn, error) from error

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._turn.lock, self._at_work():
            self._conn.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._conn.commit()
            except BaseException:
                self._conn.rollback()
                raise

    def get(self, keys: Sequence[FullKey]) -> dict[FullKey, ValueT]:
        """Those of the keys that are known and good, each with its value."""
        now = time.time()
        query = "SELECT kind, data FROM cached WHERE namespace = ? AND key = ? AND (until IS NULL OR until > ?)"
        with self._at_work():
            rows = {(ns, key): self._conn.execute(query, (json.dumps(ns), key, now)).fetchone() for ns, key in keys}
        return {key: self.serde.loads_typed(row) for key, row in rows.items() if row is not None}

    async def aget(self, keys: Sequence[FullKey]) -> dict[FullKey, ValueT]:
        """`get`, in a thread."""
        return await asyncio.to_thread(self.get, keys)

    def set(self, pairs: Mapping[FullKey, tuple[ValueT, int | None]]) -> None:
        """Remember (value, seconds that it is good for; None: for ever) by key. What has expired goes."""
        now = time.time()
        rows = [
            (json.dumps(ns), key, None if ttl is None else now + ttl, *encoded(self, value))
            for (ns, key), (value, ttl) in pairs.items()
        ]
        with self._writing():
            self._conn.execute("DELETE FROM cached WHERE until <= ?", (now,))
            self._conn.executemany("INSERT OR REPLACE INTO cached VALUES (?, ?, ?, ?, ?)", rows)

    async def aset(self, pairs: Mapping[FullKey, tuple[ValueT, int | None]]) -> None:
        """`set`, in a thread."""
        await asyncio.to_thread(self.set, pairs)

    def clear(self, namespaces: Sequence[Namespace] | None = None) -> None:
        """Forget all, or what is in those namespaces."""
        with self._writing():
            if namespaces is None:
                self._conn.execute("DELETE FROM cached")
            for namespace in namespaces or ():
                self._conn.execute("DELETE FROM cached WHERE namespace = ?", (json.dumps(namespace),))

    async def aclear(self, namespaces: Sequence[Namespace] | None = None) -> None:
        """`clear`, in a thread."""
        await asyncio.to_thread(self.clear, namespaces)


__all__ = ("SqliteCache",)
