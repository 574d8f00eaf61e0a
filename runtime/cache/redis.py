"""A cache in Redis, through a client that you bring: machines share results."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from runtime.cache.base import BaseCache, FullKey, Namespace, ValueT, encoded


class RedisCache(BaseCache[ValueT]):
    """Remembers results in Redis.

    Args:
        redis: a sync client with `mget`, `set(key, data, ex=seconds)`, `scan_iter(match=)` and `delete`, as of the package
            redis, with `decode_responses=False`.
        prefix: of the keys. Clearing the cache removes the keys that have it.

    Raises what the client raises.
    """

    def __init__(self, redis: Any, *, serde: Any = None, prefix: str = "langgraph:cache:") -> None:
        super().__init__(serde=serde)
        self.redis = redis
        self.prefix = prefix

    def _name(self, namespace: Namespace, key: str = "") -> str:
        return f"{self.prefix}{json.dumps(namespace)}:{key}"

    def get(self, keys: Sequence[FullKey]) -> dict[FullKey, ValueT]:
        """Those of the keys that are known and good, each with its value."""
        if not keys:
            return {}
        found = {}
        for key, data in zip(keys, self.redis.mget([self._name(*key) for key in keys]), strict=True):
            if data is not None:
                kind, _, payload = bytes(data).partition(b":")
                found[key] = self.serde.loads_typed((kind.decode(), payload))
        return found

    async def aget(self, keys: Sequence[FullKey]) -> dict[FullKey, ValueT]:
        """`get`, in a thread."""
        return await asyncio.to_thread(self.get, keys)

    def set(self, pairs: Mapping[FullKey, tuple[ValueT, int | None]]) -> None:
        """Remember (value, seconds that it is good for; None: for ever) by key."""
        for key, (value, ttl) in pairs.items():
            kind, payload = encoded(self, value)
            self.redis.set(self._name(*key), kind.encode() + b":" + payload, ex=ttl)

    async def aset(self, pairs: Mapping[FullKey, tuple[ValueT, int | None]]) -> None:
        """`set`, in a thread."""
        await asyncio.to_thread(self.set, pairs)

    def clear(self, namespaces: Sequence[Namespace] | None = None) -> None:
        """Forget all, or what is in those namespaces."""
        wanted = [self.prefix] if namespaces is None else [self._name(namespace) for namespace in namespaces]
        for start in wanted:
            pattern = "".join(f"\\{c}" if c in "*?[]\\" else c for c in start)
            names = list(self.redis.scan_iter(match=f"{pattern}*"))
            if names:
                self.redis.delete(*names)

    async def aclear(self, namespaces: Sequence[Namespace] | None = None) -> None:
        """`clear`, in a thread."""
        await asyncio.to_thread(self.clear, namespaces)


__all__ = ("RedisCache",)
