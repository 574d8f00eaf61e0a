"""add_messages: ids, replacing, removing, coercion, sharing."""

from __future__ import annotations

import gc
from functools import partial
from typing import Any, get_type_hints

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, RemoveMessage, SystemMessage

from runtime.graph import message_index
from runtime.graph.message import REMOVE_ALL_MESSAGES, MessagesState, add_messages


def chat(n: int) -> list[Any]:
    return [HumanMessage(f"m{i}", id=str(i)) for i in range(n)]


def seen(messages: Any) -> list[tuple[Any, str | None]]:
    return [(m.content, m.id) for m in messages]


def test_new_messages_are_appended_and_old_ones_shared() -> None:
    left = chat(3)
    merged = add_messages(left, [AIMessage("a", id="a")])
    assert seen(merged) == [("m0", "0"), ("m1", "1"), ("m2", "2"), ("a", "a")]
    assert merged is not left
    assert len(left) == 3
    assert all(a is b for a, b in zip(left, merged, strict=False))


def test_a_known_id_replaces_in_place() -> None:
    left = chat(3)
    merged: Any = add_messages(left, AIMessage("new", id="1"))
    assert seen(merged) == [("m0", "0"), ("new", "1"), ("m2", "2")]
    assert left[1].content == "m1"


def test_the_last_of_two_with_one_id_counts() -> None:
    assert seen(add_messages([], [HumanMessage("a", id="x"), HumanMessage("b", id="x")])) == [("b", "x")]
    left = [HumanMessage("a", id="x"), HumanMessage("b", id="x")]
    assert seen(add_messages(left, [HumanMessage("c", id="x")])) == [("a", "x"), ("c", "x")]


def test_missing_ids_are_given_in_place_so_that_a_node_can_name_its_message() -> None:
    mine = AIMessage("a")
    merged: Any = add_messages([HumanMessage("h")], mine)
    assert merged[1] is mine
    assert mine.id is not None
    assert merged[0].id not in (None, mine.id)


def test_remove_message_removes_by_id() -> None:
    assert seen(add_messages(chat(3), [RemoveMessage(id="1")])) == [("m0", "0"), ("m2", "2")]


def test_removing_an_unknown_id_is_an_error_that_names_it() -> None:
    with pytest.raises(ValueError, match=r"delete a message with an ID that doesn't exist .'nope'."):
        add_messages(chat(2), [RemoveMessage(id="nope")])


def test_a_message_removed_and_given_again_stays_at_its_place() -> None:
    assert seen(add_messages(chat(2), [RemoveMessage(id="0"), HumanMessage("again", id="0")])) == [
        ("again", "0"),
        ("m1", "1"),
    ]


def test_a_message_removed_earlier_is_appended_when_it_comes_back() -> None:
    left = add_messages(chat(2), [RemoveMessage(id="0")])
    assert seen(add_messages(left, [HumanMessage("back", id="0")])) == [("m1", "1"), ("back", "0")]


def test_remove_all_drops_everything_before_it() -> None:
    right = [HumanMessage("lost", id="l"), RemoveMessage(id=REMOVE_ALL_MESSAGES), HumanMessage("kept", id="k")]
    assert seen(add_messages(chat(3), right)) == [("kept", "k")]
    assert add_messages(chat(3), [RemoveMessage(id=REMOVE_ALL_MESSAGES)]) == []


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ("hi", HumanMessage),
        (("system", "hi"), SystemMessage),
        ({"role": "assistant", "content": "hi"}, AIMessage),
        ({"type": "human", "content": "hi"}, HumanMessage),
        (AIMessageChunk("hi"), AIMessage),
    ],
)
def test_everything_like_a_message_becomes_one(given: Any, kind: type) -> None:
    for right in (given, [given]):
        merged: Any = add_messages([], right)
        assert [type(m) for m in merged] == [kind]
        assert merged[0].content == "hi"
        assert merged[0].id


def test_what_cannot_be_a_message_is_refused() -> None:
    with pytest.raises(NotImplementedError, match="Unsupported message type"):
        add_messages([], [5])  # type: ignore[list-item]  # that is the point


def test_one_side_alone_is_an_error_and_none_gives_a_reducer() -> None:
    with pytest.raises(ValueError, match="Only received: 'left'"):
        add_messages([], None)  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="Only received: 'right'"):
        add_messages(None, [])  # type: ignore[call-overload]
    reducer: Any = add_messages(format="langchain-openai")
    assert isinstance(reducer, partial)
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "eA=="}}
    (message,) = reducer([], [HumanMessage([picture])])
    assert message.content == [{"type": "image_url", "image_url": {"url": "data:image/png;base64,eA=="}}]


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(ValueError, match="Unrecognized format='xml'"):
        add_messages([], [], format="xml")  # type: ignore[call-overload]


def test_messages_state_can_be_extended() -> None:
    class State(MessagesState):
        summary: str

    hints = get_type_hints(State, include_extras=True)
    assert set(hints) == {"messages", "summary"}
    assert hints["messages"].__metadata__ == (add_messages,)


def test_a_list_changed_in_place_is_looked_at_again() -> None:
    merged: Any = add_messages(chat(3), [AIMessage("a", id="a")])
    merged[0] = HumanMessage("swapped", id="swapped")
    assert seen(add_messages(merged, [RemoveMessage(id="swapped")])) == [("m1", "1"), ("m2", "2"), ("a", "a")]
    with pytest.raises(ValueError, match="'0'"):
        add_messages(merged, [RemoveMessage(id="0")])


def test_two_lists_grown_from_one_do_not_see_each_other() -> None:
    base: Any = add_messages(chat(2), [])
    one = add_messages(base, [AIMessage("one", id="x")])
    two = add_messages(base, [AIMessage("y", id="y"), AIMessage("two", id="x")])
    assert seen(add_messages(one, [AIMessage("ONE", id="x")]))[2:] == [("ONE", "x")]
    assert seen(add_messages(two, [AIMessage("TWO", id="x")]))[2:] == [("y", "y"), ("TWO", "x")]
    with pytest.raises(ValueError, match="'y'"):
        add_messages(one, [RemoveMessage(id="y")])


def test_no_chat_is_kept_alive_by_its_index() -> None:
    merged: Any = add_messages(chat(5), [AIMessage("a", id="a")])
    key = id(merged[-1])
    assert key in message_index._entries
    del merged
    gc.collect()
    assert key not in message_index._entries
