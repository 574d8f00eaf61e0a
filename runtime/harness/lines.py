"""A file of JSON lines that is only ever appended to, by any number of processes.

Each append is one record, flushed and synced before it counts. A line that cannot be read hides no other: it is counted,
kept and passed over. What a crash left of a last line is closed by the next append.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Callable, Iterator
from io import BufferedRandom
from pathlib import Path
from typing import Any, NamedTuple

try:
    import fcntl
except ImportError:  # not POSIX: only the threads of one process are kept apart
    fcntl = None  # type: ignore[assignment]


class Place(NamedTuple):
    """Where a record's line is in the file."""

    start: int
    size: int


class JsonLines:
    """Records in a file, each a JSON object on a line of its own.

    Args:
        path: of the file. It and its folders are made by the first append.
        accept: whether an object is a record; other lines count as broken.
    """

    def __init__(
        self, path: str | os.PathLike[str], accept: Callable[[dict[str, Any]], bool] = lambda record: True
    ) -> None:
        self.path = Path(path)
        self._accept = accept
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def opened(self, *, write: bool = False) -> Iterator[BufferedRandom | None]:
        """The file, locked for this holder; None where it does not exist and nobody will write.

        Raises OSError where it cannot be made or opened.
        """
        with self._lock:
            if write:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            while True:
                try:
                    file = self.path.open("a+b" if write else "r+b")
                except FileNotFoundError:
                    yield None
                    return
                with file:
                    _lock(file, exclusive=write)
                    if write and not self._is_current(file):
                        continue  # replaced while this waited for the lock
                    yield file
                    return

    def _is_current(self, file: Any) -> bool:
        try:
            return os.path.samestat(os.fstat(file.fileno()), self.path.stat())
        except FileNotFoundError:
            return False

    def append(self, record: dict[str, Any], file: Any = None, *, sync: bool = True) -> Place:
        """Add a record. `file`: what `opened(write=True)` gave, if the caller holds it. `sync`: until it is on the disk."""
        if file is None:
            with self.opened(write=True) as own:
                return self.append(record, own, sync=sync)
        line = json.dumps(record, ensure_ascii=False, allow_nan=False).encode() + b"\n"
        end = file.seek(0, os.SEEK_END)
        if end and not self._closed(file, end):
            file.write(b"\n")
            end += 1
        file.write(line)
        file.flush()
        if sync:
            os.fsync(file.fileno())
        return Place(end, len(line))

    def _closed(self, file: Any, end: int) -> bool:
        file.seek(end - 1)
        closed: bool = file.read(1) == b"\n"
        file.seek(0, os.SEEK_END)
        return closed

    def scan(self, file: Any, start: int = 0) -> Iterator[tuple[Place, dict[str, Any] | None]]:
        """Every line from `start` on that is not blank, and its record, None for a broken line."""
        file.seek(start)
        for line in file:
            place = Place(start, len(line))
            start += len(line)
            if line.strip():
                yield place, self.parse(line)

    def parse(self, line: bytes) -> dict[str, Any] | None:
        """A line's record, or None."""
        try:
            record = json.loads(line)
        except ValueError:
            return None
        return record if isinstance(record, dict) and self._accept(record) else None

    def keep(self, file: Any, wanted: Callable[[dict[str, Any] | None], bool]) -> None:
        """Write the file anew with the lines whose record is wanted, and put it in place of the old one at once."""
        beside = self.path.with_name(self.path.name + ".tmp")
        try:
            with beside.open("wb") as new:
                for place, record in list(self.scan(file)):
                    if wanted(record):
                        file.seek(place.start)
                        new.write(file.read(place.size).rstrip(b"\n") + b"\n")
                new.flush()
                os.fsync(new.fileno())
            beside.replace(self.path)
        finally:
            beside.unlink(missing_ok=True)


def _lock(file: Any, *, exclusive: bool) -> None:
    """Until the file is closed."""
    if fcntl is not None:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)


def plain(value: Any, where: str) -> Any:
    """A copy of a JSON value, containers and all.

    Raises TypeError naming the place of what JSON has no form for, such as `messages[0]['when']`.
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise TypeError(f"{where} is {value}, which JSON has no form for. Give a finite number, or its text.")
        return value
    if isinstance(value, list | tuple):
        return [plain(item, f"{where}[{index}]") for index, item in enumerate(value)]
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"{where} has the key {key!r}, a {type(key).__name__}. Keys are texts in JSON.")
        return {key: plain(item, f"{where}[{key!r}]") for key, item in value.items()}
    raise TypeError(
        f"{where} is a {type(value).__name__}, which JSON has no form for. Give texts, numbers, booleans, None, lists "
        "and dicts."
    )
