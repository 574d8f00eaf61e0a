"""What tools get from the graph, and what a model cannot set."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import InjectedToolCallId, tool
from pydantic import BaseModel
from typing_extensions import TypedDict

from runtime.graph import START, StateGraph
from runtime.prebuilt import InjectedState, InjectedStore, ToolNode, ToolRuntime
from runtime.prebuilt.injection import injected_arguments
from runtime.store.base import BaseStore
from runtime.store.memory import InMemoryStore


@tool
def all_of_it(a: int, state: Annotated[dict[str, Any], InjectedState]) -> list[str]:
    """See the state."""
    return sorted(state)


@tool
def one_key(a: int, city: Annotated[str, InjectedState("city")]) -> str:
    """See a key."""
    return city


@tool
def maybe(a: int, city: Annotated[str, InjectedState("city")] = "nowhere") -> str:
    """See a key that may be missing."""
    return city


@tool
def who(a: int, call: Annotated[str, InjectedToolCallId]) -> str:
    """See its call."""
    return call


@tool
def remembers(a: int, store: Annotated[Any, InjectedStore()]) -> str:
    """See the store."""
    return type(store).__name__


@tool
def knows(a: int, runtime: ToolRuntime[Any, Any]) -> Any:
    """See the run."""
    runtime.stream_writer("looking")
    return [
        sorted(runtime.state),
        runtime.context,
        runtime.tool_call_id,
        type(runtime.store).__name__,
        runtime.config["metadata"]["langgraph_node"],
        [t.name for t in runtime.tools],
    ]


def run(tool: Any, state: Any, args: dict[str, Any] | None = None) -> str:
    call = AIMessage("", tool_calls=[{"name": tool.name, "args": args or {"a": 1}, "id": "c0"}])
    out = ToolNode([tool]).invoke({**state, "messages": [call]})
    return str(out["messages"][0].content)


def test_state_and_call_id_come_from_the_graph() -> None:
    assert run(all_of_it, {"city": "Oslo"}) == '["city", "messages"]'
    assert run(one_key, {"city": "Oslo"}) == "Oslo"
    assert run(who, {}) == "c0"


def test_a_model_cannot_set_what_is_injected() -> None:
    assert run(one_key, {"city": "Oslo"}, {"a": 1, "city": "Evil"}) == "Oslo"
    assert run(maybe, {}, {"a": 1, "city": "Evil"}) == "nowhere"


def test_a_default_serves_where_the_state_lacks_the_key() -> None:
    assert run(maybe, {}) == "nowhere"
    assert run(maybe, {"city": "Oslo"}) == "Oslo"
    with pytest.raises(KeyError, match=r"city"):
        run(one_key, {})


def test_a_list_of_messages_is_a_state_of_messages_only() -> None:
    call = AIMessage("", tool_calls=[{"name": "all_of_it", "args": {"a": 1}, "id": "c0"}])
    assert ToolNode([all_of_it]).invoke([call])[0].content == '["messages"]'
    call = AIMessage("", tool_calls=[{"name": "one_key", "args": {"a": 1}, "id": "c0"}])
    with pytest.raises(ValueError, match=r"Tool one_key requires graph state dict as input.*city"):
        ToolNode([one_key]).invoke([call])


def test_a_store_is_needed_where_a_tool_wants_one() -> None:
    with pytest.raises(ValueError, match=r"tool 'remembers' wants one.*compile your graph with a store"):
        run(remembers, {})


class State(TypedDict):
    out: Any


def in_graph(node: Any, **options: Any) -> Any:
    builder = StateGraph(State)
    builder.add_node("tools", node)
    builder.add_edge(START, "tools")
    return builder.compile(**options)


def test_a_tool_sees_the_run_around_it() -> None:
    call = AIMessage("", tool_calls=[{"name": "knows", "args": {"a": 1}, "id": "c7"}])
    inner = ToolNode([knows, remembers])

    def node(state: State, config: Any) -> dict[str, Any]:
        return {"out": inner.invoke({"messages": [call]}, config)["messages"][0].content}

    graph = in_graph(node, store=InMemoryStore())
    chunks = list(graph.stream({"out": 0}, stream_mode=["custom", "values"], context={"user": "ann"}))
    assert ("custom", "looking") in chunks
    assert chunks[-1][1]["out"] == (
        '[["messages"], {"user": "ann"}, "c7", "InMemoryStore", "tools", ["knows", "remembers"]]'
    )


def test_a_bare_list_of_calls_sees_the_state_of_the_graph() -> None:
    call = {"name": "all_of_it", "args": {"a": 1}, "id": "c0", "type": "tool_call"}
    inner = ToolNode([all_of_it])
    graph = in_graph(lambda state, config: {"out": inner.invoke([call], config)["messages"][0].content})
    assert graph.invoke({"out": "before"})["out"] == '["out"]'


def test_nothing_injected_is_in_what_a_model_sees() -> None:
    for each in (all_of_it, one_key, maybe, who, remembers, knows):
        schema: Any = each.tool_call_schema
        assert list(schema.model_fields) == ["a"]


def test_marks_are_found_in_an_argument_schema() -> None:
    class Arguments(BaseModel):
        a: int
        state: Annotated[dict[str, Any], InjectedState]
        store: Annotated[BaseStore | None, InjectedStore()] = None

        model_config = {"arbitrary_types_allowed": True}

    @tool(args_schema=Arguments)
    def described(a: int, state: Any, store: Any = None) -> str:
        """Described elsewhere."""
        return ""

    found = injected_arguments(described)
    assert (sorted(found.state), found.stores, sorted(found.names)) == (["state"], ("store",), ["state", "store"])
