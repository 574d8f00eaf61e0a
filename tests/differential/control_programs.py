"""Programs about the edges of a run: being asked to stop, states without keys, what an answer must look like."""

import operator
from typing import Annotated, Any

from flow_programs import Log, chain, says
from policy_programs import attempt, feature, names
from pydantic import BaseModel
from twins import Player, thread


@feature()
def a_run_that_is_asked_to_stop(lib: Any, it: Player) -> None:
    control = names(lib, "runtime").RunControl()

    def asks_to_stop(state: Log) -> dict[str, Any]:
        control.request_drain("deploy")
        return {"log": ["asked"]}

    builder = lib.StateGraph(Log)
    builder.add_node(asks_to_stop).add_node("z", says("z")).add_edge(lib.START, "asks_to_stop")
    builder.add_edge("asks_to_stop", "z")
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.note("before", (control.drain_requested, control.drain_reason))
    it.run(graph, {"log": []}, thread(), control=control)
    it.note("after", (control.drain_requested, control.drain_reason))
    it.state(graph, thread())
    it.run(graph, None, thread())
    it.history(graph, thread())


@feature()
def a_run_that_is_asked_to_stop_before_it_began(lib: Any, it: Player) -> None:
    control = names(lib, "runtime").RunControl()
    control.request_drain()
    graph = chain(lib, "a", "b", checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": []}, thread(), control=control)
    it.state(graph, thread())


@feature()
def a_run_that_is_asked_to_stop_as_it_ends(lib: Any, it: Player) -> None:
    control = names(lib, "runtime").RunControl()

    def last(state: Log) -> dict[str, Any]:
        control.request_drain("late")
        return {"log": ["last"]}

    builder = lib.StateGraph(Log)
    builder.add_node(last).add_edge(lib.START, "last")
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": []}, thread(), control=control)
    it.state(graph, thread())


@feature()
def a_state_that_is_a_list(lib: Any, it: Player) -> None:
    builder = lib.StateGraph(Annotated[list[str], operator.add])
    builder.add_node("a", lambda state: [f"a{len(state)}"]).add_node("b", lambda state: ["b"])
    builder.add_edge(lib.START, "a").add_edge("a", "b")
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, ["in"], thread())
    it.state(graph, thread())
    it.update(graph, thread(), ["edit"], "a")
    it.run(graph, None, thread())
    it.history(graph, thread())


@feature()
def a_state_that_is_a_number(lib: Any, it: Player) -> None:
    builder = lib.StateGraph(int)
    builder.add_node("a", lambda state: state + 1).add_node("b", lambda state: state * 10)
    builder.add_edge(lib.START, "a").add_edge("a", "b")
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, 4, thread())
    it.history(graph, thread())


class Vote(BaseModel):
    yes: bool
    why: str = ""


@feature()
def a_question_that_says_what_an_answer_looks_like(lib: Any, it: Player) -> None:
    def ask(state: Log) -> dict[str, Any]:
        vote = lib.interrupt("well?", response_schema=Vote)
        return {"log": [type(vote).__name__, vote.yes]}

    builder = lib.StateGraph(Log)
    builder.add_node(ask).add_edge(lib.START, "ask")
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": []}, thread())
    found = attempt(it, "state", lambda: graph.get_state(thread()))
    it.note("schema", getattr(found.interrupts[0], "response_schema", None))
    it.run(graph, lib.Command(resume={"yes": "no idea"}), thread())
    it.run(graph, lib.Command(resume={"yes": True}), thread())
    it.state(graph, thread())
