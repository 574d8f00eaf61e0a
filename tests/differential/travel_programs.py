"""Programs that travel: replay, fork, edit."""

from typing import Any

from flow_programs import Log, chain, says
from people_programs import asking, parallel_askers
from twins import Player, program, thread


@program()
def replay_from_the_middle(lib: Any, it: Player) -> None:
    graph = chain(lib, "a", "b", "c", checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": ["in"]}, thread())
    mid = it.at(graph, thread(), "b")
    head = it.state(graph, thread())
    it.run(graph, None, mid.config)
    it.history(graph, thread())
    it.state(graph, head.config)
    it.state(graph, mid.config)
    it.run(graph, None, thread())
    it.run(graph, None, thread("empty"))


@program()
def replay_of_the_head_and_of_the_input(lib: Any, it: Player) -> None:
    graph = chain(lib, "a", "b", checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": ["in"]}, thread())
    found = it.history(graph, thread())
    it.run(graph, None, found[0].config)
    it.history(graph, thread())
    it.run(graph, None, found[-1].config)
    it.history(graph, thread())


@program()
def new_input_at_an_old_checkpoint(lib: Any, it: Player) -> None:
    graph = chain(lib, "a", "b", "c", checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": ["in"]}, thread())
    mid = it.at(graph, thread(), "b")
    it.run(graph, {"log": ["new"]}, mid.config)
    it.history(graph, thread())


@program()
def edit_in_the_middle_and_go_on(lib: Any, it: Player) -> None:
    graph = chain(lib, "a", "b", "c", checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": ["in"]}, thread())
    mid = it.at(graph, thread(), "b")
    for as_node in (None, "a", "b", "c", lib.START):
        it.note("as", as_node)
        config = it.update(graph, mid.config, {"log": ["EDIT"]}, as_node)
        it.state(graph, config)
        it.run(graph, None, config)
        it.history(graph, thread())


@program()
def edits_at_the_head(lib: Any, it: Player) -> None:
    graph = chain(lib, "a", "b", "c", checkpointer=lib.InMemorySaver(), interrupt_before=["b"])
    it.run(graph, {"log": ["in"]}, thread())
    it.update(graph, thread(), {"log": ["EDIT"]})
    it.state(graph, thread())
    it.update(graph, thread(), {"log": ["AGAIN"]}, "a")
    it.run(graph, None, thread())
    it.update(graph, thread(), {"log": ["LAST"]})
    it.history(graph, thread())


@program()
def edits_of_an_empty_thread(lib: Any, it: Player) -> None:
    graph = chain(lib, "a", "b", checkpointer=lib.InMemorySaver())
    for as_node in (None, "a", "b", lib.START, "zzz"):
        config = thread(str(as_node))
        it.update(graph, config, {"log": ["EDIT"]}, as_node)
        it.state(graph, config)
        it.run(graph, None, config)
        it.history(graph, config)


@program()
def edits_without_values(lib: Any, it: Player) -> None:
    graph = chain(lib, "a", "b", "c", checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": ["in"]}, thread())
    mid = it.at(graph, thread(), "b")
    for as_node in (None, "a", "b", "__copy__", "zzz"):
        it.note("as", as_node)
        config = it.update(graph, mid.config, None, as_node)
        it.history(graph, thread())
        if isinstance(config, dict):
            it.run(graph, None, config)


@program()
def an_edit_as_end_at_a_waiting_head(lib: Any, it: Player) -> None:
    graph = chain(lib, "a", "b", "c", checkpointer=lib.InMemorySaver(), interrupt_before=["b"])
    it.run(graph, {"log": ["in"]}, thread())
    it.update(graph, thread(), None, lib.END)
    it.state(graph, thread())
    it.run(graph, None, thread())
    it.history(graph, thread())


@program(parallel=True)
def edits_after_a_parallel_step(lib: Any, it: Player) -> None:
    builder = lib.StateGraph(Log)
    for name in ("p", "q", "r"):
        builder.add_node(name, says(name))
    builder.add_edge(lib.START, "p").add_edge(lib.START, "q").add_edge(["p", "q"], "r")
    graph = builder.compile(checkpointer=lib.InMemorySaver(), interrupt_before=["r"])
    it.run(graph, {"log": []}, thread())
    it.update(graph, thread(), {"log": ["x"]})
    it.update(graph, thread(), {"log": ["x"]}, "zzz")
    it.update(graph, thread(), {"log": ["x"]}, "p")
    it.state(graph, thread())
    it.run(graph, None, thread())
    it.history(graph, thread())


@program(parallel=True)
def a_fork_before_a_parallel_step(lib: Any, it: Player) -> None:
    builder = lib.StateGraph(Log)
    for name in ("s", "p", "q", "r"):
        builder.add_node(name, says(name))
    builder.add_edge(lib.START, "s").add_edge("s", "p").add_edge("s", "q").add_edge(["p", "q"], "r")
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": []}, thread())
    fork = it.at(graph, thread(), "p", "q")
    config = it.update(graph, fork.config, {"log": ["P!"]}, "p")
    it.state(graph, config)
    it.run(graph, None, config)
    it.history(graph, thread())


@program(parallel=True, results=False)
def edits_with_pending_sends(lib: Any, it: Player) -> None:
    def w(arg: Any) -> dict[str, Any]:
        return {"log": [f"w{arg}"]}

    for as_node in (None, "w", "plan"):
        builder = lib.StateGraph(Log)
        builder.add_node("plan", says("plan")).add_node(w).add_node("z", says("z"))
        builder.add_edge(lib.START, "plan").add_edge("w", "z")
        builder.add_conditional_edges("plan", lambda s: [lib.Send("w", 1), lib.Send("w", 2)], ["w"])
        graph = builder.compile(checkpointer=lib.InMemorySaver())
        it.note("as", as_node)
        it.run(graph, {"log": []}, thread(), interrupt_before=["w"])
        it.state(graph, thread())
        config = it.update(graph, thread(), {"log": ["E"]}, as_node)
        it.state(graph, config)
        it.run(graph, None, config)
        it.history(graph, thread())


@program()
def back_before_an_answered_question(lib: Any, it: Player) -> None:
    graph = asking(lib, "q?")
    it.run(graph, {"log": []}, thread())
    paused = it.state(graph, thread())
    it.run(graph, lib.Command(resume="one"), thread())
    it.run(graph, None, paused.config)
    it.state(graph, thread())
    it.run(graph, lib.Command(resume="two"), thread())
    it.history(graph, thread())
    it.run(graph, None, it.at(graph, thread(), "a").config)
    it.state(graph, thread())


@program()
def an_edit_while_a_question_waits(lib: Any, it: Player) -> None:
    graph = asking(lib, "q?")
    it.run(graph, {"log": []}, thread())
    it.update(graph, thread(), {"log": ["EDIT"]})
    it.state(graph, thread())
    it.run(graph, None, thread())
    it.run(graph, lib.Command(resume="yes"), thread())
    it.history(graph, thread())


@program(results=False)
def an_edit_as_the_node_that_asks(lib: Any, it: Player) -> None:
    graph = asking(lib, "q?")
    it.run(graph, {"log": []}, thread())
    it.update(graph, thread(), {"log": ["INSTEAD"]}, "ask")
    it.state(graph, thread())
    it.run(graph, None, thread())
    it.history(graph, thread())


@program(parallel=True, results=False)
def an_edit_while_two_questions_wait(lib: Any, it: Player) -> None:
    graph = parallel_askers(lib)
    it.run(graph, {"log": []}, thread())
    it.update(graph, thread(), {"log": ["P!"]}, "p")
    it.state(graph, thread())
    it.history(graph, thread())


@program()
def history_by_page_and_filter(lib: Any, it: Player) -> None:
    graph = chain(lib, "a", "b", "c", checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": ["in"]}, thread())
    it.run(graph, {"log": ["again"]}, thread())
    found = it.history(graph, thread())
    it.history(graph, thread(), limit=2)
    it.history(graph, thread(), before=found[3].config)
    it.history(graph, thread(), before=found[3].config, limit=1)
    it.history(graph, thread(), filter={"source": "input"})
    it.history(graph, thread(), filter={"step": 1})
    it.history(graph, found[4].config)
    it.state(graph, thread("none"))
    it.history(graph, thread("none"))


@program(results=False)
def several_edits_at_once(lib: Any, it: Player) -> None:
    from importlib import import_module

    update = import_module(f"{lib.name}.types").StateUpdate
    graph = chain(lib, "a", "b", "c", checkpointer=lib.InMemorySaver())
    steps = [[update({"log": ["in"]}, lib.START)], [update({"log": ["A"]}, "a")], [update({"log": ["B"]}, "b")]]
    it._try("bulk", graph, "bulk_update_state", thread(), steps)
    it.history(graph, thread())
    it.run(graph, None, thread())
    it._try("bulk", graph, "bulk_update_state", thread("none"), [])
    it._try("bulk", graph, "bulk_update_state", thread("none"), [[]])


@program()
def a_replay_with_a_breakpoint(lib: Any, it: Player) -> None:
    graph = chain(lib, "a", "b", "c", "d", checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": ["in"]}, thread())
    mid = it.at(graph, thread(), "b")
    it.run(graph, None, mid.config, interrupt_before=["d"])
    it.state(graph, thread())
    it.run(graph, None, thread())
    it.history(graph, thread())
    it.run(graph, None, mid.config, interrupt_before=["b"])
    it.state(graph, thread())


@program(parallel=True, results=False)
def a_fork_is_replayed_while_a_question_waits_beside_a_finished_sibling(lib: Any, it: Player) -> None:
    builder = lib.StateGraph(Log)
    builder.add_node("start", says("start")).add_node("done", says("done"))
    builder.add_node("ask", lambda state: {"log": [lib.interrupt("q?")]})
    builder.add_edge(lib.START, "start").add_edge("start", "done").add_edge("start", "ask")
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": ["in"]}, thread())
    it.run(graph, None, it.at(graph, thread(), "done", "ask").config)
    it.run(graph, None, it.at(graph, thread(), "done", "ask").config)
    it.run(graph, lib.Command(resume="yes"), thread())
    it.history(graph, thread())
