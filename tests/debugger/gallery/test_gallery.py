"""Each example runs offline, on any input, and shows what its description says."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage

from debugger.gallery import GRAPHS, GalleryGraph
from runtime.checkpoint.memory import InMemorySaver
from runtime.types import Command

BY_NAME = {graph.name: graph for graph in GRAPHS}
THREAD: Any = {"configurable": {"thread_id": "1"}}


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORKPOINT_TOKEN_DELAY", "0")


@pytest.fixture(params=["runtime", "langgraph"])
def library(request: pytest.FixtureRequest) -> str:
    if request.param == "langgraph":
        pytest.importorskip("langgraph")
    name: str = request.param
    return name


def open_graph(name: str, library: str = "runtime") -> Any:
    """An example over a saver in memory."""
    if library == "runtime":
        graph, saver = BY_NAME[name].build(), InMemorySaver()
    else:
        graph = importlib.import_module("tests.debugger.fixtures.langgraph_graphs").build(name)
        saver = importlib.import_module("langgraph.checkpoint.memory").InMemorySaver()
    graph.checkpointer = saver
    return graph


def resume(library: str, value: Any) -> Any:
    return (
        Command(resume=value)
        if library == "runtime"
        else importlib.import_module("langgraph.types").Command(resume=value)
    )


def ask(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


def ran(graph: Any) -> list[str]:
    """Nodes of the thread so far, by super-step."""
    history = list(graph.get_state_history(THREAD))
    return [name for snapshot in reversed(history) for name in snapshot.next if name != "__start__"]


# -- all ---------------------------------------------------------------------------------------------------------------


def test_the_main_example_is_the_first() -> None:
    assert [graph.name for graph in GRAPHS] == [
        "support_agent", "travel_math", "abc", "joke", "map_reduce", "two_questions"
    ]  # fmt: skip


@pytest.mark.parametrize("example", GRAPHS, ids=lambda graph: graph.name)
def test_each_example_runs_on_each_of_its_inputs(example: GalleryGraph, library: str) -> None:
    for given in example.example_inputs:
        assert open_graph(example.name, library).invoke(given, THREAD)


@pytest.mark.parametrize("name", BY_NAME)
def test_each_example_is_drawn_the_same_on_both_runtimes(name: str) -> None:
    pytest.importorskip("langgraph")
    ours, theirs = (open_graph(name, library).get_graph(xray=True) for library in ("runtime", "langgraph"))
    assert set(ours.nodes) == set(theirs.nodes)
    assert {(e.source, e.target, e.conditional, e.data) for e in ours.edges} == {
        (e.source, e.target, e.conditional, e.data) for e in theirs.edges
    }


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("support_agent", {"messages": []}),
        ("support_agent", ask("?!")),
        ("travel_math", {"value": -3}),
        ("abc", {"messages": []}),
        ("map_reduce", {"subjects": []}),
        ("joke", {"topic": ""}),
        ("two_questions", {"dish": ""}),
    ],
)
def test_no_input_breaks_an_example(name: str, given: dict[str, Any]) -> None:
    graph = open_graph(name)
    graph.invoke(given, THREAD)
    assert not any(task.error for task in graph.get_state(THREAD).tasks)


# -- the support desk --------------------------------------------------------------------------------------------------


def test_a_refund_goes_through_the_whole_desk(library: str) -> None:
    graph = open_graph("support_agent", library)
    paused = graph.invoke(ask("My order A17 arrived broken. I want a refund."), THREAD)
    (question,) = paused["__interrupt__"]
    assert question.value["options"] == ["approve", "refuse"]
    assert question.value["draft"] == "Dear customer, 21.00 may be paid back for order A17. We are glad to help."
    assert ran(graph) == [
        "triage",
        *("find_order", "find_policy", "read_mood"),
        *("research", "agent", "tools", "agent", "tools", "agent"),
        "approval",
    ]
    done = graph.invoke(resume(library, "approve"), THREAD)
    assert done["category"] == "refund"
    assert done["findings"] == ["order: A17", "policy for refund: 30 days, no questions", "mood: upset"]
    assert done["summary"] == "2 articles: Refunds within 30 days and Photos of damaged goods"
    assert done["outcome"] == f"sent: {question.value['draft']}"
    assert ran(graph)[-3:] == ["approval", "send_reply", "close"]


def test_each_tool_call_has_its_answer() -> None:
    graph = open_graph("support_agent")
    messages = graph.invoke(ask("My order A17 arrived broken. I want a refund."), THREAD)["messages"]
    calls = [call["id"] for message in messages if isinstance(message, AIMessage) for call in message.tool_calls]
    assert calls == ["call_1", "call_3"]
    assert [message.tool_call_id for message in messages if isinstance(message, ToolMessage)] == calls


def test_a_refused_reply_is_not_sent(library: str) -> None:
    graph = open_graph("support_agent", library)
    graph.invoke(ask("Where is my parcel B42?"), THREAD)
    done = graph.invoke(resume(library, "refuse"), THREAD)
    assert done["outcome"] == "refused"
    assert done["messages"][-1].content == "Case closed: refused."
    assert "send_reply" not in ran(graph)


def test_advice_makes_the_model_write_again_and_the_person_is_asked_again(library: str) -> None:
    graph = open_graph("support_agent", library)
    graph.invoke(ask("Where is my parcel B42?"), THREAD)
    paused = graph.invoke(resume(library, "say sorry first"), THREAD)
    (question,) = paused["__interrupt__"]
    assert question.value["draft"] == "Dear customer, parcel B42 is two streets away. (say sorry first)"
    assert graph.get_state(THREAD).next == ("approval",)
    assert ran(graph).count("tools") == 1


def test_a_thread_serves_a_second_request() -> None:
    graph = open_graph("support_agent")
    graph.invoke(ask("Do you ship to Iceland?"), THREAD)
    assert graph.invoke(Command(resume="approve"), THREAD)["category"] == "shipping"
    paused = graph.invoke(ask("My order C3 is broken, I want my money"), THREAD)
    assert paused["category"] == "refund"
    assert "order C3" in paused["__interrupt__"][0].value["draft"]
    assert len(paused["findings"]) == 6


def test_research_has_two_levels_of_subgraphs() -> None:
    graph = open_graph("support_agent")
    assert [name for name, _ in graph.get_subgraphs(recurse=True)] == ["research", "research|search"]
    told = [
        (tuple(part.split(":")[0] for part in ns), data)
        for ns, data in graph.stream(ask("hello"), THREAD, stream_mode="custom", subgraphs=True)
    ]
    assert told == [
        (("research", "search"), {"found": "Opening hours", "so_far": 1}),
        (("research", "search"), {"found": "How to reach a person", "so_far": 2}),
    ]


def test_the_node_that_acts_on_the_world_says_so() -> None:
    nodes = open_graph("support_agent").get_graph().nodes
    assert [name for name, node in nodes.items() if node.metadata.get("side_effects")] == ["send_reply"]


# -- the small ones ----------------------------------------------------------------------------------------------------


def test_travel_math_forks_to_twenty(library: str) -> None:
    graph = open_graph("travel_math", library)
    assert graph.invoke({"value": 1}, THREAD) == {"value": 4}
    before_double = next(s for s in graph.get_state_history(THREAD) if s.next == ("double",))
    forked = graph.update_state(before_double.config, {"value": 10}, as_node="add_one")
    assert graph.invoke(None, forked) == {"value": 20}


def test_a_joke_follows_its_topic(library: str) -> None:
    graph = open_graph("joke", library)
    assert "sock" in graph.invoke({}, THREAD)["joke"]
    chosen = next(s for s in graph.get_state_history(THREAD) if s.next == ("write_joke",))
    changed = graph.update_state(chosen.config, {"topic": "chickens"})
    assert "chicken" in graph.invoke(None, changed)["joke"]


def test_map_reduce_makes_one_task_a_subject(library: str) -> None:
    graph = open_graph("map_reduce", library)
    done = graph.invoke({"subjects": ["tides", "moss"]}, THREAD)
    assert [note.split(":")[0] for note in done["notes"]] == ["moss", "tides"]
    assert ran(graph) == ["plan", "research", "research", "write_report"]
    assert "report" not in open_graph("map_reduce", library).invoke({"subjects": []}, THREAD)


def test_two_questions_are_answered_each_on_its_own(library: str) -> None:
    graph = open_graph("two_questions", library)
    paused = graph.invoke({"dish": "soup"}, THREAD)
    asked = {question.id: question.value for question in paused["__interrupt__"]}
    assert len(asked) == 2
    answers = {key: "pepper" if value == "Which spice?" else "a pinch" for key, value in asked.items()}
    done = graph.invoke(resume(library, answers), THREAD)
    assert set(done["steps"]) == {"water boils", "salt: a pinch", "spice: pepper", "soup is served"}
