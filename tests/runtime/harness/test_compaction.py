"""Compaction keeps what a model must see together, and touches nothing that is stored."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from runtime.harness import ContextCompactor, history_problems


def turns(draw: Any) -> list[dict[str, Any]]:
    """A valid history: a user's turn, then perhaps calls with their results, then an answer."""
    found: list[dict[str, Any]] = []
    for number in range(draw(st.integers(0, 8))):
        found.append({"role": "user", "content": f"u{number}"})
        calls = [f"{number}.{call}" for call in range(draw(st.integers(0, 3)))]
        if calls:
            found.append({"role": "assistant", "content": "", "tool_calls": [{"id": call} for call in calls]})
            found += [{"role": "tool", "content": "r" * 10, "tool_call_id": call} for call in calls]
        found.append({"role": "assistant", "content": f"a{number}"})
    return found


@given(data=st.data(), limit=st.integers(1, 12), keep=st.integers(0, 8), system=st.booleans())
def test_a_projection_is_valid_and_the_history_untouched(data: Any, limit: int, keep: int, system: bool) -> None:
    history = ([{"role": "system", "content": "rules"}] if system else []) + turns(data.draw)
    before = copy.deepcopy(history)
    compactor = ContextCompactor(max_messages=limit, keep_recent=keep)
    shown = compactor.maybe_compact(history)
    assert history == before
    assert (shown is None) == (compactor.compactions == 0)
    if shown is not None:
        assert [p for p in history_problems(shown) if "begins with" not in p] == []
        kept = shown[1 + system :]
        assert kept == history[len(history) - len(kept) :]
        assert len(kept) >= min(keep, len(history) - system)


def test_tokens_and_tool_results_have_limits_of_their_own() -> None:
    talk = [{"role": "user", "content": "a b c"}, {"role": "assistant", "content": "d"}]
    words = ContextCompactor(
        max_tokens=3, keep_recent=1, count_tokens=lambda ms: sum(len(m["content"].split()) for m in ms)
    )
    assert words.needs_compaction(talk)
    assert not words.needs_compaction(talk[:1])
    results = ContextCompactor(max_tool_chars=5, keep_recent=1)
    assert results.needs_compaction([{"role": "tool", "content": "123456"}])
    assert not results.needs_compaction([{"role": "tool", "content": "12345"}, {"role": "user", "content": "1" * 99}])


def test_messages_of_langchain_stay_messages() -> None:
    call = {"name": "f", "args": {}, "id": "c", "type": "tool_call"}
    history = [
        SystemMessage("rules"),
        HumanMessage("1"),
        AIMessage("2"),
        HumanMessage("3"),
        AIMessage("", tool_calls=[call]),
        ToolMessage("r", tool_call_id="c"),
    ]
    shown = ContextCompactor(max_messages=3, keep_recent=1).maybe_compact(history)
    assert shown is not None
    assert [type(message).__name__ for message in shown] == [
        "SystemMessage",
        "SystemMessage",
        "AIMessage",
        "ToolMessage",
    ]
    assert shown[1].content == "[历史摘要] 已折叠 3 条早期消息 (assistantx1, userx2)"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"max_messages": 0}, "max_messages is 0"),
        ({"keep_recent": -1}, "keep_recent is -1"),
        ({"keep_recent": "6"}, "keep_recent is '6'"),
        ({"max_tokens": 5}, "count_tokens"),
    ],
)
def test_limits_that_make_no_sense_are_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        ContextCompactor(**options)


@pytest.mark.parametrize(
    ("history", "problems"),
    [
        ([{"role": "user", "content": ""}], 0),
        ([{"role": "assistant", "content": ""}], 1),
        ([{"role": "user"}, {"role": "tool", "tool_call_id": "x"}], 1),
        ([{"role": "user"}, {"role": "assistant", "tool_calls": [{"id": "x"}]}], 1),
        ([{"role": "user"}, {"role": "assistant", "tool_calls": [{"id": "x"}]}, {"role": "assistant"}], 1),
        ([HumanMessage("1"), AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": "x"}]), HumanMessage("2")], 1),
        (
            [
                {"role": "user"},
                {"role": "assistant", "tool_calls": [{"id": "x"}]},
                {"role": "tool", "tool_call_id": "x"},
            ],
            0,
        ),
    ],
)
def test_what_is_wrong_with_a_history(history: list[Any], problems: int) -> None:
    assert len(history_problems(history)) == problems
