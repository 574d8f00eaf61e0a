"""`InMemoryStore`: items in dicts, for tests, notebooks and short lives.

Items go in and out as copies, so that what one node changes in its hands is not changed for all. Nothing here waits, so
the async methods only await an embedding model that does.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import RLock
from typing import Any, ClassVar

from runtime.store.base import (
    BaseStore,
    GetOp,
    IndexConfig,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    matches,
    texts_to_embed,
)
from runtime.store.embed import Embedder, ensure_embeddings
from runtime.store.filters import fits

Namespace = tuple[str, ...]


@dataclass(slots=True)
class _Record:
    """An item and what the store alone knows of it."""

    item: Item
    ttl: float | None
    """Minutes."""
    expires: float | None
    """On the store's clock, in seconds."""
    vectors: list[list[float]] = field(default_factory=list)


class InMemoryStore(BaseStore):
    """A store that lives as long as the process.

    Args:
        index: makes items searchable by meaning: an embedding model or function, and which fields to embed.
        ttl: default life of items, and whether reading renews it.
        clock: seconds that only grow; for tests.
    """

    supports_ttl: ClassVar[bool] = True

    def __init__(
        self,
        *,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.index_config = index
        self.embeddings: Embedder | None = ensure_embeddings(index.get("embed")) if index else None
        self.ttl_config = ttl
        self._clock = clock
        self._lock = RLock()
        self._data: dict[Namespace, dict[str, _Record]] = {}

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Perform operations: reads first, then writes."""
        ops = list(ops)
        queries, texts = texts_to_embed(ops, self.index_config)
        vectors = {query: self.embeddings.embed_query(query) for query in queries} if self.embeddings else {}
        made = self.embeddings.embed_documents(texts) if self.embeddings and texts else []
        return self._perform(ops, vectors, dict(zip(texts, made, strict=True)))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """`batch`, awaiting the embedding model."""
        ops = list(ops)
        queries, texts = texts_to_embed(ops, self.index_config)
        vectors = {query: await self.embeddings.aembed_query(query) for query in queries} if self.embeddings else {}
        made = await self.embeddings.aembed_documents(texts) if self.embeddings and texts else []
        return self._perform(ops, vectors, dict(zip(texts, made, strict=True)))

    def sweep_ttl(self) -> int:
        """Forget expired items; returns how many. Reads never show them in any case."""
        with self._lock:
            expired = [
                (ns, key) for ns, records in self._data.items() for key, r in records.items() if self._expired(r)
            ]
            for namespace, key in expired:
                self._drop(namespace, key)
        return len(expired)

    # -- operations ----------------------------------------------------------------------------------------------------

    def _perform(
        self, ops: Sequence[Op], queries: dict[str, list[float]], vectors: dict[str, list[float]]
    ) -> list[Result]:
        puts = [(op, copy.deepcopy(dict(op.value or {}))) for op in ops if isinstance(op, PutOp)]
        with self._lock:
            results: list[Result] = [None if isinstance(op, PutOp) else self._read(op, queries) for op in ops]
            for op, value in puts:
                self._put(op, value, vectors)
        return results

    def _read(self, op: Op, queries: dict[str, list[float]]) -> Result:
        match op:
            case GetOp():
                record = self._data.get(op.namespace, {}).get(op.key)
                return copy.deepcopy(record.item) if record and self._alive(record, op.refresh_ttl) else None
            case SearchOp():
                return self._search(op, queries.get(op.query) if op.query else None)
            case ListNamespacesOp():
                return self._list(op)
            case _:
                raise ValueError(
                    f"Unknown operation type: {type(op)}. A store knows GetOp, SearchOp, PutOp, ListNamespacesOp."
                )

    def _put(self, op: PutOp, value: dict[str, Any], vectors: dict[str, list[float]]) -> None:
        if op.value is None:
            self._drop(op.namespace, op.key)
            return
        now = datetime.now(UTC)
        records = self._data.setdefault(op.namespace, {})
        old = records.get(op.key)
        item = Item(
            value=value,
            key=op.key,
            namespace=op.namespace,
            created_at=old.item.created_at if old and not self._expired(old) else now,
            updated_at=now,
        )
        expires = None if op.ttl is None else self._clock() + op.ttl * 60
        records[op.key] = _Record(
            item, op.ttl, expires, [vectors[text] for text in texts_to_embed([op], self.index_config)[1]]
        )

    def _drop(self, namespace: Namespace, key: str) -> None:
        records = self._data.get(namespace, {})
        records.pop(key, None)
        if not records:
            self._data.pop(namespace, None)

    def _search(self, op: SearchOp, query: list[float] | None) -> list[SearchItem]:
        size = len(op.namespace_prefix)
        found = [
            record
            for namespace, records in self._data.items()
            if namespace[:size] == tuple(op.namespace_prefix)
            for record in records.values()
            if not self._expired(record) and (not op.filter or fits(record.item.value, op.filter))
        ]
        scored: list[tuple[float | None, _Record]] = [(_best(query, record), record) for record in found]
        if query is not None:
            scored.sort(key=lambda pair: -math.inf if pair[0] is None else pair[0], reverse=True)
        page = scored[op.offset : op.offset + op.limit]
        return [self._found(record, score) for score, record in page if self._alive(record, op.refresh_ttl)]

    def _found(self, record: _Record, score: float | None) -> SearchItem:
        item = copy.deepcopy(record.item)
        return SearchItem(item.namespace, item.key, item.value, item.created_at, item.updated_at, score)

    def _list(self, op: ListNamespacesOp) -> list[Namespace]:
        found = {
            namespace[: op.max_depth]
            for namespace, records in self._data.items()
            if all(matches(namespace, condition) for condition in op.match_conditions or ())
            and not all(map(self._expired, records.values()))
        }
        return sorted(found)[op.offset : op.offset + op.limit]

    # -- life and index ------------------------------------------------------------------------------------------------

    def _expired(self, record: _Record) -> bool:
        return record.expires is not None and record.expires <= self._clock()

    def _alive(self, record: _Record, refresh: bool) -> bool:
        """Whether it may be shown; if so, and if reading renews it, its life starts anew."""
        if self._expired(record):
            return False
        if refresh and record.ttl is not None:
            record.expires = self._clock() + record.ttl * 60
        return True


def _best(query: list[float] | None, record: _Record) -> float | None:
    if query is None or not record.vectors:
        return None
    return max(cosine(query, vector) for vector in record.vectors)


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    """How alike two vectors are, from -1 to 1."""
    length = math.sqrt(sum(x * x for x in a)) * math.sqrt(sum(x * x for x in b))
    dot: Any = sum(x * y for x, y in zip(a, b, strict=True))
    return dot / length if length else 0.0


__all__ = ("InMemoryStore",)
