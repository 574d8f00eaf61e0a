"""A channel that collects a step's writes into a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runtime.channels.base import MISSING, BaseChannel
from runtime.errors import EmptyChannelError


class Topic(BaseChannel[Sequence[Any], Any, list[Any]]):
    """The writes of the last step, in order; with `accumulate`, of all steps. A list write is spread."""

    __slots__ = ("accumulate", "values")

    def __init__(self, typ: Any, accumulate: bool = False, key: str = "") -> None:
        super().__init__(typ, key)
        self.accumulate = accumulate
        self.values: list[Any] = []

    @property
    def ticks(self) -> bool:  # type: ignore[override]  # depends on accumulate
        return not self.accumulate

    def get(self) -> Sequence[Any]:
        if not self.values:
            raise EmptyChannelError(f"Channel '{self.key}' is empty: nothing was written to it in the last step.")
        return list(self.values)

    def is_available(self) -> bool:
        return bool(self.values)

    def checkpoint(self) -> Any:
        return self.values or MISSING

    def from_checkpoint(self, checkpoint: Any) -> Topic:
        new = type(self)(self.typ, self.accumulate, self.key)
        new.values = [] if checkpoint is MISSING else list(checkpoint)
        return new

    def update(self, values: Sequence[Any]) -> bool:
        old = self.values
        new = [] if not self.accumulate else list(old)
        for value in values:
            if isinstance(value, list):
                new.extend(value)
            else:
                new.append(value)
        self.values = new
        return bool(values) or bool(old) != bool(new)
