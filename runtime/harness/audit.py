"""The audit log: who decided what about which action, and why. What ran and for how long is the tracer's (tracer.py)."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from typing import Any

from typing_extensions import TypedDict

from runtime.harness.lines import JsonLines, plain


class AuditEntry(TypedDict):
    """One decision."""

    ts: float
    """When, in seconds since 1970."""
    actor: str
    """Who decided: `policy`, or the name of a person."""
    action: str
    """What was decided about: a tool's name."""
    decision: str
    """`allow`, `deny`, `approve`, `edit`, `reject`, `respond`."""
    reason: str
    args: dict[str, Any]
    """What the action was asked to do it with."""
    edited: dict[str, Any] | None
    """What it was done with, where a person changed that."""
    thread_id: str | None
    call_id: str | None
    """Id of the tool call."""


class AuditLog:
    """Decisions, in order.

    Args:
        path: of a file of JSON lines, appended to and synced. None: in memory. A log that cannot be written raises: an
            action whose decision is not on record must not run.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._entries: list[AuditEntry] = []
        self._lines = None if path is None else JsonLines(path, _is_entry)
        self._lock = threading.Lock()
        self._known: set[tuple[str | None, str, str]] = set()

    def record(
        self,
        action: str,
        decision: str,
        *,
        actor: str = "policy",
        reason: str = "",
        args: Mapping[str, Any] | None = None,
        edited: Mapping[str, Any] | None = None,
        thread_id: str | None = None,
        call_id: str | None = None,
    ) -> None:
        """Write down a decision; once for each decision about a call, since a node runs again after a pause.

        Raises TypeError for arguments that JSON has no form for, OSError when the file cannot be written.
        """
        entry = AuditEntry(
            ts=time.time(),
            actor=actor,
            action=action,
            decision=decision,
            reason=reason,
            args=plain(dict(args or {}), "args"),
            edited=None if edited is None else plain(dict(edited), "edited"),
            thread_id=thread_id,
            call_id=call_id,
        )
        with self._lock:
            key = (thread_id, call_id or "", decision)
            if call_id is not None and key in self._known:
                return
            if self._lines is None:
                self._entries.append(entry)
            else:
                self._lines.append(dict(entry))
            self._known.add(key)

    def entries(self, thread_id: str | None = None) -> list[AuditEntry]:
        """All decisions, or those of a thread, oldest first."""
        if self._lines is None:
            with self._lock:
                found: list[Any] = [plain(entry, "entry") for entry in self._entries]
        else:
            with self._lines.opened() as file:
                found = [] if file is None else [record for _, record in self._lines.scan(file) if record is not None]
        return [entry for entry in found if thread_id is None or entry["thread_id"] == thread_id]


def _is_entry(record: dict[str, Any]) -> bool:
    return isinstance(record.get("action"), str) and isinstance(record.get("decision"), str)
