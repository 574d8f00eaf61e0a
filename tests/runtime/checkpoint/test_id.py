from __future__ import annotations

import threading
import uuid

from runtime.checkpoint.id import new_id


def test_ids_rise_even_within_one_tick_of_the_clock() -> None:
    ids = [new_id() for _ in range(5000)]

    assert ids == sorted(ids)
    assert len({*ids}) == 5000


def test_ids_are_version_6_uuids() -> None:
    found = uuid.UUID(new_id())

    assert found.version == 6
    assert found.variant == uuid.RFC_4122


def test_threads_never_get_the_same_id() -> None:
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.extend([new_id() for _ in range(500)])) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len({*found}) == 4000
