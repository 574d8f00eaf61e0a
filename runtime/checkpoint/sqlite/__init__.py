"""A saver in a SQLite file: the embedded default.

WAL, so that the debugger reads while an application writes, from any number of processes. Each put is one transaction.
Fixed statements run on the connection; the tables are those of schema.py, the file itself is sqlite_file.py's.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import groupby
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
from runtime.checkpoint.growth import Made, Place, Tips, assembled
from runtime.checkpoint.serde.codec import dumps_record, loads
from runtime.checkpoint.serde.jsonplus import SerializerProtocol
from runtime.checkpoint.sqlite_file import DatabaseError, SqliteFile, Synchronous, connect
from runtime.constants import ERROR

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

__all__ = ["DatabaseError", "SqliteSaver"]

_COLUMNS = "thread_id, checkpoint_ns, checkpoint_id, parent_id, metadata_, versions, rest, writers, next_nodes"
_HEADER = """SELECT thread_id, checkpoint_ns, checkpoint_id, parent_id, step, source, ts, writers, next_nodes, metadata_,
 versions FROM checkpoint"""
_HEAD = """SELECT checkpoint_id FROM checkpoint WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id <> ?
 ORDER BY checkpoint_id DESC LIMIT 1"""
_PUT = """INSERT OR REPLACE INTO checkpoint (thread_id, checkpoint_ns, checkpoint_id, parent_id, step, source, ts, writers,
 next_nodes, metadata_, versions, rest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_PUT_VALUE = """INSERT OR REPLACE INTO channel_value (thread_id, checkpoint_ns, channel, version, payload, base, head, tail)
 VALUES (?, ?, ?, ?, ?, ?, ?, ?)"""
_HAS_VALUE = "SELECT 1 FROM channel_value WHERE thread_id = ? AND checkpoint_ns = ? AND channel = ? AND version = ?"
_PUT_WRITE = """INSERT OR REPLACE INTO task_write (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, payload,
 task_path) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"""
_VALUE = """SELECT payload, base FROM channel_value WHERE thread_id = ? AND checkpoint_ns = ? AND channel = ?
 AND version = ?"""
_CHAIN = """WITH RECURSIVE step (depth, payload, base, head, tail) AS (
 SELECT 0, payload, base, head, tail FROM channel_value
 WHERE thread_id = ?1 AND checkpoint_ns = ?2 AND channel = ?3 AND version = ?4
 UNION ALL SELECT depth + 1, below.payload, below.base, below.head, below.tail FROM step CROSS JOIN channel_value AS below
 ON below.thread_id = ?1 AND below.checkpoint_ns = ?2 AND below.channel = ?3 AND below.version = step.base)
 SELECT payload, head, tail FROM step ORDER BY depth DESC"""
"""What a list is made of: a full copy, then what each version kept and gained."""
_WRITES = """SELECT task_id, channel, payload FROM task_write WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?
 ORDER BY task_path, task_id, idx"""
_NOTES = """SELECT checkpoint_ns, checkpoint_id, task_id, channel, CASE WHEN channel = ? THEN payload END,
 EXISTS (SELECT 1 FROM task_write AS own WHERE own.thread_id = note.thread_id AND own.checkpoint_ns = note.checkpoint_ns
 AND own.checkpoint_id = note.checkpoint_id AND own.task_id = note.task_id AND own.idx >= 0)
 FROM task_write AS note WHERE idx < 0 AND thread_id = ? AND checkpoint_ns = ? AND checkpoint_id BETWEEN ? AND ?
 ORDER BY checkpoint_id, task_id, idx"""
_THREADS = """WITH RECURSIVE found (id) AS (SELECT MIN(thread_id) FROM checkpoint UNION ALL
 SELECT (SELECT MIN(thread_id) FROM checkpoint WHERE thread_id > id) FROM found WHERE id IS NOT NULL)
 SELECT id FROM found WHERE id IS NOT NULL"""
"""From one thread id to the next, by the index: what the threads hold is not read."""
_TABLES = ("checkpoint", "channel_value", "task_write")
_APART = frozenset({"channel_values", "channel_versions", "writers", "next_nodes"})


@dataclass(slots=True)
class _Record:
    """A checkpoint, ready to be stored."""

    row: tuple[Any, ...]
    made: list[tuple[Place, str, Made]]
    """(where, version, what of it) of the channels that changed."""
    values: Mapping[str, Any]


class SqliteSaver(BaseCheckpointSaver[str]):
    """Keeps checkpoints in a SQLite database.

    Args:
        conn: a connection opened with `check_same_thread=False`; calls take turns on it.
        verify: look into every item of a long list that grew (see growth.py). Costs 0.2 us an item and step.
    """

    threaded = True

    def __init__(
        self, conn: sqlite3.Connection, *, serde: SerializerProtocol | None = None, verify: bool = False
    ) -> None:
        super().__init__(serde=serde)
        self.conn = conn
        self._file = SqliteFile(conn)
        self._tips = Tips(verify=verify)

    @classmethod
    @contextmanager
    def from_conn_string(
        cls,
        conn_string: str | os.PathLike[str],
        *,
        synchronous: Synchronous = "NORMAL",
        serde: SerializerProtocol | None = None,
        verify: bool = False,
    ) -> Iterator[SqliteSaver]:
        """Open a file, `:memory:`, or a `file:` URI; closed at the end of the `with` block.

        Args:
            synchronous: FULL to survive a power cut too, at the cost of a disk sync per put.
            verify: as of the class.

        Raises:
            DatabaseError: the file cannot be opened or is no database.
        """
        conn = connect(conn_string, synchronous)
        try:
            saver = cls(conn, serde=serde, verify=verify)
            saver.setup()
            yield saver
        finally:
            conn.close()

    def setup(self) -> None:
        """Make or upgrade the tables. Called by itself when first needed."""
        self._file.setup()

    # -- write ---------------------------------------------------------------------------------------------------------

    def put(
        self, config: RunnableConfig, checkpoint: Any, metadata: Any, new_versions: ChannelVersions
    ) -> RunnableConfig:
        """Store a checkpoint. Raises TypeError, naming the channel, for a value that cannot be kept."""
        record = self._record(config, checkpoint, metadata, new_versions)
        with self._file.writing() as conn:
            self._store(conn, record)
        return self._stored(record)

    def put_step(
        self,
        config: RunnableConfig,
        checkpoint: Any,
        metadata: Any,
        new_versions: ChannelVersions,
        task_config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> RunnableConfig:
        """`put_writes` and `put` in one transaction. If the checkpoint cannot be kept, the writes are."""
        rows = self._write_rows(task_config, writes, task_id, task_path)
        try:
            record = self._record(config, checkpoint, metadata, new_versions)
        except TypeError:
            with self._file.writing() as conn:
                conn.executemany(_PUT_WRITE, rows)
            raise
        with self._file.writing() as conn:
            conn.executemany(_PUT_WRITE, rows)
            self._store(conn, record)
        return self._stored(record)

    def _record(self, config: RunnableConfig, checkpoint: Any, metadata: Any, new_versions: ChannelVersions) -> _Record:
        configurable = config["configurable"]
        thread_id, ns = str(configurable["thread_id"]), configurable.get("checkpoint_ns", "")
        values = checkpoint["channel_values"]
        made = [
            (
                (thread_id, ns, channel),
                str(version),
                self._made((thread_id, ns, channel), str(version), values[channel]),
            )
            for channel, version in new_versions.items()
            if channel in values
        ]
        row = (
            thread_id,
            ns,
            checkpoint["id"],
            configurable.get("checkpoint_id"),
            metadata.get("step", -1),
            metadata.get("source", "loop"),
            checkpoint["ts"],
            json.dumps(checkpoint.get("writers") or []),
            json.dumps(checkpoint.get("next_nodes") or []),
            self.dump_metadata(metadata),
            dumps_record([checkpoint["channel_versions"], [*values]]),
            dumps_record({key: value for key, value in checkpoint.items() if key not in _APART}),
        )
        return _Record(row, made, values)

    def _store(self, conn: sqlite3.Connection, record: _Record) -> None:
        for where, version, item in record.made:
            if item.difference is not None and not _has(conn, where, item.difference.version):
                item.payload, item.difference = self.dump(where[2], record.values[where[2]]), None
            conn.execute(_PUT_VALUE, (*where, version, item.payload, *_kept(item)))
        conn.execute(_PUT, record.row)

    def _stored(self, record: _Record) -> RunnableConfig:
        for where, version, item in record.made:
            self._tips.stored(where, version, record.values[where[2]], item)
        return place(*record.row[:3])  # type: ignore[no-any-return]  # a RunnableConfig by shape

    def _made(self, where: Place, version: str, value: Any) -> Made:
        return self._tips.make(where, version, value, partial(self.dump, where[2]))

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store a task's writes. Raises TypeError, naming the channel, for a value that cannot be kept."""
        rows = self._write_rows(config, writes, task_id, task_path)
        with self._file.writing() as conn:
            conn.executemany(_PUT_WRITE, rows)

    def _write_rows(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str
    ) -> list[tuple[Any, ...]]:
        configurable = config["configurable"]
        where = (
            str(configurable["thread_id"]),
            configurable.get("checkpoint_ns", ""),
            configurable["checkpoint_id"],
            task_id,
        )
        return [
            (*where, index, channel, self.dump(channel, value), task_path) for index, channel, value in numbered(writes)
        ]

    def delete_thread(self, thread_id: str) -> None:
        """Remove all that is stored of a thread."""
        with self._file.writing() as conn:
            for table in _TABLES:
                conn.execute(f"DELETE FROM {table} WHERE thread_id = ?", (str(thread_id),))  # noqa: S608 - fixed names
        self._tips.forget_thread(str(thread_id))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Give another thread the same checkpoints."""
        with self._file.writing() as conn:
            for table in _TABLES:
                columns = [row[1] for row in conn.execute(f"PRAGMA table_info({table})") if row[1] != "thread_id"]
                names = ", ".join(columns)
                conn.execute(
                    f"INSERT OR REPLACE INTO {table} (thread_id, {names}) "  # noqa: S608 - fixed names
                    f"SELECT ?, {names} FROM {table} WHERE thread_id = ?",
                    (str(target_thread_id), str(source_thread_id)),
                )

    # -- read ----------------------------------------------------------------------------------------------------------

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that a config names, or the newest."""
        return self._get(config, to_run=False)

    def checkout(self, config: RunnableConfig) -> CheckpointTuple | None:
        """`get_tuple`, for a run that goes on from there."""
        return self._get(config, to_run=True)

    def _get(self, config: RunnableConfig, *, to_run: bool) -> CheckpointTuple | None:
        configurable = config["configurable"]
        arguments = [str(configurable["thread_id"]), configurable.get("checkpoint_ns", "")]
        query = f"SELECT {_COLUMNS} FROM checkpoint WHERE thread_id = ? AND checkpoint_ns = ?"  # noqa: S608 - fixed names
        if configurable.get("checkpoint_id"):
            query, arguments = f"{query} AND checkpoint_id = ?", [*arguments, configurable["checkpoint_id"]]
        with self._file.reading() as conn:
            row = conn.execute(f"{query} ORDER BY checkpoint_id DESC LIMIT 1", arguments).fetchone()
            return None if row is None else self._tuple(conn, row, to_run=to_run)

    def _tuple(self, conn: sqlite3.Connection, row: Sequence[Any], *, to_run: bool = False) -> CheckpointTuple:
        thread_id, ns, checkpoint_id, parent_id, metadata, versions_payload, rest, *names = row
        versions, present = loads(versions_payload)
        values = {}
        for channel in present:
            where = (thread_id, ns, channel)
            version = str(versions.get(channel))
            found = conn.execute(_VALUE, (*where, version)).fetchone()
            if found is not None:
                read = partial(self._read, conn, where, version, found)
                values[channel] = self._tips.open(where, version, None, read) if to_run else read()[0]
        writes = [
            (task, channel, self.load(value))
            for task, channel, value in conn.execute(_WRITES, (thread_id, ns, checkpoint_id))
        ]
        checkpoint = {**loads(rest), "channel_values": values, "channel_versions": versions}
        for key, text in zip(("writers", "next_nodes"), names, strict=True):
            if text != "[]":
                checkpoint[key] = json.loads(text)
        return CheckpointTuple(
            place(thread_id, ns, checkpoint_id),
            checkpoint,
            loads(metadata),
            place(thread_id, ns, parent_id) if parent_id else None,
            writes,
        )

    def _read(
        self, conn: sqlite3.Connection, where: Place, version: str, row: tuple[bytes, str | None]
    ) -> tuple[Any, Sequence[int]]:
        """The value of a version, and the bytes of its full copy and of each difference to it."""
        payload, base = row
        if base is None:
            return self.load(payload), (len(payload),)
        rows = conn.execute(_CHAIN, (*where, version)).fetchall()
        (whole, _, _), *steps = rows
        made = assembled(self.load(whole), ((head, tail, self.load(items)) for items, head, tail in steps))
        return made, [len(payload) for payload, _, _ in rows]

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
        names = ("thread_id", "checkpoint_ns", "checkpoint_id")
        wanted = {name: str(configurable[name]) for name in names if configurable.get(name) is not None}
        where, arguments = _where(wanted, checkpoint_id_of(before))
        query = f"SELECT {_COLUMNS} FROM checkpoint {where} ORDER BY checkpoint_id DESC"  # noqa: S608 - fixed names
        if limit is not None and not filter:
            query = f"{query} LIMIT {int(limit)}"
        rows = self._file.rows(query, arguments)
        left = len(rows) if limit is None else limit
        for row in rows:
            if left <= 0:
                return
            if filter and not matches(loads(row[4]), filter):
                continue
            left -= 1
            with self._file.reading() as conn:
                item = self._tuple(conn, row)
            yield item

    def head(self, thread_id: str, checkpoint_ns: str = "", *, besides: str | None = None) -> str | None:
        """Id of the newest checkpoint, `besides` not counted."""
        rows = self._file.rows(_HEAD, (str(thread_id), checkpoint_ns, besides or ""))
        return str(rows[0][0]) if rows else None

    def headers(
        self, thread_id: str, checkpoint_ns: str | None = "", *, limit: int | None = None, before: str | None = None
    ) -> Iterator[CheckpointHeader]:
        """Checkpoints, newest first, without reading a value."""
        wanted = {"thread_id": str(thread_id)}
        if checkpoint_ns is not None:
            wanted["checkpoint_ns"] = checkpoint_ns
        where, arguments = _where(wanted, before)
        page = "" if limit is None else f" LIMIT {int(limit)}"
        with self._file.reading() as conn:
            rows = conn.execute(f"{_HEADER} {where} ORDER BY checkpoint_id DESC{page}", arguments).fetchall()
            notes = self._notes(conn, rows)
        for row in rows:
            waits, error = notes.get((row[1], row[2]), (0, None))
            yield CheckpointHeader(
                thread_id=row[0],
                checkpoint_ns=row[1],
                checkpoint_id=row[2],
                parent_id=row[3],
                step=row[4],
                source=row[5],
                ts=row[6],
                writers=tuple(json.loads(row[7])),
                next=tuple(json.loads(row[8])),
                metadata=loads(row[9]),
                channel_versions=loads(row[10])[0],
                interrupts=waits,
                error=error,
            )

    def _notes(self, conn: sqlite3.Connection, rows: Sequence[Any]) -> Mapping[tuple[str, str], tuple[int, str | None]]:
        """(namespace, checkpoint id) to (tasks that wait, first error), of those rows that have any."""
        found = {}
        for thread_id, ns in dict.fromkeys(row[:2] for row in rows):
            ids = [row[2] for row in rows if row[1] == ns]
            notes = conn.execute(_NOTES, (ERROR, thread_id, ns, ids[-1], ids[0])).fetchall()
            for key, group in groupby(notes, key=lambda note: (note[0], note[1])):
                found[key] = waits_and_error(
                    (task_id, channel, None if error is None else self.load(error), bool(ended))
                    for _, _, task_id, channel, error, ended in group
                )
        return found

    def namespaces(self, thread_id: str) -> Sequence[tuple[str, int]]:
        """(namespace, number of checkpoints) of a thread."""
        query = "SELECT checkpoint_ns, COUNT(*) FROM checkpoint WHERE thread_id = ? GROUP BY checkpoint_ns ORDER BY 1"
        return [(ns, count) for ns, count in self._file.rows(query, (str(thread_id),))]

    def threads(self) -> Sequence[str]:
        """The ids of all threads."""
        return [thread_id for (thread_id,) in self._file.rows(_THREADS)]


def _has(conn: sqlite3.Connection, where: Place, version: str) -> bool:
    """Whether a version is still there: another process may have deleted the thread."""
    return conn.execute(_HAS_VALUE, (*where, version)).fetchone() is not None


def _kept(made: Made) -> tuple[str | None, int | None, int | None]:
    """(base, head, tail) of what is stored."""
    found = made.difference
    return (None, None, None) if found is None else (found.version, found.head, found.tail)


def _where(wanted: Mapping[str, str], before: str | None) -> tuple[str, list[str]]:
    """A WHERE clause of fixed names and bound values."""
    conditions = [f"{name} = ?" for name in wanted]
    arguments = [*wanted.values()]
    if before:
        conditions.append("checkpoint_id < ?")
        arguments.append(before)
    return (f"WHERE {' AND '.join(conditions)}" if conditions else ""), arguments
