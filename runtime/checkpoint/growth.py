"""Lists as what they gained: how the next version of a list differs from one that is stored.

Owns: remembering the list that was stored last, per place; finding what is still there; when a full copy is due.
Refuses: bytes and tables (the savers').

What is still there is the same object, and holds what it held (pictures.py): what a node puts in its stead, or changes in
place, is stored anew. To look into every item each time would cost as much as the step: of a long list the newest items are
looked at, and of the others some in turn. An old item that was changed in place, and not returned, is stored with a
later version; at once with `verify`.
"""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import is_
from typing import Any

from runtime.checkpoint.serde.instances import is_plain_model
from runtime.checkpoint.serde.pictures import SCALARS, UNSEEN, copy_of, picture, view, view_of_model

Place = tuple[str, str, str]
"""(thread id, namespace, channel)."""

_LEAST = 512
"""Bytes from which on a list is worth a difference."""
_LONGEST = 1000
"""Differences in a row, after which a full copy is due."""
_GROWTH = 3
"""A full copy is due when the differences weigh so many times what the last one did. All copies of a list that grows then
add a third to what it gained; a version is read from its own bytes, or, where items were replaced, four times as many."""
_WINDOW = 32
"""Items that are looked at, of the newest and of the others each."""
_MOST_ITEMS = 200_000
"""Remembered in all."""


@dataclass(slots=True)
class Tip:
    """A list as it was stored last."""

    version: str
    base: Any
    """What the saver stored, if it wants it back."""
    items: list[Any]
    """Its items themselves."""
    pictures: list[Any]
    """What they held."""
    scalars: bool
    """All items are: `pictures` is `items`."""
    models: bool
    """All items are Pydantic models."""
    whole: int
    """Bytes of the last full copy."""
    whole_count: int
    """Items of it."""
    grown: int = 0
    """Bytes of the differences since."""
    links: int = 0
    """Differences since."""
    seen: int = 0
    """Items before this one were looked at; then from the first on again."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A list as a stored one of which `head` items from the start and `tail` from the end are kept, with `items` between."""

    version: str
    """Of that one."""
    base: Any
    """What the saver stored of it."""
    head: int
    tail: int
    items: list[Any]


@dataclass(slots=True)
class Made:
    """What to store: bytes of a value, or of a difference."""

    payload: bytes
    difference: Difference | None = None
    kept: Difference | None = None
    """How a list that is stored whole differs from the one before: what was pictured need not be again."""


def assembled(whole: Any, changes: Iterable[tuple[int, int, Any]]) -> Any:
    """The list after all changes, each (items kept from the start, from the end, items between).

    What cannot be read is an OpaqueValue: in place of all, or of the items that were added.
    """
    if type(whole) is list:
        for head, tail, items in changes:
            whole[head : len(whole) - tail] = items if type(items) is list else [items]
    return whole


class Tips:
    """The lists that were stored last. Safe from any thread."""

    def __init__(self, *, verify: bool = False) -> None:
        self._window = sys.maxsize if verify else _WINDOW
        self._lock = threading.RLock()
        self._tips: OrderedDict[Place, Tip] = OrderedDict()
        self._count = 0

    def make(self, place: Place, version: str, value: Any, dump: Callable[[Any], bytes]) -> Made:
        """What to store of a value: all of it, or what a list has that the one before has not."""
        if type(value) is list:
            with self._lock:
                tip = self._tips.get(place)
                grows = tip is not None and tip.version != version and tip.links < _LONGEST
                found = _difference(tip, value, self._window) if tip is not None and grows else None
            if found is not None and tip is not None:
                payload = dump(found.items)
                if tip.grown + len(payload) <= tip.whole * _GROWTH:
                    return Made(payload, found)
                return Made(dump(value), kept=found)
        return Made(dump(value))

    def stored(self, place: Place, version: str, value: Any, made: Made, base: Any = None) -> None:
        """Remember what was stored."""
        size, found = len(made.payload), made.difference or made.kept
        if type(value) is not list or (found is None and size < _LEAST):
            if place in self._tips:
                self.forget(place)
            return
        with self._lock:
            tip = self._tips.get(place)
            if found is None or tip is None:
                self._keep(place, _tip(version, value, base, size))
            elif tip.version != found.version:  # another run of the thread was quicker
                self._keep(place, _tip(version, value, base, size if made.difference is None else tip.whole))
            else:
                self._count += len(value) - len(tip.items)
                _move(tip, found, version, base, size)
                if made.difference is None:
                    tip.whole, tip.whole_count, tip.grown, tip.links = size, len(value), 0, 0
                self._tips.move_to_end(place)

    def open(self, place: Place, version: str, base: Any, load: Callable[[], tuple[Any, Sequence[int]]]) -> Any:
        """A value for a run that goes on from it: new objects, which are remembered if it is a list.

        Args:
            base: what the saver stored.
            load: reads the value; gives it, and the bytes of the full copy and of each difference to it.
        """
        with self._lock:
            lent = self._lent(place, version)
        if lent is not None:
            return lent
        value, (whole, *steps) = load()
        if type(value) is list and whole >= _LEAST:
            tip = _tip(version, value, base, whole)
            tip.grown, tip.links = sum(steps), len(steps)
            with self._lock:
                self._keep(place, tip)
        return value

    def _lent(self, place: Place, version: str) -> list[Any] | None:
        tip = self._tips.get(place)
        if tip is None or tip.version != version or UNSEEN in tip.pictures:
            return None
        if not tip.scalars:
            tip.items = [copy_of(item, pictured) for item, pictured in zip(tip.items, tip.pictures, strict=True)]
        return [*tip.items]

    def forget(self, place: Place) -> None:
        """What is there is no longer a base."""
        with self._lock:
            gone = self._tips.pop(place, None)
            self._count -= 0 if gone is None else len(gone.items)

    def forget_thread(self, thread_id: str) -> None:
        """Nothing of a thread is a base any more."""
        with self._lock:
            for place in [place for place in self._tips if place[0] == thread_id]:
                self.forget(place)

    def _keep(self, place: Place, tip: Tip) -> None:
        self.forget(place)
        self._tips[place] = tip
        self._count += len(tip.items)
        while self._count > _MOST_ITEMS and len(self._tips) > 1:
            self.forget(next(iter(self._tips)))


def _tip(version: str, value: list[Any], base: Any, whole: int) -> Tip:
    items = [*value]
    if SCALARS.issuperset(map(type, items)):
        return Tip(version, base, items, items, scalars=True, models=False, whole=whole, whole_count=len(items))
    pictures = [*map(picture, items)]
    return Tip(version, base, items, pictures, False, _models(items), whole, len(items))


def _models(items: list[Any]) -> bool:
    return all(map(is_plain_model, map(type, items)))


def _move(tip: Tip, found: Difference, version: str, base: Any, size: int) -> None:
    """Make the tip that of the next version: what was kept need not be pictured again."""
    if tip.scalars and not SCALARS.issuperset(map(type, found.items)):
        tip.scalars, tip.pictures = False, [*tip.items]
    tip.models = tip.models and _models(found.items)
    kept = slice(found.head, len(tip.items) - found.tail)
    tip.items[kept] = found.items
    if not tip.scalars:
        tip.pictures[kept] = map(picture, found.items)
    tip.version, tip.base = version, base
    tip.grown, tip.links = tip.grown + size, tip.links + 1


def _difference(tip: Tip, value: list[Any], window: int) -> Difference | None:
    """How a list differs from the one that was stored; None if too little of that is left in it."""
    least = min(len(tip.items), len(value))
    if all(map(is_, tip.items, value)) and (tip.scalars or _unchanged(tip, least, window)):
        head, tail = least, 0
    else:
        head = _kept(tip, value, range(least), range(least))
        rest = range(1, least - head + 1)
        tail = _kept(tip, value, [len(tip.items) - back for back in rest], [len(value) - back for back in rest])
    if head + tail == 0 or len(value) * 2 < tip.whole_count:
        return None
    return Difference(tip.version, tip.base, head, tail, value[head : len(value) - tail])


def _unchanged(tip: Tip, count: int, window: int) -> bool:
    """Whether those of the first items that are looked at hold what they held: the newest, and some of the others."""
    if count <= 2 * window:
        return _hold(tip, 0, count)
    newest = count - window
    start = tip.seen if tip.seen < newest else 0
    tip.seen = min(start + window, newest)
    return _hold(tip, newest, count) and _hold(tip, start, tip.seen)


def _hold(tip: Tip, start: int, end: int) -> bool:
    look = view_of_model if tip.models else view
    return _equal([*map(look, tip.items[start:end])], tip.pictures[start:end])


def _kept(tip: Tip, value: list[Any], old: Iterable[int], new: Iterable[int]) -> int:
    """How many items, from the first on, are the same and hold what they held."""
    count = 0
    for was, now in zip(old, new, strict=True):
        item = value[now]
        if item is not tip.items[was] or not (tip.scalars or _equal(view(item), tip.pictures[was])):
            break
        count += 1
    return count


def _equal(seen: Any, pictured: Any) -> bool:
    try:
        return bool(seen == pictured)
    except Exception:  # noqa: BLE001 - an item was given something that cannot be compared: so it has changed
        return False
