"""ToolNode in a graph and alone, and the router before it."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from pydantic import BaseModel

from runtime.checkpoint.memory import InMemorySaver
from runtime.graph import END, START, MessagesState, StateGraph
from runtime.prebuilt import ToolNode, tools_condition
from runtime.types import Command, Send


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


@tool(response_format="content_and_artifact")
def picture(name: str) -> tuple[str, dict[str, str]]:
    """Draw."""
    return f"drew {name}", {"svg": name}


def calls(*wanted: tuple[str, dict[str, Any]]) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": n, "args": a, "id": f"c{i}"} for i, (n, a) in enumerate(wanted)])


ADD = calls(("add", {"a": 1, "b": 2}))


def told(message: Any) -> tuple[Any, ...]:
    return message.content, message.name, message.tool_call_id, message.status


def test_a_dict_gives_a_dict_and_a_list_a_list() -> None:
    node = ToolNode([add])
    assert [told(m) for m in node.invoke({"messages": [ADD]})["messages"]] == [("3", "add", "c0", "success")]
    assert [told(m) for m in node.invoke([HumanMessage("x"), ADD])] == [("3", "add", "c0", "success")]
    assert [told(m) for m in node.invoke(ADD.tool_calls)["messages"]] == [("3", "add", "c0", "success")]


def test_models_and_dataclasses_are_states_too() -> None:
    class Model(BaseModel):
        messages: list[Any]

    @dataclass
    class Data:
        messages: list[Any]

    for state in (Model(messages=[ADD]), Data([ADD])):
        assert told(ToolNode([add]).invoke(state)["messages"][0])[0] == "3"


def test_one_call_can_come_with_its_state() -> None:
    sent = {"__type": "tool_call_with_context", "tool_call": ADD.tool_calls[0], "state": {}}
    assert told(ToolNode([add]).invoke(sent)["messages"][0])[0] == "3"


def test_the_messages_may_have_another_key() -> None:
    assert told(ToolNode([add], messages_key="chat").invoke({"chat": [ADD]})["chat"][0])[0] == "3"


def test_functions_become_tools() -> None:
    def shout(text: str) -> str:
        """Shout."""
        return text.upper()

    node = ToolNode([shout])
    assert list(node.tools_by_name) == ["shout"]
    assert told(node.invoke([calls(("shout", {"text": "hey"}))])[0])[0] == "HEY"


def test_the_calls_of_the_last_ai_message_are_run() -> None:
    later = [ADD, calls(("add", {"a": 5, "b": 5})), HumanMessage("wait")]
    assert [told(m)[0] for m in ToolNode([add]).invoke(later)] == ["10"]
    assert ToolNode([add]).invoke({"messages": [AIMessage("no calls")]}) == {"messages": []}


@pytest.mark.parametrize("state", [{}, {"messages": []}, [], 5])
def test_no_message_is_an_error(state: Any) -> None:
    with pytest.raises(ValueError, match=r"No message found in input.*'messages'"):
        ToolNode([add]).invoke(state)


def test_no_ai_message_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"No AIMessage found in input"):
        ToolNode([add]).invoke([HumanMessage("x")])


def test_an_unknown_tool_is_told_to_the_model_with_those_there_are() -> None:
    (message,) = ToolNode([add, picture]).invoke([calls(("nope", {}))])
    assert told(message) == (
        "Error: nope is not a valid tool, try one of [add, picture].",
        "nope",
        "c0",
        "error",
    )


def test_an_artifact_goes_beside_the_content() -> None:
    (message,) = ToolNode([picture]).invoke([calls(("picture", {"name": "cat"}))])
    assert (message.content, message.artifact) == ("drew cat", {"svg": "cat"})


def test_calls_run_side_by_side_and_answers_keep_their_order() -> None:
    both = threading.Barrier(2, timeout=5)

    @tool
    def meet(name: str) -> str:
        """Wait for the other."""
        both.wait()
        return name

    out = ToolNode([meet]).invoke([calls(("meet", {"name": "x"}), ("meet", {"name": "y"}))])
    assert [told(m)[0] for m in out] == ["x", "y"]


async def test_async_tools_run_with_ainvoke_beside_sync_ones() -> None:
    @tool
    async def later(text: str) -> str:
        """Async."""
        return f"later {text}"

    out = await ToolNode([later, add]).ainvoke([calls(("later", {"text": "x"}), ("add", {"a": 1, "b": 1}))])
    assert [told(m)[0] for m in out] == ["later x", "2"]
    assert told((await ToolNode([add]).ainvoke([ADD]))[0])[0] == "3"
    with pytest.raises(NotImplementedError, match=r"sync"):
        ToolNode([later]).invoke([calls(("later", {"text": "x"}))])


def test_a_wrapper_sees_and_changes_a_call() -> None:
    seen: list[Any] = []

    def wrap(request: Any, execute: Any) -> Any:
        seen.append((request.tool_call["name"], request.tool, sorted(request.state)))
        return execute(request.override(tool_call={**request.tool_call, "args": {"a": 10, "b": 1}}))

    out = ToolNode([add], wrap_tool_call=wrap).invoke({"messages": [ADD], "more": 1})
    assert told(out["messages"][0])[0] == "11"
    assert seen == [("add", add, ["messages", "more"])]


def test_a_wrapper_may_answer_for_a_tool_that_is_not_there() -> None:
    def wrap(request: Any, execute: Any) -> Any:
        assert request.tool is None
        return ToolMessage("made up", tool_call_id=request.tool_call["id"])

    (message,) = ToolNode([add], wrap_tool_call=wrap).invoke([calls(("nope", {}))])
    assert message.content == "made up"


async def test_sync_and_async_wrappers_work_with_ainvoke() -> None:
    async def awrap(request: Any, execute: Any) -> Any:
        return await execute(request)

    for node in (
        ToolNode([add], awrap_tool_call=awrap),
        ToolNode([add], wrap_tool_call=lambda request, execute: execute(request)),
    ):
        assert told((await node.ainvoke([ADD]))[0])[0] == "3"


def test_in_a_graph_the_loop_of_model_and_tools_ends() -> None:
    answers = iter([ADD, AIMessage("It is 3.")])
    builder = StateGraph(MessagesState)
    builder.add_node("agent", lambda s: {"messages": [next(answers)]}).add_node("tools", ToolNode([add]))
    builder.add_edge(START, "agent").add_conditional_edges("agent", tools_condition).add_edge("tools", "agent")
    out = builder.compile(checkpointer=InMemorySaver()).invoke(
        {"messages": [("user", "1 + 2?")]}, {"configurable": {"thread_id": "t"}}
    )
    assert [m.content for m in out["messages"]] == ["1 + 2?", "", "3", "It is 3."]


def test_a_tool_that_returns_a_command_updates_and_jumps() -> None:
    class State(MessagesState):
        mood: str

    @tool
    def cheer(tool_call_id: str, config: RunnableConfig) -> Any:
        """Cheer up."""
        return Command(
            update={"mood": "good", "messages": [ToolMessage("done", tool_call_id="c0")]}, goto=[Send("note", "!")]
        )

    builder = StateGraph(State)
    builder.add_node("tools", ToolNode([cheer]), destinations=("note",))
    builder.add_node("note", lambda mark: {"messages": [HumanMessage(f"noted{mark}")]})
    builder.add_edge(START, "tools")
    out = builder.compile().invoke({"messages": [calls(("cheer", {"tool_call_id": "c0"}))]})
    assert out["mood"] == "good"
    assert [m.content for m in out["messages"]] == ["", "done", "noted!"]


@pytest.mark.parametrize(
    ("state", "goes"),
    [
        ([ADD], "tools"),
        ([AIMessage("x")], END),
        ({"messages": [ADD]}, "tools"),
        ({"messages": [ADD, HumanMessage("x")]}, END),
    ],
)
def test_tools_condition_looks_at_the_last_message(state: Any, goes: str) -> None:
    assert tools_condition(state) == goes


def test_tools_condition_needs_a_message() -> None:
    assert tools_condition({"chat": [ADD]}, messages_key="chat") == "tools"
    empty: list[Any] = [{}, [], {"messages": []}]
    for state in empty:
        with pytest.raises(ValueError, match=r"No messages found in input state"):
            tools_condition(state)
