"""A cache in this process. Values are kept as bytes, so that a node that changes what it was given changes nothing here."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence

from runtime.cache.base import BaseCache, FullKey, Namespace, ValueT, encoded


class InMemoryCache(BaseCache[ValueT]):
    """Remembers results until the process ends."""

    def __init__(self, *, serde: object = None) -> None:
        super().__init__(serde=serde)
        self._kept: dict[Namespace, dict[str, tuple[str, bytes, float | None]]] = {}
        self._lock = threading.Lock()

    def get(self, keys: Sequence[FullKey]) -> dict[FullKey, ValueT]:
        """Those of the keys that are known and good, each with its value."""
        now = time.time()
        found: dict[FullKey, tuple[str, bytes]] = {}
        with self._lock:
            for namespace, key in keys:
                kept = self._kept.get(namespace, {}).get(key)
                if kept is None:
                    continue
                kind, data, until = kept
                if until is not None and until <= now:
                    del self._kept[namespace][key]
                else:
                    found[namespace, key] = (kind, data)
        return {key: self.serde.loads_typed(typed) for key, typed in found.items()}

    async def aget(self, keys: Sequence[FullKey]) -> dict[FullKey, ValueT]:
        """`get`, awaited."""
        return self.get(keys)

    def set(self, pairs: Mapping[FullKey, tuple[ValueT, int | None]]) -> None:
        """Remember (value, seconds that it is good for; None: for ever) by key."""
        now = time.time()
        made = {key: (*encoded(self, value), None if ttl is None else now + ttl) for key, (value, ttl) in pairs.items()}
        with self._lock:
            for (namespace, key), kept in made.items():
                self._kept.setdefault(namespace, {})[key] = kept

    async def aset(self, pairs: Mapping[FullKey, tuple[ValueT, int | None]]) -> None:
        """`set`, awaited."""
        self.set(pairs)

    def clear(self, namespaces: Sequence[Namespace] | None = None) -> None:
        """Forget all, or what is in those namespaces."""
        with self._lock:
            if namespaces is None:
                self._kept.clear()
            for namespace in namespaces or ():
                self._kept.pop(namespace, None)

    async def aclear(self, namespaces: Sequence[Namespace] | None = None) -> None:
        """`clear`, awaited."""
        self.clear(namespaces)
