"""Values of the standard library (and of Pydantic's own small types) as a kind's name and plain content, and back.

Owns: the fixed table of kinds. Refuses: user classes (instances.py), numpy (arrays.py), bytes (codec.py).
"""

from __future__ import annotations

import datetime as dt
import decimal
import fractions
import importlib
import ipaddress
import pathlib
import re
import uuid
import zoneinfo
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping
from typing import Any

Speller = tuple[str, Callable[[Any], Any]]
"""A kind, and what makes the plain content of a value."""

_IPS: tuple[type, ...] = (
    ipaddress.IPv4Address,
    ipaddress.IPv6Address,
    ipaddress.IPv4Network,
    ipaddress.IPv6Network,
    ipaddress.IPv4Interface,
    ipaddress.IPv6Interface,
)
_PATHS: tuple[type, ...] = (
    pathlib.PosixPath,
    pathlib.WindowsPath,
    pathlib.PurePosixPath,
    pathlib.PureWindowsPath,
)
_FACTORIES: Mapping[str, type] = {cls.__name__: cls for cls in (list, dict, set, int, float, str, tuple, bool, bytes)}
_PYDANTIC_TEXTS = ("SecretStr", "SecretBytes")


class RefusedError(Exception):
    """A value of a known type that cannot be kept. The message says which, and a way out."""


# -- to plain content --------------------------------------------------------------------------------------------------


def _zone_key(zone: dt.tzinfo | None) -> str | None:
    return getattr(zone, "key", None)


def _defaultdict(value: defaultdict[Any, Any]) -> list[Any]:
    factory = value.default_factory
    name = None if factory is None else getattr(factory, "__name__", None)
    if factory is not None and _FACTORIES.get(str(name)) is not factory:
        raise RefusedError(
            f"a defaultdict whose factory is {factory!r}. Use one of {', '.join(_FACTORIES)}, or a plain dict"
        )
    return [name, dict(value)]


_SPELLERS: Mapping[type, Speller] = {
    tuple: ("tuple", list),
    set: ("set", list),
    frozenset: ("frozenset", list),
    dt.datetime: ("datetime", lambda v: [v.isoformat(), _zone_key(v.tzinfo), v.fold]),
    dt.date: ("date", dt.date.isoformat),
    dt.time: ("time", lambda v: [v.isoformat(), v.fold, _zone_key(v.tzinfo)]),
    dt.timedelta: ("timedelta", lambda v: [v.days, v.seconds, v.microseconds]),
    dt.timezone: ("timezone", lambda v: v.utcoffset(None)),
    zoneinfo.ZoneInfo: ("zone", lambda v: v.key),
    decimal.Decimal: ("decimal", str),
    fractions.Fraction: ("fraction", lambda v: [v.numerator, v.denominator]),
    int: ("int", hex),  # beyond 64 bits
    uuid.UUID: ("uuid", lambda v: v.bytes),
    bytearray: ("bytearray", bytes),
    memoryview: ("memoryview", bytes),
    range: ("range", lambda v: [v.start, v.stop, v.step]),
    deque: ("deque", lambda v: [list(v), v.maxlen]),
    OrderedDict: ("ordered", lambda v: [[key, item] for key, item in v.items()]),
    Counter: ("counter", dict),
    defaultdict: ("defaultdict", _defaultdict),
    re.Pattern: ("pattern", lambda v: [v.pattern, v.flags]),
    **dict.fromkeys(_IPS, ("ip", lambda v: [type(v).__name__, str(v)])),
    **dict.fromkeys(_PATHS, ("path", lambda v: [type(v).__name__, str(v)])),
}


def speller(cls: type) -> Speller | None:
    """How values of a class of the table are spelled; None for any other class."""
    known = _SPELLERS.get(cls)
    if known is not None:
        return known
    if issubclass(cls, BaseException):
        return "error", repr
    if issubclass(cls, uuid.UUID):  # a database driver's own
        return _SPELLERS[uuid.UUID]
    if cls.__module__ == "pydantic.types" and cls.__name__ in _PYDANTIC_TEXTS:
        return "secret", lambda v: [cls.__name__, v.get_secret_value()]
    if cls.__module__ == "pydantic.networks" and hasattr(cls, "unicode_string"):
        return "url", lambda v: [cls.__name__, v.unicode_string()]
    return None


# -- from plain content ------------------------------------------------------------------------------------------------


def _zone(key: Any) -> dt.tzinfo | None:
    """The zone of that name, or None where this machine does not have it: the offset then stands for it."""
    try:
        return zoneinfo.ZoneInfo(key)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        return None


def _datetime(content: Any) -> dt.datetime:
    text, key, fold = content
    moment = dt.datetime.fromisoformat(text)
    zone = moment.tzinfo if key is None else _zone(key) or moment.tzinfo
    return moment.replace(tzinfo=zone, fold=fold)


def _time(content: Any) -> dt.time:
    text, fold, *key = content
    moment = dt.time.fromisoformat(text)
    zone = _zone(key[0]) if key and key[0] is not None else moment.tzinfo
    return moment.replace(tzinfo=zone, fold=fold)


def _ip(content: Any) -> Any:
    name, text = content
    return next(cls for cls in _IPS if cls.__name__ == name)(text)


def _path(content: Any) -> pathlib.PurePath:
    """The path, as its own kind; a path of the other system is one without file access."""
    name, text = content
    cls = next(cls for cls in _PATHS if cls.__name__ == name)
    pure = pathlib.PureWindowsPath if "Windows" in name else pathlib.PurePosixPath
    if cls is not pure and cls is not type(pathlib.Path()):
        cls = pure
    made: pathlib.PurePath = cls(text)
    return made


def _pydantic(allowed: Callable[[str, type], bool]) -> Callable[[Any], Any]:
    def make(content: Any) -> Any:
        name, text = content
        cls = getattr(importlib.import_module("pydantic"), name)
        if not (isinstance(cls, type) and allowed(name, cls)):
            raise TypeError(name)
        return cls(text)

    return make


MAKERS: Mapping[str, Callable[[Any], Any]] = {
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
    "dict": dict,
    "text": lambda v: v.decode("utf-8", "surrogatepass"),
    "datetime": _datetime,
    "date": dt.date.fromisoformat,
    "time": _time,
    "timedelta": lambda v: dt.timedelta(*v),
    "timezone": dt.timezone,
    "zone": zoneinfo.ZoneInfo,
    "decimal": decimal.Decimal,
    "fraction": lambda v: fractions.Fraction(*v),
    "int": lambda v: int(v, 0),
    "uuid": lambda v: uuid.UUID(bytes=v),
    "bytearray": bytearray,
    "memoryview": memoryview,
    "range": lambda v: range(*v),
    "deque": lambda v: deque(v[0], v[1]),
    "ordered": OrderedDict,
    "counter": Counter,
    "defaultdict": lambda v: defaultdict(None if v[0] is None else _FACTORIES[v[0]], v[1]),
    "pattern": lambda v: re.compile(v[0], v[1]),
    "ip": _ip,
    "path": _path,
    "error": str,
    "secret": _pydantic(lambda name, _: name in _PYDANTIC_TEXTS),
    "url": _pydantic(lambda _, cls: cls.__module__ == "pydantic.networks" and hasattr(cls, "unicode_string")),
}
"""Kind to what makes the value of its content. Raises anything for content that is not of its kind."""
