"""Statements of the mission's documents that no case of `tests/seeds` holds. `tests/conformance/seed_rows.py` says which."""

from __future__ import annotations

import asyncio
import operator
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolCall, ToolMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.runnables import RunnableLambda
from pydantic import BaseModel

from runtime.checkpoint.memory import InMemorySaver
from runtime.checkpoint.sqlite.aio import AsyncSqliteSaver
from runtime.config import get_stream_writer
from runtime.graph import END, START, MessagesState, StateGraph
from runtime.prebuilt import ToolNode, create_react_agent
from runtime.runtime import Runtime
from runtime.store.memory import InMemoryStore
from runtime.stream import StreamTransformer
from runtime.types import Command, Send, StreamWriter
from tests.runtime.programs import THREAD, L, Recorder, waiting_for

MODES = ["values", "updates", "messages", "custom", "checkpoints", "tasks", "debug"]


@pytest.fixture
def rec() -> Recorder:
    return Recorder()


def one(node: Any, schema: Any = L, **options: Any) -> Any:
    """START -> node."""
    builder = StateGraph(schema)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    return builder.compile(**options)


# -- A: schemas ----------------------------------------------------------------------------------------------------------


@dataclass
class Data:
    log: Annotated[list[str], operator.add]


class Model(BaseModel):
    log: Annotated[list[str], operator.add]


class Chat(MessagesState):
    log: Annotated[list[str], operator.add]


@pytest.mark.parametrize("schema", [L, Data, Model, Chat])
def test_any_kind_of_schema_makes_a_graph(schema: Any) -> None:
    seen: list[Any] = []

    def node(state: Any) -> dict[str, Any]:
        seen.append(state)
        return {"log": ["node"]}

    graph = one(node, schema)
    assert graph.invoke({"log": ["in"]})["log"] == ["in", "node"]
    assert (seen[0]["log"] if isinstance(seen[0], dict) else seen[0].log) == ["in"]
    assert isinstance(seen[0], dict if schema in (L, Chat) else schema)


# -- B: parallel tasks ---------------------------------------------------------------------------------------------------


def fan(worker: Any, **options: Any) -> Any:
    """START sends 0 to 3 to `worker`."""
    builder = StateGraph(L)
    builder.add_node("worker", worker)
    builder.add_conditional_edges(START, lambda state: [Send("worker", n) for n in range(4)], ["worker"])
    return builder.compile(**options)


def test_parallel_tasks_are_under_way_at_the_same_time() -> None:
    all_here = threading.Barrier(4, timeout=20)

    def worker(n: int) -> dict[str, Any]:
        all_here.wait()
        return {"log": [n]}

    assert fan(worker).invoke({"log": []}) == {"log": [0, 1, 2, 3]}


async def test_parallel_async_tasks_are_under_way_at_the_same_time() -> None:
    here: list[int] = []
    all_here = asyncio.Event()

    async def worker(n: int) -> dict[str, Any]:
        here.append(n)
        if len(here) == 4:
            all_here.set()
        await asyncio.wait_for(all_here.wait(), 20)
        return {"log": [n]}

    assert await fan(worker).ainvoke({"log": []}) == {"log": [0, 1, 2, 3]}


def test_of_a_fan_out_with_one_failure_the_rest_is_kept_and_the_error_shown() -> None:
    ran: list[int] = []
    broken = [True]

    def worker(n: int) -> dict[str, Any]:
        ran.append(n)
        if n == 2 and broken[0]:
            raise ValueError("no 2 today")
        return {"log": [n]}

    graph = fan(worker, checkpointer=InMemorySaver())
    with pytest.raises(ValueError, match="no 2 today"):
        graph.invoke({"log": []}, THREAD)
    errors = [task.error for task in graph.get_state(THREAD).tasks]
    assert [bool(error) for error in errors] == [False, False, True, False]
    assert "no 2 today" in str(errors[2])
    done = [n for n in ran if n != 2]
    ran.clear()
    broken.clear()
    broken.append(False)
    assert graph.invoke(None, THREAD) == {"log": [0, 1, 2, 3]}
    assert sorted(ran + done) == [0, 1, 2, 3], "what had ended did not run again"


# -- C: the compiled graph -----------------------------------------------------------------------------------------------


def test_invoke_gives_the_last_chunk_of_values(rec: Recorder) -> None:
    graph = rec.line("a", "b", checkpointer=None)
    assert graph.invoke({"log": []}) == [*graph.stream({"log": []}, stream_mode="values")][-1]


async def test_astream_takes_every_option(rec: Recorder) -> None:
    options: dict[str, Any] = {
        "context": None, "stream_mode": ["updates"], "print_mode": (), "output_keys": ["log"], "interrupt_before": ["b"],
        "interrupt_after": None, "durability": "sync", "subgraphs": True, "debug": False, "version": "v1",
    }  # fmt: skip
    graph = rec.line("a", "b")
    chunks = [chunk async for chunk in graph.astream({"log": []}, THREAD, **options)]
    assert chunks == [((), "updates", {"a": {"log": ["a"]}}), ((), "updates", {"__interrupt__": ()})]


def test_one_graph_serves_two_event_loops(rec: Recorder) -> None:
    graph = rec.line("a")
    for turn in (1, 2):
        assert asyncio.run(graph.ainvoke({"log": []}, THREAD)) == {"log": ["a"] * turn}


def test_a_compiled_graph_is_not_changed_by_its_builder(rec: Recorder) -> None:
    builder = StateGraph(L)
    builder.add_node("a", rec.node("a"))
    builder.add_edge(START, "a")
    before = builder.compile()
    builder.add_node("b", rec.node("b"))
    builder.add_edge("a", "b")
    assert before.invoke({"log": []}) == {"log": ["a"]}
    assert set(before.get_graph().nodes) == {START, "a", END}
    assert builder.compile().invoke({"log": []}) == {"log": ["a", "b"]}


def test_a_compiled_graph_is_a_runnable(rec: Recorder) -> None:
    graph = rec.line("a", checkpointer=None)
    assert graph.batch([{"log": ["x"]}, {"log": ["y"]}]) == [{"log": ["x", "a"]}, {"log": ["y", "a"]}]
    assert (graph | (lambda state: len(state["log"]))).invoke({"log": []}) == 1


async def test_the_name_is_that_of_the_root_event(rec: Recorder) -> None:
    assert rec.line("a").name == "LangGraph"
    events = [event async for event in rec.line("a", name="mine").astream_events({"log": []}, THREAD, version="v2")]
    assert (
        (events[0]["name"], events[0]["parent_ids"]) == (events[-1]["name"], events[-1]["parent_ids"]) == ("mine", [])
    )


class Who(TypedDict):
    user: str


def test_a_node_reads_context_and_store_and_writes_a_stream_by_its_runtime() -> None:
    def node(state: L, runtime: Runtime[Who]) -> dict[str, Any]:
        assert runtime.store is not None
        runtime.store.put(("facts",), "1", {"of": runtime.context["user"]})
        runtime.stream_writer("written")
        return {"log": [runtime.previous]}

    builder = StateGraph(L, context_schema=Who)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    store = InMemoryStore()
    graph = builder.compile(store=store)
    assert [*graph.stream({"log": []}, context={"user": "ada"}, stream_mode="custom")] == ["written"]
    item = store.get(("facts",), "1")
    assert item is not None
    assert item.value == {"of": "ada"}
    assert graph.invoke({"log": []}, context={"user": "ada"}) == {"log": [None]}


# -- D: streams ----------------------------------------------------------------------------------------------------------


def test_all_seven_modes_at_once() -> None:
    def node(state: MessagesState) -> dict[str, Any]:
        get_stream_writer()("custom")
        return {"messages": [AIMessage("hi", id="1")]}

    graph = one(node, MessagesState, checkpointer=InMemorySaver())
    assert {mode for mode, _ in graph.stream({"messages": []}, THREAD, stream_mode=MODES)} == set(MODES)


class Pieces(GenericFakeChatModel):
    """Streams a call of `add` in three pieces; once it has the tool's message, a text."""

    def _stream(self, messages: Any, *_: Any, run_manager: Any = None, **__: Any) -> Iterator[ChatGenerationChunk]:
        if isinstance(messages[-1], ToolMessage):
            pieces = [AIMessageChunk(content=str(messages[-1].content))]
        else:
            pieces = [
                AIMessageChunk(content="", tool_call_chunks=[tool_call_chunk(name=name, args=args, id=id_, index=0)])
                for name, args, id_ in [("add", "", "c1"), (None, '{"a": 1,', None), (None, ' "b": 2}', None)]
            ]
        for piece in pieces:
            chunk = ChatGenerationChunk(message=piece)
            if run_manager is not None:
                run_manager.on_llm_new_token("", chunk=chunk)
            yield chunk


def test_the_pieces_of_a_tool_call_join_to_the_call() -> None:
    model = Pieces(messages=iter([]))

    def node(state: MessagesState) -> dict[str, Any]:
        return {"messages": [model.invoke(state["messages"])]}

    pieces = [m for m, _ in one(node, MessagesState).stream({"messages": [("user", "1+2")]}, stream_mode="messages")]
    told = [piece.tool_call_chunks[0] for piece in pieces if piece.tool_call_chunks]
    assert [(p["name"], p["id"], p["args"], p["index"]) for p in told] == [
        ("add", "c1", "", 0), (None, None, '{"a": 1,', 0), (None, None, ' "b": 2}', 0),
    ]  # fmt: skip
    whole = sum(pieces[1:], pieces[0])
    assert whole.tool_calls == [ToolCall(name="add", args={"a": 1, "b": 2}, id="c1", type="tool_call")]


def test_a_writer_takes_dicts_and_does_nothing_when_nobody_listens() -> None:
    def node(state: L, writer: StreamWriter) -> dict[str, Any]:
        writer({"at": 1})
        return {"log": ["node"]}

    graph = one(node)
    assert [*graph.stream({"log": []}, stream_mode="custom")] == [{"at": 1}]
    assert graph.invoke({"log": []}) == {"log": ["node"]}


def test_what_a_node_writes_arrives_while_the_node_still_runs() -> None:
    heard = threading.Event()

    def node(state: L) -> dict[str, Any]:
        get_stream_writer()("first")
        return {"log": [heard.wait(20)]}

    found = []
    for mode, chunk in one(node).stream({"log": []}, stream_mode=["custom", "updates"]):
        found.append((mode, chunk))
        heard.set()
    assert found == [("custom", "first"), ("updates", {"node": {"log": [True]}})]


# -- E: events -----------------------------------------------------------------------------------------------------------


def test_v2_gives_models_for_a_model_state() -> None:
    graph = one(lambda state: {"log": ["node"]}, Model)
    parts = list(graph.stream({"log": []}, stream_mode="values", version="v2"))
    assert [part["data"] for part in parts] == [Model(log=[]), Model(log=["node"])]
    result = graph.invoke({"log": []}, version="v2")
    assert (result.value, result.interrupts) == (Model(log=["node"]), ())


def test_v2_checks_what_comes_in() -> None:
    with pytest.raises(ValueError, match="log"):
        one(lambda state: {"log": ["node"]}, Model).invoke({"log": "no list"}, version="v2")


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def calls_add(*_: Any) -> AIMessage:
    return AIMessage("let me see", tool_calls=[ToolCall(name="add", args={"a": 1, "b": 2}, id="c1", type="tool_call")])


async def kinds(events: AsyncIterator[Any]) -> set[str]:
    return {event["event"] async for event in events}


async def test_events_are_named_after_kind_and_phase_and_tools_have_none_between() -> None:
    model = Pieces(messages=iter([]))
    builder = StateGraph(MessagesState)
    builder.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    builder.add_node("tools", ToolNode([add]))
    builder.add_sequence([("again", lambda state: {"messages": [model.invoke(state["messages"])]})])
    builder.add_edge(START, "model").add_edge("model", "tools").add_edge("tools", "again")
    found = await kinds(builder.compile().astream_events({"messages": [HumanMessage("1+2")]}, version="v2"))
    assert found == {
        "on_chain_start", "on_chain_stream", "on_chain_end", "on_chat_model_start", "on_chat_model_stream",
        "on_chat_model_end", "on_tool_start", "on_tool_end",
    }  # fmt: skip


async def test_parents_of_an_event_lead_from_the_root_to_the_direct_one(rec: Recorder) -> None:
    builder = StateGraph(L)
    builder.add_node("outer", rec.line("inner", checkpointer=None, name="child"))
    builder.add_edge(START, "outer")
    events = [event async for event in builder.compile().astream_events({"log": []}, version="v2")]
    starts = {event["name"]: event for event in events if event["event"] == "on_chain_start"}
    assert starts["LangGraph"]["parent_ids"] == []
    assert starts["inner"]["parent_ids"] == [starts[name]["run_id"] for name in ("LangGraph", "outer", "child")]


def test_a_transformer_of_ones_own_is_among_the_extensions(rec: Recorder) -> None:
    class Counted(StreamTransformer):
        required_stream_modes = ("updates",)

        def __init__(self, scope: tuple[str, ...] = ()) -> None:
            super().__init__(scope)
            self.seen = 0

        def init(self) -> dict[str, Any]:
            return {"counted": self}

        def process(self, event: Any) -> bool:
            self.seen += event["method"] == "updates"
            return True

    run = rec.line("a", "b").stream_events({"log": []}, THREAD, version="v3", transformers=[Counted])
    assert run.output == {"log": ["a", "b"]}
    assert run.extensions["counted"].seen == 2


# -- F, J: history and savers --------------------------------------------------------------------------------------------


def test_reading_a_history_runs_nothing(rec: Recorder) -> None:
    graph = rec.line("a", "b")
    graph.invoke({"log": []}, THREAD)
    rec.forget()
    assert len(list(graph.get_state_history(THREAD))) == 4
    assert graph.get_state(THREAD).next == ()
    assert rec.ran == []


def test_ids_of_checkpoints_sort_by_when_they_were_made(rec: Recorder) -> None:
    graph = rec.line("a", "b")
    for _ in range(3):
        graph.invoke({"log": []}, THREAD)
    ids = [s.config["configurable"]["checkpoint_id"] for s in graph.get_state_history(THREAD)]
    assert len(ids) == 12
    assert ids == sorted(ids, reverse=True)


async def test_a_saver_of_async_code_says_so_to_sync_code_of_its_own_loop(rec: Recorder) -> None:
    async with AsyncSqliteSaver.from_conn_string(":memory:") as saver:
        graph = rec.line("a", checkpointer=saver)
        assert await graph.ainvoke({"log": []}, THREAD) == {"log": ["a"]}
        assert await asyncio.to_thread(graph.invoke, {"log": []}, THREAD) == {"log": ["a", "a"]}


def test_a_builder_where_a_compiled_graph_belongs_is_refused_with_the_fix() -> None:
    child = StateGraph(L)
    child.add_node("a", lambda state: {"log": ["a"]})
    child.add_edge(START, "a")
    with pytest.raises(TypeError, match=r"compile\(\)"):
        StateGraph(L).add_node("child", child)


# -- I: what a graph below sends -----------------------------------------------------------------------------------------


def test_what_a_child_writes_carries_its_namespace_and_is_for_those_who_ask(rec: Recorder) -> None:
    def inner(state: L) -> dict[str, Any]:
        get_stream_writer()("from below")
        return {"log": ["inner"]}

    graph = one(one(inner), checkpointer=InMemorySaver())
    assert [*graph.stream({"log": []}, THREAD, stream_mode="custom")] == []
    (chunk,) = graph.stream({"log": []}, THREAD, stream_mode="custom", subgraphs=True)
    task = waiting_for(graph, "node").tasks[0]
    assert chunk[1] == "from below"
    assert [part.split(":")[0] for part in chunk[0]] == ["node"]
    assert task.name == "node"


# -- K, L: edits ---------------------------------------------------------------------------------------------------------


def test_a_pause_and_a_breakpoint_both_allow_an_edit(rec: Recorder) -> None:
    graph = rec.line("a", "ask", "z")
    graph.invoke({"log": []}, THREAD)
    graph.update_state(THREAD, {"log": ["edit"]}, as_node="a")
    graph.invoke(None, THREAD)
    assert graph.invoke(Command(resume=1), THREAD)["log"] == ["a", "edit", "ans:1", "z"]

    other: Any = {"configurable": {"thread_id": "2"}}
    graph.invoke({"log": []}, other, interrupt_before=["ask"])
    graph.update_state(other, {"log": ["edit"]})
    assert graph.get_state(other).next == ("ask",)
    assert graph.get_state(other).values == {"log": ["a", "edit"]}


@pytest.mark.parametrize(("id_", "count"), [("1", 2), (None, 3)])
def test_a_message_is_replaced_under_its_own_id_and_else_appended(id_: str | None, count: int) -> None:
    graph = one(lambda state: {"messages": [AIMessage("draft", id="1")]}, MessagesState, checkpointer=InMemorySaver())
    graph.invoke({"messages": [HumanMessage("hi")]}, THREAD)
    graph.update_state(THREAD, {"messages": [AIMessage("final", id=id_)]})
    messages = graph.get_state(THREAD).values["messages"]
    assert (len(messages), messages[-1].content) == (count, "final")


def test_update_state_takes_a_dict_or_nothing_and_the_checkpoint_in_the_config(rec: Recorder) -> None:
    graph = rec.line("a", "b")
    graph.invoke({"log": []}, THREAD)
    old = waiting_for(graph, "b").config
    made = graph.update_state(old, None, as_node="a")
    assert graph.get_state(made).next == ("b",)
    assert graph.get_state(made).parent_config == old
    with pytest.raises(Exception, match=r"dict"):
        graph.update_state(THREAD, [{"log": ["x"]}], as_node="a")


# -- M, N: memory and agents ---------------------------------------------------------------------------------------------


class Answer(BaseModel):
    total: int


class Scripted(GenericFakeChatModel):
    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self

    def with_structured_output(self, schema: Any, **_: Any) -> Any:
        return RunnableLambda(lambda messages: schema(total=3))


def test_a_prebuilt_agent_calls_tools_and_answers_in_a_schema() -> None:
    model = Scripted(messages=iter([calls_add(), AIMessage("3")]))
    graph = create_react_agent(model, [add], prompt="Reckon.", response_format=Answer)
    result = graph.invoke({"messages": [("user", "1+2")]})
    assert [m.type for m in result["messages"]] == ["human", "ai", "tool", "ai"]
    tool = result["messages"][2]
    assert isinstance(tool, ToolMessage)
    assert (tool.content, tool.name, tool.tool_call_id) == ("3", "add", "c1")
    assert result["structured_response"] == Answer(total=3)


def test_a_function_is_a_tool_whose_docstring_and_signature_the_model_sees() -> None:
    tool = ToolNode([add]).tools_by_name["add"]
    assert tool.description == "Add two numbers."
    assert set(tool.args) == {"a", "b"}
    assert tool.args["a"]["type"] == "integer"
