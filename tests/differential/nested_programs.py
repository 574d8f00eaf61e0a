"""Programs with graphs in graphs."""

import operator
from typing import Annotated, Any

from flow_programs import Log, chain, says
from people_programs import asker
from twins import Player, program, thread
from typing_extensions import TypedDict


def outer(lib: Any, inner: Any, **options: Any) -> Any:
    builder = lib.StateGraph(Log)
    builder.add_node("pre", says("pre")).add_node("sub", inner).add_node("post", says("post"))
    builder.add_edge(lib.START, "pre").add_edge("pre", "sub").add_edge("sub", "post")
    return builder.compile(checkpointer=lib.InMemorySaver(), **options)


class Mine(TypedDict):
    mine: Annotated[list[str], operator.add]


@program()
def a_graph_as_a_node(lib: Any, it: Player) -> None:
    graph = outer(lib, chain(lib, "s1", "s2"))
    it.run(graph, {"log": ["in"]}, thread())
    it.state(graph, thread())
    it.history(graph, thread())


@program()
def a_graph_with_keys_of_its_own(lib: Any, it: Player) -> None:
    class Both(TypedDict):
        log: Annotated[list[str], operator.add]
        own: str

    inner = lib.StateGraph(Both)
    inner.add_node("s1", lambda s: {"own": "o"}).add_node("s2", lambda s: {"log": [s["own"]]})
    inner.add_edge(lib.START, "s1").add_edge("s1", "s2")
    graph = outer(lib, inner.compile())
    it.run(graph, {"log": ["in"]}, thread())
    it.history(graph, thread())


def calls(lib: Any, inner: Any) -> Any:
    def sub(state: Log) -> dict[str, Any]:
        return {"log": inner.invoke({"mine": [state["log"][-1]]})["mine"]}

    return sub


@program()
def a_graph_called_in_a_node(lib: Any, it: Player) -> None:
    if it.manner.is_async:
        return
    builder = lib.StateGraph(Mine)
    builder.add_node("s1", lambda s: {"mine": ["s1"]}).add_edge(lib.START, "s1")
    graph = outer(lib, calls(lib, builder.compile()))
    it.run(graph, {"log": ["in"]}, thread())
    it.state(graph, thread())
    it.history(graph, thread())


@program()
def an_async_graph_called_in_a_node(lib: Any, it: Player) -> None:
    if not it.manner.is_async:
        return
    builder = lib.StateGraph(Mine)
    builder.add_node("s1", lambda s: {"mine": ["s1"]}).add_edge(lib.START, "s1")
    inner = builder.compile()

    async def sub(state: Log) -> dict[str, Any]:
        return {"log": (await inner.ainvoke({"mine": [state["log"][-1]]}))["mine"]}

    graph = outer(lib, sub)
    it.run(graph, {"log": ["in"]}, thread())
    it.history(graph, thread())


def asking_inside(lib: Any, **options: Any) -> Any:
    builder = lib.StateGraph(Log)
    builder.add_node("s1", says("s1")).add_node(asker(lib, "ask", "inner?")).add_node("s3", says("s3"))
    builder.add_edge(lib.START, "s1").add_edge("s1", "ask").add_edge("ask", "s3")
    return builder.compile(**options)


@program()
def a_question_in_a_subgraph(lib: Any, it: Player) -> None:
    graph = outer(lib, asking_inside(lib))
    it.run(graph, {"log": ["in"]}, thread())
    found = it.state(graph, thread())
    inner = found.tasks[0].state.config
    it.state(graph, inner)
    it.history(graph, inner)
    it.run(graph, lib.Command(resume="yes"), thread())
    it.state(graph, thread())
    it.history(graph, thread())


@program()
def a_question_in_a_subgraph_called_in_a_node(lib: Any, it: Player) -> None:
    if it.manner.is_async:
        return
    inner = asking_inside(lib)

    def sub(state: Log) -> dict[str, Any]:
        return {"log": inner.invoke({"log": []})["log"]}

    graph = outer(lib, sub)
    it.run(graph, {"log": ["in"]}, thread())
    it.state(graph, thread())
    it.run(graph, lib.Command(resume="yes"), thread())
    it.history(graph, thread())


@program()
def a_breakpoint_in_a_subgraph(lib: Any, it: Player) -> None:
    graph = outer(lib, chain(lib, "s1", "s2", "s3", interrupt_before=["s2"]))
    it.run(graph, {"log": ["in"]}, thread())
    it.state(graph, thread())
    it.run(graph, None, thread())
    it.history(graph, thread())


@program()
def an_edit_in_a_waiting_subgraph(lib: Any, it: Player) -> None:
    graph = outer(lib, chain(lib, "s1", "s2", "s3", interrupt_before=["s2"]))
    it.run(graph, {"log": ["in"]}, thread())
    inner = it.state(graph, thread()).tasks[0].state.config
    config = it.update(graph, inner, {"log": ["EDIT"]})
    it.state(graph, thread())
    it.run(graph, None, thread())
    it.state(graph, thread())
    it.history(graph, inner)
    it.note("config", config)


@program(results=False)
def an_edit_as_a_subgraph_that_waits(lib: Any, it: Player) -> None:
    graph = outer(lib, asking_inside(lib))
    it.run(graph, {"log": ["in"]}, thread())
    it.update(graph, thread(), {"log": ["INSTEAD"]}, "sub")
    it.state(graph, thread())
    it.run(graph, None, thread())
    it.history(graph, thread())


@program()
def two_levels(lib: Any, it: Player) -> None:
    inner = chain(lib, "x", "y")
    middle = lib.StateGraph(Log)
    middle.add_node("m1", says("m1")).add_node("deep", inner).add_edge(lib.START, "m1").add_edge("m1", "deep")
    graph = outer(lib, middle.compile())
    it.run(graph, {"log": ["in"]}, thread())
    it.state(graph, thread())


@program()
def a_question_two_levels_down(lib: Any, it: Player) -> None:
    middle = lib.StateGraph(Log)
    middle.add_node("m1", says("m1")).add_node("deep", asking_inside(lib)).add_edge(lib.START, "m1").add_edge(
        "m1", "deep"
    )
    graph = outer(lib, middle.compile())
    it.run(graph, {"log": ["in"]}, thread())
    it.state(graph, thread())
    it.state(graph, thread(), subgraphs=False)
    it.run(graph, lib.Command(resume="yes"), thread())
    it.history(graph, thread())


@program()
def a_child_with_a_thread_of_its_own(lib: Any, it: Player) -> None:
    inner = chain(lib, "s1", checkpointer=True)
    graph = outer(lib, inner)
    # the peer names another namespace in checkpoint chunks than the one that it stores under
    it.run(graph, {"log": ["one"]}, thread(), without=("checkpoints", "debug"))
    it.run(graph, {"log": ["two"]}, thread(), without=("checkpoints", "debug"))
    it.state(graph, thread())
    it.history(graph, thread("t", checkpoint_ns="sub"))


@program()
def a_child_with_a_thread_of_its_own_in_the_past(lib: Any, it: Player) -> None:
    graph = outer(lib, chain(lib, "s1", checkpointer=True))
    quiet = ("checkpoints", "debug")
    for text in ("one", "two", "three"):
        it.run(graph, {"log": [text]}, thread(), without=quiet)
    turns = [s for s in graph.get_state_history(thread()) if s.next == ("sub",)]
    it.run(graph, None, turns[1].config, without=quiet)
    it.run(graph, {"log": ["four"]}, thread(), without=quiet)
    fork = graph.update_state(turns[2].config, {"log": ["edit"]}, as_node="pre")
    it.run(graph, None, fork, without=quiet)
    it.run(graph, {"log": ["five"]}, thread(), without=quiet)
    it.state(graph, thread(), subgraphs=False)


@program()
def a_child_that_stores_nothing(lib: Any, it: Player) -> None:
    graph = outer(lib, chain(lib, "s1", "s2", checkpointer=False))
    it.run(graph, {"log": ["in"]}, thread())
    it.state(graph, thread())
    it.history(graph, thread())


@program()
def a_jump_to_the_parent(lib: Any, it: Player) -> None:
    def up(state: Log) -> Any:
        return lib.Command(graph=lib.Command.PARENT, goto="other", update={"log": ["from below"]})

    inner = lib.StateGraph(Log)
    inner.add_node("s1", says("s1")).add_node(up).add_node("never", says("never"))
    inner.add_edge(lib.START, "s1").add_edge("s1", "up").add_edge("up", "never")
    builder = lib.StateGraph(Log)
    builder.add_node("sub", inner.compile(), destinations=("other",)).add_node("other", says("other"))
    builder.add_edge(lib.START, "sub")
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": ["in"]}, thread())
    it.history(graph, thread())


@program()
def an_error_in_a_subgraph(lib: Any, it: Player) -> None:
    calls: list[int] = []

    def bad(state: Log) -> dict[str, Any]:
        calls.append(1)
        if len(calls) == 1:
            raise ValueError("inner")
        return {"log": ["bad"]}

    inner = lib.StateGraph(Log)
    inner.add_node("s1", says("s1")).add_node(bad).add_edge(lib.START, "s1").add_edge("s1", "bad")
    graph = outer(lib, inner.compile())
    it.run(graph, {"log": ["in"]}, thread())
    it.state(graph, thread())
    it.run(graph, None, thread())
    it.history(graph, thread())


@program(parallel=True)
def subgraphs_by_sends(lib: Any, it: Player) -> None:
    inner = chain(lib, "s1", "s2")
    builder = lib.StateGraph(Log)
    builder.add_node("sub", inner).add_node("z", says("z")).add_edge("sub", "z")
    builder.add_conditional_edges(
        lib.START, lambda s: [lib.Send("sub", {"log": [f"in{i}"]}) for i in range(2)], ["sub"]
    )
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": []}, thread())
    it.history(graph, thread())


@program()
def replay_of_a_graph_with_a_subgraph(lib: Any, it: Player) -> None:
    graph = outer(lib, chain(lib, "s1", "s2"))
    it.run(graph, {"log": ["in"]}, thread())
    it.run(graph, None, it.at(graph, thread(), "sub").config)
    it.history(graph, thread())
    config = it.update(graph, it.at(graph, thread(), "sub").config, {"log": ["EDIT"]})
    it.run(graph, None, config)
    it.history(graph, thread())


@program()
def a_graph_called_twice_in_a_node(lib: Any, it: Player) -> None:
    if it.manner.is_async:
        return
    inner = chain(lib, "s1")

    def sub(state: Log) -> dict[str, Any]:
        return {"log": [*inner.invoke({"log": ["x"]})["log"], *inner.invoke({"log": ["y"]})["log"]]}

    graph = outer(lib, sub)
    it.run(graph, {"log": ["in"]}, thread())
    it.history(graph, thread())
