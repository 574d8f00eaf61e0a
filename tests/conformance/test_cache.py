"""Every cache: what is put comes back, for as long as it is good."""

import asyncio
import fnmatch
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import TypedDict

from runtime.cache.base import BaseCache
from runtime.cache.memory import InMemoryCache
from runtime.cache.redis import RedisCache
from runtime.cache.sqlite import SqliteCache
from runtime.checkpoint.sqlite_file import DatabaseError
from runtime.graph import START, StateGraph
from runtime.types import CachePolicy


class Redis:
    """As much of a client as the cache uses."""

    def __init__(self) -> None:
        self.kept: dict[str, tuple[bytes, float | None]] = {}

    def set(self, name: str, data: bytes, ex: int | None = None) -> None:
        self.kept[name] = (data, None if ex is None else time.time() + ex)

    def mget(self, names: list[str]) -> list[bytes | None]:
        now = time.time()
        found = [self.kept.get(name) for name in names]
        return [each[0] if each and (each[1] is None or each[1] > now) else None for each in found]

    def scan_iter(self, match: str) -> Iterator[str]:
        pattern = match.replace("\\[", "[[]").replace("\\]", "]")
        yield from [name for name in self.kept if fnmatch.fnmatchcase(name, pattern)]

    def delete(self, *names: str) -> None:
        for name in names:
            del self.kept[name]


@pytest.fixture(params=["memory", "sqlite", "redis"])
def cache(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BaseCache[Any]]:
    if request.param == "memory":
        yield InMemoryCache()
    elif request.param == "redis":
        yield RedisCache(Redis())
    else:
        made: SqliteCache[Any] = SqliteCache(path=tmp_path / "cache.sqlite")
        yield made
        made.close()


A, B, C = (("x",), "a"), (("x",), "b"), (("x", "y"), "a")


def test_what_is_put_comes_back(cache: BaseCache[Any]) -> None:
    cache.set({A: ({"n": [1]}, None), B: ((1, "two"), 60), C: (None, None)})
    assert cache.get([A, B, C, (("z",), "a")]) == {A: {"n": [1]}, B: (1, "two"), C: None}
    cache.set({A: ("new", None)})
    assert cache.get([A]) == {A: "new"}
    assert cache.get([]) == {}


def test_what_has_expired_does_not(cache: BaseCache[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    cache.set({A: (1, 10), B: (2, None)})
    later = time.time() + 11
    monkeypatch.setattr(time, "time", lambda: later)
    assert cache.get([A, B]) == {B: 2}
    cache.set({A: (3, 10)})
    assert cache.get([A]) == {A: 3}


def test_clearing(cache: BaseCache[Any]) -> None:
    cache.set({A: (1, None), B: (2, None), C: (3, None)})
    cache.clear([("x",)])
    assert cache.get([A, B, C]) == {C: 3}
    cache.clear()
    assert cache.get([C]) == {}


def test_what_cannot_be_kept_is_refused_and_nothing_stored(cache: BaseCache[Any]) -> None:
    with pytest.raises(TypeError):
        cache.set({A: ((number for number in ()), None)})
    assert cache.get([A]) == {}


async def test_the_async_methods(cache: BaseCache[Any]) -> None:
    await asyncio.gather(*(cache.aset({(("x",), str(n)): (n, None)}) for n in range(8)))
    assert await cache.aget([(("x",), "7")]) == {(("x",), "7"): 7}
    await cache.aclear()
    assert await cache.aget([(("x",), "7")]) == {}


class State(TypedDict):
    x: int


def test_a_node_runs_once(cache: BaseCache[Any]) -> None:
    ran = []

    def node(state: State) -> State:
        ran.append(state["x"])
        return {"x": state["x"] + 1}

    builder = StateGraph(State).add_node("node", node, cache_policy=CachePolicy()).add_edge(START, "node")
    graph = builder.compile(cache=cache)
    assert [graph.invoke({"x": 1})["x"] for _ in range(3)] == [2, 2, 2]
    graph.clear_cache()
    graph.invoke({"x": 1})
    assert ran == [1, 1]


def test_results_outlive_the_process(tmp_path: Path) -> None:
    first: SqliteCache[Any] = SqliteCache(path=tmp_path / "c.sqlite")
    first.set({A: (1, None)})
    first.close()
    second: SqliteCache[Any] = SqliteCache(path=tmp_path / "c.sqlite")
    assert second.get([A]) == {A: 1}
    second.close()
    with pytest.raises(DatabaseError, match="It was closed"):
        second.get([A])
    (tmp_path / "bad").write_text("not a database, " * 100)
    with pytest.raises(DatabaseError, match="It is no SQLite database"):
        SqliteCache(path=tmp_path / "bad")
