"""What is the memory saver's own; what it shares with the others is in tests/conformance."""

from __future__ import annotations

import threading
from typing import Any

from runtime.checkpoint.memory import InMemorySaver, MemorySaver
from tests.conformance.savers import Sync, at, line


def test_it_goes_by_both_names_and_as_a_context() -> None:
    assert MemorySaver is InMemorySaver
    with InMemorySaver() as saver:
        assert saver.instant


async def test_async_calls_stay_on_the_event_loops_thread(monkeypatch: Any) -> None:
    async with InMemorySaver() as saver:
        threads = []
        monkeypatch.setattr(saver, "get_tuple", lambda _: threads.append(threading.current_thread()))
        await saver.aget_tuple(at("t"))

        assert threads == [threading.current_thread()]


def test_eight_threads_lose_nothing() -> None:
    saver = InMemorySaver()
    threads = [threading.Thread(target=line, args=(Sync(saver), f"t{n}", 20)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert saver.threads() == [f"t{n}" for n in range(8)]
    assert [saver.namespaces(f"t{n}") for n in range(8)] == [[("", 20)]] * 8
