"""`AsyncSqliteSaver`: the SQLite saver, made by an async context manager."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from runtime.checkpoint.serde.jsonplus import SerializerProtocol
from runtime.checkpoint.sqlite import SqliteSaver
from runtime.checkpoint.sqlite_file import Synchronous, connect


class AsyncSqliteSaver(SqliteSaver):
    """`SqliteSaver`, whose async methods work in threads. Both have all methods, sync and async.

    It takes a connection of the module sqlite3, where LangGraph's takes one of aiosqlite.
    """

    @classmethod
    @asynccontextmanager
    async def from_conn_string(  # type: ignore[override]  # as in LangGraph
        cls,
        conn_string: str | os.PathLike[str],
        *,
        synchronous: Synchronous = "NORMAL",
        serde: SerializerProtocol | None = None,
        verify: bool = False,
    ) -> AsyncIterator[AsyncSqliteSaver]:
        """Open a file, `:memory:`, or a `file:` URI; closed at the end of the `async with` block.

        Raises DatabaseError: the file cannot be opened or is no database.
        """
        conn = await asyncio.to_thread(connect, conn_string, synchronous)
        try:
            saver = cls(conn, serde=serde, verify=verify)
            await saver.setup()
            yield saver
        finally:
            await asyncio.to_thread(conn.close)

    async def setup(self) -> None:  # type: ignore[override]  # as in LangGraph
        """Make or upgrade the tables. Called by itself when first needed."""
        await asyncio.to_thread(super().setup)


__all__ = ("AsyncSqliteSaver",)
