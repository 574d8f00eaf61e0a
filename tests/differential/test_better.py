"""Where `runtime` is to differ from `langgraph`: what the peer does, measured, and what we do instead."""

import operator
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from flow_programs import Log, chain, says
from people_programs import asker
from policy_programs import names
from pydantic import BaseModel, ValidationError
from twins import library, thread

LIBRARIES = ("langgraph", "runtime")


def both(check: Callable[[Any], Any]) -> tuple[Any, Any]:
    """What a check gives on the peer, and on ours."""
    return check(library("langgraph")), check(library("runtime"))


def test_a_command_that_starts_a_thread_counts_once() -> None:
    def check(lib: Any) -> Any:
        graph = chain(lib, "a", checkpointer=lib.InMemorySaver())
        return graph.invoke(lib.Command(update={"log": ["first"]}), thread())["log"]

    assert both(check) == (["first", "first", "a"], ["first", "a"])


def test_an_edit_leaves_the_checkpoint_that_was_edited_as_it_was() -> None:
    def check(lib: Any) -> Any:
        builder = lib.StateGraph(Log)
        builder.add_node(asker(lib, "ask", "q?")).add_edge(lib.START, "ask")
        graph = builder.compile(checkpointer=lib.InMemorySaver())
        graph.invoke({"log": []}, thread())
        paused = graph.get_state(thread())
        graph.update_state(thread(), {"log": ["INSTEAD"]}, "ask")
        return graph.get_state(paused.config).tasks[0].result

    assert both(check) == ({"log": ["INSTEAD"]}, None)


def test_a_task_that_failed_and_then_ended_shows_no_error() -> None:
    def check(lib: Any) -> Any:
        calls: list[int] = []

        def flaky(state: Log) -> dict[str, Any]:
            calls.append(1)
            if len(calls) == 1:
                raise ValueError("first")
            return {"log": ["flaky"]}

        builder = lib.StateGraph(Log)
        builder.add_node(flaky).add_edge(lib.START, "flaky")
        graph = builder.compile(checkpointer=lib.InMemorySaver())
        with pytest.raises(ValueError, match="first"):
            graph.invoke({"log": []}, thread())
        graph.invoke(None, thread())
        (task,) = next(s for s in graph.get_state_history(thread()) if s.next == ("flaky",)).tasks
        return task.error, task.result

    assert both(check) == (("ValueError('first')", {"log": ["flaky"]}), (None, {"log": ["flaky"]}))


def test_an_input_that_does_not_fit_leaves_a_thread_that_can_be_read() -> None:
    class State(BaseModel):
        n: int
        tags: Annotated[list[str], operator.add] = []

    def check(lib: Any) -> Any:
        builder = lib.StateGraph(State)
        builder.add_node("a", lambda s: {"n": s.n + 1}).add_edge(lib.START, "a")
        graph = builder.compile(checkpointer=lib.InMemorySaver())
        with pytest.raises(ValidationError):
            graph.invoke({"n": "no number"}, thread())
        try:
            shown = graph.get_state(thread()).values
        except ValidationError as error:
            return type(error)
        assert graph.invoke({"n": 1}, thread())["n"] == 2
        return shown

    assert both(check) == (ValidationError, {"tags": []})


def test_a_child_with_its_own_thread_is_named_by_where_it_is_stored() -> None:
    def check(lib: Any) -> Any:
        inner = chain(lib, "s1", checkpointer=True)
        builder = lib.StateGraph(Log)
        builder.add_node("sub", inner).add_edge(lib.START, "sub")
        graph = builder.compile(checkpointer=lib.InMemorySaver())
        chunks = list(graph.stream({"log": []}, thread(), stream_mode="checkpoints"))
        (task,) = next(chunk for chunk in chunks if chunk["next"] == ["sub"])["tasks"]
        named: str = task["state"]["configurable"]["checkpoint_ns"]
        return named.split(":")[0], bool(list(graph.get_state_history(thread(checkpoint_ns=named))))

    assert both(check)[1] == ("sub", True)


def test_a_jump_to_a_node_that_is_not_there_is_an_error() -> None:
    def check(lib: Any) -> Any:
        def a(state: Log) -> Any:
            return lib.Command(goto="nowhere", update={"log": ["a"]})

        builder = lib.StateGraph(Log)
        builder.add_node(a).add_node("z", says("z")).add_edge(lib.START, "a")
        graph = builder.compile()
        try:
            return graph.invoke({"log": []})["log"]
        except lib.InvalidUpdateError as error:
            return "refused" if "nowhere" in str(error) else str(error)

    assert both(check) == (["a"], "refused")


@pytest.mark.filterwarnings("ignore:create_react_agent has been moved")
def test_an_agent_of_version_1_has_a_hook_after_its_model_and_tools() -> None:
    from agent_programs import ASK, Model, agent, answers

    def check(lib: Any) -> Any:
        graph = agent(lib, Model(answers=answers(), seen=[]), version="v1", post_model_hook=lambda state: {})
        try:
            return graph.invoke(ASK, thread())["messages"][-1].content
        except KeyError as error:
            return type(error)

    assert both(check) == (KeyError, "It is 3.")


def test_the_updates_of_a_paused_entrypoint_name_its_question() -> None:
    def check(lib: Any) -> Any:
        func = names(lib, "func")

        @func.entrypoint(checkpointer=lib.InMemorySaver())
        def ask(_: Any) -> Any:
            return lib.interrupt("q?")

        modes = ["updates", "values"]
        v1 = [(mode, list(chunk)) for mode, chunk in ask.stream("go", thread("1"), stream_mode=modes)]
        parts = list(ask.stream("go", thread("2"), stream_mode=modes, version="v2"))
        return v1, [(part["type"], list(part["data"])) for part in parts]

    question = ["__interrupt__"]
    told = [("updates", question), ("values", question)]
    assert both(check) == ((told, [("updates", []), ("values", [])]), (told, [("updates", question), ("values", [])]))


def test_a_child_with_its_own_thread_has_the_past_of_its_branch_and_the_answer_given_now() -> None:
    def check(lib: Any) -> Any:
        inner = lib.StateGraph(Log)
        inner.add_node(asker(lib, "ask", "q?")).add_edge(lib.START, "ask")
        builder = lib.StateGraph(Log)
        child = inner.compile(checkpointer=True)
        builder.add_node("sub", lambda state: {"log": child.invoke({"log": []})["log"]})
        builder.add_edge(lib.START, "sub")
        graph = builder.compile(checkpointer=lib.InMemorySaver())
        graph.invoke({"log": []}, thread())
        paused = graph.get_state(thread()).config
        graph.invoke(lib.Command(resume="old"), thread())
        return graph.invoke(lib.Command(resume="new"), paused)["log"]

    assert both(check) == (["ask:old"], ["ask:new"])
