"""Classes that values in the tests are made of. Their module is imported: they have names that last."""

from __future__ import annotations

import enum
from collections import Counter, OrderedDict, deque
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, RootModel, SecretStr

T = TypeVar("T")


class Color(enum.Enum):
    RED = (1, 0)
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1


class Word(str, enum.Enum):  # noqa: UP042 - older programs write it like this
    YES = "yes"


class Right(enum.Flag):
    READ = 1
    WRITE = 2


class Outer:
    class Inner(enum.Enum):
        A = 1


class Point(NamedTuple):
    x: int
    y: int = 0


@dataclass(frozen=True, slots=True)
class Frozen:
    name: str
    inner: Any = None


@dataclass
class Plain:
    items: list[int] = field(default_factory=list)
    hidden: int = field(default=3, init=False, repr=False)


class Model(BaseModel):
    color: Color
    many: list[Point] = []
    secret: SecretStr = SecretStr("s")
    _private: int = PrivateAttr(default=7)

    @cached_property
    def size(self) -> int:
        return len(self.many)


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    known: int = 1


class Renamed(BaseModel):
    value: int = Field(alias="theirName")


class Box(BaseModel, Generic[T]):
    content: T


class Numbers(RootModel[list[int]]):
    pass


class Text(str):
    note: str


class Amount(float):
    pass


class Names(list[Any]):
    pass


class Table(dict[str, Any]):
    pass


class Bag(set[Any]):
    pass


class Tally(Counter[str]):
    pass


class Ring(deque[Any]):
    pass


class Rows(OrderedDict[str, Any]):
    pass


def noted(text: Text, note: str) -> Text:
    text.note = note
    return text


@dataclass
class Undecided:
    """Is neither true nor false, as an array of numbers is."""

    what: str = "two"

    def __bool__(self) -> bool:
        raise ValueError("The truth value of two is ambiguous.")
