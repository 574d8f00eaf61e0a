"""The channel protocol: where one state key lives and how the writes of a super-step merge into it.

A compiled graph holds one empty channel a key as a prototype; each run makes its own from a stored value.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")
Update = TypeVar("Update")
Stored = TypeVar("Stored")


class Missing:
    """The type of `MISSING`: no value was ever written."""

    _one: Missing | None = None

    def __new__(cls) -> Missing:
        cls._one = cls._one or super().__new__(cls)
        return cls._one

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False


MISSING: Any = Missing()


class BaseChannel(ABC, Generic[Value, Update, Stored]):
    """Base of all channels. Subclasses keep their state in slots."""

    __slots__ = ("key", "typ")

    plain: bool = False
    """Whether its attribute `value` is what `get` gives, MISSING where there is nothing: read without a call."""
    ticks: bool = False
    """Whether `update([])` at the end of a step without writes may change it (ephemeral values, topics)."""
    finishes: bool = False
    """Whether it waits for `finish()`, the moment when nothing else can run."""

    def __init__(self, typ: Any, key: str = "") -> None:
        self.typ = typ
        self.key = key

    @property
    def ValueType(self) -> Any:  # noqa: N802 - LangGraph's name
        """Type of what `get` gives."""
        return self.typ

    @property
    def UpdateType(self) -> Any:  # noqa: N802 - LangGraph's name
        """Type of what `update` takes a sequence of."""
        return self.typ

    @abstractmethod
    def get(self) -> Value:
        """The value. Raises EmptyChannelError when there is none."""

    @abstractmethod
    def update(self, values: Sequence[Update]) -> bool:
        """Merge the writes of one super-step. True if the channel changed. Raises InvalidUpdateError."""

    @abstractmethod
    def from_checkpoint(self, checkpoint: Stored) -> BaseChannel[Value, Update, Stored]:
        """A channel like this one that holds a stored value; MISSING makes an empty one."""

    @abstractmethod
    def is_available(self) -> bool:
        """Whether `get` gives a value."""

    def checkpoint(self) -> Stored:
        """What to store: MISSING when there is nothing."""
        return self.get() if self.is_available() else MISSING  # type: ignore[return-value]

    def copy(self) -> BaseChannel[Value, Update, Stored]:
        """An independent channel with the same value."""
        return self.from_checkpoint(self.checkpoint())

    def consume(self) -> bool:
        """A node that this channel triggered has run. True if that changed the channel."""
        return False

    def finish(self) -> bool:
        """Nothing else can run. True if that changed the channel."""
        return False
