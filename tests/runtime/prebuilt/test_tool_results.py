"""What tools may return, and what a node makes of it."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import HumanMessage, RemoveMessage, ToolMessage

from runtime.graph.message import REMOVE_ALL_MESSAGES
from runtime.prebuilt.tool_results import check_answer, combine, msg_content_output
from runtime.types import Command, Send


def answer(call_id: str = "c0", text: str = "x") -> ToolMessage:
    return ToolMessage(text, tool_call_id=call_id)


@pytest.mark.parametrize(
    ("output", "content"),
    [
        ("text", "text"),
        (1, "1"),
        (None, "null"),
        ({"k": "é"}, '{"k": "é"}'),
        ([{"type": "text", "text": "x"}], [{"type": "text", "text": "x"}]),
        ([{"type": "strange"}], '[{"type": "strange"}]'),
        ({1, 2}, "{1, 2}"),
    ],
)
def test_results_become_content(output: Any, content: Any) -> None:
    assert msg_content_output(output) == content


def test_a_command_must_answer_its_call() -> None:
    good: Command[Any] = Command(update={"messages": [answer()], "more": 1})
    signed: Any = check_answer("t", "c0", good, "dict", "messages")
    assert signed.update["messages"][0].name == "t"
    assert good.update["messages"][0].name is None, "the tool's own message is left as it was"
    for update in ({"more": 1}, {"messages": [answer("other")]}, {"messages": [HumanMessage("x")]}):
        with pytest.raises(ValueError, match=r"Expected to have a matching ToolMessage in Command.update for tool 't'"):
            check_answer("t", "c0", Command(update=update), "dict", "messages")


@pytest.mark.parametrize(
    "command",
    [
        Command(goto="x"),
        Command(graph=Command.PARENT, update={"more": 1}),
        Command(update={"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES)]}),
    ],
)
def test_some_commands_need_no_answer(command: Command[Any]) -> None:
    assert check_answer("t", "c0", command, "dict", "messages") == command


def test_an_update_has_the_shape_of_the_input() -> None:
    with pytest.raises(ValueError, match=r"dict in Command.update only"):
        check_answer("t", "c0", Command(update={"messages": [answer()]}), "list", "messages")
    with pytest.raises(ValueError, match=r"list of messages in Command.update only"):
        check_answer("t", "c0", Command(update=[answer()]), "dict", "messages")
    signed: Any = check_answer("t", "c0", Command(update=[answer()]), "list", "messages")
    assert signed.update[0].name == "t"


def test_a_list_must_hold_exactly_one_answer() -> None:
    parts = [answer(), Command(update={"more": 1})]
    assert check_answer("t", "c0", parts, "dict", "messages") == parts
    for wrong in ([Command(goto="x")], [answer(), answer()], [answer("other"), Command(goto="x")]):
        with pytest.raises(ValueError, match=r"exactly one terminating ToolMessage"):
            check_answer("t", "c0", wrong, "dict", "messages")


def test_anything_else_is_a_type_error() -> None:
    with pytest.raises(TypeError, match=r"Tool t returned unexpected type: <class 'int'>"):
        check_answer("t", "c0", 5, "dict", "messages")


def test_messages_alone_have_the_shape_of_the_input() -> None:
    one, two = answer("c0"), answer("c1")
    assert combine([one, two], "list", "messages") == [one, two]
    assert combine([one, [two]], "dict", "chat") == {"chat": [one, two]}
    assert combine([], "tool_calls", "messages") == {"messages": []}


def test_with_commands_each_answer_stands_alone() -> None:
    one, jump = answer("c0"), Command(goto="x")
    assert combine([one, jump], "dict", "messages") == [{"messages": [one]}, jump]
    assert combine([one, jump], "list", "messages") == [[one], jump]


def test_sends_to_the_parent_become_one_jump_and_updates_are_kept() -> None:
    def up(value: int, update: Any = None) -> Command[Any]:
        return Command(graph=Command.PARENT, goto=[Send("x", value)], update=update)

    assert combine([up(1), up(2), up(3, {"z": 1})], "dict", "messages") == [
        up(3, {"z": 1}),
        Command(graph=Command.PARENT, goto=[Send("x", 1), Send("x", 2)]),
    ]
