"""Items, and what BaseStore makes of method calls."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

import pytest

from runtime.store.base import BaseStore, GetOp, Item, Op, PutOp, Result, SearchItem, SearchOp

WHEN = datetime(2024, 1, 1, tzinfo=UTC)


class Recorder(BaseStore):
    """A store that keeps the operations it is asked for."""

    def __init__(self) -> None:
        self.seen: list[Op] = []

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        self.seen.extend(ops)
        return [None]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return self.batch(ops)


def test_items_are_equal_by_place_and_value_and_show_as_plain_data() -> None:
    item = Item(value={"a": 1}, key="k", namespace=["n"], created_at=WHEN.isoformat(), updated_at=WHEN)
    found = SearchItem(("n",), "k", {"a": 1}, WHEN, WHEN, 0.5)
    assert item == found
    assert hash(item) == hash(found)
    assert item != SearchItem(("n",), "k", {"a": 2}, WHEN, WHEN)
    assert found.dict() == {**item.dict(), "score": 0.5}
    assert item.dict()["created_at"] == "2024-01-01T00:00:00+00:00"
    assert repr(item).startswith("Item(namespace=['n'], key='k'")


def test_methods_become_operations() -> None:
    store = Recorder()
    store.get(("a",), "k")
    store.search(("a",), query="q", limit=3)
    store.put(("a",), "k", {"v": 1}, index=["v"])
    store.delete(("a",), "k")
    assert store.seen == [
        GetOp(("a",), "k"),
        SearchOp(("a",), limit=3, query="q"),
        PutOp(("a",), "k", {"v": 1}, ["v"]),
        PutOp(("a",), "k", None),
    ]


async def test_async_methods_become_the_same_operations() -> None:
    one, two = Recorder(), Recorder()
    one.put(("a",), "k", {})
    one.search(("a",))
    await two.aput(("a",), "k", {})
    await two.asearch(("a",))
    assert one.seen == two.seen


def test_a_store_without_expiry_refuses_a_ttl() -> None:
    with pytest.raises(NotImplementedError, match="TTL is not supported by Recorder"):
        Recorder().put(("a",), "k", {}, ttl=1)
    Recorder().put(("a",), "k", {}, ttl=None)
