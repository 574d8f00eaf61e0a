"""Lists that grow are stored as what they gained, and read back as what they were: any change, any branch, any saver."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

from runtime.checkpoint.memory import InMemorySaver
from runtime.checkpoint.sqlite import SqliteSaver
from tests.conformance.savers import KINDS, at, opened, record


@dataclasses.dataclass
class Note:
    text: str
    marks: list[str]


class Plain:
    """A class that no picture can be made of."""

    def __init__(self) -> None:
        self.n = 1


@pytest.fixture(params=KINDS)
def saver(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    with opened(request.param, tmp_path) as made:
        yield made


def put(saver: Any, items: list[Any], version: str, parent: Any = None, thread: str = "t") -> Any:
    config = parent or {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
    return saver.put(config, record({"log": items}, {"log": version}), {"step": int(version)}, {"log": version})


def stored(saver: Any, config: Any) -> Any:
    return saver.get_tuple(config).checkpoint["channel_values"]["log"]


def bytes_of_last(saver: Any, version: str) -> int:
    if isinstance(saver, InMemorySaver):
        return len(saver._threads["t"].values[("", "log", version)].payload)
    row = saver.conn.execute("SELECT LENGTH(payload) FROM channel_value WHERE version = ?", (version,)).fetchone()
    return int(row[0])


def messages(count: int) -> list[Any]:
    return [AIMessage("x" * 100, id=str(n), tool_calls=[]) for n in range(count)]


def test_what_is_added_is_what_is_stored(saver: Any) -> None:
    items: list[Any] = messages(100)
    first = put(saver, items, "1")
    more = [*items, HumanMessage("new", id="h")]
    second = put(saver, more, "2", first)
    assert bytes_of_last(saver, "2") < bytes_of_last(saver, "1") / 20
    assert stored(saver, first) == items
    assert stored(saver, second) == more


@pytest.mark.parametrize("change", ["replace", "remove", "front", "trim", "clear"])
def test_a_change_in_the_middle(saver: Any, change: str) -> None:
    items = messages(100)
    first = put(saver, items, "1")
    after = [*items]
    match change:
        case "replace":
            after[50] = HumanMessage("other", id="50")
        case "remove":
            del after[40:42]
        case "front":
            after.insert(0, HumanMessage("first", id="f"))
        case "trim":
            del after[:30]
        case "clear":
            after.clear()
    second = put(saver, after, "2", first)
    assert bytes_of_last(saver, "2") < bytes_of_last(saver, "1") / 20
    assert stored(saver, second) == after
    assert stored(saver, first) == items


@pytest.mark.parametrize("kind", ["content", "tool call", "extra", "dict", "dataclass", "odd value"])
def test_an_item_that_was_changed_in_place_is_stored_as_it_is(saver: Any, kind: str) -> None:
    items: list[Any] = messages(30)
    items += [AIMessage("call", id="c", tool_calls=[{"name": "f", "args": {"x": [1]}, "id": "1"}])]
    items += [{"deep": {"er": [1, 2]}}, Note("n", ["a"])]
    before = copy.deepcopy(items)
    first = put(saver, items, "1")
    match kind:
        case "content":
            items[3].content = "changed"
        case "tool call":
            items[30].tool_calls[0]["args"]["x"].append(2)
        case "extra":
            items[4].some_extra = "new"
        case "dict":
            items[31]["deep"]["er"][0] = "one"
        case "dataclass":
            items[32].marks.append("b")
        case "odd value":
            items[31]["deep"] = {1: Note("inner", [])}
    expected = copy.deepcopy([*items, "end"])
    second = put(saver, [*items, "end"], "2", first)
    assert stored(saver, second) == expected
    assert stored(saver, first) == before


def test_an_old_item_of_a_long_list_is_looked_at_in_turn(saver: Any) -> None:
    items = messages(300)
    config = put(saver, items, "1")
    items[5].content = "changed"
    found = []
    for number in range(2, 14):
        items = [*items, HumanMessage("more", id=f"m{number}")]
        config = put(saver, items, str(number), config)
        found.append(stored(saver, config)[5].content)
    assert found[-1] == "changed"


def test_with_verify_it_is_seen_at_once(tmp_path: Path) -> None:
    memory = InMemorySaver(verify=True)
    with SqliteSaver.from_conn_string(tmp_path / "s.sqlite", verify=True) as sqlite:
        for saver in (memory, sqlite):
            items = messages(300)
            first = put(saver, items, "1")
            items[200].content = "changed"
            second = put(saver, [*items, HumanMessage("more", id="m")], "2", first)
            assert stored(saver, second)[200].content == "changed"


def test_true_in_place_of_one_is_another_item(saver: Any) -> None:
    numbers: list[Any] = [1] * 1000
    first = put(saver, numbers, "1")
    second = put(saver, [*numbers[:500], True, *numbers[501:]], "2", first)
    assert [type(item) for item in stored(saver, second)[499:502]] == [int, bool, int]


def test_branches_from_one_checkpoint(saver: Any) -> None:
    items = messages(50)
    root = put(saver, items, "1")
    one = put(saver, [*items, "one"], "2", root)
    two = put(saver, [*items, "two", "too"], "3", root)
    again = put(saver, [*items, "one", "more"], "4", one)
    assert [stored(saver, config)[50:] for config in (root, one, two, again)] == [
        [],
        ["one"],
        ["two", "too"],
        ["one", "more"],
    ]


def test_a_thread_that_was_deleted_is_no_base(saver: Any) -> None:
    items = messages(50)
    put(saver, items, "1")
    saver.delete_thread("t")
    config = put(saver, [*items, "more"], "2")
    assert stored(saver, config) == [*items, "more"]


def test_a_thread_that_another_process_deleted_is_no_base(tmp_path: Path) -> None:
    with (
        SqliteSaver.from_conn_string(tmp_path / "s.sqlite") as saver,
        SqliteSaver.from_conn_string(tmp_path / "s.sqlite") as other,
    ):
        items = messages(50)
        put(saver, items, "1")
        other.delete_thread("t")
        config = put(saver, [*items, "more"], "2")
        assert stored(other, config) == [*items, "more"]


def test_a_copied_thread_has_its_own(saver: Any) -> None:
    items = messages(50)
    config = put(saver, items, "1")
    put(saver, [*items, "more"], "2", config)
    saver.copy_thread("t", "copy")
    saver.delete_thread("t")
    assert stored(saver, at("copy")) == [*items, "more"]


def test_the_same_version_put_again(saver: Any) -> None:
    items = messages(50)
    put(saver, items, "1")
    config = put(saver, items, "1")
    put(saver, [*items, "more"], "2", config)
    assert stored(saver, config) == items


def test_a_list_that_cannot_be_kept_leaves_the_base_as_it_was(saver: Any) -> None:
    items = messages(50)
    config = put(saver, items, "1")
    with pytest.raises(TypeError, match="Key 'log'"):
        put(saver, [*items, Plain()], "2", config)
    again = put(saver, [*items, "fine"], "3", config)
    assert stored(saver, again) == [*items, "fine"]


def test_the_whole_stays_near_what_was_really_added(saver: Any) -> None:
    items: list[Any] = []
    config, total = None, 0
    for number in range(1, 401):
        items = [*items, AIMessage("x" * 100, id=str(number))]
        config = put(saver, items, str(number), config)
        total += bytes_of_last(saver, str(number))
    assert len(stored(saver, config)) == 400
    assert total < 5 * 400 * 250


CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["append", "insert", "delete", "replace", "touch", "branch", "trim"]), st.integers(0, 400)
    ),
    min_size=5,
    max_size=40,
)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=CHANGES, start=st.integers(0, 200))
def test_any_sequence_of_changes(kind: str, changes: Any, start: int, tmp_path_factory: Any) -> None:
    with opened(kind, tmp_path_factory.mktemp("growth")) as saver:
        items: list[Any] = [AIMessage(f"text {n} " * 5, id=str(n)) for n in range(start)]
        config = put(saver, items, "1")
        kept = [(config, copy.deepcopy(items), items)]
        for number, (change, where) in enumerate(changes, 2):
            items = [*items]
            place = where % len(items) if items else 0
            match change:
                case "append":
                    items.append(HumanMessage(f"new {number}", id=f"n{number}"))
                case "insert":
                    items.insert(place, {"n": number})
                case "delete":
                    del items[place : place + 2]
                case "replace":
                    items[place : place + 1] = [number]
                case "touch" if items and isinstance(items[-1], AIMessage):
                    items[-1].content = f"touched {number}"
                case "branch":
                    config, _, items = kept[where % len(kept)]
                case "trim":
                    items = items[place:]
            config = put(saver, items, str(number), config)
            kept.append((config, copy.deepcopy(items), items))
        for config, expected, _ in kept:
            assert stored(saver, config) == expected


def checked_out(saver: Any, thread: str = "t") -> Any:
    return saver.checkout({"configurable": {"thread_id": thread}}).checkpoint["channel_values"]["log"]


@pytest.mark.parametrize("fresh", [False, True])
def test_a_run_that_goes_on_stores_what_it_adds(saver: Any, fresh: bool) -> None:
    items: list[Any] = [*messages(60), {"a": [1]}, Note("n", ["a"]), ("t", [1])]
    items[2].some_extra = "x"
    first = put(saver, items, "1")
    if fresh:
        saver._tips.__init__()
    mine = checked_out(saver)
    assert mine == items
    assert [type(item) for item in mine] == [type(item) for item in items]
    assert not any(a is b for a, b in zip(mine, items, strict=True))
    second = put(saver, [*mine, "more"], "2", first)
    assert bytes_of_last(saver, "2") < 50
    assert stored(saver, second) == [*items, "more"]


def test_what_a_run_got_is_its_own(saver: Any) -> None:
    items = messages(30)
    put(saver, items, "1")
    one, two = checked_out(saver), checked_out(saver)
    one[0].content, items[1].content = "of one", "of the first"
    assert [message.content for message in two[:2]] == ["x" * 100] * 2
    assert [message.content for message in checked_out(saver)[:2]] == ["x" * 100] * 2
    assert [message.content for message in saver.get(at("t"))["channel_values"]["log"][:2]] == ["x" * 100] * 2


def test_an_unpictured_item_is_read_anew(saver: Any) -> None:
    items: list[Any] = [*messages(30), {"when": {1, 2}}]
    first = put(saver, items, "1")
    mine = checked_out(saver)
    assert mine == items
    mine[30]["when"].add(3)
    second = put(saver, [*mine, "more"], "2", first)
    assert stored(saver, second)[30:] == [{"when": {1, 2, 3}}, "more"]


def test_chains_stay_short_whoever_opens_them(saver: Any) -> None:
    config = put(saver, messages(4), "1")
    for number in range(2, 500):
        saver._tips.__init__()
        mine = checked_out(saver)
        config = put(saver, [*mine[:-1], f"other {number}"], str(number), config)
    sizes = [bytes_of_last(saver, str(number)) for number in range(1, 500)]
    assert max(sizes[-350:]) > sizes[0] / 2
