"""Checkpoint ids: UUID-shaped, sortable by time, unique and rising within a process."""

from __future__ import annotations

import os
import threading
import time

_EPOCH = 0x01B21DD213814000
"""100 ns ticks between the UUID epoch (1582) and 1970."""
_LOCK = threading.Lock()
_last = 0
_NODE = os.urandom(8).hex()


def new_id() -> str:
    """The next id (a version 6 UUID: time first). Two ids of one process never share a tick."""
    global _last  # noqa: PLW0603 - ids rise within a process
    with _LOCK:
        ticks = max(time.time_ns() // 100 + _EPOCH, _last + 1)
        _last = ticks
    stamp = f"{ticks:015x}"
    return f"{stamp[:8]}-{stamp[8:12]}-6{stamp[12:]}-8{_NODE[1:4]}-{_NODE[4:16]}"
