"""A file that cannot be a store says why and what to do; an older one is upgraded in place."""

from __future__ import annotations

import re
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from runtime.cache import sqlite as sqlite_cache
from runtime.cache.sqlite import SqliteCache
from runtime.checkpoint import sqlite_file
from runtime.checkpoint.schema import VERSION
from runtime.checkpoint.sqlite import DatabaseError, SqliteSaver
from runtime.store import sqlite as sqlite_store
from runtime.store.sqlite import SqliteStore
from tests.conformance.savers import Sync, at, line, record

VERSION_1 = """
CREATE TABLE checkpoint (thread_id VARCHAR NOT NULL, checkpoint_ns VARCHAR NOT NULL, checkpoint_id VARCHAR NOT NULL,
 parent_id VARCHAR, step INTEGER NOT NULL, source VARCHAR NOT NULL, ts VARCHAR NOT NULL, writers VARCHAR NOT NULL,
 next_nodes VARCHAR NOT NULL, metadata_ BLOB NOT NULL, versions BLOB NOT NULL, rest BLOB NOT NULL,
 PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id)) WITHOUT ROWID;
CREATE INDEX checkpoint_parent ON checkpoint (thread_id, checkpoint_ns, parent_id);
CREATE TABLE channel_value (thread_id VARCHAR NOT NULL, checkpoint_ns VARCHAR NOT NULL, channel VARCHAR NOT NULL,
 version VARCHAR NOT NULL, payload BLOB NOT NULL, PRIMARY KEY (thread_id, checkpoint_ns, channel, version));
CREATE TABLE task_write (thread_id VARCHAR NOT NULL, checkpoint_ns VARCHAR NOT NULL, checkpoint_id VARCHAR NOT NULL,
 task_id VARCHAR NOT NULL, idx INTEGER NOT NULL, channel VARCHAR NOT NULL, payload BLOB NOT NULL, task_path VARCHAR NOT NULL,
 PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)) WITHOUT ROWID;
PRAGMA user_version = 1;
"""


def refusal(place: Any) -> str:
    with pytest.raises(DatabaseError) as caught, SqliteSaver.from_conn_string(place) as saver:
        line(Sync(saver), "t", 1)
    return str(caught.value)


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("hello " * 1000)

    assert str(file) in refusal(file)
    assert "is no SQLite database. Name another file" in refusal(file)
    assert file.read_text() == "hello " * 1000


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    said = refusal(tmp_path / "none" / "s.sqlite")

    assert str(tmp_path / "none" / "s.sqlite") in said
    assert "Check that the folder exists" in said


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    with SqliteSaver.from_conn_string(tmp_path / "s.sqlite") as saver:
        line(Sync(saver), "t", 1)

    said = refusal(f"file:{tmp_path / 's.sqlite'}?mode=ro")

    assert "cannot be written. Check the permissions" in said
    assert "s.sqlite" in said
    with SqliteSaver.from_conn_string(f"file:{tmp_path / 's.sqlite'}?mode=ro") as reader:
        assert reader.get(at("t"))["channel_values"] == {"n": 0}


def test_a_file_that_another_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_file, "BUSY_SECONDS", 0.05)
    with SqliteSaver.from_conn_string(tmp_path / "s.sqlite") as holder, holder._file.writing():
        said = refusal(tmp_path / "s.sqlite")

    assert re.search(r"s\.sqlite: database is locked\. Another process holds it", said)


@pytest.mark.parametrize("writer", ["saver", "store", "cache"])
def test_writers_of_one_process_wait_for_their_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writer: str
) -> None:
    for module in (sqlite_file, sqlite_store, sqlite_cache):
        monkeypatch.setattr(module, "BUSY_SECONDS", 0)  # SQLite's own waiting could starve: none is needed
    file = tmp_path / "s.sqlite"
    with (
        SqliteSaver.from_conn_string(file) as holder,
        SqliteSaver.from_conn_string(file) as saver,
        SqliteStore.from_conn_string(file) as store,
        closing(SqliteCache[int](path=file)) as cache,
    ):
        store.setup()
        write = {
            "saver": lambda: line(Sync(saver), "t", 1),
            "store": lambda: store.put(("a",), "k", {"n": 1}),
            "cache": lambda: cache.set({(("a",), "k"): (1, None)}),
        }[writer]
        with ThreadPoolExecutor(1) as pool:
            with holder._file.writing():
                done = pool.submit(write)
                with pytest.raises(TimeoutError):
                    done.result(timeout=0.1)
            done.result(timeout=10)


def test_a_file_that_is_damaged(tmp_path: Path) -> None:
    file = tmp_path / "s.sqlite"
    with SqliteSaver.from_conn_string(file) as saver:
        line(Sync(saver), "t", 200)
    content = bytearray(file.read_bytes())
    content[4096 : 4096 * 8] = b"\x55" * 4096 * 7
    file.write_bytes(content)

    assert re.search("malformed.*The file is damaged", refusal(file))


def test_a_saver_that_was_closed(tmp_path: Path) -> None:
    with SqliteSaver.from_conn_string(tmp_path / "s.sqlite") as saver:
        pass

    with pytest.raises(DatabaseError, match="within its `with` block"):
        saver.get_tuple(at("t"))


def test_an_unknown_synchronous(tmp_path: Path) -> None:
    with (
        pytest.raises(ValueError, match="OFF, NORMAL, FULL, EXTRA, got 'fast'"),
        SqliteSaver.from_conn_string(tmp_path / "s.sqlite", synchronous="fast"),  # type: ignore[arg-type]
    ):
        pass


@pytest.mark.parametrize(("option", "stored"), [("NORMAL", 1), ("FULL", 2)])
def test_synchronous_is_an_option(tmp_path: Path, option: Any, stored: int) -> None:
    with SqliteSaver.from_conn_string(tmp_path / "s.sqlite", synchronous=option) as saver:
        assert saver.conn.execute("PRAGMA synchronous").fetchone() == (stored,)
        assert saver.conn.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert saver.conn.execute("PRAGMA busy_timeout").fetchone()[0] >= 5000


def test_a_file_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    with SqliteSaver.from_conn_string(tmp_path / "s.sqlite") as saver:
        saver.conn.execute("UPDATE checkpoint_schema SET version = 99")

    assert f"written by a newer Forkpoint (schema 99, this one knows {VERSION})" in refusal(tmp_path / "s.sqlite")
    with sqlite3.connect(tmp_path / "s.sqlite") as conn:
        assert conn.execute("SELECT version FROM checkpoint_schema").fetchall() == [(99,)]
    conn.close()


def test_a_file_of_version_1_is_upgraded_with_all_that_is_in_it(tmp_path: Path) -> None:
    file = tmp_path / "s.sqlite"
    with SqliteSaver.from_conn_string(tmp_path / "new.sqlite") as new:
        configs = line(Sync(new), "t", 2)
        new.put_writes(configs[1], [("__interrupt__", ["q"])], "task")
        conn = sqlite3.connect(file)
        conn.executescript(VERSION_1)
        rows = {}
        for table in ("checkpoint", "channel_value", "task_write"):
            columns = ", ".join(row[1] for row in conn.execute(f"PRAGMA table_info({table})"))
            rows[table] = new.conn.execute(f"SELECT {columns} FROM {table}").fetchall()  # noqa: S608 - fixed names
    for table, found in rows.items():
        conn.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(found[0]))})", found)  # noqa: S608
    conn.commit()
    conn.close()

    with SqliteSaver.from_conn_string(file) as saver:
        assert [found.config for found in saver.list(at("t"))] == [*reversed(configs)]
        assert saver.get_tuple(at("t")).pending_writes == [("task", "__interrupt__", ["q"])]  # type: ignore[union-attr]
        assert [header.interrupts for header in saver.headers("t")] == [1, 0]
        saver.put(configs[1], record({"n": 9}, {"n": "9"}), {"step": 1}, {"n": "9"})
        assert saver.conn.execute("SELECT version FROM checkpoint_schema").fetchall() == [(VERSION,)]
        indexes = [name for (name,) in saver.conn.execute("SELECT name FROM sqlite_master WHERE type = 'index'")]
        assert "task_write_note" in indexes
        assert "checkpoint_parent" not in indexes


def test_setup_may_be_called_again_and_again(tmp_path: Path) -> None:
    with SqliteSaver.from_conn_string(tmp_path / "s.sqlite") as saver:
        saver.setup()
        line(Sync(saver), "t", 1)
        saver.setup()
    with SqliteSaver.from_conn_string(tmp_path / "s.sqlite") as saver:
        saver.setup()
        assert len([*saver.list(None)]) == 1


def test_nothing_is_written_to_a_file_that_is_only_read(tmp_path: Path) -> None:
    with SqliteSaver.from_conn_string(tmp_path / "s.sqlite") as saver:
        line(Sync(saver), "t", 1)
        with sqlite3.connect(tmp_path / "s.sqlite") as conn:
            before = conn.execute("PRAGMA data_version").fetchone()
            with SqliteSaver.from_conn_string(tmp_path / "s.sqlite") as reader:
                [*reader.headers("t")]
                reader.get_tuple(at("t"))
            assert conn.execute("PRAGMA data_version").fetchone() == before
        conn.close()
