"""Python values <-> the tagged JSON of wire.py.

What JSON can say stays as it is; anything else becomes `{"$type": name, "$value": ...}`, and what we do not know is shown
by its repr, inert. Reading back turns tags into values, and a channel's annotation turns plain JSON into its type, so that
an edited model stays a model. Refuses: importing anything that a value names.
"""

from __future__ import annotations

import base64
import dataclasses
import datetime as dt
import decimal
import enum
import math
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from langchain_core.messages import AnyMessage, BaseMessage
from pydantic import BaseModel, TypeAdapter, ValidationError

from debugger.wire import FieldProblem

_DEPTH = 40
_LONG = 200_000
"""Characters of one text that are sent; the rest is cut, and the cut is named."""


class UnreadableValueError(ValueError):
    """A value in an edit that does not fit. `problems` says where and why."""

    def __init__(self, problems: list[FieldProblem]) -> None:
        self.problems = problems
        super().__init__("; ".join(problem.message for problem in problems))


def encode(value: Any, _depth: int = 0) -> Any:
    """A value as tagged JSON. Never raises, never runs code of the value beyond its repr."""
    if value is None or (isinstance(value, (bool, int)) and not isinstance(value, enum.Enum)):
        return value if not _unsafe_int(value) else _tag("int", str(value))
    if isinstance(value, float) and not isinstance(value, enum.Enum):
        return value if math.isfinite(value) else _tag("float", repr(value))
    if isinstance(value, str) and not isinstance(value, enum.Enum):
        return _text(value)
    if _depth > _DEPTH:
        return _tag("cut", f"deeper than {_DEPTH} levels")
    if isinstance(value, BaseMessage):
        return _tag("message", encode(message_dict(value), _depth + 1))
    if isinstance(value, dict):
        return _mapping(value, _depth)
    if isinstance(value, list):
        return [encode(item, _depth + 1) for item in value]
    return _other(value, _depth)


def _unsafe_int(value: Any) -> bool:
    """JavaScript rounds whole numbers beyond 2**53."""
    return isinstance(value, int) and abs(value) > 2**53


def _text(value: str) -> Any:
    value = value.encode("utf-8", "replace").decode() if any("\ud800" <= c <= "\udfff" for c in value) else value
    if len(value) > _LONG:
        return {"$type": "cut", "$value": value[:_LONG], "$size": len(value)}
    return value


def _tag(name: str, value: Any) -> dict[str, Any]:
    return {"$type": name, "$value": value}


def _mapping(value: Mapping[Any, Any], depth: int) -> Any:
    if all(isinstance(key, str) for key in value) and "$type" not in value:
        return {key: encode(item, depth + 1) for key, item in value.items()}
    return _tag("dict", [[encode(k, depth + 1), encode(v, depth + 1)] for k, v in value.items()])


def _other(value: Any, depth: int) -> Any:
    for kind, name, to_json in _PLAIN:
        if isinstance(value, kind):
            return _tag(name, to_json(value))
    name = f"{type(value).__module__}.{type(value).__qualname__}"
    if isinstance(value, tuple):
        if hasattr(value, "_fields"):
            return _tag(name, {k: encode(v, depth + 1) for k, v in zip(value._fields, value, strict=True)})
        return _tag("tuple", [encode(item, depth + 1) for item in value])
    if isinstance(value, (set, frozenset)):
        items = sorted(value, key=repr)
        return _tag(type(value).__name__, [encode(item, depth + 1) for item in items])
    if isinstance(value, enum.Enum):
        return _tag(name, encode(value.value, depth + 1))
    if isinstance(value, BaseModel):
        return _tag(name, {k: encode(getattr(value, k), depth + 1) for k in type(value).model_fields})
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _tag(name, {f.name: encode(getattr(value, f.name, None), depth + 1) for f in dataclasses.fields(value)})
    if isinstance(value, BaseException):
        return _tag(name, _text(str(value)))
    return {"$type": name, "$repr": _text(_safe_repr(value))}


def _safe_repr(value: Any) -> str:
    try:
        return repr(value)[:2000]
    except Exception as error:  # noqa: BLE001 - a broken repr must not hide the rest of the state
        return f"<{type(value).__name__}, whose repr raises {type(error).__name__}>"


_PLAIN: tuple[tuple[Any, str, Callable[[Any], Any]], ...] = (
    (dt.datetime, "datetime", lambda v: v.isoformat()),
    (dt.date, "date", lambda v: v.isoformat()),
    (dt.time, "time", lambda v: v.isoformat()),
    (dt.timedelta, "timedelta", lambda v: v.total_seconds()),
    (uuid.UUID, "uuid", str),
    (decimal.Decimal, "decimal", str),
    (bytes, "bytes", lambda v: base64.b64encode(v).decode()),
)

_MESSAGE: TypeAdapter[BaseMessage] = TypeAdapter(AnyMessage)
_FROM_TAG: Mapping[str, Callable[[Any], Any]] = {
    "int": int,
    "float": float,
    "datetime": dt.datetime.fromisoformat,
    "date": dt.date.fromisoformat,
    "time": dt.time.fromisoformat,
    "timedelta": lambda v: dt.timedelta(seconds=v),
    "uuid": uuid.UUID,
    "decimal": decimal.Decimal,
    "bytes": base64.b64decode,
    "tuple": lambda v: tuple(decode(v)),
    "set": lambda v: set(decode(v)),
    "frozenset": lambda v: frozenset(decode(v)),
    "dict": lambda v: {_hashable(decode(k)): decode(item) for k, item in v},
    "message": lambda v: _MESSAGE.validate_python(decode(v)),
}


def _hashable(key: Any) -> Any:
    return tuple(key) if isinstance(key, list) else key


def decode(value: Any) -> Any:
    """Tagged JSON as values. Tags of classes give their plain fields: the channel's annotation makes the instance.

    Raises:
        ValueError: a tag whose content does not fit it, or a value that was only shown.
    """
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    tag = value.get("$type")
    if tag is None:
        return {key: decode(item) for key, item in value.items()}
    if tag == "cut" or "$repr" in value:
        raise ValueError(f"A value of type {tag!r} was only shown in part and cannot be written back.")
    try:
        return _FROM_TAG[tag](value["$value"]) if tag in _FROM_TAG else decode(value.get("$value"))
    except (TypeError, KeyError, ValueError, ArithmeticError) as error:
        raise ValueError(f"{value.get('$value')!r} is no {tag}: {error}") from error


def typed(channel: str, annotation: Any, value: Any) -> Any:
    """A decoded value in its channel's type.

    Raises:
        UnreadableValueError: naming the paths that do not fit.
    """
    if annotation is None or annotation is Any:
        return value
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(annotation, config=None)
    except Exception:  # noqa: BLE001 - an annotation that Pydantic cannot read checks nothing
        return value
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        problems = [
            FieldProblem(
                path=[channel, *(part for part in problem["loc"] if isinstance(part, (str, int)))],
                message=f"{'.'.join([channel, *map(str, problem['loc'])])}: {problem['msg']}",
                fix=f"Give a value that fits {annotation_text(annotation)}.",
            )
            for problem in error.errors()[:20]
        ]
        raise UnreadableValueError(problems) from error


def annotation_text(annotation: Any) -> str:
    """An annotation as a person would write it."""
    if annotation is None or annotation is type(None):
        return "None"
    if isinstance(annotation, type) and not getattr(annotation, "__args__", None):
        return annotation.__name__
    text = str(annotation)
    for union in (str(AnyMessage), repr(AnyMessage)):
        text = text.replace(union, "AnyMessage")
    return text.replace("typing.", "").replace("typing_extensions.", "").replace("langchain_core.messages.", "")


def message_dict(message: BaseMessage) -> dict[str, Any]:
    """A message as the LangGraph server sends it."""
    data = message.model_dump(exclude_none=False)
    return {key: value for key, value in data.items() if value is not None or key in ("id", "name")}


def plain(value: Any) -> Any:
    """A value as the LangGraph server API gives it: no tags, messages as their dicts, unknown objects as text."""
    if isinstance(value, BaseMessage):
        return plain(message_dict(value))
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if isinstance(value, BaseModel):
        return plain(value.model_dump())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name, None)) for f in dataclasses.fields(value)}
    shown = encode(value)
    if isinstance(shown, dict) and "$type" in shown:
        return shown.get("$value", shown.get("$repr"))
    return shown


def has_messages(value: Any) -> bool:
    """Whether a value is a list of messages, shown as a chat."""
    return isinstance(value, list) and bool(value) and all(isinstance(item, BaseMessage) for item in value)


__all__ = ("UnreadableValueError", "annotation_text", "decode", "encode", "has_messages", "plain", "typed")
