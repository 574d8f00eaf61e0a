"""A store in a SQLite file, on SQLModel: long-term memory that outlives the process.

Each batch is one transaction: its reads see one state, its writes are all stored or none. Any number of threads and
processes may share a file, also the file of a `SqliteSaver`.
"""

from __future__ import annotations

import array
import asyncio
import math
import os
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from threading import RLock
from typing import Any, ClassVar

from sqlalchemy import Engine, Index, event, func
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import StaticPool
from sqlmodel import Field, Session, SQLModel, col, create_engine, delete, or_, select, update

from runtime.checkpoint.serde.codec import dumps, loads
from runtime.checkpoint.sqlite_file import BUSY_SECONDS, DatabaseError, connect, explained, turn_of, use_wal
from runtime.store.base import (
    BaseStore,
    GetOp,
    IndexConfig,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    check_namespace,
    matches,
    texts_to_embed,
)
from runtime.store.embed import Embedder, ensure_embeddings
from runtime.store.filters import fits
from runtime.store.memory import cosine

__all__ = ["AsyncSqliteStore", "DatabaseError", "SqliteStore"]


class StoreItem(SQLModel, table=True):
    """An item."""

    __tablename__ = "store_item"

    namespace: str = Field(primary_key=True)
    """Labels, each followed by a dot, which no label has: a prefix of labels is a prefix of the text."""
    key: str = Field(primary_key=True)
    value: bytes
    created_at: float
    """In seconds since 1970, as all times here."""
    updated_at: float
    ttl: float | None
    """Minutes."""
    expires_at: float | None

    __table_args__ = (Index("store_item_expires_at", "expires_at"),)


class StoreVector(SQLModel, table=True):
    """What a field of an item means."""

    __tablename__ = "store_vector"

    namespace: str = Field(primary_key=True)
    key: str = Field(primary_key=True)
    number: int = Field(primary_key=True)
    vector: bytes
    """Doubles."""


class SqliteStore(BaseStore):
    """Items in a SQLite file.

    Args:
        conn: a connection that this store may keep, made with `check_same_thread=False`. `from_conn_string` makes one.
        index: makes items searchable by meaning: an embedding model or function, and which fields to embed. The vectors
            are compared one by one.
        ttl: `default_ttl` (minutes), `refresh_on_read`, and `sweep_interval_minutes`: how often a batch also removes what
            has expired. An expired item is never shown, swept or not.
        clock: seconds since 1970; for tests.

    Raises DatabaseError, which names the file and the fix, from any method when the file cannot be read or written.
    """

    supports_ttl: ClassVar[bool] = True

    def __init__(
        self,
        conn: sqlite3.Connection,
        *,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.conn = conn
        self.index_config = index
        self.embeddings: Embedder | None = ensure_embeddings(index.get("embed")) if index else None
        self.ttl_config = ttl
        self._clock = clock
        self._lock = RLock()
        self._turn = turn_of(conn)
        self._engine = _engine(conn)
        self._ready = False
        self._sweep_every: float | None = (ttl or {}).get("sweep_interval_minutes")
        self._swept = clock()

    @classmethod
    @contextmanager
    def from_conn_string(
        cls, conn_string: str | os.PathLike[str], *, index: IndexConfig | None = None, ttl: TTLConfig | None = None
    ) -> Iterator[SqliteStore]:
        """A store in a file (or ":memory:"), closed at the end of the block."""
        conn = connect(conn_string)
        try:
            yield cls(conn, index=index, ttl=ttl)
        finally:
            conn.close()

    def setup(self) -> None:
        """Make the tables. Called by itself when first needed; harmless when called again."""
        self._make_tables()

    def _make_tables(self) -> None:
        with self._lock, self._turn.lock, self._explaining():
            if self._ready:
                return
            self.conn.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}")
            use_wal(self.conn)
            for model in (StoreItem, StoreVector):
                SQLModel.metadata.tables[str(model.__tablename__)].create(self._engine, checkfirst=True)
            self._ready = True

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Perform operations: reads first, then writes, in one transaction."""
        ops = list(ops)
        queries, texts = texts_to_embed(ops, self.index_config)
        vectors = {query: self.embeddings.embed_query(query) for query in queries} if self.embeddings else {}
        made = self.embeddings.embed_documents(texts) if self.embeddings and texts else []
        return self._perform(ops, vectors, dict(zip(texts, made, strict=True)))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """`batch` in a thread, awaiting the embedding model."""
        ops = list(ops)
        queries, texts = texts_to_embed(ops, self.index_config)
        vectors = {query: await self.embeddings.aembed_query(query) for query in queries} if self.embeddings else {}
        made = await self.embeddings.aembed_documents(texts) if self.embeddings and texts else []
        return await asyncio.to_thread(self._perform, ops, vectors, dict(zip(texts, made, strict=True)))

    def sweep_ttl(self) -> int:
        """Remove expired items; returns how many. Reads never show them in any case."""
        with self._session() as session:
            return self._sweep(session)

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> None:
        """From now on a batch removes what has expired when the last sweep was so long ago. There is no thread to stop."""
        self._sweep_every = sweep_interval_minutes or self._sweep_every or 5

    def stop_ttl_sweeper(self) -> bool:
        """Batches no longer sweep. True, always: nothing runs that could not be stopped."""
        self._sweep_every = None
        return True

    # -- transactions --------------------------------------------------------------------------------------------------

    @contextmanager
    def _session(self) -> Iterator[Session]:
        self._make_tables()
        with self._lock, self._turn.lock, self._explaining(), Session(self._engine) as session:
            yield session
            session.commit()

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            raise explained(self.conn, error.orig or error) from error
        except sqlite3.Error as error:
            raise explained(self.conn, error) from error

    # -- operations ----------------------------------------------------------------------------------------------------

    def _perform(
        self, ops: Sequence[Op], queries: dict[str, list[float]], vectors: dict[str, list[float]]
    ) -> list[Result]:
        puts = [op for op in ops if isinstance(op, PutOp)]
        payloads = [_payload(op) for op in puts]  # what cannot be kept is told before anything is stored
        with self._session() as session:
            results: list[Result] = [None if isinstance(op, PutOp) else self._read(session, op, queries) for op in ops]
            for op, payload in zip(puts, payloads, strict=True):
                self._put(session, op, payload, vectors)
            if self._sweep_every is not None and self._clock() - self._swept >= self._sweep_every * 60:
                self._sweep(session)
        return results

    def _read(self, session: Session, op: Op, queries: dict[str, list[float]]) -> Result:
        match op:
            case GetOp():
                row = session.get(StoreItem, (_joined(op.namespace), op.key))
                if row is None or (row.expires_at is not None and row.expires_at <= self._clock()):
                    return None
                self._renew(session, [row], op.refresh_ttl)
                return Item(value=loads(row.value), key=row.key, **_placed(row))
            case SearchOp():
                return self._search(session, op, queries.get(op.query) if op.query else None)
            case ListNamespacesOp():
                return self._list(session, op)
            case _:
                raise ValueError(
                    f"Unknown operation type: {type(op)}. A store knows GetOp, SearchOp, PutOp, ListNamespacesOp."
                )

    def _put(self, session: Session, op: PutOp, payload: bytes | None, vectors: dict[str, list[float]]) -> None:
        place = (_joined(op.namespace), op.key)
        old = session.get(StoreItem, place)
        session.exec(delete(StoreVector).where(col(StoreVector.namespace) == place[0], col(StoreVector.key) == op.key))
        if payload is None:
            if old is not None:
                session.delete(old)
                session.flush()
            return
        now = self._clock()
        lives_on = old is not None and (old.expires_at is None or old.expires_at > now)
        row = StoreItem(
            namespace=place[0],
            key=op.key,
            value=payload,
            created_at=old.created_at if old is not None and lives_on else now,
            updated_at=now,
            ttl=op.ttl,
            expires_at=None if op.ttl is None else now + op.ttl * 60,
        )
        session.merge(row)
        for number, text in enumerate(texts_to_embed([op], self.index_config)[1]):
            vector = array.array("d", vectors[text]).tobytes()
            session.add(StoreVector(namespace=place[0], key=op.key, number=number, vector=vector))
        session.flush()

    def _search(self, session: Session, op: SearchOp, query: list[float] | None) -> list[SearchItem]:
        wanted = select(StoreItem).where(*_under(op.namespace_prefix), self._alive())
        rows = session.exec(wanted.order_by(col(StoreItem.updated_at).desc(), "namespace", "key"))
        found = [
            (row, value) for row in rows for value in (loads(row.value),) if not op.filter or fits(value, op.filter)
        ]
        scores = self._scores(session, op, query)
        if scores:
            found.sort(key=lambda pair: scores.get((pair[0].namespace, pair[0].key), -math.inf), reverse=True)
        page = found[op.offset : op.offset + op.limit]
        self._renew(session, [row for row, _ in page], op.refresh_ttl)
        return [
            SearchItem(key=row.key, value=value, score=scores.get((row.namespace, row.key)), **_placed(row))
            for row, value in page
        ]

    def _scores(self, session: Session, op: SearchOp, query: list[float] | None) -> dict[tuple[str, str], float]:
        """How near each item's nearest field is to the query."""
        scores: dict[tuple[str, str], float] = {}
        if query is None:
            return scores
        for row in session.exec(select(StoreVector).where(*_under(op.namespace_prefix, StoreVector))):
            place = (row.namespace, row.key)
            scores[place] = max(scores.get(place, -math.inf), cosine(query, array.array("d", row.vector)))
        return scores

    def _list(self, session: Session, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        names = session.exec(select(StoreItem.namespace).where(self._alive()).distinct())
        namespaces = (_parted(name) for name in names)
        found = {
            namespace[: op.max_depth]
            for namespace in namespaces
            if all(matches(namespace, condition) for condition in op.match_conditions or ())
        }
        return sorted(found)[op.offset : op.offset + op.limit]

    # -- life ----------------------------------------------------------------------------------------------------------

    def _alive(self) -> Any:
        return or_(col(StoreItem.expires_at).is_(None), col(StoreItem.expires_at) > self._clock())

    def _renew(self, session: Session, rows: Iterable[StoreItem], refresh: bool) -> None:
        """Start the lives of what was read anew, if reading does that."""
        now = self._clock()
        for row in rows if refresh else ():
            if row.ttl is not None:
                at = (col(StoreItem.namespace) == row.namespace, col(StoreItem.key) == row.key)
                session.exec(update(StoreItem).where(*at).values(expires_at=now + row.ttl * 60))

    def _sweep(self, session: Session) -> int:
        now = self._swept = self._clock()
        expired = session.exec(select(StoreItem.namespace, StoreItem.key).where(col(StoreItem.expires_at) <= now)).all()
        for namespace, key in expired:
            for model in (StoreItem, StoreVector):
                session.exec(delete(model).where(col(model.namespace) == namespace, col(model.key) == key))
        return len(expired)


class AsyncSqliteStore(SqliteStore):
    """`SqliteStore`, made by an async context manager. Both have all methods, sync and async."""

    @classmethod
    @asynccontextmanager
    async def from_conn_string(  # type: ignore[override]  # as in LangGraph
        cls, conn_string: str | os.PathLike[str], *, index: IndexConfig | None = None, ttl: TTLConfig | None = None
    ) -> AsyncIterator[AsyncSqliteStore]:
        """A store in a file (or ":memory:"), closed at the end of the block."""
        conn = await asyncio.to_thread(connect, conn_string)
        try:
            yield cls(conn, index=index, ttl=ttl)
        finally:
            await asyncio.to_thread(conn.close)

    async def setup(self) -> None:  # type: ignore[override]  # as in LangGraph
        """Make the tables. Called by itself when first needed; harmless when called again."""
        await asyncio.to_thread(self._make_tables)

    async def sweep_ttl(self) -> int:  # type: ignore[override]  # as in LangGraph
        """Remove expired items; returns how many. Reads never show them in any case."""
        return await asyncio.to_thread(super().sweep_ttl)


def _engine(conn: sqlite3.Connection) -> Engine:
    """All sessions share the connection, one at a time; each is one transaction that writes."""
    engine = create_engine("sqlite://", creator=lambda: conn, poolclass=StaticPool)
    event.listen(engine, "begin", lambda begun: begun.exec_driver_sql("BEGIN IMMEDIATE"))
    return engine


def _payload(op: PutOp) -> bytes | None:
    if op.value is None:
        return None
    check_namespace(op.namespace)
    try:
        return dumps(dict(op.value))
    except TypeError as error:
        raise TypeError(f"The value of '{op.key}' in {op.namespace} cannot be stored: {error}") from error


def _joined(namespace: Sequence[str]) -> str:
    return "".join(f"{label}." for label in namespace)


def _parted(name: str) -> tuple[str, ...]:
    return tuple(name.split(".")[:-1])


def _placed(row: StoreItem) -> dict[str, Any]:
    times = {"created_at": row.created_at, "updated_at": row.updated_at}
    return {"namespace": _parted(row.namespace), **{k: datetime.fromtimestamp(v, UTC) for k, v in times.items()}}


def _under(prefix: Sequence[str], model: Any = StoreItem) -> list[Any]:
    """The rows below a namespace. Not LIKE, which has wildcards and knows no case."""
    start = _joined(prefix)
    return [func.substr(model.namespace, 1, len(start)) == start, model.namespace >= start] if start else []
