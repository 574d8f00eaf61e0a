"""What every checkpointer does, each by sync and by async calls."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runtime.checkpoint.serde.jsonplus import JsonPlusSerializer
from tests.conformance.savers import KINDS, Async, Sync, at, line, opened, record

META = {"source": "loop", "step": 0, "parents": {}}


@pytest.fixture(
    params=[(kind, way) for kind in KINDS for way in (Sync, Async)], ids=lambda p: f"{p[0]}-{p[1].__name__}"
)
def calls(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    kind, way = request.param
    with opened(kind, tmp_path) as saver:
        yield way(saver)


def test_an_unknown_thread_has_nothing(calls: Any) -> None:
    assert calls.get_tuple(at("none")) is None
    assert calls.get(at("none")) is None
    assert calls.list(at("none")) == []
    assert [*calls.saver.headers("none")] == []
    assert [*calls.saver.namespaces("none")] == []
    assert [*calls.saver.threads()] == []
    calls.delete_thread("none")


def test_what_was_put_comes_back(calls: Any) -> None:
    checkpoint = record({"x": [1, {"y": (2,)}]}, {"x": "1", "gone": "2"}, writers=["a"], next_nodes=["b"])
    given = calls.put(at("t"), checkpoint, {**META, "note": "n"}, {"x": "1", "gone": "2"})

    found = calls.get_tuple(given)

    assert given == at("t", "", checkpoint["id"])
    assert found.config == given
    assert found.checkpoint == checkpoint
    assert found.metadata == {**META, "note": "n"}
    assert found.parent_config is None
    assert found.pending_writes == []
    assert calls.get(given) == checkpoint


def test_the_newest_is_the_greatest_id_not_the_last_put(calls: Any) -> None:
    configs = line(calls, "t", 3)
    older = record({"n": 9}, {"n": "9"})
    older["id"] = "00000000-0000-6000-8000-000000000000"
    calls.put(at("t"), older, META, {"n": "9"})

    assert calls.get_tuple(at("t")).config == configs[-1]
    assert calls.get_tuple(at("t")).parent_config == configs[-2]


def test_only_new_versions_are_written_and_old_values_are_joined(calls: Any) -> None:
    first = calls.put(at("t"), record({"x": "old", "y": 1}, {"x": "1", "y": "1"}), META, {"x": "1", "y": "1"})
    second = calls.put(first, record({"x": "NOT WRITTEN", "y": 2}, {"x": "1", "y": "2"}), META, {"y": "2"})

    assert calls.get(second)["channel_values"] == {"x": "old", "y": 2}
    assert calls.get(first)["channel_values"] == {"x": "old", "y": 1}


def test_a_channel_that_was_emptied_has_no_value(calls: Any) -> None:
    first = calls.put(at("t"), record({"x": 1}, {"x": "1"}), META, {"x": "1"})
    second = calls.put(first, record({}, {"x": "2"}), META, {"x": "2"})

    assert calls.get(second)["channel_values"] == {}
    assert calls.get(first)["channel_values"] == {"x": 1}


def test_values_of_two_branches_do_not_mix(calls: Any) -> None:
    root = calls.put(at("t"), record({"x": 0}, {"x": "1"}), META, {"x": "1"})
    versions = [calls.saver.get_next_version("1", None) for _ in range(2)]
    left, right = (calls.put(root, record({"x": v}, {"x": v}), META, {"x": v}) for v in versions)

    assert calls.get(left)["channel_values"] == {"x": versions[0]}
    assert calls.get(right)["channel_values"] == {"x": versions[1]}
    assert calls.get_tuple(left).parent_config == calls.get_tuple(right).parent_config == root


def test_putting_a_checkpoint_again_replaces_it_and_keeps_its_writes(calls: Any) -> None:
    checkpoint = record({"x": 1}, {"x": "1"})
    config = calls.put(at("t"), checkpoint, META, {"x": "1"})
    calls.put_writes(config, [("x", 2)], "task")

    calls.put(at("t"), checkpoint, {**META, "again": True}, {})

    assert len(calls.list(at("t"))) == 1
    assert calls.get_tuple(config).metadata["again"] is True
    assert calls.get_tuple(config).pending_writes == [("task", "x", 2)]


def test_what_came_back_can_be_changed_without_changing_what_is_stored(calls: Any) -> None:
    value, metadata = {"deep": [1]}, {**META, "note": ["n"]}
    checkpoint = record({"x": value}, {"x": "1"})
    config = calls.put(at("t"), checkpoint, metadata, {"x": "1"})
    calls.put_writes(config, [("x", value)], "task")
    value["deep"].append("after")
    metadata["note"].append("after")
    checkpoint["channel_versions"]["x"] = "after"
    checkpoint["versions_seen"]["after"] = {}
    checkpoint["updated_channels"].append("after")

    for _ in range(2):
        found = calls.get_tuple(config)
        assert found.checkpoint["channel_values"] == {"x": {"deep": [1]}}
        assert found.pending_writes == [("task", "x", {"deep": [1]})]
        assert found.metadata["note"] == ["n"]
        assert "after" not in str(found)
        found.checkpoint["channel_values"]["x"]["deep"].append("after")
        found.checkpoint["channel_versions"]["after"] = "1"
        found.checkpoint["versions_seen"]["a"]["after"] = "1"
        found.checkpoint["updated_channels"].append("after")
        found.pending_writes[0][2]["deep"].append("after")
        found.metadata["note"].append("after")


# -- writes ----------------------------------------------------------------------------------------------------------


def test_writes_keep_their_order_by_path_task_and_number(calls: Any) -> None:
    config = line(calls, "t", 1)[0]
    calls.put_writes(config, [("x", 1), ("y", 2), ("x", 3)], "task-b", "~pull, a")
    calls.put_writes(config, [("z", 4)], "task-a", "~pull, b")

    found = calls.get_tuple(config).pending_writes

    assert found == [("task-b", "x", 1), ("task-b", "y", 2), ("task-b", "x", 3), ("task-a", "z", 4)]


@pytest.mark.parametrize("channel", ["__error__", "__interrupt__", "__resume__", "__scheduled__"])
def test_notes_about_a_task_replace_themselves(calls: Any, channel: str) -> None:
    config = line(calls, "t", 1)[0]
    calls.put_writes(config, [(channel, "first")], "task")
    calls.put_writes(config, [("x", 1), (channel, "second")], "task")

    assert sorted(calls.get_tuple(config).pending_writes) == sorted([("task", channel, "second"), ("task", "x", 1)])


def test_storing_the_same_writes_again_changes_nothing(calls: Any) -> None:
    config = line(calls, "t", 1)[0]
    for _ in range(2):
        calls.put_writes(config, [("x", 1), ("y", None)], "task")

    assert calls.get_tuple(config).pending_writes == [("task", "x", 1), ("task", "y", None)]


def test_writes_may_come_before_their_checkpoint(calls: Any) -> None:
    checkpoint = record({"x": 1}, {"x": "1"})
    calls.put_writes(at("t", "", checkpoint["id"]), [("x", 2)], "task")

    assert calls.get_tuple(at("t")) is None
    config = calls.put(at("t"), checkpoint, META, {"x": "1"})

    assert calls.get_tuple(config).pending_writes == [("task", "x", 2)]


def test_writes_belong_to_one_checkpoint(calls: Any) -> None:
    first, second = line(calls, "t", 2)
    calls.put_writes(first, [("x", 1)], "task")

    assert calls.get_tuple(second).pending_writes == []


# -- list ------------------------------------------------------------------------------------------------------------


def steps(found: Any) -> list[int]:
    return [item.metadata["step"] for item in found]


def test_a_list_is_newest_first_and_can_be_cut(calls: Any) -> None:
    configs = line(calls, "t", 5)

    assert steps(calls.list(at("t"))) == [3, 2, 1, 0, -1]
    assert steps(calls.list(at("t"), limit=2)) == [3, 2]
    assert steps(calls.list(at("t"), limit=0)) == []
    assert steps(calls.list(at("t"), before=configs[2])) == [0, -1]
    assert steps(calls.list(at("t"), before=configs[3], limit=1)) == [1]
    assert steps(calls.list(configs[2])) == [1]


def test_a_list_is_filtered_by_metadata_before_it_is_cut(calls: Any) -> None:
    line(calls, "t", 5, who="me")

    assert steps(calls.list(at("t"), filter={"source": "loop"}, limit=2)) == [3, 2]
    assert steps(calls.list(at("t"), filter={"source": "input", "step": -1})) == [-1]
    assert steps(calls.list(at("t"), filter={"who": "me", "step": 2})) == [2]
    assert calls.list(at("t"), filter={"who": "you"}) == []


@pytest.mark.parametrize("key", ["x') OR 1=1 --", 'a"b', "step; DROP TABLE checkpoint"])
def test_a_filter_key_is_never_code(calls: Any, key: str) -> None:
    line(calls, "t", 2)

    assert calls.list(at("t"), filter={key: 1}) == []
    assert len(calls.list(at("t"))) == 2


def test_a_list_without_namespace_has_all_and_without_thread_everything(calls: Any) -> None:
    line(calls, "t", 2)
    line(calls, "t", 1, ns="sub:1")
    line(calls, "other", 1)

    assert len(calls.list(at("t"))) == 2
    assert len(calls.list({"configurable": {"thread_id": "t"}})) == 3
    assert len(calls.list(None)) == 4
    assert len(calls.list(None, filter={"source": "input"})) == 3


def test_a_listed_checkpoint_is_whole(calls: Any) -> None:
    configs = line(calls, "t", 2)
    calls.put_writes(configs[1], [("n", 5)], "task")

    newest, oldest = calls.list(at("t"))

    assert newest == calls.get_tuple(configs[1])
    assert oldest == calls.get_tuple(configs[0])


# -- threads ---------------------------------------------------------------------------------------------------------


def test_threads_and_namespaces_are_apart(calls: Any) -> None:
    line(calls, "t", 2)
    line(calls, "t", 1, ns="sub:1")
    line(calls, "other", 1)

    assert calls.get(at("t"))["channel_values"] == {"n": 1}
    assert calls.get(at("t", "sub:1"))["channel_values"] == {"n": 0}
    assert [*calls.saver.namespaces("t")] == [("", 2), ("sub:1", 1)]
    assert [*calls.saver.threads()] == ["other", "t"]


def test_a_deleted_thread_leaves_nothing_and_others_stay(calls: Any) -> None:
    configs = line(calls, "t", 2)
    calls.put_writes(configs[1], [("n", 5)], "task")
    line(calls, "t", 1, ns="sub:1")
    line(calls, "other", 2)

    calls.delete_thread("t")

    assert calls.list({"configurable": {"thread_id": "t"}}) == []
    assert calls.get_tuple(configs[1]) is None
    assert [*calls.saver.threads()] == ["other"]
    assert steps(calls.list(at("other"))) == [0, -1]
    line(calls, "t", 1)
    assert calls.get_tuple(at("t")).pending_writes == []


def test_a_copied_thread_is_a_thread_of_its_own(calls: Any) -> None:
    configs = line(calls, "t", 2)
    calls.put_writes(configs[1], [("n", 5)], "task")
    line(calls, "t", 1, ns="sub:1")

    calls.copy_thread("t", "copy")
    calls.put(configs[1], record({"n": 7}, {"n": "7"}), META, {"n": "7"})
    calls.put_writes(configs[1], [("n", 6)], "task2")

    assert [*calls.saver.namespaces("copy")] == [("", 2), ("sub:1", 1)]
    head = calls.get_tuple(at("copy"))
    assert head.checkpoint["channel_values"] == {"n": 1}
    assert head.pending_writes == [("task", "n", 5)]
    assert head.parent_config["configurable"]["thread_id"] == "copy"
    calls.delete_thread("t")
    assert steps(calls.list(at("copy"))) == [0, -1]


def test_a_thread_id_may_be_a_number(calls: Any) -> None:
    calls.put({"configurable": {"thread_id": 7, "checkpoint_ns": ""}}, record({"x": 1}, {"x": "1"}), META, {"x": "1"})

    assert calls.get({"configurable": {"thread_id": 7}}) == calls.get(at("7"))
    calls.delete_thread("7")
    assert calls.get(at("7")) is None


# -- headers ---------------------------------------------------------------------------------------------------------


def test_headers_say_what_a_timeline_shows(calls: Any) -> None:
    first = calls.put(at("t"), record({"x": 1}, {"x": "1"}, next_nodes=["a", "b"]), META, {"x": "1"})
    later = record({"x": 2}, {"x": "2"}, writers=["a", "b"])
    second = calls.put(first, later, {**META, "step": 1, "note": "n"}, {"x": "2"})

    newest, oldest = calls.saver.headers("t")

    assert (newest.checkpoint_id, newest.parent_id) == tuple(
        config["configurable"]["checkpoint_id"] for config in (second, first)
    )
    assert (newest.thread_id, newest.checkpoint_ns, newest.ts) == ("t", "", later["ts"])
    assert (newest.step, newest.source, newest.writers, newest.next) == (1, "loop", ("a", "b"), ())
    assert newest.metadata == {**META, "step": 1, "note": "n"}
    assert newest.channel_versions == {"x": "2"}
    assert (newest.interrupts, newest.error) == (0, None)
    assert (oldest.parent_id, oldest.next) == (None, ("a", "b"))


def test_headers_come_by_the_page(calls: Any) -> None:
    line(calls, "t", 5)
    line(calls, "t", 1, ns="sub:1")
    everything = [*calls.saver.headers("t")]

    page = [*calls.saver.headers("t", limit=2)]
    rest = [*calls.saver.headers("t", limit=10, before=page[-1].checkpoint_id)]

    assert [header.step for header in everything] == [3, 2, 1, 0, -1]
    assert [*page, *rest] == everything
    assert len([*calls.saver.headers("t", "sub:1")]) == 1
    assert len([*calls.saver.headers("t", None)]) == 6


def test_headers_count_questions_and_name_the_error(calls: Any) -> None:
    first, second, third = line(calls, "t", 3)
    calls.put_writes(first, [("__interrupt__", ["q1"])], "task1")
    calls.put_writes(first, [("__interrupt__", ["q2"])], "task2")
    calls.put_writes(second, [("__interrupt__", ["q1"])], "answered")
    calls.put_writes(second, [("__resume__", ["yes"])], "answered")
    calls.put_writes(second, [("n", 1)], "answered")
    calls.put_writes(second, [("__error__", ValueError("boom"))], "failed")
    calls.put_writes(third, [("__error__", ValueError("retried"))], "mended")
    calls.put_writes(third, [("n", 1)], "mended")

    newest, middle, oldest = calls.saver.headers("t")

    assert (oldest.interrupts, oldest.error) == (2, None)
    assert (middle.interrupts, middle.error) == (0, "ValueError('boom')")
    assert (newest.interrupts, newest.error) == (0, None)


def test_headers_read_no_value(calls: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    line(calls, "t", 3)

    def load(payload: Any) -> Any:
        raise AssertionError("a value was read")

    monkeypatch.setattr(calls.saver, "load", load)

    assert len([*calls.saver.headers("t")]) == 3


# -- versions and what cannot be kept ----------------------------------------------------------------------------------


def test_versions_rise_and_never_repeat(calls: Any) -> None:
    current, seen = None, []
    for _ in range(1100):
        current = calls.saver.get_next_version(current, None)
        seen.append(current)

    assert seen == sorted(seen)
    assert calls.saver.get_next_version(seen[0], None) not in seen
    assert calls.saver.get_next_version(seen[-1], None) > seen[-1]


@pytest.mark.parametrize("value", [lambda: None, 1j, object(), open, {"in": [object()]}], ids=repr)
def test_a_value_that_cannot_be_kept_is_refused_by_key_and_type_and_nothing_is_stored(calls: Any, value: Any) -> None:
    config = line(calls, "t", 1)[0]
    name = "object" if isinstance(value, dict) else type(value).__name__

    with pytest.raises(TypeError, match=f"Key 'bad'.*{name}"):
        calls.put(config, record({"ok": 1, "bad": value}, {"ok": "2", "bad": "2"}), META, {"ok": "2", "bad": "2"})
    with pytest.raises(TypeError, match=f"Key 'bad'.*{name}"):
        calls.put_writes(config, [("ok", 1), ("bad", value)], "task")
    with pytest.raises(TypeError, match=f"Key 'metadata.bad'.*{name}"):
        calls.put(config, record({}, {}), {**META, "bad": value}, {})

    assert len(calls.list(at("t"))) == 1
    assert calls.get_tuple(config).pending_writes == []


class Rot13:
    """A serialiser that somebody brought."""

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        kind, data = JsonPlusSerializer().dumps_typed(obj)
        return f"{kind}+turned", data[::-1]

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        kind, payload = data
        return JsonPlusSerializer().loads_typed((kind.removesuffix("+turned"), payload[::-1]))


@pytest.mark.parametrize("kind", KINDS)
def test_a_serialiser_of_ones_own_is_used_for_values(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as opened_saver:
        saver = type(opened_saver)(*([opened_saver.conn] if hasattr(opened_saver, "conn") else []), serde=Rot13())
        config = saver.put(at("t"), record({"x": ["secret"]}, {"x": "1"}), META, {"x": "1"})
        saver.put_writes(config, [("x", ["more"])], "task")

        assert saver.get(config)["channel_values"] == {"x": ["secret"]}
        assert saver.get_tuple(config).pending_writes == [("task", "x", ["more"])]
        if kind == "sqlite":
            reader = type(saver)(saver.conn)
            assert reader.get(config)["channel_values"]["x"].code == 4
            assert b"secret" not in b"".join(
                payload for (payload,) in saver.conn.execute("SELECT payload FROM channel_value")
            )


@pytest.mark.parametrize("kind", KINDS)
async def test_one_saver_serves_sync_and_async_code_at_once(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as saver:
        config = await saver.aput(at("t"), record({"x": 1}, {"x": "1"}), META, {"x": "1"})

        assert saver.get(config) == await saver.aget(config)
        assert [item.config for item in saver.list(at("t"))] == [item.config async for item in saver.alist(at("t"))]
