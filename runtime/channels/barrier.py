"""Barriers: a join edge waits until every named node has written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runtime.channels.base import MISSING, BaseChannel
from runtime.errors import EmptyChannelError, InvalidUpdateError


class NamedBarrierValue(BaseChannel[None, str, set[str]]):
    """Available once every one of `names` was written; emptied when the waiting node has run."""

    __slots__ = ("names", "seen")

    def __init__(self, typ: Any, names: set[str], key: str = "") -> None:
        super().__init__(typ, key)
        self.names = names
        self.seen: set[str] = set()

    def get(self) -> None:
        if not self.is_available():
            raise EmptyChannelError(f"Channel '{self.key}' still waits for {sorted(self.names - self.seen)}.")

    def is_available(self) -> bool:
        return self.seen == self.names

    def checkpoint(self) -> Any:
        return set(self.seen)

    def from_checkpoint(self, checkpoint: Any) -> NamedBarrierValue:
        new = type(self)(self.typ, self.names, self.key)
        if checkpoint is not MISSING:
            new.seen = set(checkpoint)
        return new

    def update(self, values: Sequence[str]) -> bool:
        changed = False
        for name in values:
            if name not in self.names:
                raise InvalidUpdateError(f"At key '{self.key}': '{name}' is none of the awaited {sorted(self.names)}.")
            if name not in self.seen:
                self.seen = self.seen | {name}
                changed = True
        return changed

    def consume(self) -> bool:
        if not self.is_available():
            return False
        self.seen = set()
        return True


class NamedBarrierValueAfterFinish(NamedBarrierValue):
    """A barrier that opens only once nothing else can run (join edges into deferred nodes)."""

    __slots__ = ("finished",)
    finishes = True

    def __init__(self, typ: Any, names: set[str], key: str = "") -> None:
        super().__init__(typ, names, key)
        self.finished = False

    def is_available(self) -> bool:
        return self.finished and super().is_available()

    def checkpoint(self) -> Any:
        return (set(self.seen), self.finished)

    def from_checkpoint(self, checkpoint: Any) -> NamedBarrierValueAfterFinish:
        new = type(self)(self.typ, self.names, self.key)
        if checkpoint is not MISSING:
            new.seen, new.finished = set(checkpoint[0]), checkpoint[1]
        return new

    def consume(self) -> bool:
        if not self.is_available():
            return False
        self.seen, self.finished = set(), False
        return True

    def finish(self) -> bool:
        if self.finished or self.seen != self.names:
            return False
        self.finished = True
        return True
