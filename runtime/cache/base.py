"""What a cache of node results is.

Keys are (namespace, key); a namespace is a tuple of texts. Values come back as they were put, or not at all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar

from runtime.checkpoint.serde.jsonplus import JsonPlusSerializer

ValueT = TypeVar("ValueT")
Namespace = tuple[str, ...]
FullKey = tuple[Namespace, str]


class BaseCache(ABC, Generic[ValueT]):
    """Base of all caches. `serde` turns values to bytes and back: (type, bytes)."""

    def __init__(self, *, serde: Any = None) -> None:
        self.serde = serde or JsonPlusSerializer()

    @abstractmethod
    def get(self, keys: Sequence[FullKey]) -> dict[FullKey, ValueT]:
        """Those of the keys that are known and good, each with its value."""

    @abstractmethod
    async def aget(self, keys: Sequence[FullKey]) -> dict[FullKey, ValueT]:
        """`get`, awaited."""

    @abstractmethod
    def set(self, pairs: Mapping[FullKey, tuple[ValueT, int | None]]) -> None:
        """Remember (value, seconds that it is good for; None: for ever) by key."""

    @abstractmethod
    async def aset(self, pairs: Mapping[FullKey, tuple[ValueT, int | None]]) -> None:
        """`set`, awaited."""

    @abstractmethod
    def clear(self, namespaces: Sequence[Namespace] | None = None) -> None:
        """Forget all, or what is in those namespaces."""

    @abstractmethod
    async def aclear(self, namespaces: Sequence[Namespace] | None = None) -> None:
        """`clear`, awaited."""


def encoded(cache: BaseCache[Any], value: Any) -> tuple[str, bytes]:
    """A value as (type, bytes). Raises what the serializer raises, naming the type."""
    kind, data = cache.serde.dumps_typed(value)
    return str(kind), bytes(data)


__all__ = ("BaseCache", "FullKey", "Namespace", "ValueT")
