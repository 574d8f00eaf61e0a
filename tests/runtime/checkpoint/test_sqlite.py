"""Several threads and processes on one file, and a process that is killed: nothing acknowledged is lost."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from runtime.checkpoint.sqlite import DatabaseError, SqliteSaver
from tests.conformance.savers import Sync, at, line, record

CROWD = Path(__file__).parent / "crowd.py"


def start(file: Path, thread_id: str, count: int) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, str(CROWD), str(file), thread_id, str(count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


def test_eight_threads_on_one_connection_lose_nothing(tmp_path: Path) -> None:
    with SqliteSaver.from_conn_string(tmp_path / "s.sqlite") as saver:
        threads = [threading.Thread(target=line, args=(Sync(saver), f"t{n}", 20)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert [saver.namespaces(f"t{n}") for n in range(8)] == [[("", 20)]] * 8


def test_processes_that_start_at_once_on_a_new_file_lose_nothing_while_another_reads(tmp_path: Path) -> None:
    file = tmp_path / "s.sqlite"
    processes = [start(file, f"t{n}", 20) for n in range(3)]
    for process in processes:
        go(process)
    with SqliteSaver.from_conn_string(file) as reader:
        while any(process.poll() is None for process in processes):
            for found in reader.list(None, limit=5):
                assert found.checkpoint["channel_values"]["n"] == found.metadata["step"]
        said = [process.communicate(timeout=60) for process in processes]

        assert [err for _, err in said] == [""] * 3
        for number, (out, _) in enumerate(said):
            headers = [*reader.headers(f"t{number}")]
            assert [header.checkpoint_id for header in reversed(headers)] == out.split()
            assert [header.parent_id for header in headers[:-1]] == [header.checkpoint_id for header in headers[1:]]


def test_two_threads_of_one_thread_id_keep_both_leaves(tmp_path: Path) -> None:
    with (
        SqliteSaver.from_conn_string(tmp_path / "s.sqlite") as one,
        SqliteSaver.from_conn_string(tmp_path / "s.sqlite") as two,
    ):
        root = line(Sync(one), "t", 1)[0]
        leaves = [
            saver.put(root, record({"n": n}, {"n": n}), {"step": 0}, {"n": n}) for n, saver in ((1, one), (2, two))
        ]

        for saver in (one, two):
            assert [saver.get(leaf)["channel_values"]["n"] for leaf in leaves] == [1, 2]
            assert {header.parent_id for header in [*saver.headers("t")][:2]} == {root["configurable"]["checkpoint_id"]}


@pytest.mark.parametrize("after", [1, 2, 7])
def test_a_killed_process_lost_nothing_that_it_acknowledged(tmp_path: Path, after: int) -> None:
    file = tmp_path / "s.sqlite"
    process = start(file, "t", 10_000)
    go(process)
    assert process.stdout is not None
    said = [process.stdout.readline().strip() for _ in range(after)]
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)

    with SqliteSaver.from_conn_string(file) as saver:
        stored = [*reversed([*saver.list(at("t"))])]
        assert [item.config["configurable"]["checkpoint_id"] for item in stored][:after] == said
        for number, item in enumerate(stored):
            assert item.checkpoint["channel_values"] == {"n": number, "big": "x" * 5000}
        for number, item in enumerate(stored[:after]):
            assert item.pending_writes == [(f"task{number}", "n", number), (f"task{number}", "m", [number])]
        line(Sync(saver), "t", 1)


def test_a_failed_put_leaves_nothing_of_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with SqliteSaver.from_conn_string(tmp_path / "s.sqlite") as saver:
        config = line(Sync(saver), "t", 1)[0]
        saver.conn.execute(
            "CREATE TRIGGER full BEFORE INSERT ON checkpoint BEGIN SELECT RAISE(FAIL, 'disk is full'); END"
        )

        with pytest.raises(DatabaseError, match="The disk is full"):
            saver.put(config, record({"n": 5}, {"n": "5"}), {"step": 1}, {"n": "5"})

        assert saver.conn.execute("SELECT COUNT(*) FROM channel_value").fetchone() == (1,)
        saver.conn.execute("DROP TRIGGER full")
        saver.put(config, record({"n": 5}, {"n": "5"}), {"step": 1}, {"n": "5"})
        assert saver.get(at("t"))["channel_values"] == {"n": 5}


def test_a_connection_of_ones_own_serves(tmp_path: Path) -> None:
    conn = sqlite3.connect(tmp_path / "app.sqlite", check_same_thread=False)
    conn.execute("CREATE TABLE checkpoints (mine TEXT)")
    saver = SqliteSaver(conn)

    configs = line(Sync(saver), "t", 2)
    reopened = SqliteSaver(sqlite3.connect(tmp_path / "app.sqlite"))

    assert reopened.get_tuple(at("t")).config == configs[-1]  # type: ignore[union-attr]
    assert conn.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    conn.close()
    reopened.conn.close()


def test_a_page_of_headers_is_found_by_index(tmp_path: Path) -> None:
    with SqliteSaver.from_conn_string(tmp_path / "s.sqlite") as saver:
        line(Sync(saver), "t", 3)
        queries: list[str] = []
        saver.conn.set_trace_callback(queries.append)
        [*saver.headers("t", limit=2)]
        saver.conn.set_trace_callback(None)

        plans: list[Any] = []
        for query in queries:
            if "SELECT" in query:
                plans.extend(row[3] for row in saver.conn.execute(f"EXPLAIN QUERY PLAN {query}"))

    assert any("task_write_note" in plan for plan in plans)
    assert not any(plan.startswith("SCAN") or "TEMP B-TREE FOR ORDER BY" in plan for plan in plans)
