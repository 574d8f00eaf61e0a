"""Programs with people in the loop: breakpoints, questions, answers."""

import operator
from typing import Annotated, Any

from flow_programs import Log, chain, says
from twins import Player, program, thread
from typing_extensions import TypedDict


def asker(lib: Any, name: str, *questions: Any) -> Any:
    def node(state: Any) -> dict[str, Any]:
        return {"log": [f"{name}:{lib.interrupt(question)}" for question in questions]}

    node.__name__ = name
    return node


def asking(lib: Any, *questions: Any) -> Any:
    builder = lib.StateGraph(Log)
    builder.add_node("a", says("a")).add_node(asker(lib, "ask", *questions)).add_node("z", says("z"))
    builder.add_edge(lib.START, "a").add_edge("a", "ask").add_edge("ask", "z")
    return builder.compile(checkpointer=lib.InMemorySaver())


@program()
def breakpoints_before_and_after(lib: Any, it: Player) -> None:
    for where in (
        {"interrupt_before": ["b"]},
        {"interrupt_after": ["b"]},
        {"interrupt_before": "*"},
        {"interrupt_after": "*"},
    ):
        graph = chain(lib, "a", "b", "c", checkpointer=lib.InMemorySaver(), **where)
        it.note("where", where)
        it.run(graph, {"log": []}, thread())
        it.state(graph, thread())
        for _ in range(4):
            it.run(graph, None, thread())
        it.history(graph, thread())


@program()
def breakpoints_of_a_call(lib: Any, it: Player) -> None:
    graph = chain(lib, "a", "b", "c", checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": []}, thread(), interrupt_before=["b"])
    it.run(graph, None, thread(), interrupt_after=["b"])
    it.state(graph, thread())
    it.run(graph, None, thread())
    it.history(graph, thread())


@program()
def one_question(lib: Any, it: Player) -> None:
    graph = asking(lib, "q?")
    it.run(graph, {"log": []}, thread())
    it.state(graph, thread())
    it.run(graph, lib.Command(resume="yes"), thread())
    it.history(graph, thread())


@program()
def answers_of_every_kind(lib: Any, it: Player) -> None:
    for answer in (False, 0, "", [], {"k": 1}, [1, 2], {"a": {"b": None}}):
        graph = asking(lib, {"question": answer})
        it.run(graph, {"log": []}, thread())
        it.run(graph, lib.Command(resume=answer), thread())
        it.state(graph, thread())


@program()
def two_questions_in_one_node(lib: Any, it: Player) -> None:
    graph = asking(lib, "q1", "q2")
    it.run(graph, {"log": []}, thread())
    it.run(graph, lib.Command(resume="A"), thread())
    it.state(graph, thread())
    it.run(graph, lib.Command(resume="B"), thread())
    it.history(graph, thread())


@program()
def going_on_without_an_answer_asks_again(lib: Any, it: Player) -> None:
    graph = asking(lib, "q?")
    it.run(graph, {"log": []}, thread())
    it.run(graph, None, thread())
    it.state(graph, thread())
    it.run(graph, lib.Command(resume="yes"), thread())
    it.state(graph, thread())


@program()
def new_input_while_a_question_waits(lib: Any, it: Player) -> None:
    graph = asking(lib, "q?")
    it.run(graph, {"log": ["one"]}, thread())
    it.run(graph, {"log": ["two"]}, thread())
    it.state(graph, thread())
    it.run(graph, lib.Command(resume="yes"), thread())
    it.history(graph, thread())


def parallel_askers(lib: Any) -> Any:
    builder = lib.StateGraph(Log)
    builder.add_node(asker(lib, "p", "qp")).add_node(asker(lib, "q", "qq")).add_node("ok", says("ok"))
    builder.add_node("z", says("z"))
    for name in ("p", "q", "ok"):
        builder.add_edge(lib.START, name)
    builder.add_edge(["p", "q", "ok"], "z")
    return builder.compile(checkpointer=lib.InMemorySaver())


def ids(snapshot: Any) -> dict[Any, str]:
    return {i.value: i.id for i in snapshot.interrupts}


@program(parallel=True)
def several_questions_by_id(lib: Any, it: Player) -> None:
    graph = parallel_askers(lib)
    it.run(graph, {"log": []}, thread())
    found = ids(it.state(graph, thread()))
    it.run(graph, lib.Command(resume="bare"), thread())
    it.state(graph, thread())
    it.run(graph, lib.Command(resume={found["qp"]: "P", found["qq"]: "Q"}), thread())
    it.history(graph, thread())


@program()
def a_question_in_a_loop(lib: Any, it: Player) -> None:
    builder = lib.StateGraph(Log)
    builder.add_node(asker(lib, "ask", "more?"))
    builder.add_edge(lib.START, "ask")
    builder.add_conditional_edges("ask", lambda s: "ask" if s["log"][-1].endswith("yes") else lib.END, ["ask", lib.END])
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": []}, thread())
    for answer in ("yes", "yes", "no"):
        it.run(graph, lib.Command(resume=answer), thread())
    it.history(graph, thread())


@program()
def resume_with_an_update_and_a_jump(lib: Any, it: Player) -> None:
    graph = asking(lib, "q?")
    it.run(graph, {"log": []}, thread())
    it.run(graph, lib.Command(resume="yes", update={"log": ["extra"]}), thread())
    it.history(graph, thread())


@program()
def commands_as_input(lib: Any, it: Player) -> None:
    graph = chain(lib, "a", "b", "c", checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": []}, thread())
    it.run(graph, lib.Command(goto="b"), thread())
    it.history(graph, thread())
    it.run(graph, lib.Command(update={"log": ["only"]}), thread())
    it.history(graph, thread())


@program()
def a_question_without_a_checkpointer(lib: Any, it: Player) -> None:
    builder = lib.StateGraph(Log)
    builder.add_node(asker(lib, "ask", "q?"))
    builder.add_edge(lib.START, "ask")
    graph = builder.compile()
    it.run(graph, {"log": []})
    it.run(graph, lib.Command(resume=1))


@program()
def a_question_after_a_breakpoint(lib: Any, it: Player) -> None:
    builder = lib.StateGraph(Log)
    builder.add_node("a", says("a")).add_node(asker(lib, "ask", "q?"))
    builder.add_edge(lib.START, "a").add_edge("a", "ask")
    graph = builder.compile(checkpointer=lib.InMemorySaver(), interrupt_before=["ask"])
    it.run(graph, {"log": []}, thread())
    it.run(graph, None, thread())
    it.state(graph, thread())
    it.run(graph, lib.Command(resume="yes"), thread())
    it.history(graph, thread())


@program()
def what_a_node_wrote_to_the_stream_before_it_asked(lib: Any, it: Player) -> None:
    def ask(state: Log) -> dict[str, Any]:
        lib.get_stream_writer()("before")
        answer = lib.interrupt("q?")
        lib.get_stream_writer()("after")
        return {"log": [answer]}

    builder = lib.StateGraph(Log)
    builder.add_node(ask).add_edge(lib.START, "ask")
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": []}, thread())
    it.run(graph, lib.Command(resume="yes"), thread())


@program()
def approve_reject_edit(lib: Any, it: Player) -> None:
    class State(TypedDict):
        plan: str
        log: Annotated[list[str], operator.add]

    def approve(state: State) -> Any:
        answer = lib.interrupt({"plan": state["plan"]})
        if answer["kind"] == "reject":
            return lib.Command(goto=lib.END, update={"log": ["rejected"]})
        return lib.Command(goto="act", update={"plan": answer.get("plan", state["plan"])})

    builder = lib.StateGraph(State)
    builder.add_node("approve", approve, destinations=("act",))
    builder.add_node("act", lambda s: {"log": [f"did {s['plan']}"]})
    builder.add_edge(lib.START, "approve")
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    for name, answer in (
        ("yes", {"kind": "ok"}),
        ("no", {"kind": "reject"}),
        ("edit", {"kind": "ok", "plan": "other"}),
    ):
        it.run(graph, {"plan": "this"}, thread(name))
        it.run(graph, lib.Command(resume=answer), thread(name))
        it.state(graph, thread(name))


@program(parallel=True)
def a_question_in_one_of_many_sends(lib: Any, it: Player) -> None:
    def work(arg: Any) -> dict[str, Any]:
        return {"log": [lib.interrupt(f"q{arg}") if arg == 1 else f"did {arg}"]}

    builder = lib.StateGraph(Log)
    builder.add_node(work).add_node("z", says("z")).add_edge("work", "z")
    builder.add_conditional_edges(lib.START, lambda s: [lib.Send("work", i) for i in range(3)], ["work"])
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": []}, thread())
    it.state(graph, thread())
    it.run(graph, lib.Command(resume="answered"), thread())
    it.history(graph, thread())
