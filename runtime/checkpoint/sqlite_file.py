"""A SQLite file as a store: how it is opened, made, upgraded, and what is said when that fails.

Owns: pragmas, transactions, the schema's version, error messages. Refuses: what is in the tables.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Literal
from weakref import WeakValueDictionary

from runtime.checkpoint.schema import MIGRATIONS, VERSION, sqlite_statements

BUSY_SECONDS = 30
_WAL_TRIES = 100
_WAL_PAGES = 4000
"""Pages that the log gains before they are moved into the file. SQLite's 1,000 move the same pages more often."""
Synchronous = Literal["OFF", "NORMAL", "FULL", "EXTRA"]
"""NORMAL: killing the process loses nothing that was acknowledged. FULL: neither does a power cut."""
_SYNCHRONOUS = ("OFF", "NORMAL", "FULL", "EXTRA")
_ADVICE = (
    ("not a database", "It is no SQLite database. Name another file."),
    ("malformed", "The file is damaged. Restore a copy, or save what `sqlite3 FILE .recover` finds into a new file."),
    ("locked", f"Another process holds it for over {BUSY_SECONDS} s. Close what holds it, and try again."),
    ("readonly", "It cannot be written. Check the permissions of the file and its folder, or name another file."),
    ("unable to open", "It cannot be opened. Check that the folder exists and may be written, or name another file."),
    ("full", "The disk is full. Free some space: what was stored before is intact."),
    ("closed database", "It was closed: use it within its `with` block."),
)


class DatabaseError(Exception):
    """A file that cannot serve as a store. The message names the file and the fix."""


def connect(database: str | os.PathLike[str], synchronous: Synchronous = "NORMAL") -> sqlite3.Connection:
    """A connection to a file, `:memory:` or a `file:` URI, that threads may share.

    Raises:
        DatabaseError: the file cannot be opened or is no database.
        ValueError: an unknown `synchronous`.
    """
    if synchronous not in _SYNCHRONOUS:
        raise ValueError(f"synchronous must be one of {', '.join(_SYNCHRONOUS)}, got {synchronous!r}.")
    name = os.fspath(database)
    conn = None
    try:
        conn = sqlite3.connect(
            name,
            check_same_thread=False,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            uri=name.startswith("file:"),
        )
        conn.execute(f"PRAGMA synchronous = {synchronous}")
        conn.execute(f"PRAGMA wal_autocheckpoint = {_WAL_PAGES}")
        conn.execute("PRAGMA schema_version").fetchone()  # the first read: tells a database from other files
    except sqlite3.Error as error:
        if conn is not None:
            conn.close()
        shown = name if name == ":memory:" or name.startswith("file:") else str(Path(name).resolve())
        raise DatabaseError(_advice(shown, error)) from error
    return conn


def use_wal(conn: sqlite3.Connection) -> None:
    """Let readers read while another writes: a property of the file.

    SQLite does not wait here for another process that is at it: so we wait for that one's transaction, and try again.
    """
    for _ in range(_WAL_TRIES):
        try:
            conn.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
        conn.execute("BEGIN IMMEDIATE")
        conn.rollback()
    conn.execute("PRAGMA journal_mode = WAL")


class Turn:
    """The right to write to a file, which this process's connections to it hold in turn.

    SQLite itself asks again and again, ever more rarely: of many busy writers one can starve until it gives up.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()


_TURNS: WeakValueDictionary[str, Turn] = WeakValueDictionary()
_TURNS_LOCK = threading.Lock()


def turn_of(conn: sqlite3.Connection) -> Turn:
    """What the process's connections to one file share; in memory, each database has its own."""
    path = conn.execute("PRAGMA database_list").fetchone()[2]
    if not path:
        return Turn()
    with _TURNS_LOCK:
        return _TURNS.setdefault(path, Turn())


class SqliteFile:
    """A connection that threads take turns on, with our tables in it."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self.conn = conn
        self._lock = threading.RLock()
        self._turn: Turn | None = None
        self._ready = False

    def setup(self) -> None:
        """Make or upgrade the tables. Called by itself when first needed; harmless when called again.

        Raises:
            DatabaseError: it cannot be written, or a newer Forkpoint made it.
        """
        if self._ready:
            return
        with self._lock:
            try:
                self._turn = turn_of(self.conn)
                self.conn.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}")
                if self._found_version() != VERSION:
                    with self._turn.lock:
                        self._make()
            except sqlite3.Error as error:
                raise self._explained(error) from error
            self._ready = True

    def _found_version(self) -> int:
        """The schema's version; 0 where there are no tables."""
        tables = {name for (name,) in self.conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if "checkpoint_schema" in tables:
            found = self.conn.execute("SELECT MAX(version) FROM checkpoint_schema").fetchone()[0]
            return int(found or 0)
        return 1 if {"checkpoint", "channel_value", "task_write"} <= tables else 0

    def _make(self) -> None:
        """Tables of the version that this code knows. Of several processes, one does it and the others wait."""
        use_wal(self.conn)
        with self._transaction("BEGIN IMMEDIATE"):
            found = self._found_version()
            if found > VERSION:
                raise DatabaseError(
                    f"{self._name()}: written by a newer Forkpoint (schema {found}, this one knows {VERSION}). "
                    f"Upgrade Forkpoint."
                )
            for version in range(found, VERSION) if found else ():
                for statement in MIGRATIONS[version]:
                    self.conn.execute(statement)
            for statement in sqlite_statements():
                self.conn.execute(statement)
            self.conn.execute("DELETE FROM checkpoint_schema")
            self.conn.execute("INSERT INTO checkpoint_schema (version) VALUES (?)", (VERSION,))

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction, alone on the connection: all of it is stored, or nothing."""
        self.setup()
        with self._lock, self._my_turn():
            try:
                if not self.conn.in_transaction:
                    self.conn.execute("BEGIN IMMEDIATE")
                yield self.conn
                self.conn.commit()
            except sqlite3.Error as error:
                self.conn.rollback()
                raise self._explained(error) from error
            except BaseException:
                self.conn.rollback()
                raise

    def _my_turn(self) -> AbstractContextManager[Any]:
        """The turn among the writers, unless the connection's owner holds the file with a transaction of their own."""
        return nullcontext() if self._turn is None or self.conn.in_transaction else self._turn.lock

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One state of the database for several queries, whatever others write meanwhile."""
        self.setup()
        with self._lock, self._explaining(), self._transaction("BEGIN"):
            yield self.conn

    def rows(self, query: str, arguments: Sequence[Any] = ()) -> list[Any]:
        """All rows of one query."""
        self.setup()
        with self._lock, self._explaining():
            return self.conn.execute(query, arguments).fetchall()

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        """Within the one that the connection's owner has begun, if any."""
        if not self.conn.in_transaction:
            self.conn.execute(begin)
        try:
            yield
            self.conn.commit()
        except BaseException:
            self.conn.rollback()
            raise

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._explained(error) from error

    def _explained(self, error: sqlite3.Error) -> DatabaseError:
        return explained(self.conn, error)

    def _name(self) -> str:
        return _name(self.conn)


def explained(conn: sqlite3.Connection, error: BaseException) -> DatabaseError:
    """What went wrong with a connection's file, and the fix."""
    return DatabaseError(_advice(_name(conn), error))


def _name(conn: sqlite3.Connection) -> str:
    """The file, as far as the connection can still tell."""
    try:
        found = conn.execute("PRAGMA database_list").fetchone()
    except sqlite3.Error:
        return "the database"
    return found[2] or ":memory:"


def _advice(name: str, error: BaseException) -> str:
    text = str(error)
    fix = next((fix for part, fix in _ADVICE if part in text), "See SQLite's message.")
    return f"{name}: {text}. {fix}"
