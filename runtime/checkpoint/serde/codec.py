"""Values to bytes and back: msgpack, with extensions for what msgpack cannot say. Never pickle.

A tagged value is an extension of the packed pair [kind, content]. Strings, numbers, lists and dicts with string keys are
plain msgpack; `_hidden` finds what the encoder would change in silence (keys that are no strings, bytearrays) and `_spelled`
says it in tags. Reading never fails: what cannot be understood is an OpaqueValue, which writes back as the bytes it was.
"""

from __future__ import annotations

import functools
import threading
from typing import Any

import ormsgpack

from runtime.checkpoint.serde import arrays, instances, kinds
from runtime.checkpoint.serde.types import UNREADABLE, WHOLE, OpaqueValue, type_name

_TAG = 1
_OPAQUE_V1 = 2
"""How the first files wrote an opaque value: [name, payload]."""
_WHOLE_INSIDE = 3
"""An unreadable stored value that was put into another."""
_FOREIGN = 4
"""A value in another serialiser's format."""
_OPTIONS = (
    ormsgpack.OPT_PASSTHROUGH_BIG_INT
    | ormsgpack.OPT_PASSTHROUGH_DATACLASS
    | ormsgpack.OPT_PASSTHROUGH_DATETIME
    | ormsgpack.OPT_PASSTHROUGH_ENUM
    | ormsgpack.OPT_PASSTHROUGH_SUBCLASS
    | ormsgpack.OPT_PASSTHROUGH_TUPLE
    | ormsgpack.OPT_PASSTHROUGH_UUID
)
_TEXT = frozenset({str})
_CONTAINERS = frozenset({list, dict})
_SCALARS = frozenset({type(None), bool, int, float, str, bytes})
_CHANGED = frozenset({bytearray, memoryview, ormsgpack.Ext})
"""What the encoder takes for something else."""


class UnkeptError(TypeError):
    """A value that cannot be kept. The message names its type and a way out."""


class _Failure(threading.local):
    """Why the value at hand cannot be kept: the encoder drops what `_default` raises inside it."""

    error: UnkeptError | None = None


_failure = _Failure()


def dumps(value: Any) -> bytes:
    """Bytes of a value. Raises UnkeptError (a TypeError) naming the type that cannot be kept."""
    if type(value) is OpaqueValue and value.code == WHOLE:
        return value.payload
    try:
        return _pack(value)
    finally:
        _failure.error = None


def dumps_record(value: Any) -> bytes:
    """Bytes of a structure of our own: dicts with string keys and no mutable buffers, so that nobody need look for them."""
    try:
        return ormsgpack.packb(value, default=_default, option=_OPTIONS)
    except TypeError:
        return dumps(value)


def loads(payload: bytes) -> Any:
    """The value that the bytes hold; an OpaqueValue for bytes that are none."""
    try:
        return ormsgpack.unpackb(payload, ext_hook=_revive, option=ormsgpack.OPT_NON_STR_KEYS)
    except (ValueError, TypeError, RecursionError):
        return OpaqueValue(UNREADABLE, bytes(payload), WHOLE)


def wrap(kind: str, data: bytes) -> bytes:
    """A stored value that another serialiser made: [kind, data] under a tag of its own."""
    return ormsgpack.packb(ormsgpack.Ext(_FOREIGN, ormsgpack.packb([kind, data])))


def unwrap(payload: bytes) -> tuple[str, bytes] | None:
    """(kind, data) of what `wrap` made; None for a value in our own format."""
    found = loads(payload)
    if type(found) is not OpaqueValue or found.code != _FOREIGN:
        return None
    kind, data = ormsgpack.unpackb(found.payload)
    return kind, data


# -- to bytes ----------------------------------------------------------------------------------------------------------


def _pack(value: Any) -> bytes:
    try:
        packed = ormsgpack.packb(value, default=_default, option=_OPTIONS)
        if type(value) in _SCALARS or not _hidden(value):
            return packed
    except (TypeError, RecursionError) as error:
        _raise_if_hopeless(error)
    try:
        return ormsgpack.packb(_spelled(value), option=_OPTIONS)
    except (TypeError, RecursionError) as error:
        _raise_if_hopeless(error)
        raise _unkept(f"{type(value).__name__} ({error})") from error


def _raise_if_hopeless(error: BaseException) -> None:
    """Not for keys and surrogates, which can be spelled."""
    if _failure.error is not None:
        raise _failure.error
    if isinstance(error, RecursionError) or "Recursion" in str(error):
        raise _unkept("a value that is nested too deeply, or contains itself") from error


def _unkept(what: str) -> UnkeptError:
    _failure.error = UnkeptError(f"Type is not msgpack serializable: {what}.")
    return _failure.error


def _hidden(value: Any) -> bool:
    """Whether the encoder changed something in lists and dicts without a word."""
    cls = type(value)
    if cls is dict:
        if not _TEXT.issuperset(map(type, value)):
            return True
        value = value.values()
    elif cls is not list:
        return cls in _CHANGED
    if _SCALARS.issuperset(map(type, value)):
        return False
    for item in value:
        cls = type(item)
        if cls in _SCALARS:
            continue
        if cls in _CHANGED or (cls in _CONTAINERS and item and _hidden(item)):
            return True
    return False


def _spelled(value: Any) -> Any:
    """Lists and dicts with all that msgpack cannot say put into tags."""
    cls = type(value)
    if cls is list:
        return [_spelled(item) for item in value]
    if cls is dict:
        if all(type(key) is str and _is_text(key) for key in value):
            return {key: _spelled(item) for key, item in value.items()}
        return _tag("dict", [[key, item] for key, item in value.items()])
    if cls is str and not _is_text(value):
        return _tag("text", value.encode("utf-8", "surrogatepass"))
    return value if cls in _SCALARS and not _is_big(value) else _default(value)


def _is_big(value: Any) -> bool:
    return type(value) is int and not -(2**63) <= value < 2**64


def _is_text(value: str) -> bool:
    """Whether a string has no lone surrogates."""
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _tag(kind: str, content: Any) -> ormsgpack.Ext:
    return ormsgpack.Ext(_TAG, _pack([kind, content]))


def _default(value: Any) -> Any:
    if type(value) is OpaqueValue:
        return ormsgpack.Ext(_WHOLE_INSIDE if value.code == WHOLE else value.code, value.payload)
    cls: Any = type(value)
    fields = instances.fields_of(cls)
    if fields is not None:
        packed = _model(cls, value, fields)
        if packed is not None:
            return packed
    found = _speller(cls)
    if found is None:
        raise _unkept(
            f"{cls.__name__}. Put plain data, a dataclass, a Pydantic model or a message into the state; "
            f"functions, open files and clients belong into the runtime's context"
        )
    kind, content = found
    try:
        return _tag(kind, content(value))
    except kinds.RefusedError as error:
        raise _unkept(str(error)) from error


def _model(cls: type, value: Any, names: frozenset[str]) -> ormsgpack.Ext | None:
    """What `_tag` makes of a Pydantic model, quicker; None for one that holds what msgpack cannot say, or more."""
    fields = value.__dict__
    if value.__pydantic_extra__ or fields.keys() != names or _hidden(fields):
        return None
    try:
        packed = ormsgpack.packb(fields, default=_default, option=_OPTIONS)
    except (TypeError, RecursionError):
        if _failure.error is not None:
            raise
        return None
    before, after = _frame(cls, frozenset(value.__pydantic_fields_set__))
    return ormsgpack.Ext(_TAG, before + packed + after)


@functools.lru_cache(maxsize=4096)
def _frame(cls: Any, fields_set: frozenset[str]) -> tuple[bytes, bytes]:
    """The bytes before and after the fields of a model in ["model", [class name, [fields, names]]]."""
    pair, packb = b"\x92", ormsgpack.packb
    head = pair + packb(instances.MODEL) + pair + packb(type_name(cls)) + pair
    return head, packb(sorted(fields_set, key=str))


@functools.lru_cache(maxsize=4096)
def _speller(cls: type) -> kinds.Speller | None:
    return kinds.speller(cls) or arrays.speller(cls) or instances.speller(cls)


# -- from bytes --------------------------------------------------------------------------------------------------------


def _revive(code: int, payload: bytes) -> Any:
    if code == _OPAQUE_V1:
        name, payload = ormsgpack.unpackb(payload)
        code = _TAG
    if code == _WHOLE_INSIDE:
        return OpaqueValue(UNREADABLE, payload, WHOLE)
    if code < 0:
        raise ValueError(f"extension {code} cannot be written back: the value as a whole is kept as it is")
    if code != _TAG:
        return OpaqueValue(f"extension {code}", payload, code)
    name = UNREADABLE
    try:
        name, content = ormsgpack.unpackb(payload, ext_hook=_revive, option=ormsgpack.OPT_NON_STR_KEYS)
        return _make(name, content)
    except instances.UnknownClassError as error:
        return OpaqueValue(error.name, payload)
    except Exception:  # noqa: BLE001 - content that does not fit its kind raises anything: it is shown, not fatal
        return OpaqueValue(str(name), payload)


def _make(kind: str, content: Any) -> Any:
    maker = kinds.MAKERS.get(kind)
    if maker is not None:
        return maker(content)
    return arrays.make(kind, content) if kind in arrays.KINDS else instances.make(kind, content)
