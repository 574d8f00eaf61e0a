"""`JsonPlusSerializer`, by LangGraph's name: values to (type, bytes) and back. The format is codec.py's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from runtime.checkpoint.serde.codec import dumps, loads
from runtime.checkpoint.serde.types import OpaqueValue, allow, allow_schema

__all__ = ["JsonPlusSerializer", "OpaqueValue", "SerializerProtocol", "allow_schema", "dumps", "loads"]


class SerializerProtocol(Protocol):
    """What a saver needs of a serialiser, e.g. of one that encrypts."""

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """(type, bytes) of a value."""
        ...

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """The value of (type, bytes)."""
        ...


class JsonPlusSerializer:
    """Values to (type, bytes) and back.

    Args:
        allowed: classes that stored values may become, beside built-in ones, messages, and those of graph schemas.
    """

    def __init__(self, *, allowed: Iterable[type] = ()) -> None:
        self.allow(*allowed)

    def allow(self, *classes: type) -> None:
        """Let stored values become instances of these classes, in this process."""
        allow(*classes)

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """("null" or "msgpack", bytes). Raises TypeError naming the type that cannot be kept."""
        return ("null", b"") if obj is None else ("msgpack", dumps(obj))

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """The value. Never runs code that the bytes name.

        Raises:
            ValueError: bytes of another kind, such as pickle.
        """
        kind, payload = data
        if kind == "null":
            return None
        if kind != "msgpack":
            raise ValueError(f"Stored values of kind {kind!r} are not read: the kinds are 'null' and 'msgpack'.")
        return loads(payload)
