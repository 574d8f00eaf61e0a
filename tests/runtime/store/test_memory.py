"""InMemoryStore: items, filters, namespaces, life, search by meaning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from runtime.store.base import GetOp, InvalidNamespaceError, ListNamespacesOp, PutOp, SearchOp
from runtime.store.memory import InMemoryStore


def keys(items: Sequence[Any]) -> list[str]:
    return [item.key for item in items]


@pytest.fixture
def store() -> InMemoryStore:
    store = InMemoryStore()
    for i in range(4):
        store.put(("users", "even" if i % 2 == 0 else "odd"), f"k{i}", {"n": i, "deep": {"n": i}, "name": f"user{i}"})
    return store


def test_an_item_comes_back_with_its_place_and_times(store: InMemoryStore) -> None:
    item = store.get(("users", "odd"), "k1")
    assert item is not None
    assert (item.value["n"], item.key, item.namespace) == (1, "k1", ("users", "odd"))
    assert item.created_at == item.updated_at
    assert item.created_at.tzinfo is not None
    assert store.get(("users",), "k1") is None


def test_replacing_keeps_the_time_of_creation(store: InMemoryStore) -> None:
    before = store.get(("users", "odd"), "k1")
    store.put(("users", "odd"), "k1", {"n": 100})
    after = store.get(("users", "odd"), "k1")
    assert before is not None
    assert after is not None
    assert after.created_at == before.created_at
    assert after.updated_at >= before.updated_at
    assert (before.value["n"], after.value) == (1, {"n": 100})


def test_nobody_changes_what_is_stored_by_changing_what_they_hold(store: InMemoryStore) -> None:
    mine = {"list": [1]}
    store.put(("a",), "k", mine)
    mine["list"].append(2)
    item = store.get(("a",), "k")
    assert item is not None
    item.value["list"].append(3)
    found = store.get(("a",), "k")
    assert found is not None
    assert found.value == {"list": [1]}


def test_deleting_removes_the_item_and_its_empty_namespace(store: InMemoryStore) -> None:
    store.put(("a", "b"), "k", {})
    store.delete(("a", "b"), "k")
    store.delete(("a", "b"), "never there")
    assert store.get(("a", "b"), "k") is None
    assert store.list_namespaces(prefix=("a",)) == []


@pytest.mark.parametrize(
    ("namespace", "why"),
    [
        ((), "cannot be empty"),
        ("users", "write \\('users',\\)"),
        (("a", ""), "cannot be empty strings"),
        (("a.b",), "periods"),
        ((1,), "must be strings"),
        (("langgraph", "x"), "Root label"),
    ],
)
def test_an_impossible_namespace_is_refused_with_the_reason(namespace: Any, why: str) -> None:
    with pytest.raises(InvalidNamespaceError, match=why):
        InMemoryStore().put(namespace, "k", {})


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"n": 2}, ["k2"]),
        ({"n": {"$gt": 1}}, ["k2", "k3"]),
        ({"n": {"$gte": 1, "$lt": 3}}, ["k2", "k1"]),
        ({"n": {"$lte": 0}}, ["k0"]),
        ({"n": {"$ne": 0}}, ["k2", "k1", "k3"]),
        ({"n": {"$gt": "1"}}, ["k2", "k3"]),
        ({"deep": {"n": {"$eq": 3}}}, ["k3"]),
        ({"name": {"$gt": "user1"}}, ["k2", "k3"]),
        ({"name": {"$gt": 1}}, []),
        ({"missing": {"$gt": 1}}, []),
        ({"missing": None}, ["k0", "k2", "k1", "k3"]),
        ({"n": {"x": 1}}, []),
        ({}, ["k0", "k2", "k1", "k3"]),
    ],
)
def test_a_filter_finds(store: InMemoryStore, wanted: dict[str, Any], found: list[str]) -> None:
    assert keys(store.search(("users",), filter=wanted)) == found


def test_an_unknown_operator_is_refused(store: InMemoryStore) -> None:
    with pytest.raises(ValueError, match=r"Unsupported operator: \$in"):
        store.search(("users",), filter={"n": {"$in": [1]}})


def test_search_goes_by_prefix_and_page(store: InMemoryStore) -> None:
    assert keys(store.search(("users", "odd"))) == ["k1", "k3"]
    assert keys(store.search((), limit=2, offset=1)) == ["k2", "k1"]
    assert store.search(("use",)) == []


def test_namespaces_are_listed_by_prefix_suffix_and_depth(store: InMemoryStore) -> None:
    store.put(("users", "odd", "old"), "k", {})
    assert store.list_namespaces() == [("users", "even"), ("users", "odd"), ("users", "odd", "old")]
    assert store.list_namespaces(suffix=("old",)) == [("users", "odd", "old")]
    assert store.list_namespaces(prefix=("*", "odd")) == [("users", "odd"), ("users", "odd", "old")]
    assert store.list_namespaces(max_depth=1) == [("users",)]
    assert store.list_namespaces(limit=1, offset=1) == [("users", "odd")]


def test_reads_of_a_batch_do_not_see_its_writes(store: InMemoryStore) -> None:
    put = PutOp(("new",), "k", {"n": 1})
    results = store.batch([put, GetOp(("new",), "k"), SearchOp(("new",)), ListNamespacesOp(max_depth=1)])
    assert results == [None, None, [], [("users",)]]
    assert store.get(("new",), "k") is not None


def test_a_batch_refuses_what_is_no_operation(store: InMemoryStore) -> None:
    with pytest.raises(ValueError, match="Unknown operation type"):
        store.batch([5])  # type: ignore[list-item]  # that is the point


async def test_every_method_has_an_async_form(store: InMemoryStore) -> None:
    await store.aput(("a",), "k", {"n": 1})
    item = await store.aget(("a",), "k")
    assert item is not None
    assert item.value == {"n": 1}
    assert keys(await store.asearch(("a",))) == ["k"]
    assert await store.alist_namespaces(prefix=("a",)) == [("a",)]
    await store.adelete(("a",), "k")
    assert await store.aget(("a",), "k") is None


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_items_expire_and_reading_renews_them() -> None:
    clock = Clock()
    store = InMemoryStore(ttl={"default_ttl": 10}, clock=clock)
    store.put(("a",), "default", {})
    store.put(("a",), "short", {}, ttl=1)
    store.put(("a",), "forever", {}, ttl=None)
    clock.now = 61
    assert store.get(("a",), "short") is None
    assert keys(store.search(("a",))) == ["default", "forever"]
    clock.now = 61 + 599
    assert store.get(("a",), "default", refresh_ttl=False) is not None
    clock.now = 61 + 601
    assert keys(store.search(("a",))) == ["forever"]
    assert store.sweep_ttl() == 2
    assert store.list_namespaces() == [("a",)]


def test_an_expired_item_that_comes_again_is_new() -> None:
    clock = Clock()
    store = InMemoryStore(clock=clock)
    store.put(("a",), "k", {"n": 1}, ttl=1)
    first = store.get(("a",), "k", refresh_ttl=False)
    clock.now = 60
    store.put(("a",), "k", {"n": 2}, ttl=1)
    second = store.get(("a",), "k")
    assert first is not None
    assert second is not None
    assert second.created_at >= first.updated_at
    assert second.created_at == second.updated_at


def letters(texts: Sequence[str]) -> list[list[float]]:
    return [[text.count("a") + 0.0, text.count("b") + 0.0, 1.0] for text in texts]


def test_search_by_meaning_gives_the_best_first_and_the_unindexed_last() -> None:
    store = InMemoryStore(index={"dims": 3, "embed": letters, "fields": ["text", "tags[*]"]})
    store.put(("d",), "a", {"text": "aaa"})
    store.put(("d",), "b", {"text": "b", "tags": ["bbb"]})
    store.put(("d",), "hidden", {"text": "aaaa"}, index=False)
    store.put(("d",), "other", {"title": "aab", "text": "bbb"}, index=["title"])
    found = store.search(("d",), query="aaaa")
    assert keys(found) == ["a", "other", "b", "hidden"]
    assert found[-1].score is None
    assert found[0].score == pytest.approx(0.997, abs=0.001)
    assert keys(store.search(("d",), query="bbbb", limit=1)) == ["b"]
    store.put(("d",), "a", {"text": "bbbbbb"})
    assert keys(store.search(("d",), query="aaaa"))[0] == "other"


async def test_an_async_embedding_function_needs_the_async_methods() -> None:
    async def embed(texts: Sequence[str]) -> list[list[float]]:
        return letters(texts)

    store = InMemoryStore(index={"dims": 3, "embed": embed})
    await store.aput(("d",), "a", {"text": "aaa"})
    assert keys(await store.asearch(("d",), query="a")) == ["a"]
    with pytest.raises(ValueError, match="a\\* methods"):
        store.search(("d",), query="a")


def test_an_index_needs_something_that_embeds() -> None:
    with pytest.raises(ValueError, match="embedding model"):
        InMemoryStore(index={"dims": 3})
