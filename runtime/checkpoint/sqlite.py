"""A saver in a SQLite file: the embedded default.

WAL, so that the debugger reads while an application writes, from any number of processes. Each put is one transaction.
The hot path runs fixed statements on the connection; the tables are those of schema.py. Killing the process loses nothing
that was acknowledged; surviving a power cut costs a sync per step and is asked for by `synchronous="FULL"`.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
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
)
from runtime.checkpoint.schema import VERSION, sqlite_statements
from runtime.checkpoint.serde.jsonplus import JsonPlusSerializer, dumps, loads
from runtime.constants import ERROR, INTERRUPT

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

_BUSY_MS = 10_000
_COLUMNS = "thread_id, checkpoint_ns, checkpoint_id, parent_id, metadata_, versions, rest, writers, next_nodes"
_PUT = """INSERT OR REPLACE INTO checkpoint (thread_id, checkpoint_ns, checkpoint_id, parent_id, step, source, ts, writers,
 next_nodes, metadata_, versions, rest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_PUT_VALUE = (
    "INSERT OR IGNORE INTO channel_value (thread_id, checkpoint_ns, channel, version, payload) VALUES (?, ?, ?, ?, ?)"
)
_PUT_WRITE = """INSERT OR REPLACE INTO task_write (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, payload,
 task_path) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"""
_VALUE = "SELECT payload FROM channel_value WHERE thread_id = ? AND checkpoint_ns = ? AND channel = ? AND version = ?"
_WRITES = """SELECT task_id, channel, payload FROM task_write WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?
 ORDER BY task_path, task_id, idx"""
_TABLES = ("checkpoint", "channel_value", "task_write")


class DatabaseError(Exception):
    """A file that cannot serve as a store. The message names the file and the fix."""


class SqliteSaver(BaseCheckpointSaver[str]):
    """Keeps checkpoints in a SQLite database.

    Args:
        conn: a connection opened with `check_same_thread=False`; calls take turns on it.
    """

    def __init__(self, conn: sqlite3.Connection, *, serde: JsonPlusSerializer | None = None) -> None:
        super().__init__(serde=serde)
        self.conn = conn
        self._lock = threading.RLock()
        self._ready = False

    @classmethod
    @contextmanager
    def from_conn_string(cls, conn_string: str, *, synchronous: str = "NORMAL") -> Iterator[SqliteSaver]:
        """Open a file, `:memory:`, or a `file:` URI; closed at the end of the `with` block.

        Raises:
            DatabaseError: the file cannot be opened or is no database.
        """
        conn = _connect(conn_string, synchronous)
        try:
            saver = cls(conn)
            saver.setup()
            yield saver
        finally:
            conn.close()

    def setup(self) -> None:
        """Make the tables where there are none. Called by itself when first needed."""
        with self._lock:
            if self._ready:
                return
            try:
                found = self.conn.execute("PRAGMA user_version").fetchone()[0]
                if found > VERSION:
                    raise DatabaseError(
                        f"{_name(self.conn)} was written by a newer Forkpoint (schema {found}, this one knows {VERSION}). "
                        f"Upgrade Forkpoint."
                    )
                for statement in sqlite_statements():
                    self.conn.execute(statement)
                self.conn.execute(f"PRAGMA user_version = {VERSION}")
                self.conn.commit()
            except sqlite3.DatabaseError as error:
                raise _explain(self.conn, error) from error
            self._ready = True

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction, alone on the connection."""
        self.setup()
        with self._lock:
            try:
                self.conn.execute("BEGIN IMMEDIATE")
                yield self.conn
                self.conn.commit()
            except sqlite3.Error as error:
                self.conn.rollback()
                raise _explain(self.conn, error) from error
            except BaseException:
                self.conn.rollback()
                raise

    def _rows(self, query: str, arguments: Sequence[Any] = ()) -> list[Any]:
        self.setup()
        with self._lock:
            try:
                return self.conn.execute(query, arguments).fetchall()
            except sqlite3.Error as error:
                raise _explain(self.conn, error) from error

    # -- write ---------------------------------------------------------------------------------------------------------

    def put(
        self, config: RunnableConfig, checkpoint: Any, metadata: Any, new_versions: ChannelVersions
    ) -> RunnableConfig:
        """Store a checkpoint. Raises TypeError, naming the channel, for a value that cannot be kept."""
        configurable = config["configurable"]
        thread_id, ns = str(configurable["thread_id"]), configurable.get("checkpoint_ns", "")
        values = checkpoint["channel_values"]
        payloads = [
            (thread_id, ns, channel, str(version), _pack(channel, values[channel]))
            for channel, version in new_versions.items()
            if channel in values
        ]
        apart = ("channel_values", "channel_versions", "writers", "next_nodes")
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
            dumps(dict(metadata)),
            dumps([checkpoint["channel_versions"], list(values)]),
            dumps({key: value for key, value in checkpoint.items() if key not in apart}),
        )
        with self._writing() as conn:
            conn.executemany(_PUT_VALUE, payloads)
            conn.execute(_PUT, row)
        return place(thread_id, ns, checkpoint["id"])  # type: ignore[no-any-return]  # a RunnableConfig by shape

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store a task's writes. Raises TypeError, naming the channel, for a value that cannot be kept."""
        configurable = config["configurable"]
        thread_id, ns = str(configurable["thread_id"]), configurable.get("checkpoint_ns", "")
        rows = [
            (thread_id, ns, configurable["checkpoint_id"], task_id, index, channel, _pack(channel, value), task_path)
            for index, channel, value in numbered(writes)
        ]
        with self._writing() as conn:
            conn.executemany(_PUT_WRITE, rows)

    def delete_thread(self, thread_id: str) -> None:
        """Remove all that is stored of a thread."""
        with self._writing() as conn:
            for table in _TABLES:
                conn.execute(f"DELETE FROM {table} WHERE thread_id = ?", (str(thread_id),))  # noqa: S608 - fixed names

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Give another thread the same checkpoints."""
        with self._writing() as conn:
            for table in _TABLES:
                columns = [row[1] for row in conn.execute(f"PRAGMA table_info({table})") if row[1] != "thread_id"]
                names = ", ".join(columns)
                conn.execute(
                    f"INSERT OR REPLACE INTO {table} (thread_id, {names}) "  # noqa: S608 - fixed names
                    f"SELECT ?, {names} FROM {table} WHERE thread_id = ?",
                    (target_thread_id, source_thread_id),
                )

    # -- read ----------------------------------------------------------------------------------------------------------

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that a config names, or the newest."""
        configurable = config["configurable"]
        arguments = [str(configurable["thread_id"]), configurable.get("checkpoint_ns", "")]
        query = f"SELECT {_COLUMNS} FROM checkpoint WHERE thread_id = ? AND checkpoint_ns = ?"  # noqa: S608 - fixed names
        if configurable.get("checkpoint_id"):
            query, arguments = f"{query} AND checkpoint_id = ?", [*arguments, configurable["checkpoint_id"]]
        rows = self._rows(f"{query} ORDER BY checkpoint_id DESC LIMIT 1", arguments)
        return self._tuple(rows[0]) if rows else None

    def _tuple(self, row: Sequence[Any]) -> CheckpointTuple:
        thread_id, ns, checkpoint_id, parent_id, metadata, versions_payload, rest, *names = row
        versions, present = loads(versions_payload)
        values = {}
        for channel in present:
            found = self._rows(_VALUE, (thread_id, ns, channel, str(versions.get(channel))))
            if found:
                values[channel] = loads(found[0][0])
        writes = [
            (task, channel, loads(value))
            for task, channel, value in self._rows(_WRITES, (thread_id, ns, checkpoint_id))
        ]
        checkpoint = {**loads(rest), "channel_values": values, "channel_versions": versions}
        writers, following = (json.loads(text) for text in names)
        if writers:
            checkpoint["writers"] = writers
        if following:
            checkpoint["next_nodes"] = following
        return CheckpointTuple(
            place(thread_id, ns, checkpoint_id),
            checkpoint,
            loads(metadata),
            place(thread_id, ns, parent_id) if parent_id else None,
            writes,
        )

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
        conditions, arguments = [], []
        for key in ("thread_id", "checkpoint_ns", "checkpoint_id"):
            if configurable.get(key) is not None:
                conditions.append(f"{key} = ?")
                arguments.append(str(configurable[key]))
        stop = checkpoint_id_of(before)
        if stop:
            conditions.append("checkpoint_id < ?")
            arguments.append(stop)
        where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
        query = f"SELECT {_COLUMNS} FROM checkpoint {where} ORDER BY checkpoint_id DESC"  # noqa: S608 - fixed names
        if limit is not None and not filter:
            query = f"{query} LIMIT {int(limit)}"
        left = limit
        for row in self._rows(query, arguments):
            if left is not None and left <= 0:
                return
            if filter and not matches(loads(row[4]), filter):
                continue
            left = None if left is None else left - 1
            yield self._tuple(row)

    def headers(self, thread_id: str, checkpoint_ns: str = "") -> Iterator[CheckpointHeader]:
        """The checkpoints of a namespace, newest first, without reading a value."""
        notes = self._notes(thread_id, checkpoint_ns)
        query = """SELECT checkpoint_id, parent_id, step, source, ts, writers, next_nodes, metadata_, versions FROM checkpoint
 WHERE thread_id = ? AND checkpoint_ns = ? ORDER BY checkpoint_id DESC"""
        for row in self._rows(query, (thread_id, checkpoint_ns)):
            waits, error = notes.get(row[0], (0, None))
            yield CheckpointHeader(
                thread_id=thread_id,
                checkpoint_ns=checkpoint_ns,
                checkpoint_id=row[0],
                parent_id=row[1],
                step=row[2],
                source=row[3],
                ts=row[4],
                writers=tuple(json.loads(row[5])),
                next=tuple(json.loads(row[6])),
                metadata=loads(row[7]),
                channel_versions=loads(row[8])[0],
                interrupts=waits,
                error=error,
            )

    def _notes(self, thread_id: str, ns: str) -> dict[str, tuple[int, str | None]]:
        """Checkpoint id to (tasks that wait for an answer, first error), where there is either."""
        query = """SELECT checkpoint_id, task_id, MAX(idx) >= 0, MAX(channel = ?),
 MAX(CASE WHEN channel = ? THEN payload END) FROM task_write
 WHERE thread_id = ? AND checkpoint_ns = ? GROUP BY checkpoint_id, task_id"""
        notes: dict[str, tuple[int, str | None]] = {}
        for checkpoint_id, _, ended, asked, error in self._rows(query, (INTERRUPT, ERROR, thread_id, ns)):
            waits, known = notes.get(checkpoint_id, (0, None))
            failed = known or (str(loads(error)) if error is not None and not ended else None)
            notes[checkpoint_id] = (waits + (1 if asked and not ended else 0), failed)
        return notes

    def namespaces(self, thread_id: str) -> Sequence[tuple[str, int]]:
        """(namespace, number of checkpoints) of a thread."""
        query = "SELECT checkpoint_ns, COUNT(*) FROM checkpoint WHERE thread_id = ? GROUP BY checkpoint_ns ORDER BY 1"
        return [(ns, count) for ns, count in self._rows(query, (thread_id,))]


def _connect(conn_string: str, synchronous: str) -> sqlite3.Connection:
    if synchronous not in ("OFF", "NORMAL", "FULL", "EXTRA"):
        raise ValueError(f"synchronous must be OFF, NORMAL, FULL or EXTRA, got {synchronous!r}.")
    try:
        conn = sqlite3.connect(
            conn_string,
            check_same_thread=False,
            timeout=_BUSY_MS / 1000,
            isolation_level=None,
            uri=conn_string.startswith("file:"),
        )
        conn.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
        conn.execute("PRAGMA journal_mode = WAL")
        conn.execute(f"PRAGMA synchronous = {synchronous}")
    except sqlite3.Error as error:
        path = conn_string if conn_string == ":memory:" else str(Path(conn_string).resolve())
        raise DatabaseError(_advice(path, error)) from error
    return conn


def _name(conn: sqlite3.Connection) -> str:
    try:
        found = conn.execute("PRAGMA database_list").fetchone()
    except sqlite3.Error:
        return "the database"
    return found[2] or ":memory:"


def _explain(conn: sqlite3.Connection, error: sqlite3.Error) -> DatabaseError:
    return DatabaseError(_advice(_name(conn), error))


def _advice(path: str, error: sqlite3.Error) -> str:
    text = str(error)
    if "not a database" in text:
        return f"{path} is no SQLite database. Name another file."
    if "locked" in text:
        return f"{path} is locked by another process for over {_BUSY_MS // 1000} s. Close what holds it, and try again."
    if "readonly" in text or "unable to open" in text:
        return f"{path} cannot be written ({text}). Check the folder and its permissions, or name another file."
    if "full" in text:
        return f"The disk of {path} is full. Free some space: what was stored before is intact."
    return f"{path}: {text}"


def _pack(channel: str, value: Any) -> bytes:
    try:
        return dumps(value)
    except TypeError as error:
        raise TypeError(f"Key '{channel}': {error}") from error
