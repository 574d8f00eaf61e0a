"""Programs with messages, models and tools."""

import importlib
from typing import Annotated, Any

from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId, tool
from twins import Player, program, thread
from typing_extensions import TypedDict


def calling(*calls: tuple[str, dict[str, Any]]) -> AIMessage:
    return AIMessage(
        "", id="fixed", tool_calls=[{"name": name, "args": args, "id": f"c{i}"} for i, (name, args) in enumerate(calls)]
    )


@tool
def weather(city: str) -> str:
    "Weather of a city."
    return f"{city}: fine"


def agent_loop(lib: Any, tools: Any, *answers: Any, **options: Any) -> Any:
    script = iter(answers)

    def agent(state: Any) -> dict[str, Any]:
        return {"messages": [next(script)]}

    builder = lib.StateGraph(lib.MessagesState)
    builder.add_node(agent).add_node("tools", tools)
    builder.add_edge(lib.START, "agent").add_conditional_edges("agent", lib.tools_condition).add_edge("tools", "agent")
    return builder.compile(checkpointer=lib.InMemorySaver(), **options)


@program()
def an_agent_loop(lib: Any, it: Player) -> None:
    graph = agent_loop(lib, lib.ToolNode([weather]), calling(("weather", {"city": "Oslo"})), AIMessage("Fine.", id="2"))
    it.run(graph, {"messages": [HumanMessage("Oslo?", id="u")]}, thread())
    it.history(graph, thread())


@program()
def tokens_of_a_model(lib: Any, it: Player) -> None:
    model = GenericFakeChatModel(messages=iter([AIMessage("one two"), AIMessage("three four")]))

    def plain(state: Any) -> dict[str, Any]:
        return {"messages": [model.invoke(state["messages"])]}

    async def awaited(state: Any) -> dict[str, Any]:
        return {"messages": [await model.ainvoke(state["messages"])]}

    builder = lib.StateGraph(lib.MessagesState)
    builder.add_node("say", awaited if it.manner.is_async else plain).add_edge(lib.START, "say")
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, {"messages": [HumanMessage("hi", id="h")]}, thread())
    it.run(graph, {"messages": [HumanMessage("hi", id="h2")]}, thread())


@program()
def messages_that_nodes_return_and_remove(lib: Any, it: Player) -> None:
    def add(state: Any) -> dict[str, Any]:
        return {"messages": [AIMessage("a", id="a"), HumanMessage("b", id="b")]}

    def remove(state: Any) -> dict[str, Any]:
        return {"messages": [RemoveMessage(id="a"), HumanMessage("B", id="b")]}

    def clear(state: Any) -> dict[str, Any]:
        return {"messages": [RemoveMessage(id=lib.REMOVE_ALL_MESSAGES), AIMessage("last", id="l")]}

    builder = lib.StateGraph(lib.MessagesState)
    builder.add_node(add).add_node(remove).add_node(clear)
    builder.add_edge(lib.START, "add").add_edge("add", "remove").add_edge("remove", "clear")
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, {"messages": "hello"}, thread())
    it.history(graph, thread())


@program()
def a_tool_that_writes_and_commands(lib: Any, it: Player) -> None:
    def note(text: str, runtime: Any, tool_call_id: Annotated[str, InjectedToolCallId]) -> Any:
        "Note a text."
        runtime.stream_writer(f"noting {text}")
        return lib.Command(update={"messages": [ToolMessage(f"noted {text}", tool_call_id=tool_call_id, id="tm")]})

    note.__annotations__["runtime"] = lib.ToolRuntime
    graph = agent_loop(lib, lib.ToolNode([note]), calling(("note", {"text": "x"})), AIMessage("Done.", id="2"))
    it.run(graph, {"messages": [HumanMessage("note x", id="u")]}, thread())
    it.history(graph, thread())


@program()
def a_tool_that_asks(lib: Any, it: Player) -> None:
    def buy(what: str) -> str:
        "Buy something."
        return f"bought {what}: {lib.interrupt({'buy': what})}"

    graph = agent_loop(lib, lib.ToolNode([buy]), calling(("buy", {"what": "tea"})), AIMessage("Done.", id="2"))
    it.run(graph, {"messages": [HumanMessage("tea", id="u")]}, thread())
    it.state(graph, thread())
    it.run(graph, lib.Command(resume="ok"), thread())
    it.history(graph, thread())


@program()
def a_tool_that_fails(lib: Any, it: Player) -> None:
    def fail(a: int) -> str:
        "Fail."
        raise ValueError(f"bad {a}")

    for handle in (True, False, "told"):
        node = lib.ToolNode([fail], handle_tool_errors=handle)
        graph = agent_loop(lib, node, calling(("fail", {"a": 1})), AIMessage("Done.", id="2"))
        it.run(graph, {"messages": [HumanMessage("x", id="u")]}, thread())
        it.state(graph, thread())


@program()
def an_edit_of_a_message_keeps_its_id(lib: Any, it: Player) -> None:
    tools = lib.ToolNode([weather])
    graph = agent_loop(
        lib, tools, calling(("weather", {"city": "Oslo"})), AIMessage("Fine.", id="2"), interrupt_before=["tools"]
    )
    it.run(graph, {"messages": [HumanMessage("Oslo?", id="u")]}, thread())
    last = it.state(graph, thread()).values["messages"][-1]
    edited = AIMessage("", id=last.id, tool_calls=[{**last.tool_calls[0], "args": {"city": "Rome"}}])
    it.update(graph, thread(), {"messages": [edited]})
    it.run(graph, None, thread())
    it.history(graph, thread())


def module(lib: Any, path: str) -> Any:
    return importlib.import_module(f"{lib.name}.{path}")


@program()
def messages_that_a_node_pushes(lib: Any, it: Player) -> None:
    push = module(lib, "graph.message").push_message

    def node(state: Any) -> dict[str, Any]:
        push(AIMessage("kept", id="p1"))
        try:
            push(("human", "without an id"))
        except ValueError as error:
            it.note("refused", error)
        push(AIMessage("only sent", id="p2"), state_key=None)
        return {"messages": [AIMessage("returned", id="r1")]}

    builder = lib.StateGraph(lib.MessagesState).add_node("node", node).add_edge(lib.START, "node")
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    outer = lib.StateGraph(lib.MessagesState).add_node("sub", builder.compile()).add_edge(lib.START, "sub").compile()
    it.run(graph, {"messages": [HumanMessage("x", id="u")]}, thread())
    it.history(graph, thread())
    it.run(outer, {"messages": [HumanMessage("x", id="u")]})


@program()
def components_that_a_node_shows(lib: Any, it: Player) -> None:
    parts = module(lib, "graph.ui")

    class State(lib.MessagesState):  # type: ignore[misc,name-defined]  # of the library
        ui: Annotated[list[Any], parts.ui_message_reducer]

    def node(state: Any) -> dict[str, Any]:
        parts.push_ui_message("w", {"p": 1}, id="a", message=AIMessage("x", id="mm"), metadata={"k": 1})
        parts.push_ui_message("w", {"q": 2}, id="a", merge=True)
        parts.push_ui_message("z", {}, id="gone")
        parts.push_ui_message("sent", {}, id="s", state_key=None)
        parts.delete_ui_message("gone")
        return {}

    builder = lib.StateGraph(State).add_node("node", node).add_edge(lib.START, "node")
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, {"messages": []}, {**thread(), "tags": ["t"], "run_name": "named"})
    it.history(graph, thread())
    one = {"type": "ui", "id": "1", "name": "n", "props": {"a": 1}, "metadata": {}}
    for right in (
        {**one, "props": {"b": 2}},
        [{**one, "props": {"b": 2}, "metadata": {"merge": True}}, {**one, "id": "2"}],
        {"type": "remove-ui", "id": "1"},
        {"type": "remove-ui", "id": "none"},
    ):
        try:
            it.note("reduced", parts.ui_message_reducer([one], right))
        except ValueError as error:
            it.note("reduced", error)


@program()
def a_state_that_is_a_list_of_messages(lib: Any, it: Player) -> None:
    builder = module(lib, "graph").MessageGraph()
    builder.add_node("a", lambda messages: [AIMessage(f"{len(messages)}", id="a")])
    builder.add_node("b", lambda messages: AIMessage("b", id="b"))
    builder.add_edge(lib.START, "a")
    builder.add_edge("a", "b")
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, [HumanMessage("x", id="u")], thread())
    it.state(graph, thread())


def folded(value: Any, writes: Any) -> Any:
    return [*(value or []), *(item for write in writes for item in write)]


def joined(value: Any, writes: Any) -> Any:
    return {**(value or {}), **{k: v for write in writes for k, v in write.items()}}


@program(parallel=True)
def writes_that_are_folded_at_once(lib: Any, it: Player) -> None:
    """Without checkpoints: the peer's metadata counts what its savers have not copied."""
    delta = module(lib, "channels").DeltaChannel

    class State(TypedDict):
        xs: Annotated[list[Any], delta(folded)]
        named: Annotated[dict[str, Any], delta(joined, snapshot_frequency=2)]

    builder = lib.StateGraph(State)
    builder.add_node("a", lambda state: {"xs": ["a", len(state["xs"])], "named": {"a": 1}})
    builder.add_node("b", lambda state: {"xs": ["b"]})
    builder.add_node("c", lambda state: {"xs": module(lib, "types").Overwrite(["o"]), "named": {"c": 2}})
    builder.add_edge(lib.START, "a").add_edge(lib.START, "b").add_edge(["a", "b"], "c")
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, {"xs": ["in"]}, thread(), without=("checkpoints", "debug"))
    it.note("history", [(s.values, s.next) for s in graph.get_state_history(thread())])
    graph.update_state(thread(), {"xs": ["u"]})
    it.note("edited", graph.get_state(thread()).values)
    old = list(graph.get_state_history(thread()))[3]
    it.note("replayed", graph.invoke(None, old.config))
