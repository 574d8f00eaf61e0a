"""A key whose reducer folds all writes of a step at once: `reducer(value, [write, ...])`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from runtime.channels.base import MISSING, BaseChannel
from runtime.channels.binop import empty_value, is_overwrite, overwrite_value
from runtime.errors import EmptyChannelError, InvalidUpdateError


class DeltaChannel(BaseChannel[Any, Any, Any]):
    """`new = reducer(old, writes)`, once a step; `Overwrite(v)` replaces the value, at most once a step.

    Args:
        reducer: (value, list of writes) -> value. Folding two lists one after the other must give what folding both at
            once gives.
        typ: of the value; taken from `Annotated[T, DeltaChannel(...)]` where it stands there.
        snapshot_frequency: accepted for LangGraph, whose savers store only the writes between whole copies; how ours store
            values is the savers' own affair, for every channel.

    Raises ValueError for a frequency that is no positive number.
    """

    __slots__ = ("reducer", "snapshot_frequency", "value")
    plain = True

    def __init__(
        self, reducer: Callable[[Any, Sequence[Any]], Any], typ: Any = None, *, snapshot_frequency: int = 100
    ) -> None:
        if not isinstance(snapshot_frequency, int) or snapshot_frequency < 1:
            raise ValueError(f"snapshot_frequency must be a positive int, got {snapshot_frequency!r}")
        if not callable(reducer):
            raise ValueError(f"reducer must be a function of (value, writes), got {reducer!r}")
        super().__init__(typ)
        self.reducer = reducer
        self.snapshot_frequency = snapshot_frequency
        self.value: Any = MISSING if typ is None else empty_value(typ)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeltaChannel) and other.reducer is self.reducer

    __hash__ = None  # type: ignore[assignment]  # equality is by reducer, as of BinaryOperatorAggregate

    def of(self, typ: Any) -> DeltaChannel:
        """The same for values of a type, unless it has one."""
        typ = self.typ if self.typ is not None else typ
        return DeltaChannel(self.reducer, typ, snapshot_frequency=self.snapshot_frequency)

    def get(self) -> Any:
        if self.value is MISSING:
            raise EmptyChannelError(f"Channel '{self.key}' is empty: nothing was written to it yet.")
        return self.value

    def is_available(self) -> bool:
        return self.value is not MISSING

    def checkpoint(self) -> Any:
        return self.value

    def from_checkpoint(self, checkpoint: Any) -> DeltaChannel:
        new = self.of(self.typ)
        new.key = self.key
        if checkpoint is not MISSING:
            new.value = checkpoint
        return new

    def update(self, values: Sequence[Any]) -> bool:
        if not values:
            return False
        replaced = [write for write in values if is_overwrite(write)]
        if len(replaced) > 1:
            raise InvalidUpdateError(f"At key '{self.key}': Can receive only one Overwrite value per super-step.")
        if replaced:
            self.value = overwrite_value(replaced[0])
        else:
            self.value = self.reducer(None if self.value is MISSING else self.value, list(values))
        return True


__all__ = ("DeltaChannel",)
