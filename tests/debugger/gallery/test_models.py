"""The scripted model is a chat model like any other."""

from __future__ import annotations

import time

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.tools import tool

from debugger.gallery.models import ScriptedModel, call, last_of, work


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


def rule(messages: list[BaseMessage]) -> AIMessage:
    if last_of(messages, "human") == "count":
        return call(messages, add, a=1, b=2)
    return AIMessage("one two three")


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Every pause, none of which is waited for."""
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    return pauses


def test_an_answer_streams_word_by_word(slept: list[float]) -> None:
    pieces = list(ScriptedModel(rule=rule).stream("hello"))
    assert [piece.content for piece in pieces if piece.content] == ["one", " two", " three"]
    assert len({piece.id for piece in pieces}) == 1
    assert slept == [0.025] * 3


def test_a_call_streams_as_the_same_call(slept: list[float]) -> None:
    model = ScriptedModel(rule=rule).bind_tools([add])
    whole = model.invoke([SystemMessage("be exact"), HumanMessage("count")])
    first, *others = model.stream([SystemMessage("be exact"), HumanMessage("count")])
    for piece in others:
        first += piece
    assert whole.tool_calls == first.tool_calls
    assert whole.tool_calls[0]["args"] == {"a": 1, "b": 2}
    assert whole.tool_calls[0]["id"] == "call_2"


def test_the_pace_can_be_set(slept: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORKPOINT_TOKEN_DELAY", "0.5")
    work(4)
    assert slept == [2.0]


def test_the_last_of_a_kind() -> None:
    messages = [HumanMessage("a"), AIMessage("b"), HumanMessage("c")]
    assert (last_of(messages, "human"), last_of(messages, "tool")) == ("c", "")
