"""Every store: items, filters, namespaces, life, search by meaning."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from runtime.checkpoint.sqlite import SqliteSaver
from runtime.checkpoint.sqlite_file import connect
from runtime.config import get_store
from runtime.graph import START, MessagesState, StateGraph
from runtime.store.base import BaseStore, GetOp, InvalidNamespaceError, ListNamespacesOp, PutOp, SearchOp
from runtime.store.memory import InMemoryStore
from runtime.store.sqlite import AsyncSqliteStore, DatabaseError, SqliteStore

Make = Callable[..., Any]


def keys(items: Sequence[Any]) -> list[str]:
    return [item.key for item in items]


def places(items: Sequence[Any]) -> list[str]:
    """Keys, where each store has an order of its own."""
    return sorted(keys(items))


@pytest.fixture(params=["memory", "sqlite", "sqlite in memory"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Make]:
    """Makes stores of a kind; those of a file share it."""
    opened = []

    def make(**options: Any) -> BaseStore:
        if request.param == "memory":
            return InMemoryStore(**options)
        conn = connect(":memory:" if "in memory" in request.param else tmp_path / "store.sqlite")
        opened.append(conn)
        return SqliteStore(conn, **options)

    yield make
    for conn in opened:
        conn.close()


@pytest.fixture
def store(make: Make) -> Any:
    store = make()
    for i in range(4):
        store.put(("users", "even" if i % 2 == 0 else "odd"), f"k{i}", {"n": i, "deep": {"n": i}, "name": f"user{i}"})
    return store


def test_an_item_comes_back_with_its_place_and_times(store: Any) -> None:
    item = store.get(("users", "odd"), "k1")
    assert item is not None
    assert (item.value["n"], item.key, item.namespace) == (1, "k1", ("users", "odd"))
    assert item.created_at == item.updated_at
    assert item.created_at.tzinfo is not None
    assert store.get(("users",), "k1") is None


def test_replacing_keeps_the_time_of_creation(store: Any) -> None:
    before = store.get(("users", "odd"), "k1")
    store.put(("users", "odd"), "k1", {"n": 100})
    after = store.get(("users", "odd"), "k1")
    assert before is not None
    assert after is not None
    assert after.created_at == before.created_at
    assert after.updated_at >= before.updated_at
    assert (before.value["n"], after.value) == (1, {"n": 100})


def test_nobody_changes_what_is_stored_by_changing_what_they_hold(store: Any) -> None:
    mine = {"list": [1]}
    store.put(("a",), "k", mine)
    mine["list"].append(2)
    item = store.get(("a",), "k")
    assert item is not None
    item.value["list"].append(3)
    found = store.get(("a",), "k")
    assert found is not None
    assert found.value == {"list": [1]}


def test_deleting_removes_the_item_and_its_empty_namespace(store: Any) -> None:
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
def test_an_impossible_namespace_is_refused_with_the_reason(make: Make, namespace: Any, why: str) -> None:
    with pytest.raises(InvalidNamespaceError, match=why):
        make().put(namespace, "k", {})


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
def test_a_filter_finds(store: Any, wanted: dict[str, Any], found: list[str]) -> None:
    assert places(store.search(("users",), filter=wanted)) == sorted(found)


def test_an_unknown_operator_is_refused(store: Any) -> None:
    with pytest.raises(ValueError, match=r"Unsupported operator: \$in"):
        store.search(("users",), filter={"n": {"$in": [1]}})


def test_search_goes_by_prefix_and_page(store: Any) -> None:
    assert places(store.search(("users", "odd"))) == ["k1", "k3"]
    pages = [keys(store.search((), limit=2, offset=offset)) for offset in (0, 2, 4)]
    assert [len(page) for page in pages] == [2, 2, 0]
    assert sorted(pages[0] + pages[1]) == ["k0", "k1", "k2", "k3"]
    assert store.search(("use",)) == []


def test_namespaces_are_listed_by_prefix_suffix_and_depth(store: Any) -> None:
    store.put(("users", "odd", "old"), "k", {})
    assert store.list_namespaces() == [("users", "even"), ("users", "odd"), ("users", "odd", "old")]
    assert store.list_namespaces(suffix=("old",)) == [("users", "odd", "old")]
    assert store.list_namespaces(prefix=("*", "odd")) == [("users", "odd"), ("users", "odd", "old")]
    assert store.list_namespaces(max_depth=1) == [("users",)]
    assert store.list_namespaces(limit=1, offset=1) == [("users", "odd")]


def test_reads_of_a_batch_do_not_see_its_writes(store: Any) -> None:
    put = PutOp(("new",), "k", {"n": 1})
    results = store.batch([put, GetOp(("new",), "k"), SearchOp(("new",)), ListNamespacesOp(max_depth=1)])
    assert results == [None, None, [], [("users",)]]
    assert store.get(("new",), "k") is not None


def test_a_batch_refuses_what_is_no_operation(store: Any) -> None:
    with pytest.raises(ValueError, match="Unknown operation type"):
        store.batch([5])  # type: ignore[list-item]  # that is the point


async def test_every_method_has_an_async_form(store: Any) -> None:
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


def test_items_expire_and_reading_renews_them(make: Make) -> None:
    clock = Clock()
    store = make(ttl={"default_ttl": 10}, clock=clock)
    store.put(("a",), "default", {})
    store.put(("a",), "short", {}, ttl=1)
    store.put(("a",), "forever", {}, ttl=None)
    clock.now = 61
    assert store.get(("a",), "short") is None
    assert places(store.search(("a",))) == ["default", "forever"]
    clock.now = 61 + 599
    assert store.get(("a",), "default", refresh_ttl=False) is not None
    clock.now = 61 + 601
    assert keys(store.search(("a",))) == ["forever"]
    assert store.sweep_ttl() == 2
    assert store.list_namespaces() == [("a",)]


def test_an_expired_item_that_comes_again_is_new(make: Make) -> None:
    clock = Clock()
    store = make(clock=clock)
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


def test_search_by_meaning_gives_the_best_first_and_the_unindexed_last(make: Make) -> None:
    store = make(index={"dims": 3, "embed": letters, "fields": ["text", "tags[*]"]})
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


async def test_an_async_embedding_function_needs_the_async_methods(make: Make) -> None:
    async def embed(texts: Sequence[str]) -> list[list[float]]:
        return letters(texts)

    store = make(index={"dims": 3, "embed": embed})
    await store.aput(("d",), "a", {"text": "aaa"})
    assert keys(await store.asearch(("d",), query="a")) == ["a"]
    with pytest.raises(ValueError, match="a\\* methods"):
        store.search(("d",), query="a")


def test_an_index_needs_something_that_embeds(make: Make) -> None:
    with pytest.raises(ValueError, match="embedding model"):
        make(index={"dims": 3})


def test_a_namespace_ends_where_its_label_does(store: Any) -> None:
    store.put(("u",), "k", {})
    store.put(("U",), "k", {})
    store.put(("us%",), "k", {})
    store.put(("u_ers",), "k", {})
    assert [item.namespace for item in store.search(("u",))] == [("u",)]
    assert [item.namespace for item in store.search(("us%",))] == [("us%",)]


def test_a_batch_is_stored_whole_or_not_at_all(store: Any) -> None:
    with pytest.raises(TypeError):
        store.batch([PutOp(("new",), "k", {"n": 1}), PutOp(("new",), "bad", {"x": (number for number in ())})])
    assert store.search(("new",)) == []


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "store.sqlite"


def test_items_outlive_the_store_and_share_a_file_with_checkpoints(file: Path) -> None:
    with SqliteSaver.from_conn_string(file) as saver, SqliteStore.from_conn_string(file) as store:

        def node(state: MessagesState) -> dict[str, Any]:
            get_store().put(("facts",), "name", {"is": "Ann", "says": state["messages"][-1]})
            return {"messages": ["noted"]}

        builder = StateGraph(MessagesState).add_node("node", node).add_edge(START, "node")
        builder.compile(checkpointer=saver, store=store).invoke(
            {"messages": ["I am Ann"]}, {"configurable": {"thread_id": "1"}}
        )
    with SqliteStore.from_conn_string(file) as store:
        item = store.get(("facts",), "name")
        assert item is not None
        assert (item.value["is"], item.value["says"].content) == ("Ann", "I am Ann")


WRITER = """
import sys
from runtime.store.sqlite import SqliteStore
with SqliteStore.from_conn_string(sys.argv[1]) as store:
    for number in range(30):
        store.put(("a",), f"{sys.argv[2]} {number}", {"n": number})
"""


def test_processes_that_start_at_once_on_a_new_file_lose_nothing(file: Path) -> None:
    root = str(Path(__file__).parents[2])
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(file), name], cwd=root) for name in "abc"]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    with SqliteStore.from_conn_string(file) as store:
        assert len(store.search(("a",), limit=1000)) == 90


def test_what_is_newest_comes_first(file: Path) -> None:
    with SqliteStore.from_conn_string(file) as store:
        clock = Clock()
        store._clock = clock
        for number in range(3):
            clock.now = number
            store.put(("a",), str(number), {})
        clock.now = 4
        store.put(("a",), "0", {})
        assert keys(store.search(("a",))) == ["0", "2", "1"]


def test_batches_sweep_when_it_is_time(file: Path) -> None:
    clock = Clock()
    conn = connect(file)
    store = SqliteStore(conn, ttl={"default_ttl": 1, "sweep_interval_minutes": 10}, clock=clock)

    def rows() -> int:
        return int(conn.execute("SELECT COUNT(*) FROM store_item").fetchone()[0])

    store.put(("a",), "k", {})
    clock.now = 120
    assert (store.get(("a",), "k"), rows()) == (None, 1)
    clock.now = 601
    assert (store.get(("a",), "k"), rows()) == (None, 0)
    store.stop_ttl_sweeper()
    store.put(("a",), "k", {})
    clock.now = 6000
    assert (store.get(("a",), "k"), rows()) == (None, 1)
    store.start_ttl_sweeper(1)
    assert (store.get(("a",), "k"), rows()) == (None, 0)
    conn.close()


async def test_the_async_store(file: Path) -> None:
    async with AsyncSqliteStore.from_conn_string(file, ttl={"default_ttl": 1}) as store:
        await store.setup()
        await store.aput(("a",), "k", {"n": 1})
        store.put(("a",), "l", {"n": 2})
        assert places(await store.asearch(("a",))) == ["k", "l"]
        store._clock = lambda: 1e12
        assert await store.sweep_ttl() == 2


def test_a_value_that_cannot_be_kept_names_its_item(file: Path) -> None:
    with SqliteStore.from_conn_string(file) as store:
        with pytest.raises(TypeError, match=r"The value of 'k' in \('a',\) cannot be stored"):
            store.put(("a",), "k", {"x": (number for number in ())})
        assert store.list_namespaces() == []


def test_a_file_that_is_no_database_is_named(file: Path) -> None:
    file.write_text("not a database, " * 100)
    with pytest.raises(DatabaseError, match=r"store\.sqlite: file is not a database\. It is no SQLite database"):
        SqliteStore.from_conn_string(file).__enter__()


def test_a_closed_store_says_so(file: Path) -> None:
    with SqliteStore.from_conn_string(file) as store:
        store.put(("a",), "k", {})
    with pytest.raises(DatabaseError, match="It was closed"):
        store.get(("a",), "k")


def test_a_full_disk_loses_nothing(file: Path) -> None:
    conn: sqlite3.Connection = connect(file)
    store = SqliteStore(conn)
    store.put(("a",), "k", {"n": 1})
    conn.execute(f"PRAGMA max_page_count = {conn.execute('PRAGMA page_count').fetchone()[0]}")
    with pytest.raises(DatabaseError, match="The disk is full"):
        store.batch([PutOp(("a",), "k", {"n": 2}), PutOp(("a",), "big", {"x": "y" * 100_000})])
    found = store.get(("a",), "k")
    assert found is not None
    assert found.value == {"n": 1}
    conn.close()
