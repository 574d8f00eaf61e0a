"""`JsonPlusSerializer`: msgpack, with tags for what msgpack cannot say. Never pickle.

The name is LangGraph's. A tagged value is an extension of [kind, content]; kinds are a fixed table, and the classes that
`object`, `model` and `enum` may name are those of types.py.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import ipaddress
import pathlib
import re
import sys
import uuid
import zoneinfo
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import ormsgpack

from runtime.checkpoint.serde.types import OpaqueValue, allow, find, type_name

_TAG = 1
_OPAQUE = 2
_OPTIONS = (
    ormsgpack.OPT_NON_STR_KEYS
    | ormsgpack.OPT_PASSTHROUGH_BIG_INT
    | ormsgpack.OPT_PASSTHROUGH_DATACLASS
    | ormsgpack.OPT_PASSTHROUGH_DATETIME
    | ormsgpack.OPT_PASSTHROUGH_ENUM
    | ormsgpack.OPT_PASSTHROUGH_SUBCLASS
    | ormsgpack.OPT_PASSTHROUGH_TUPLE
    | ormsgpack.OPT_PASSTHROUGH_UUID
)


class JsonPlusSerializer:
    """Values to (type, bytes) and back."""

    def dumps_typed(self, value: Any) -> tuple[str, bytes]:
        """("null" or "msgpack", bytes). Raises TypeError naming the type that cannot be kept."""
        return ("null", b"") if value is None else ("msgpack", dumps(value))

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """The value. Never runs code that the bytes name."""
        kind, payload = data
        if kind == "null":
            return None
        if kind != "msgpack":
            raise ValueError(f"Stored values of kind {kind!r} are not read: the kinds are 'null' and 'msgpack'.")
        return loads(payload)


def dumps(value: Any) -> bytes:
    """Bytes of a value. Raises TypeError naming the type that cannot be kept."""
    try:
        return ormsgpack.packb(value, default=_default, option=_OPTIONS)
    except TypeError as error:
        raise TypeError(_explain(error)) from error
    except (ormsgpack.MsgpackEncodeError, RecursionError) as error:
        raise TypeError(_explain(error)) from error


def _explain(error: BaseException) -> str:
    inner = error
    while inner.__cause__ is not None:
        inner = inner.__cause__
    text = str(inner)
    return text if "serializ" in text else f"A value is not serializable: {text}"


def loads(payload: bytes) -> Any:
    """The value that the bytes hold."""
    return ormsgpack.unpackb(payload, ext_hook=_revive, option=ormsgpack.OPT_NON_STR_KEYS)


# -- to bytes ----------------------------------------------------------------------------------------------------------


def _tag(kind: str, content: Any) -> ormsgpack.Ext:
    return ormsgpack.Ext(_TAG, ormsgpack.packb([kind, content], default=_default, option=_OPTIONS))


def _default(value: Any) -> Any:
    plain = _PLAIN.get(type(value))
    if plain is not None:
        return _tag(plain[0], plain[1](value))
    if isinstance(value, OpaqueValue):
        packed = ormsgpack.packb([value.type_name, value.payload])
        return ormsgpack.Ext(_OPAQUE, packed)
    if isinstance(value, enum.Enum):
        return _instance("enum", type(value), value.value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return _instance("named", type(value), list(value))
    if hasattr(type(value), "model_fields"):
        extra = getattr(value, "__pydantic_extra__", None) or {}
        return _instance("model", type(value), [{**value.__dict__, **extra}, sorted(value.model_fields_set)])
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _instance("object", type(value), {f.name: getattr(value, f.name) for f in dataclasses.fields(value)})
    return _rare(value)


def _rare(value: Any) -> Any:
    if isinstance(value, BaseException):
        return _tag("error", repr(value))
    if isinstance(value, pathlib.PurePath):
        return _tag("path", str(value))
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic):
        return _tag("numpy_scalar", [value.dtype.str, value.tobytes()])
    if numpy is not None and isinstance(value, numpy.ndarray) and value.dtype != object:
        order = "F" if value.flags.f_contiguous and not value.flags.c_contiguous else "C"
        return _tag("numpy_array", [value.dtype.str, list(value.shape), order, value.tobytes(order=order)])
    bases: tuple[type[Any], ...] = (str, int, list, dict)
    for base in bases:
        if isinstance(value, base):  # a subclass: kept as what it is built on
            return base(value)
    raise TypeError(
        f"Type is not msgpack serializable: {type(value).__name__}. Put plain data, a dataclass, a Pydantic model or a "
        f"message into the state; functions, open files and clients belong into the runtime's context."
    )


def _instance(kind: str, cls: type, content: Any) -> ormsgpack.Ext:
    allow(cls)
    return _tag(kind, [type_name(cls), content])


def _datetime(value: dt.datetime) -> list[Any]:
    zone = getattr(value.tzinfo, "key", None)
    return [value.isoformat(), zone, value.fold]


_PLAIN: Mapping[type, tuple[str, Callable[[Any], Any]]] = {
    tuple: ("tuple", list),
    set: ("set", list),
    frozenset: ("frozenset", list),
    dt.datetime: ("datetime", _datetime),
    dt.date: ("date", dt.date.isoformat),
    dt.time: ("time", lambda v: [v.isoformat(), v.fold]),
    dt.timedelta: ("timedelta", lambda v: [v.days, v.seconds, v.microseconds]),
    decimal.Decimal: ("decimal", str),
    uuid.UUID: ("uuid", lambda v: v.bytes),
    int: ("int", str),
    bytearray: ("bytearray", bytes),
    deque: ("deque", lambda v: [list(v), v.maxlen]),
    re.Pattern: ("pattern", lambda v: [v.pattern, v.flags]),
    zoneinfo.ZoneInfo: ("zone", lambda v: v.key),
    **{
        cls: ("ip", lambda v: [type(v).__name__, str(v)])
        for cls in (
            ipaddress.IPv4Address,
            ipaddress.IPv6Address,
            ipaddress.IPv4Network,
            ipaddress.IPv6Network,
            ipaddress.IPv4Interface,
            ipaddress.IPv6Interface,
        )
    },
}


# -- from bytes --------------------------------------------------------------------------------------------------------


def _revive(code: int, payload: bytes) -> Any:
    if code == _OPAQUE:
        name, content = ormsgpack.unpackb(payload)
        return _revive_opaque(name, content)
    if code != _TAG:
        return OpaqueValue(f"extension {code}", payload)
    kind, content = loads(payload)
    if kind in _INSTANCES:
        name, fields = content
        cls = find(name)
        return OpaqueValue(name, payload) if cls is None else _INSTANCES[kind](cls, fields)
    maker = _MAKERS.get(kind)
    return OpaqueValue(str(kind), payload) if maker is None else maker(content)


def _revive_opaque(name: str, payload: bytes) -> Any:
    """A value that was opaque when it was stored may be known by now."""
    return _revive(_TAG, payload) if find(name) is not None else OpaqueValue(name, payload)


def _model(cls: Any, content: Any) -> Any:
    values, fields_set = content
    return cls.model_construct(set(fields_set), **values)


def _object(cls: Any, fields: Mapping[str, Any]) -> Any:
    made = object.__new__(cls)
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    return made


_INSTANCES: Mapping[str, Callable[[Any, Any], Any]] = {
    "enum": lambda cls, value: cls(value),
    "named": lambda cls, items: cls(*items),
    "model": _model,
    "object": _object,
}


def _to_datetime(content: Any) -> dt.datetime:
    text, zone, fold = content
    moment = dt.datetime.fromisoformat(text)
    if zone is not None:
        try:
            return moment.replace(tzinfo=zoneinfo.ZoneInfo(zone), fold=fold)
        except (zoneinfo.ZoneInfoNotFoundError, ValueError):  # a machine without this zone keeps the offset
            return moment.replace(fold=fold)
    return moment.replace(fold=fold)


def _array(content: Any) -> Any:
    numpy = sys.modules.get("numpy")
    dtype, shape, order, data = content
    if numpy is None:
        return OpaqueValue("numpy_array", dumps(content))
    return numpy.frombuffer(data, dtype=dtype).copy().reshape(shape, order=order)


def _scalar(content: Any) -> Any:
    numpy = sys.modules.get("numpy")
    dtype, data = content
    return OpaqueValue("numpy_scalar", dumps(content)) if numpy is None else numpy.frombuffer(data, dtype=dtype)[0]


_IPS: Mapping[str, Any] = {
    name: getattr(ipaddress, name)
    for name in ("IPv4Address", "IPv6Address", "IPv4Network", "IPv6Network", "IPv4Interface", "IPv6Interface")
}
_MAKERS: Mapping[str, Callable[[Any], Any]] = {
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
    "datetime": _to_datetime,
    "date": dt.date.fromisoformat,
    "time": lambda v: dt.time.fromisoformat(v[0]).replace(fold=v[1]),
    "timedelta": lambda v: dt.timedelta(*v),
    "decimal": decimal.Decimal,
    "uuid": lambda v: uuid.UUID(bytes=v),
    "int": int,
    "bytearray": bytearray,
    "deque": lambda v: deque(v[0], v[1]),
    "pattern": lambda v: re.compile(v[0], v[1]),
    "zone": zoneinfo.ZoneInfo,
    "ip": lambda v: _IPS[v[0]](v[1]),
    "error": str,
    "path": pathlib.Path,
    "numpy_array": _array,
    "numpy_scalar": _scalar,
}
