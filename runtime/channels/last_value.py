"""Channels for a plain key: one write a step, the last one wins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runtime.channels.base import MISSING, BaseChannel
from runtime.errors import EmptyChannelError, InvalidUpdateError
from runtime.types import Overwrite


class SingleValue(BaseChannel[Any, Any, Any]):
    """Holds one value or nothing. Base of the channels here."""

    __slots__ = ("value",)
    plain = True

    def __init__(self, typ: Any, key: str = "") -> None:
        super().__init__(typ, key)
        self.value: Any = MISSING

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    __hash__ = None  # type: ignore[assignment]  # equality is by kind, as LangGraph has it

    def get(self) -> Any:
        if self.value is MISSING:
            raise EmptyChannelError(f"Channel '{self.key}' is empty: nothing was written to it yet.")
        return self.value

    def is_available(self) -> bool:
        return self.value is not MISSING

    def checkpoint(self) -> Any:
        return self.value

    def from_checkpoint(self, checkpoint: Any) -> SingleValue:
        new = self._empty()
        new.value = checkpoint
        return new

    def _empty(self) -> SingleValue:
        return type(self)(self.typ, self.key)


class LastValue(SingleValue):
    """The default: at most one write a step."""

    __slots__ = ()

    def update(self, values: Sequence[Any]) -> bool:
        if not values:
            return False
        if len(values) != 1:
            raise InvalidUpdateError(
                f"At key '{self.key}': Can receive only one value per step, and it got {len(values)}. "
                f"Use an Annotated key with a reducer to handle several, e.g. Annotated[list, operator.add]."
            )
        value = values[-1]
        self.value = value.value if type(value) is Overwrite else value
        return True


class AnyValue(SingleValue):
    """Any number of writes a step, taken to be equal: the last is kept. Empties when a step writes nothing."""

    __slots__ = ()
    ticks = True

    def update(self, values: Sequence[Any]) -> bool:
        if not values:
            if self.value is MISSING:
                return False
            self.value = MISSING
            return True
        self.value = values[-1]
        return True


class EphemeralValue(SingleValue):
    """Holds a value for one step. `guard`: refuse several writes in a step."""

    __slots__ = ("guard",)
    ticks = True

    def __init__(self, typ: Any, guard: bool = True, key: str = "") -> None:
        super().__init__(typ, key)
        self.guard = guard

    def update(self, values: Sequence[Any]) -> bool:
        if not values:
            if self.value is MISSING:
                return False
            self.value = MISSING
            return True
        if len(values) != 1 and self.guard:
            raise InvalidUpdateError(
                f"At key '{self.key}': EphemeralValue(guard=True) can receive only one value per step. "
                f"Use guard=False if you want to store any one of multiple values."
            )
        self.value = values[-1]
        return True

    def _empty(self) -> EphemeralValue:
        return type(self)(self.typ, self.guard, self.key)


class UntrackedValue(SingleValue):
    """A value that is never stored: gone when the run ends. `guard`: refuse several writes in a step."""

    __slots__ = ("guard",)

    def __init__(self, typ: Any, guard: bool = True, key: str = "") -> None:
        super().__init__(typ, key)
        self.guard = guard

    def update(self, values: Sequence[Any]) -> bool:
        if not values:
            return False
        if len(values) != 1 and self.guard:
            raise InvalidUpdateError(
                f"At key '{self.key}': UntrackedValue(guard=True) can receive only one value per step. "
                f"Use guard=False if you want to store any one of multiple values."
            )
        self.value = values[-1]
        return True

    def checkpoint(self) -> Any:
        return MISSING

    def from_checkpoint(self, checkpoint: Any) -> UntrackedValue:
        return self._empty()

    def _empty(self) -> UntrackedValue:
        return type(self)(self.typ, self.guard, self.key)


class LastValueAfterFinish(SingleValue):
    """A last value that shows only once nothing else can run, and then triggers once (deferred nodes)."""

    __slots__ = ("finished",)
    plain = False
    finishes = True

    def __init__(self, typ: Any, key: str = "") -> None:
        super().__init__(typ, key)
        self.finished = False

    def get(self) -> Any:
        if not self.finished:
            raise EmptyChannelError(f"Channel '{self.key}' waits until nothing else can run.")
        return super().get()

    def is_available(self) -> bool:
        return self.finished and self.value is not MISSING

    def checkpoint(self) -> Any:
        return MISSING if self.value is MISSING else (self.value, self.finished)

    def from_checkpoint(self, checkpoint: Any) -> LastValueAfterFinish:
        new = type(self)(self.typ, self.key)
        if checkpoint is not MISSING:
            new.value, new.finished = checkpoint
        return new

    def update(self, values: Sequence[Any]) -> bool:
        if not values:
            return False
        self.value, self.finished = values[-1], False
        return True

    def consume(self) -> bool:
        if not self.finished:
            return False
        self.value, self.finished = MISSING, False
        return True

    def finish(self) -> bool:
        if self.finished or self.value is MISSING:
            return False
        self.finished = True
        return True
