"""The journal: numbers, and what happens when storing fails."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from debugger import events
from debugger.events import Item, Journal, to_row
from debugger.models import Records
from debugger.wire import EventRow


def item(text: str, thread: str = "t") -> Item:
    return Item(thread, None, "custom", (), text)


def test_numbers_count_within_a_thread_and_go_on_after_a_restart(tmp_path: Path) -> None:
    path = str(tmp_path / "a.sqlite")
    for start in (1, 4):
        records = Records(path)
        journal = Journal(records, lambda thread, rows: None)
        for text in "abc":
            journal.put(item(text))
        journal.put(item("x", thread=f"other{start}"))
        assert [row.seq for row in journal.page("t", start - 1, 10).events] == [start, start + 1, start + 2]
        assert [row.seq for row in journal.page(f"other{start}", 0, 10).events] == [1]
        journal.close()
        records.close()


def test_an_event_is_shown_only_after_it_is_stored(tmp_path: Path) -> None:
    records = Records(str(tmp_path / "a.sqlite"))
    stored: list[int] = []
    journal = Journal(records, lambda thread, rows: stored.append(records.last_seq(thread)))
    journal.put(item("a"))
    journal.close()
    records.close()
    assert stored == [1]


def test_nothing_is_lost_while_storing_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "_RETRY", 0.01)
    records = Records(None)
    works, failed, done = records.add_events, threading.Event(), threading.Event()
    shown: list[EventRow] = []

    def full(rows: Any) -> None:
        failed.set()
        raise OSError("disk full")

    def listen(thread: str, rows: list[EventRow]) -> None:
        shown.extend(rows)
        if len(shown) == 3:
            done.set()

    monkeypatch.setattr(records, "add_events", full)
    journal = Journal(records, listen)
    journal.put(item("a"))
    journal.put(item("b"))
    assert failed.wait(5)
    assert shown == []
    journal.put(item("c"))
    monkeypatch.setattr(records, "add_events", works)
    assert done.wait(5)
    assert [(row.seq, row.data) for row in shown] == [(1, "a"), (2, "b"), (3, "c")]
    journal.close()
    records.close()


def test_a_row_says_what_a_person_looks_at_first() -> None:
    task = {"id": "1", "name": "n", "input": {}, "triggers": ()}
    assert to_row(Item("t", "r", "tasks", ("sub:1",), task), 7).model_dump(include={"seq", "node", "phase", "ns"}) == {
        "seq": 7,
        "node": "n",
        "phase": "start",
        "ns": ["sub:1"],
    }
    failed = {"id": "1", "name": "n", "error": "ValueError()", "interrupts": [], "result": {}}
    assert to_row(Item("t", "r", "tasks", (), failed), 1).summary == "n failed: ValueError()"
    pairs = {"id": "1", "name": "n", "error": None, "interrupts": [], "result": [("k", 1)]}
    assert to_row(Item("t", "r", "tasks", (), pairs), 1).summary == "n wrote k"
