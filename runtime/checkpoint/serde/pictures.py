"""What a mutable item holds at a moment, so that a change in place shows later, and so that a fresh copy can be made.

A picture is built of scalars, dicts, lists and tuples. Of a dataclass it is that of its `__dict__`, of a Pydantic model also
that of the fields that its class does not name. Compared by `==` in C: a message takes 0.3 us.
Refuses: items that hold anything else (UNSEEN, equal to nothing).
"""

from __future__ import annotations

import dataclasses
import functools
from operator import attrgetter
from typing import Any

from runtime.checkpoint.serde.instances import is_plain_model

SCALARS = frozenset({str, int, float, bool, type(None), bytes})
"""Nobody can change them."""
_CONTAINERS = frozenset({dict, list, tuple})
_PLAIN = SCALARS | _CONTAINERS


class _Unseen:
    """The picture of what cannot be pictured."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return False

    __hash__ = None  # type: ignore[assignment]  # compared only


UNSEEN = _Unseen()


def picture(item: Any) -> Any:
    """What the item holds now, or UNSEEN."""
    return _contents(view(item))


def view(item: Any) -> Any:
    """What to compare with its picture."""
    cls: Any = type(item)
    if cls in _PLAIN:
        return item
    return view_of_model(item) if is_plain_model(cls) else item.__dict__ if is_open(cls) else UNSEEN


view_of_model = attrgetter("__dict__", "__pydantic_extra__")
"""`view`, of a model for which `is_plain_model` holds."""


def copy_of(item: Any, pictured: Any) -> Any:
    """A new item that holds what the picture shows, of the kind of `item`."""
    cls: Any = type(item)
    if cls in _PLAIN:
        return _fresh(pictured)
    state = _fresh(pictured)
    if is_plain_model(cls):
        made = cls.__new__(cls)
        fields, extra = state
        made.__setstate__(
            {
                "__dict__": fields,
                "__pydantic_fields_set__": set(item.__pydantic_fields_set__),
                "__pydantic_extra__": extra,
                "__pydantic_private__": None,
            }
        )
        return made
    made = object.__new__(cls)
    made.__dict__.update(state)
    return made


def _fresh(pictured: Any) -> Any:
    """A copy of a picture's containers."""
    cls = type(pictured)
    if cls is dict:
        made = pictured.copy()
        for key, item in pictured.items():
            if type(item) in _CONTAINERS:
                made[key] = _fresh(item)
        return made
    if cls is list or cls is tuple:
        return cls([_fresh(item) if type(item) in _CONTAINERS else item for item in pictured]) if pictured else cls()
    return pictured


def _contents(value: Any) -> Any:
    cls = type(value)
    if cls in SCALARS:
        return value
    if cls is dict:
        made = value.copy()
        for key, item in value.items():
            if type(item) not in SCALARS:
                made[key] = inside = _contents(item)
                if inside is UNSEEN:
                    return UNSEEN
        return made if SCALARS.issuperset(map(type, made)) else UNSEEN
    if cls is list or cls is tuple:
        if not value or SCALARS.issuperset(map(type, value)):
            return value[:]
        items = [item if type(item) in SCALARS else _contents(item) for item in value]
        return UNSEEN if any(item is UNSEEN for item in items) else cls(items)
    return UNSEEN


@functools.lru_cache(maxsize=4096)
def is_open(cls: type) -> bool:
    """Whether a class is a dataclass, and what its instances hold is in their `__dict__`."""
    slotted = any("__slots__" in vars(base) for base in cls.__mro__[:-1])
    return dataclasses.is_dataclass(cls) and not slotted
