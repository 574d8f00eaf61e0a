"""Session stores: every record survives what happens around it."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from runtime.harness import SessionStore

WRITER = """
import sys
from runtime.harness import SessionStore
store = SessionStore(sys.argv[1])
for number in range(int(sys.argv[3])):
    store.append("t", [{"role": "user", "content": f"{sys.argv[2]} {number}"}])
"""


@pytest.fixture(params=["memory", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> SessionStore:
    return SessionStore(None if request.param == "memory" else tmp_path / "sessions.jsonl")


def test_messages_of_langchain_are_stored_as_chat_apis_write_them(store: SessionStore) -> None:
    call = {"name": "f", "args": {"x": 1}, "id": "c", "type": "tool_call"}
    store.append(
        "t", [HumanMessage("hi", id="m"), AIMessage("", tool_calls=[call]), ToolMessage("1", tool_call_id="c")]
    )
    first, second, third = store.messages("t")
    assert first == {"role": "user", "content": "hi", "id": "m"}
    assert second["tool_calls"][0]["id"] == third["tool_call_id"] == "c"


@pytest.mark.parametrize(
    ("messages", "meta", "says"),
    [
        ([{"role": "user", "content": {1, 2}}], {}, r"messages\[0\]\['content'\] is a set"),
        ([{"role": "user"}, "text"], {}, r"messages\[1\] is a str"),
        ([{1: 2}], {}, r"messages\[0\] has the key 1"),
        ([], {"score": float("nan")}, r"meta\['score'\] is nan"),
        ([], {"deep": [{"x": object()}]}, r"meta\['deep'\]\[0\]\['x'\] is a object"),
    ],
)
def test_what_json_cannot_hold_is_named_and_nothing_is_stored(
    store: SessionStore, messages: list[object], meta: dict[str, object], says: str
) -> None:
    store.append("t", [])
    with pytest.raises(TypeError, match=says):
        store.append("t", messages, meta)
    assert [record["seq"] for record in store.load("t")] == [0]


@pytest.mark.parametrize("thread_id", ["", None, 3])
def test_a_thread_id_is_a_text(store: SessionStore, thread_id: object) -> None:
    with pytest.raises(TypeError, match="thread_id is"):
        store.append(thread_id, [])  # type: ignore[arg-type]
    assert store.list_threads() == []


def test_what_is_read_can_be_changed_without_harm(store: SessionStore) -> None:
    store.append("t", [{"role": "user", "content": ["a"]}])
    store.load("t")[0]["messages"][0]["content"].append("b")
    store.append("t", [])["meta"]["late"] = 1
    assert store.load("t")[0]["messages"][0]["content"] == ["a"]
    assert store.load("t")[1]["meta"] == {}


def test_processes_that_append_at_once_give_each_record_its_own_number(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "sessions.jsonl"
    root = str(Path(__file__).parents[3])
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), name, "40"], cwd=root) for name in ("a", "b", "c")
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    records = SessionStore(path).load("t")
    assert [record["seq"] for record in records] == list(range(120))
    assert len({record["messages"][0]["content"] for record in records}) == 120


def test_a_store_that_was_open_sees_a_delete_and_an_append_of_another(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    one, other = SessionStore(path), SessionStore(path)
    one.append("a", [])
    one.append("b", [])
    assert other.list_threads() == ["a", "b"]
    other.delete("a")
    assert one.append("a", [])["seq"] == 0
    assert [len(one.load(t)) for t in ("a", "b")] == [len(other.load(t)) for t in ("a", "b")] == [1, 1]


def test_a_delete_keeps_the_lines_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    store = SessionStore(path)
    store.append("a", [])
    with path.open("a") as file:
        file.write("not json\n")
    store.append("b", [])
    store.delete("a")
    assert store.bad_lines == 1
    assert "not json\n" in path.read_text()
    assert [file.name for file in tmp_path.iterdir()] == ["s.jsonl"]


def test_a_delete_that_fails_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.jsonl"
    store = SessionStore(path)
    store.append("a", [])
    before = path.read_bytes()

    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        store.delete("a")
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["s.jsonl"]


JUNK = st.one_of(
    st.binary(max_size=20).map(lambda raw: raw.replace(b"\n", b"")),
    st.sampled_from(
        [b"[1]", b'{"no": 1}', b'{"thread_id": "a"', b"null", b'{"thread_id": 3, "seq": 0, "messages": []}']
    ),
)
STEPS = st.lists(st.one_of(st.tuples(st.just("append"), st.sampled_from("ab")), st.tuples(st.just("junk"), JUNK)))


@given(steps=STEPS, torn=st.booleans())
def test_one_bad_line_never_hides_the_rest(steps: list[tuple[str, object]], torn: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.jsonl"
        seen = {"a": 0, "b": 0}
        for kind, value in steps:
            if kind == "append":
                record = SessionStore(path).append(str(value), [{"role": "user", "content": "x"}])
                assert record["seq"] == seen[str(value)]
                seen[str(value)] += 1
            else:
                with path.open("ab") as file:  # a line of its own; the last may be torn
                    file.write(b"\n" + value + (b"" if torn else b"\n"))  # type: ignore[operator]
        found = SessionStore(path)
        assert {thread: len(found.load(thread)) for thread in "ab"} == seen
        readable = sum(1 for line in path.read_bytes().splitlines() if _is_json(line)) if path.exists() else 0
        assert readable >= sum(seen.values())


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True
