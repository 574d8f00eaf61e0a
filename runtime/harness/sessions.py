"""Sessions: what was said in each thread, whole, snapshot after snapshot.

A session is the running context of a task; what an agent knows beyond it is memory (see runtime/store). Everything is
stored and nothing rewritten: what a model is shown is a projection that `ContextCompactor` makes when it reads.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from typing_extensions import TypedDict

from runtime.harness.lines import JsonLines, Place, plain
from runtime.harness.messages import as_dict


class SessionRecord(TypedDict):
    """One snapshot of a thread."""

    ts: float
    """When it was appended, in seconds since 1970."""
    thread_id: str
    seq: int
    """Its number in the thread, from 0."""
    messages: list[dict[str, Any]]
    meta: dict[str, Any]


class SessionStore:
    """Snapshots of conversations, by thread.

    Args:
        path: of a file of JSON lines, which any number of stores and processes may share. None: in memory.

    The file is only ever appended to, each record synced before `append` returns. Lines that cannot be read are counted
    in `bad_lines` and hide nothing else.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = path
        self._records: dict[str, list[SessionRecord]] = {}
        self._lock = threading.Lock()
        self._lines = None if path is None else JsonLines(path, _is_record)
        self._places: dict[str, list[Place]] = {}
        self._next: dict[str, int] = {}
        self._read_to = 0
        self._file_id: tuple[int, int] | None = None
        self._bad = 0

    @property
    def bad_lines(self) -> int:
        """How many lines of the file cannot be read, as of now."""
        if self._lines is not None:
            with self._lines.opened() as file:
                self._catch_up(file)
        return self._bad

    def append(self, thread_id: str, messages: Sequence[Any], meta: Mapping[str, Any] | None = None) -> SessionRecord:
        """Store a snapshot and give its record.

        Args:
            messages: dicts, or LangChain's messages, which are stored in the form of the chat APIs.
            meta: anything that JSON can hold.

        Raises:
            TypeError, naming the place: of what JSON has no form for.
            OSError: the file cannot be written. Nothing is stored then.
        """
        if not isinstance(thread_id, str) or not thread_id:
            raise TypeError(f"thread_id is {thread_id!r}. Give a text that is not empty.")
        said = [plain(as_dict(m, f"messages[{i}]"), f"messages[{i}]") for i, m in enumerate(messages)]
        about = plain(dict(meta or {}), "meta")
        if self._lines is None:
            with self._lock:
                kept = self._records.setdefault(thread_id, [])
                record = SessionRecord(ts=time.time(), thread_id=thread_id, seq=len(kept), messages=said, meta=about)
                kept.append(record)
            return _copy(record)
        with self._lines.opened(write=True) as file:
            self._catch_up(file)
            seq = self._next.get(thread_id, 0)
            record = SessionRecord(ts=time.time(), thread_id=thread_id, seq=seq, messages=said, meta=about)
            self._lines.append(dict(record), file)
        return record

    def load(self, thread_id: str) -> list[SessionRecord]:
        """All snapshots of a thread, oldest first; [] for one that is not there."""
        return self._load(thread_id, slice(None))

    def latest(self, thread_id: str) -> SessionRecord | None:
        """The newest snapshot, or None."""
        found = self._load(thread_id, slice(-1, None))
        return found[0] if found else None

    def messages(self, thread_id: str) -> list[dict[str, Any]]:
        """Those of the newest snapshot."""
        newest = self.latest(thread_id)
        return newest["messages"] if newest else []

    def list_threads(self) -> list[str]:
        """Ids of all threads, sorted."""
        if self._lines is None:
            with self._lock:
                return sorted(self._records)
        with self._lines.opened() as file:
            self._catch_up(file)
            return sorted(self._places)

    def delete(self, thread_id: str) -> None:
        """Forget a thread. The file is written anew beside the old one, without the thread's lines, and takes its place in
        one move; lines that cannot be read stay."""
        if self._lines is None:
            with self._lock:
                self._records.pop(thread_id, None)
            return
        if thread_id not in self.list_threads():
            return
        with self._lines.opened(write=True) as file:
            self._lines.keep(file, lambda record: record is None or record["thread_id"] != thread_id)

    def _load(self, thread_id: str, part: slice) -> list[SessionRecord]:
        if self._lines is None:
            with self._lock:
                return [_copy(record) for record in self._records.get(thread_id, [])[part]]
        found = []
        with self._lines.opened() as file:
            self._catch_up(file)
            for place in self._places.get(thread_id, [])[part]:
                file.seek(place.start)  # type: ignore[union-attr]  # places come from a file
                found.append(self._lines.parse(file.read(place.size)))  # type: ignore[union-attr]
        return found  # type: ignore[return-value]  # indexed lines are records

    def _catch_up(self, file: Any) -> None:
        """Index what was added since the last look; all of it, where the file is another one."""
        stat = None if file is None else os.fstat(file.fileno())
        known = (stat.st_dev, stat.st_ino) if stat else None
        if known != self._file_id or (stat and stat.st_size < self._read_to):
            self._places, self._next, self._read_to, self._bad = {}, {}, 0, 0
            self._file_id = known
        if file is None or self._lines is None:
            return
        for place, record in self._lines.scan(file, self._read_to):
            self._read_to = place.start + place.size
            if record is None:
                self._bad += 1
                continue
            thread_id = record["thread_id"]
            self._places.setdefault(thread_id, []).append(place)
            self._next[thread_id] = max(self._next.get(thread_id, 0), record["seq"] + 1)


def _is_record(record: dict[str, Any]) -> bool:
    return (
        isinstance(record.get("thread_id"), str)
        and isinstance(record.get("seq"), int)
        and isinstance(record.get("messages"), list)
    )


def _copy(record: SessionRecord) -> SessionRecord:
    copied: SessionRecord = plain(record, "record")
    return copied
