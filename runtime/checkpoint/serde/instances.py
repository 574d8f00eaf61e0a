"""Instances of user classes as a kind, a class name and plain content, and back, without calling their constructors.

Owns: enums, named tuples, Pydantic models, dataclasses, attrs classes, and subclasses of built-in types. Refuses: every
class that is not of such a data kind, and on the way back every class that is not allowed (types.py).
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import functools
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from typing import Any

from runtime.checkpoint.serde.kinds import Speller
from runtime.checkpoint.serde.types import allow, find, type_name

_BASES: tuple[type, ...] = (bool, int, float, str, bytes, OrderedDict, dict, list, tuple, set, frozenset, deque)
MODEL = "model"
"""The kind of Pydantic models."""
_MOMENTS: tuple[type, ...] = (dt.datetime, dt.date)
_SLOTTED = frozenset({"langgraph.types:Send"})
"""Plain classes that are data all the same: kept by their slots."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Kind:
    """How one kind of class is told, spelled and made."""

    name: str
    owns: Callable[[type], bool]
    content: Callable[[Any], Any]
    make: Callable[[Any, Any], Any]


class UnknownClassError(Exception):
    """Stored bytes name a class that is not allowed."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(name)


def speller(cls: type) -> Speller | None:
    """How instances of a data class are spelled, as [class name, content]; None for any other class."""
    found = _kind_of(cls)
    if found is None:
        return None
    name, content = type_name(cls), found.content
    return found.name, lambda value: [name, content(value)]


def make(kind: str, content: Any) -> Any:
    """The instance. Raises UnknownClassError for a class that is not allowed, anything for content that does not fit."""
    name, inner = content
    cls = find(name)
    if cls is None:
        raise UnknownClassError(name)
    found = _kind_of(cls)
    if found is None or found.name != kind:
        raise TypeError(f"{name} is no class of kind {kind}.")
    return found.make(cls, inner)


@functools.lru_cache(maxsize=4096)
def _kind_of(cls: type) -> _Kind | None:
    """The kind that a class is of. Asked for a live object or an allowed class, so the class is allowed from now on."""
    found = next((kind for kind in _KINDS if kind.owns(cls)), None)
    if found is not None:
        allow(cls)
    return found


# -- enums and named tuples --------------------------------------------------------------------------------------------


def _is_enum(cls: Any) -> bool:
    """Kept by value, as enums are everywhere."""
    return issubclass(cls, enum.Enum) and all(map(_is_plain, cls.__members__.values()))


def _is_plain(member: Any) -> bool:
    items = member.value if type(member.value) is tuple else (member.value,)
    return all(item is None or type(item) in _BASES for item in items)


def _make_enum(cls: Any, value: Any) -> Any:
    return cls(value)


def _is_enum_of_objects(cls: type) -> bool:
    """Kept by name, as their values may be anything."""
    return issubclass(cls, enum.Enum)


def _enum_name(value: Any) -> Any:
    return value.name


def _make_member(cls: Any, name: Any) -> Any:
    return cls.__members__[name]


def _is_named(cls: type) -> bool:
    return issubclass(cls, tuple) and hasattr(cls, "_fields")


def _make_named(cls: Any, items: Any) -> Any:
    """The tuple; a field that the class gained since then has its default."""
    missing = [cls._field_defaults[name] for name in cls._fields[len(items) :]]
    return tuple.__new__(cls, (*items, *missing))


# -- Pydantic models ---------------------------------------------------------------------------------------------------


def _is_model(cls: type) -> bool:
    return hasattr(cls, "model_fields") and hasattr(cls, "__pydantic_validator__") and not dataclasses.is_dataclass(cls)


@dataclasses.dataclass(frozen=True, slots=True)
class _Plan:
    """What is asked of a model's class once."""

    names: frozenset[str]
    optional: Mapping[str, Any]
    """Fields that have a default."""
    private: Mapping[str, Any]
    extra: bool
    """Whether instances may have more than the fields."""


@functools.lru_cache(maxsize=4096)
def _plan(cls: Any) -> _Plan:
    fields = cls.model_fields
    optional = {name: field for name, field in fields.items() if not field.is_required()}
    return _Plan(frozenset(fields), optional, cls.__private_attributes__, cls.model_config.get("extra") == "allow")


def _model(value: Any) -> list[Any]:
    """Fields and extras. Private attributes are no data, and start anew."""
    cls: Any = type(value)
    names, values = _plan(cls).names, value.__dict__
    if values.keys() != names:  # a cached property, or a model that was made without validation
        values = {name: item for name, item in values.items() if name in names}
    if value.__pydantic_extra__:
        values = {**values, **value.__pydantic_extra__}
    return [values, sorted(value.__pydantic_fields_set__, key=str)]


def _make_model(cls: Any, content: Any) -> Any:
    values, fields_set = content
    plan, extras = _plan(cls), None
    if values.keys() != plan.names:
        extras = {name: item for name, item in values.items() if name not in plan.names}
        values = {name: item for name, item in values.items() if name in plan.names}
        for name, field in plan.optional.items():
            if name not in values:  # a field that the class gained since then
                values[name] = field.get_default(call_default_factory=True, validated_data=values)
    made = cls.__new__(cls)
    made.__setstate__(
        {
            "__dict__": values,
            "__pydantic_fields_set__": set(fields_set),
            "__pydantic_extra__": (extras or {}) if plan.extra else None,
            "__pydantic_private__": {name: item.get_default() for name, item in plan.private.items()} or None,
        }
    )
    return made


def _is_model_v1(cls: type) -> bool:
    return cls.__module__ != "pydantic.v1.main" and any(base.__module__ == "pydantic.v1.main" for base in cls.__mro__)


def _make_model_v1(cls: Any, content: Any) -> Any:
    values, fields_set = content
    made = cls.__new__(cls)
    made.__setstate__(
        {"__dict__": values, "__fields_set__": set(fields_set), "__private_attribute_values__": {}},
    )
    return made


# -- dataclasses and their like ----------------------------------------------------------------------------------------


def _names(cls: Any) -> tuple[str, ...]:
    """The fields of a dataclass, of an attrs class, of a slotted class of the list."""
    if dataclasses.is_dataclass(cls):
        return tuple(field.name for field in dataclasses.fields(cls))
    attrs = getattr(cls, "__attrs_attrs__", None)
    return tuple(cls.__slots__) if attrs is None else tuple(attribute.name for attribute in attrs)


def _is_object(cls: type) -> bool:
    return dataclasses.is_dataclass(cls) or hasattr(cls, "__attrs_attrs__") or type_name(cls) in _SLOTTED


def _object(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in _names(type(value)) if hasattr(value, name)}


def _make_object(cls: Any, fields: Any) -> Any:
    made = object.__new__(cls)
    for name in _names(cls):
        if name in fields:
            object.__setattr__(made, name, fields[name])
    if dataclasses.is_dataclass(cls):
        for field in dataclasses.fields(cls):
            if field.name not in fields and field.default_factory is not dataclasses.MISSING:
                object.__setattr__(made, field.name, field.default_factory())
            elif field.name not in fields and field.default is not dataclasses.MISSING:
                object.__setattr__(made, field.name, field.default)
    return made


# -- subclasses of built-in types --------------------------------------------------------------------------------------


def _base(cls: type) -> Any:
    return next((base for base in _BASES if issubclass(cls, base)), None)


def _is_subclass(cls: type) -> bool:
    return _base(cls) is not None and cls not in _BASES


def _subclass(value: Any) -> list[Any]:
    """The value as its built-in base, and the attributes that the instance has beside."""
    base = _base(type(value))
    plain = [[*value], value.maxlen] if base is deque else base(value)
    if base is OrderedDict:
        plain = [[key, item] for key, item in value.items()]
    return [plain, dict(getattr(value, "__dict__", {}))]


def _make_subclass(cls: Any, content: Any) -> Any:
    plain, attributes = content
    base = _base(cls)
    if base in (list, set, dict, OrderedDict):
        made = base.__new__(cls)
        (list.extend if base is list else base.update)(made, plain)
    elif base is deque:
        made = deque.__new__(cls)
        deque.__init__(made, *plain)
    else:
        made = base.__new__(cls, plain)
    for name, item in attributes.items():
        made.__dict__[name] = item
    return made


def _is_moment(cls: type) -> bool:
    """A subclass of datetime or date that is written in Python: a C one cannot be made again without its constructor."""
    return issubclass(cls, _MOMENTS) and cls not in _MOMENTS and not cls.__module__.startswith("pandas")


def _moment(value: Any) -> Any:
    if isinstance(value, dt.datetime):
        return dt.datetime.combine(dt.datetime.date(value), dt.datetime.timetz(value))
    return dt.date(value.year, value.month, value.day)


def _make_moment(cls: Any, value: Any) -> Any:
    if not isinstance(value, dt.datetime):
        return dt.date.__new__(cls, value.year, value.month, value.day)
    parts = (value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond)
    return dt.datetime.__new__(cls, *parts, value.tzinfo, fold=value.fold)


def _enum_value(value: Any) -> Any:
    return value.value


def _model_v1(value: Any) -> list[Any]:
    return [dict(value.__dict__), sorted(value.__fields_set__, key=str)]


_KINDS = (
    _Kind(MODEL, _is_model, _model, _make_model),
    _Kind("enum", _is_enum, _enum_value, _make_enum),
    _Kind("member", _is_enum_of_objects, _enum_name, _make_member),
    _Kind("object", _is_object, _object, _make_object),
    _Kind("named", _is_named, list, _make_named),
    _Kind("model_v1", _is_model_v1, _model_v1, _make_model_v1),
    _Kind("moment", _is_moment, _moment, _make_moment),
    _Kind("subclass", _is_subclass, _subclass, _make_subclass),
)
"""The likeliest first."""


@functools.lru_cache(maxsize=4096)
def is_plain_model(cls: type) -> bool:
    """Whether a class is a Pydantic model without private attributes: its fields are all it holds."""
    return _is_model(cls) and not _plan(cls).private


@functools.lru_cache(maxsize=4096)
def fields_of(cls: type) -> frozenset[str] | None:
    """The names of a Pydantic model's fields; None for any other class."""
    found = _kind_of(cls)
    return _plan(cls).names if found is not None and found.name == MODEL else None
