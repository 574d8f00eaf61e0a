"""Programs about who is told of a run: callback handlers, handlers of a graph's life, and the events of versions 1 and 2."""

from typing import Any

from flow_programs import Log, chain, says
from langchain_core.callbacks import BaseCallbackHandler, adispatch_custom_event, dispatch_custom_event
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda
from nested_programs import outer
from people_programs import asking
from policy_programs import ONE, ONE_ASYNC, feature, names
from twins import Player, thread


class Told(BaseCallbackHandler):
    """Notes what it is told of chains: the name of each run and of its parent, tags, part of the metadata, what came out."""

    run_inline = True

    def __init__(self) -> None:
        self.notes: list[Any] = []
        self.names: dict[Any, str] = {}

    def on_chain_start(
        self, serialized: Any, inputs: Any, *, run_id: Any, parent_run_id: Any = None, **more: Any
    ) -> None:
        self.names[run_id] = more.get("name") or "?"
        place = {key: value for key, value in (more.get("metadata") or {}).items() if key.startswith("langgraph_")}
        parent = self.names.get(parent_run_id)
        self.notes.append(("start", self.names[run_id], parent, more.get("tags"), inputs, place))

    def on_chain_end(self, outputs: Any, *, run_id: Any, **more: Any) -> None:
        self.notes.append(("end", self.names[run_id], outputs))

    def on_chain_error(self, error: BaseException, *, run_id: Any, **more: Any) -> None:
        self.notes.append(("error", self.names[run_id], type(error).__name__))

    def on_custom_event(self, name: str, data: Any, *, run_id: Any, **more: Any) -> None:
        self.notes.append(("custom", name, data, self.names.get(run_id)))


def told(it: Player, graph: Any, value: Any, **config: Any) -> None:
    """A run, and what a handler hears of it."""
    handler = Told()
    it.run(graph, value, {**thread(), "callbacks": [handler], **config})
    it.note("told", handler.notes)


def routed(lib: Any) -> Any:
    def route(state: Log) -> str:
        return "b"

    builder = lib.StateGraph(Log)
    builder.add_node("a", says("a")).add_node("b", says("b"))
    builder.add_edge(lib.START, "a").add_conditional_edges("a", route, ["b", lib.END])
    return builder.compile(checkpointer=lib.InMemorySaver())


def failing(lib: Any) -> Any:
    def bad(state: Log) -> dict[str, Any]:
        raise ValueError("boom")

    builder = lib.StateGraph(Log)
    builder.add_node("a", says("a")).add_node(bad).add_edge(lib.START, "a").add_edge("a", "bad")
    return builder.compile(checkpointer=lib.InMemorySaver())


# -- handlers ----------------------------------------------------------------------------------------------------------


@feature(manners=ONE)
def a_handler_hears_of_graph_nodes_and_routers(lib: Any, it: Player) -> None:
    told(it, routed(lib), {"log": []}, tags=["t"], run_name="mine")


@feature(manners=ONE)
def a_handler_hears_of_graphs_inside(lib: Any, it: Player) -> None:
    told(it, outer(lib, chain(lib, "s1", "s2")), {"log": []})


@feature(manners=ONE)
def a_handler_hears_of_errors(lib: Any, it: Player) -> None:
    told(it, failing(lib), {"log": []})


@feature(manners=ONE)
def a_handler_hears_of_pauses_and_of_what_follows(lib: Any, it: Player) -> None:
    graph = asking(lib, "q?")
    told(it, graph, {"log": []})
    told(it, graph, lib.Command(resume="yes"))


@feature(manners=ONE)
def a_handler_of_the_graph_and_one_of_the_call(lib: Any, it: Player) -> None:
    bound, given = Told(), Told()
    graph = chain(lib, "a").with_config({"callbacks": [bound], "tags": ["bound"], "metadata": {"k": 1}})
    it.run(graph, {"log": []}, {"callbacks": [given], "tags": ["given"]})
    it.note("bound", bound.notes)
    it.note("given", given.notes)


@feature(manners=ONE)
def a_node_that_runs_a_runnable(lib: Any, it: Player) -> None:
    double = RunnableLambda(lambda text: text * 2).with_config(run_name="double")

    def node(state: Log, config: RunnableConfig) -> dict[str, Any]:
        return {"log": [double.invoke("x", config)]}

    builder = lib.StateGraph(Log)
    builder.add_node(node).add_edge(lib.START, "node")
    told(it, builder.compile(checkpointer=lib.InMemorySaver()), {"log": []})


@feature(manners=ONE)
def an_event_of_ones_own(lib: Any, it: Player) -> None:
    def sync(state: Log, config: RunnableConfig) -> dict[str, Any]:
        dispatch_custom_event("progress", {"done": 1}, config=config)
        return {"log": ["sync"]}

    builder = lib.StateGraph(Log)
    builder.add_node(sync).add_edge(lib.START, "sync")
    told(it, builder.compile(checkpointer=lib.InMemorySaver()), {"log": []})


@feature(manners=ONE)
def a_handler_of_pauses_and_resumes(lib: Any, it: Player) -> None:
    callbacks = names(lib, "callbacks")
    heard: list[Any] = []

    class Handler(callbacks.GraphCallbackHandler):  # type: ignore[misc, name-defined]  # of either library
        def on_interrupt(self, event: Any) -> None:
            heard.append(("interrupt", event.status, event.checkpoint_ns, [i.value for i in event.interrupts]))

        def on_resume(self, event: Any) -> None:
            heard.append(("resume", event.status, event.checkpoint_ns))

    config = {**thread(), "callbacks": [Handler()]}
    for graph in (asking(lib, "q?"), outer(lib, asking_inside(lib))):
        it.run(graph, {"log": []}, config)
        it.run(graph, lib.Command(resume="yes"), config)
        it.note("heard", list(heard))
        heard.clear()
    stopped = chain(lib, "a", "b", checkpointer=lib.InMemorySaver(), interrupt_before=["b"])
    it.run(stopped, {"log": []}, config)
    it.run(stopped, None, config)
    it.note("heard", list(heard))


def asking_inside(lib: Any) -> Any:
    builder = lib.StateGraph(Log)
    builder.add_node("ask", lambda state: {"log": [lib.interrupt("inner?")]}).add_edge(lib.START, "ask")
    return builder.compile()


# -- events ------------------------------------------------------------------------------------------------------------


def events(it: Player, graph: Any, value: Any, config: Any = None, **options: Any) -> None:
    """The events of both versions, each with the names of the runs above it."""
    assert it.loop is not None
    for version in ("v1", "v2"):

        async def collect(version: str = version) -> list[Any]:
            found = []
            runs: dict[str, str] = {}
            async for event in graph.astream_events(value, config, version=version, **options):
                runs[event["run_id"]] = event["name"]
                above = [runs.get(run_id, "?") for run_id in event.get("parent_ids", ())]
                kept = {key: part for key, part in event.items() if key not in ("run_id", "parent_ids")}
                found.append({**kept, "above": above})
            return found

        try:
            it.note(version, it.loop.run(collect()))
        except Exception as error:  # noqa: BLE001 - whatever it raises is what it shows
            it.note(version, error)


@feature(manners=ONE_ASYNC)
def events_of_a_chain_with_a_router(lib: Any, it: Player) -> None:
    events(it, routed(lib), {"log": ["in"]}, {**thread(), "tags": ["t"], "metadata": {"k": 1}})


@feature(manners=ONE_ASYNC)
def events_of_graphs_inside(lib: Any, it: Player) -> None:
    events(it, outer(lib, chain(lib, "s1")), {"log": ["in"]}, thread())


@feature(manners=ONE_ASYNC)
def events_of_a_model(lib: Any, it: Player) -> None:
    async def talk(state: Any) -> dict[str, Any]:
        model = GenericFakeChatModel(messages=iter([AIMessage("well met", id="1")]))
        return {"messages": [await model.ainvoke(state["messages"])]}

    builder = lib.StateGraph(lib.MessagesState)
    builder.add_node(talk).add_edge(lib.START, "talk")
    graph = builder.compile()
    events(it, graph, {"messages": []})
    events(it, graph, {"messages": []}, include_types=["chat_model"])
    events(it, graph, {"messages": []}, include_names=["talk"])
    events(it, graph, {"messages": []}, exclude_types=["chain"])


@feature(manners=ONE_ASYNC)
def events_of_ones_own(lib: Any, it: Player) -> None:
    async def node(state: Log, config: RunnableConfig) -> dict[str, Any]:
        await adispatch_custom_event("progress", {"done": 1}, config=config)
        return {"log": ["node"]}

    builder = lib.StateGraph(Log)
    builder.add_node(node).add_edge(lib.START, "node")
    events(it, builder.compile(), {"log": []})


@feature(manners=ONE_ASYNC)
def events_of_a_pause_and_of_an_error(lib: Any, it: Player) -> None:
    events(it, asking(lib, "q?"), {"log": []}, thread())
    events(it, failing(lib), {"log": []}, thread())


@feature(manners=ONE)
def configs_bound_to_graphs_inside(lib: Any, it: Player) -> None:
    above, bound, given = Told(), Told(), Told()
    seen: list[Any] = []

    def node(state: Log, config: RunnableConfig) -> dict[str, Any]:
        configurable = config["configurable"]
        seen.append((config["tags"], config["metadata"].get("k"), configurable.get("who"), config["recursion_limit"]))
        return {"log": ["s"]}

    builder = lib.StateGraph(Log)
    builder.add_node(node).add_edge(lib.START, "node")
    inner = builder.compile().with_config(
        {
            "callbacks": [bound],
            "tags": ["bound"],
            "metadata": {"k": 1},
            "configurable": {"who": "bound"},
            "recursion_limit": 7,
        }
    )
    one = outer(lib, inner)
    two = outer(lib, lambda state: inner.invoke(state, {"callbacks": [given], "tags": ["given"], "metadata": {"k": 2}}))
    for graph in (one, two):
        it.run(
            graph,
            {"log": []},
            {**thread(who="above"), "callbacks": [above], "tags": ["above"]},
        )
    it.note("seen", seen)
    for name, handler in (("above", above), ("bound", bound), ("given", given)):
        it.note(name, [note[:2] for note in handler.notes])
