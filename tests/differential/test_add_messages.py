"""`add_messages` of both runtimes on the same generated chats gives the same lists."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, RemoveMessage
from langgraph.graph.message import add_messages as reference

from runtime.graph.message import REMOVE_ALL_MESSAGES, add_messages

IDS = st.sampled_from([None, "a", "b", "c", "d"])
TEXT = st.sampled_from(["x", "y", "z"])


def message(kind: Callable[..., Any]) -> st.SearchStrategy[Any]:
    return st.tuples(TEXT, IDS).map(lambda drawn: kind(drawn[0], id=drawn[1]))


MESSAGE = st.one_of(
    message(HumanMessage),
    message(AIMessage),
    message(AIMessageChunk),
    st.sampled_from(["a", "b", "c", REMOVE_ALL_MESSAGES]).map(lambda known: RemoveMessage(id=known)),
    st.tuples(st.sampled_from(["user", "ai", "system"]), TEXT),
    st.fixed_dictionaries({"role": st.just("user"), "content": TEXT}),
    TEXT,
)
TURN = st.one_of(st.lists(MESSAGE, max_size=5), message(HumanMessage))


def run(reducer: Callable[..., Any], turns: list[Any]) -> list[Any]:
    """Every list on the way, ids that the reducer made written as their first use; an error ends it."""
    state: Any = []
    seen: list[Any] = []
    names: dict[str, str] = {}
    for turn in copy.deepcopy(turns):
        try:
            state = reducer(state, turn)
        except (ValueError, NotImplementedError) as error:
            return [*seen, (type(error), str(error))]
        seen.append(
            [
                (type(m), m.content, m.id if len(m.id or "") < 20 else names.setdefault(m.id, f"new{len(names)}"))
                for m in state
            ]
        )
    return seen


@given(st.lists(TURN, max_size=8))
def test_the_same_turns_give_the_same_chat(turns: list[Any]) -> None:
    assert run(add_messages, turns) == run(reference, turns)


@given(st.lists(message(HumanMessage), max_size=6), TURN)
def test_a_chat_that_no_merge_made_gives_the_same(left: list[Any], right: Any) -> None:
    def once(reducer: Callable[..., Any]) -> list[Any]:
        return run(lambda _, turn: reducer(copy.deepcopy(left), turn), [right])

    assert once(add_messages) == once(reference)
