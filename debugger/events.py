"""The event journal: stream items become numbered rows, are stored, and only then shown.

Owns: numbers without gaps within a thread, order, batches. A put costs the run one encoding of the payload, which may
change later, and a queue append; a thread of its own writes batches (every 20 ms, or 100 events) in one transaction and
then hands them to whoever listens.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from debugger.models import Records, now
from debugger.values import encode
from debugger.wire import EventMode, EventPage, EventRow

_EVERY = 0.02
_BATCH = 100
_RETRY = 1.0
"""Seconds until storing is tried again after it failed (a full disk, a locked file)."""
_LOG = logging.getLogger(__name__)
Listener = Callable[[str, list[EventRow]], None]
"""(thread id, rows of one batch): called after they are stored."""


@dataclass(frozen=True, slots=True)
class Item:
    """A stream item on its way into the journal."""

    thread_id: str
    run_id: str | None
    mode: EventMode
    ns: tuple[str, ...]
    payload: Any


class Journal:
    """Numbers, stores and hands out events."""

    def __init__(self, records: Records, listener: Listener) -> None:
        self._records = records
        self._listener = listener
        self._queue: deque[EventRow] = deque()
        self._last: dict[str, int] = {}
        self._wake = threading.Condition()
        self._flushing = threading.Lock()
        self._open = True
        self._thread = threading.Thread(target=self._work, name="forkpoint-journal", daemon=True)
        self._thread.start()

    def put(self, item: Item) -> None:
        """Add an event; from any thread."""
        with self._wake:
            if item.thread_id not in self._last:
                self._last[item.thread_id] = self._records.last_seq(item.thread_id)
            self._last[item.thread_id] += 1
            self._queue.append(to_row(item, self._last[item.thread_id]))
            self._wake.notify()

    def page(self, thread_id: str, after: int, limit: int) -> EventPage:
        """What is stored after a number."""
        self.flush()
        return EventPage(
            thread_id=thread_id,
            events=self._records.events(thread_id, after, limit),
            last_seq=self._records.last_seq(thread_id),
        )

    def forget(self, thread_id: str) -> None:
        """A thread is about to be deleted: nothing of it may be stored after this."""
        self.flush()
        with self._wake:
            self._last.pop(thread_id, None)

    def flush(self) -> None:
        """Store what waits, now."""
        with self._flushing:
            with self._wake:
                rows = list(self._queue)
                self._queue.clear()
            if not rows:
                return
            try:
                self._records.add_events(rows)
            except BaseException:
                with self._wake:
                    self._queue.extendleft(reversed(rows))  # nothing is lost: the next flush tries again
                raise
            by_thread: dict[str, list[EventRow]] = defaultdict(list)
            for row in rows:
                by_thread[row.thread_id].append(row)
            for thread_id, batch in by_thread.items():
                self._listener(thread_id, batch)

    def close(self) -> None:
        """Store what waits and stop."""
        with self._wake:
            self._open = False
            self._wake.notify()
        self._thread.join(timeout=1)
        self.flush()

    def _work(self) -> None:
        while True:
            with self._wake:
                while self._open and not self._queue:
                    self._wake.wait()
                if not self._open:
                    return
                if len(self._queue) < _BATCH:
                    self._wake.wait_for(lambda: not self._open or len(self._queue) >= _BATCH, timeout=_EVERY)
            try:
                self.flush()
            except Exception:  # noqa: BLE001 - whatever it is, later events are stored too once it has passed
                _LOG.exception("Events could not be stored; trying again in %s s", _RETRY)
                time.sleep(_RETRY)


# -- stream item -> row ------------------------------------------------------------------------------------------------


def to_row(item: Item, seq: int) -> EventRow:
    """A numbered row of a stream item, with what a person looks at first."""
    node, task_id, checkpoint_id, phase, summary = _facts(item)
    return EventRow(
        seq=seq,
        ts=now(),
        thread_id=item.thread_id,
        run_id=item.run_id,
        mode=item.mode,
        ns=list(item.ns),
        node=node,
        task_id=task_id,
        checkpoint_id=checkpoint_id,
        phase=phase,
        summary=summary[:300],
        data=encode(item.payload),
    )


Facts = tuple[str | None, str | None, str | None, str | None, str]
"""node, task id, checkpoint id, phase, summary."""


def _facts(item: Item) -> Facts:
    payload = item.payload
    match item.mode:
        case "tasks":
            return _task_facts(payload)
        case "checkpoints":
            return _checkpoint_facts(payload)
        case "debug":
            inner = payload["payload"]
            facts = _checkpoint_facts(inner) if payload["type"] == "checkpoint" else _task_facts(inner)
            return (*facts[:4], f"{payload['type']}: {facts[4]}")
        case "updates":
            return _update_facts(payload)
        case "messages":
            message, metadata = payload
            text = str(getattr(message, "content", "") or _calls(message))
            return metadata.get("langgraph_node"), None, None, getattr(message, "type", None), text
        case "values":
            waits = "__interrupt__" in payload if isinstance(payload, Mapping) else False
            keys = [key for key in payload if key != "__interrupt__"] if isinstance(payload, Mapping) else []
            return None, None, None, None, ("paused; " if waits else "") + "state: " + ", ".join(keys)
        case "custom":
            return None, None, None, None, str(payload)
        case _:
            return (
                payload.get("node"),
                None,
                payload.get("checkpoint_id"),
                payload.get("phase"),
                payload.get("summary", ""),
            )


def _task_facts(payload: Mapping[str, Any]) -> Facts:
    name, task_id = payload["name"], payload["id"]
    if "input" in payload:
        return name, task_id, None, "start", f"{name} starts"
    if payload.get("error"):
        return name, task_id, None, "error", f"{name} failed: {payload['error']}"
    if payload.get("interrupts"):
        return name, task_id, None, "interrupt", f"{name} asks: {payload['interrupts'][0]['value']}"
    result = payload.get("result")
    keys = list(result) if isinstance(result, Mapping) else [key for key, _ in result or ()]
    return name, task_id, None, "result", f"{name} wrote {', '.join(keys) or 'nothing'}"


def _checkpoint_facts(payload: Mapping[str, Any]) -> Facts:
    metadata = payload.get("metadata") or {}
    following = ", ".join(payload.get("next") or ()) or "nothing"
    checkpoint_id = payload["config"]["configurable"].get("checkpoint_id")
    return None, None, checkpoint_id, None, f"step {metadata.get('step')} ({metadata.get('source')}), next: {following}"


def _update_facts(payload: Mapping[str, Any]) -> Facts:
    if "__interrupt__" in payload:
        asked = [interrupt.value for interrupt in payload["__interrupt__"]]
        return None, None, None, "interrupt", f"pause: {asked[0]}" if asked else "pause at a breakpoint"
    node = next((key for key in payload if key != "__metadata__"), None)
    update = payload.get(node) if node else None
    parts = update if isinstance(update, list) else [update]
    keys = [key for part in parts if isinstance(part, Mapping) for key in part]
    return node, None, None, None, f"{node}: {', '.join(keys) or 'no change'}"


def _calls(message: Any) -> str:
    calls = getattr(message, "tool_call_chunks", None) or getattr(message, "tool_calls", None) or ()
    return ", ".join(f"calls {call.get('name') or ''}{call.get('args') or ''}" for call in calls)
