"""A key with a reducer: each write is folded into the value."""

from __future__ import annotations

import collections.abc
from collections.abc import Callable, Sequence
from typing import Any, NotRequired, Required, get_origin

from runtime.channels.base import MISSING, BaseChannel
from runtime.errors import EmptyChannelError, InvalidUpdateError
from runtime.types import Overwrite

_CONCRETE = {
    collections.abc.Sequence: list,
    collections.abc.MutableSequence: list,
    collections.abc.Set: set,
    collections.abc.MutableSet: set,
    collections.abc.Mapping: dict,
    collections.abc.MutableMapping: dict,
}


def empty_value(typ: Any) -> Any:
    """What a reducer starts from: `list` gives [], `int` gives 0; MISSING where a type has no empty value."""
    origin = get_origin(typ)
    while origin in (Required, NotRequired):
        typ = typ.__args__[0]
        origin = get_origin(typ)
    maker = origin or typ
    maker = _CONCRETE.get(maker, maker)
    try:
        return maker()
    except Exception:  # noqa: BLE001 - a type without a no-argument constructor starts empty
        return MISSING


class BinaryOperatorAggregate(BaseChannel[Any, Any, Any]):
    """`new = operator(old, write)`, for each write of a step in task order.

    The value starts from the type's empty value, or from `start` (a declared default). `Overwrite(v)` replaces it, at most
    once a step.
    """

    __slots__ = ("operator", "start", "value")
    plain = True

    def __init__(
        self, typ: Any, operator: Callable[[Any, Any], Any], key: str = "", start: Callable[[], Any] | None = None
    ) -> None:
        super().__init__(typ, key)
        self.operator = operator
        self.start = start
        self.value: Any = start() if start else empty_value(typ)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BinaryOperatorAggregate) and other.operator is self.operator

    __hash__ = None  # type: ignore[assignment]  # equality is by reducer, as LangGraph has it

    def get(self) -> Any:
        if self.value is MISSING:
            raise EmptyChannelError(f"Channel '{self.key}' is empty: nothing was written to it yet.")
        return self.value

    def is_available(self) -> bool:
        return self.value is not MISSING

    def checkpoint(self) -> Any:
        return self.value

    def from_checkpoint(self, checkpoint: Any) -> BinaryOperatorAggregate:
        if checkpoint is MISSING:
            return type(self)(self.typ, self.operator, self.key, self.start)
        new = object.__new__(type(self))
        new.typ, new.key, new.operator, new.start, new.value = self.typ, self.key, self.operator, self.start, checkpoint
        return new

    def update(self, values: Sequence[Any]) -> bool:
        if not values:
            return False
        value, rest = self.value, values
        replaced = [v for v in values if is_overwrite(v)]
        if replaced:
            if len(replaced) > 1:
                raise InvalidUpdateError(f"At key '{self.key}': Can receive only one Overwrite value per super-step.")
            value = overwrite_value(replaced[0])
            rest = ()
        elif value is MISSING:
            value, rest = values[0], values[1:]
        for write in rest:
            value = self.operator(value, write)
        self.value = value
        return True


def is_overwrite(write: Any) -> bool:
    """Whether a write asks to replace the value: `Overwrite(v)`, or its JSON form `{"__overwrite__": v}`."""
    return type(write) is Overwrite or (type(write) is dict and len(write) == 1 and "__overwrite__" in write)


def overwrite_value(write: Any) -> Any:
    """The value that an overwrite carries."""
    return write.value if type(write) is Overwrite else write["__overwrite__"]
