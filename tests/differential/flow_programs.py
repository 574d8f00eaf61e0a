"""Programs about flow: schemas, reducers, edges, routers, sends, commands, loops, errors."""

import dataclasses
import operator
from typing import Annotated, Any, Literal, NotRequired

from pydantic import BaseModel
from twins import Player, program, thread
from typing_extensions import TypedDict


class Log(TypedDict):
    log: Annotated[list[str], operator.add]


class Route(TypedDict):
    log: Annotated[list[str], operator.add]
    to: str


def says(name: str) -> Any:
    def node(state: Any) -> dict[str, Any]:
        return {"log": [name]}

    node.__name__ = name
    return node


def chain(lib: Any, *names: str, schema: Any = Log, **options: Any) -> Any:
    builder = lib.StateGraph(schema)
    before = lib.START
    for name in names:
        builder.add_node(name, says(name))
        builder.add_edge(before, name)
        before = name
    return builder.compile(**options)


@program()
def three_in_a_row(lib: Any, it: Player) -> None:
    graph = chain(lib, "a", "b", "c", checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": ["in"]}, thread())
    it.state(graph, thread())
    it.history(graph, thread())
    it.run(graph, {"log": ["again"]}, thread())
    it.history(graph, thread())


@program()
def without_a_checkpointer(lib: Any, it: Player) -> None:
    graph = chain(lib, "a", "b")
    it.run(graph, {"log": []})
    it.run(graph, {})
    it.run(graph, None)
    it.state(graph, thread())


@program()
def dataclass_state(lib: Any, it: Player) -> None:
    @dataclasses.dataclass
    class State:
        n: int
        name: str = "nobody"
        seen: Annotated[list[str], operator.add] = dataclasses.field(default_factory=list)

    def a(state: State) -> dict[str, Any]:
        return {"n": state.n + 1, "seen": [state.name]}

    def b(state: State) -> dict[str, Any]:
        return {"name": f"{state.name}{state.n}", "seen": [type(state).__name__]}

    builder = lib.StateGraph(State)
    builder.add_node(a).add_node(b).add_edge(lib.START, "a").add_edge("a", "b")
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, {"n": 1}, thread())
    it.history(graph, thread())
    it.run(graph, State(5, "bob"), thread("2"))
    it.state(graph, thread("2"))


@program()
def pydantic_state_coerces_and_validates(lib: Any, it: Player) -> None:
    class State(BaseModel):
        n: int
        tags: Annotated[list[str], operator.add] = []

    def a(state: State) -> dict[str, Any]:
        return {"n": state.n * 2, "tags": [f"{type(state.n).__name__}"]}

    builder = lib.StateGraph(State)
    builder.add_node(a).add_edge(lib.START, "a")
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, {"n": "21"}, thread())
    it.run(graph, State(n=3), thread("2"))
    it.run(graph, {"n": "no number"}, thread("3"))
    it.state(graph, thread())


@program()
def keys_that_nobody_writes(lib: Any, it: Player) -> None:
    class State(TypedDict):
        a: int
        b: NotRequired[str]
        log: Annotated[list[str], operator.add]

    def first(state: State) -> dict[str, Any]:
        return {"log": [",".join(sorted(state))]}

    def nothing(state: State) -> None:
        return None

    builder = lib.StateGraph(State)
    builder.add_node(first).add_node(nothing).add_edge(lib.START, "first").add_edge("first", "nothing")
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, {"a": 1}, thread())
    it.run(graph, {}, thread("2"))
    it.run(graph, {"unknown": 1}, thread("3"))
    it.history(graph, thread())


@program()
def reducers(lib: Any, it: Player) -> None:
    def merge(old: dict[str, int], new: dict[str, int]) -> dict[str, int]:
        return {**old, **new}

    class State(TypedDict):
        total: Annotated[int, operator.add]
        biggest: Annotated[int, lambda a, b: max(a, b)]  # noqa: PLW0108 - max itself has no signature
        seen: Annotated[dict[str, int], merge]
        last: str

    def a(state: State) -> dict[str, Any]:
        return {"total": 5, "biggest": 3, "seen": {"a": 1}, "last": "a"}

    def b(state: State) -> dict[str, Any]:
        return {"total": 1, "biggest": 2, "seen": {"b": state["total"]}, "last": "b"}

    builder = lib.StateGraph(State)
    builder.add_node(a).add_node(b).add_edge(lib.START, "a").add_edge("a", "b")
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, {"total": 10, "biggest": 1}, thread())
    it.history(graph, thread())
    it.run(graph, {"total": 1}, thread())


@program(parallel=True)
def fan_out_and_join(lib: Any, it: Player) -> None:
    builder = lib.StateGraph(Log)
    for name in ("split", "p", "q", "r", "join"):
        builder.add_node(name, says(name))
    builder.add_edge(lib.START, "split")
    for name in ("p", "q", "r"):
        builder.add_edge("split", name)
    builder.add_edge(["p", "q", "r"], "join")
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": []}, thread())
    it.history(graph, thread())


@program(parallel=True)
def join_waits_for_the_longer_way(lib: Any, it: Player) -> None:
    builder = lib.StateGraph(Log)
    for name in ("p", "q", "q2", "join", "after"):
        builder.add_node(name, says(name))
    builder.add_edge(lib.START, "p").add_edge(lib.START, "q").add_edge("q", "q2")
    builder.add_edge(["p", "q2"], "join").add_edge("join", "after")
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(
        graph, {"log": []}, thread(), durability="sync"
    )  # else the peer's stored barrier may be changed under its saver
    it.run(graph, {"log": ["again"]}, thread(), durability="sync")
    it.history(graph, thread())


@program(parallel=True)
def two_edges_into_one_node_without_a_join(lib: Any, it: Player) -> None:
    builder = lib.StateGraph(Log)
    for name in ("p", "q", "q2", "end"):
        builder.add_node(name, says(name))
    builder.add_edge(lib.START, "p").add_edge(lib.START, "q").add_edge("q", "q2")
    builder.add_edge("p", "end").add_edge("q2", "end")
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": []}, thread())
    it.history(graph, thread())


@program()
def routers_by_map_list_and_literal(lib: Any, it: Player) -> None:
    def by_literal(state: Route) -> Literal["x", "y"]:
        return "x" if state["to"] == "left" else "y"

    for path, path_map in (
        (lambda s: s["to"], {"left": "x", "right": "y", "stop": lib.END}),
        (lambda s: {"left": "x", "right": "y"}.get(s["to"], lib.END), ["x", "y", lib.END]),
        (lambda s: s["to"] == "left", {True: "x", False: "y"}),
        (by_literal, None),
        (lambda s: ["x", "y"], None),
    ):
        builder = lib.StateGraph(Route)
        for name in ("a", "x", "y"):
            builder.add_node(name, says(name))
        builder.add_edge(lib.START, "a").add_conditional_edges("a", path, path_map)
        graph = builder.compile(checkpointer=lib.InMemorySaver())
        for to in ("left", "right", "stop"):
            it.note("to", to)
            config = thread(to)
            it.parallel = True
            it.run(graph, {"log": [], "to": to}, config)
            it.state(graph, config)


@program()
def router_at_the_start(lib: Any, it: Player) -> None:
    builder = lib.StateGraph(Route)
    for name in ("x", "y"):
        builder.add_node(name, says(name))
    builder.add_conditional_edges(lib.START, lambda s: s["to"])
    builder.add_edge("x", "y")
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": [], "to": "x"}, thread("x"))
    it.run(graph, {"log": [], "to": "y"}, thread("y"))
    it.history(graph, thread("x"))
    it.run(graph, {"log": [], "to": lib.END}, thread("end"))
    it.history(graph, thread("end"))


@program()
def router_sees_its_nodes_own_write(lib: Any, it: Player) -> None:
    def a(state: Route) -> dict[str, Any]:
        return {"to": "y", "log": ["a"]}

    builder = lib.StateGraph(Route)
    builder.add_node(a).add_node("x", says("x")).add_node("y", says("y"))
    builder.add_edge(lib.START, "a").add_conditional_edges("a", lambda s: s["to"], ["x", "y"])
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": [], "to": "x"}, thread())


@program(parallel=True)
def sends(lib: Any, it: Player) -> None:
    def work(arg: Any) -> dict[str, Any]:
        return {"log": [f"work {arg['i']}"]}

    builder = lib.StateGraph(Log)
    builder.add_node("plan", says("plan")).add_node(work).add_node("end", says("end"))
    builder.add_edge(lib.START, "plan").add_edge("work", "end")
    builder.add_conditional_edges("plan", lambda s: [lib.Send("work", {"i": i}) for i in range(3)], ["work"])
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": []}, thread())
    it.history(graph, thread())


@program(parallel=True)
def sends_beside_edges(lib: Any, it: Player) -> None:
    def work(arg: Any) -> dict[str, Any]:
        return {"log": [f"work {arg}"]}

    builder = lib.StateGraph(Log)
    builder.add_node("plan", says("plan")).add_node(work).add_node("other", says("other"))
    builder.add_edge(lib.START, "plan")
    builder.add_conditional_edges("plan", lambda s: [lib.Send("work", 1), "other", lib.Send("other", {"log": []})])
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": []}, thread())
    it.history(graph, thread())


@program()
def commands_jump_and_update(lib: Any, it: Player) -> None:
    def a(state: Route) -> Any:
        return lib.Command(update={"log": ["a"]}, goto=state["to"])

    def x(state: Route) -> Any:
        return lib.Command(goto=["y"], update=[("log", ["x1"]), ("log", ["x2"])])

    def y(state: Route) -> Any:
        return lib.Command(goto=lib.END, update={"log": ["y"]})

    builder = lib.StateGraph(Route)
    builder.add_node("a", a, destinations=("x", "y")).add_node(x).add_node(y)
    builder.add_edge(lib.START, "a")
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": [], "to": "x"}, thread("x"))
    it.run(graph, {"log": [], "to": "y"}, thread("y"))
    it.history(graph, thread("x"))


@program(parallel=True)
def commands_beside_edges_and_sends(lib: Any, it: Player) -> None:
    def a(state: Log) -> Any:
        return [lib.Command(update={"log": ["a1"]}, goto=lib.Send("w", 7)), lib.Command(goto="x"), {"log": ["a2"]}]

    def w(arg: Any) -> dict[str, Any]:
        return {"log": [f"w{arg}"]}

    builder = lib.StateGraph(Log)
    builder.add_node("a", a, destinations=("w", "x")).add_node(w)
    builder.add_node("x", says("x")).add_node("always", says("always"))
    builder.add_edge(lib.START, "a").add_edge("a", "always")
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": []}, thread())
    it.history(graph, thread())


@program()
def a_loop_and_its_limit(lib: Any, it: Player) -> None:
    class State(TypedDict):
        n: int

    builder = lib.StateGraph(State)
    builder.add_node("inc", lambda s: {"n": s["n"] + 1})
    builder.add_edge(lib.START, "inc").add_conditional_edges("inc", lambda s: "inc" if s["n"] < 4 else lib.END)
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, {"n": 0}, thread())
    it.run(graph, {"n": 0}, {**thread("short"), "recursion_limit": 2})
    it.history(graph, thread("short"))
    it.run(graph, None, {**thread("short"), "recursion_limit": 10})
    it.history(graph, thread("short"))
    it.run(graph, {"n": 0}, {**thread("just"), "recursion_limit": 4})
    it.run(graph, {"n": 0}, {**thread("zero"), "recursion_limit": 0})


@program()
def a_node_fails_once(lib: Any, it: Player) -> None:
    calls: list[int] = []

    def flaky(state: Log) -> dict[str, Any]:
        calls.append(1)
        if len(calls) == 1:
            raise ValueError("first time")
        return {"log": ["flaky"]}

    builder = lib.StateGraph(Log)
    builder.add_node("a", says("a")).add_node(flaky).add_node("z", says("z"))
    builder.add_edge(lib.START, "a").add_edge("a", "flaky").add_edge("flaky", "z")
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": []}, thread())
    it.state(graph, thread())
    it.history(graph, thread())
    it.run(graph, None, thread())
    it.history(graph, thread())


@program(parallel=True)
def one_of_two_siblings_fails(lib: Any, it: Player) -> None:
    import threading

    good_done = threading.Event()
    calls: list[int] = []

    def good(state: Log) -> dict[str, Any]:
        good_done.set()
        it.note("good", None)
        return {"log": ["good"]}

    def bad(state: Log) -> dict[str, Any]:
        calls.append(1)
        if len(calls) == 1:
            good_done.wait(1)
            threading.Event().wait(0.05)  # its sibling's result is stored first
            raise ValueError("boom")
        return {"log": ["bad"]}

    builder = lib.StateGraph(Log)
    builder.add_node(good).add_node(bad).add_node("z", says("z"))
    builder.add_edge(lib.START, "good").add_edge(lib.START, "bad").add_edge(["good", "bad"], "z")
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": []}, thread())
    it.state(graph, thread())
    it.run(graph, None, thread())
    it.history(graph, thread())


@program(parallel=True)
def two_writers_of_one_plain_key(lib: Any, it: Player) -> None:
    class State(TypedDict):
        x: str

    builder = lib.StateGraph(State)
    builder.add_node("p", lambda s: {"x": "p"}).add_node("q", lambda s: {"x": "q"})
    builder.add_edge(lib.START, "p").add_edge(lib.START, "q")
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, {"x": "in"}, thread())
    it.state(graph, thread())


@program()
def private_keys_between_nodes(lib: Any, it: Player) -> None:
    class Public(TypedDict):
        log: Annotated[list[str], operator.add]

    class Private(TypedDict):
        secret: str

    def a(state: Public) -> Private:
        return {"secret": "s", "log": ["a"]}  # type: ignore[typeddict-unknown-key]  # writes both

    def b(state: Private) -> dict[str, Any]:
        return {"log": [f"b {sorted(state)}"]}

    def c(state: Public) -> dict[str, Any]:
        return {"log": [f"c {sorted(state)}"]}

    builder = lib.StateGraph(Public)
    builder.add_node("a", a).add_node("b", b, input_schema=Private).add_node("c", c)
    builder.add_edge(lib.START, "a").add_edge("a", "b").add_edge("b", "c")
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": []}, thread())
    it.history(graph, thread())


@program()
def input_and_output_schemas(lib: Any, it: Player) -> None:
    class In(TypedDict):
        question: str

    class Out(TypedDict):
        answer: str

    class State(In, Out):
        log: Annotated[list[str], operator.add]

    builder = lib.StateGraph(State, input_schema=In, output_schema=Out)
    builder.add_node("think", lambda s: {"log": [min(s)]})
    builder.add_node("say", lambda s: {"answer": f"{s['question']}!"})
    builder.add_edge(lib.START, "think").add_edge("think", "say")
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, {"question": "q", "log": ["not an input"]}, thread())
    it.state(graph, thread())
    it.history(graph, thread())


@program()
def wrong_returns(lib: Any, it: Player) -> None:
    for result in (5, "text", ["a"], {"nope": 1}, {}, None, [{"log": ["x"]}], [None]):
        builder = lib.StateGraph(Log)
        builder.add_node("a", lambda s, result=result: result)
        builder.add_edge(lib.START, "a")
        graph = builder.compile(checkpointer=lib.InMemorySaver())
        it.note("returns", result)
        it.run(graph, {"log": []}, thread())
        it.state(graph, thread())


@program()
def async_nodes(lib: Any, it: Player) -> None:
    if not it.manner.is_async:
        return

    async def a(state: Log) -> dict[str, Any]:
        return {"log": ["a"]}

    async def route(state: Log) -> str:
        return "b"

    builder = lib.StateGraph(Log)
    builder.add_node(a).add_node("b", says("b"))
    builder.add_edge(lib.START, "a").add_conditional_edges("a", route, ["b"])
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": []}, thread())
    it.history(graph, thread())


@program()
def durability_exit_and_sync(lib: Any, it: Player) -> None:
    graph = chain(lib, "a", "b", "c", checkpointer=lib.InMemorySaver())
    for durability in ("exit", "sync"):
        it.run(graph, {"log": ["in"]}, thread(durability), durability=durability)
        it.history(graph, thread(durability))
        it.run(graph, {"log": ["again"]}, thread(durability), durability=durability)
        it.history(graph, thread(durability))


@program()
def metadata_and_tags_of_the_caller(lib: Any, it: Player) -> None:
    builder = lib.StateGraph(Log)
    builder.add_node("a", says("a"), metadata={"team": "blue"})
    builder.add_edge(lib.START, "a")
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": []}, {**thread(), "metadata": {"who": "me"}, "tags": ["t1"], "run_name": "mine"})
    it.history(graph, thread())
    it.history(graph, thread(), filter={"who": "me"})
    it.history(graph, thread(), filter={"who": "you"})


@program()
def context_config_and_writers_in_nodes(lib: Any, it: Player) -> None:
    class Context(TypedDict):
        user: str

    def a(state: Log, runtime: lib.Runtime[Context]) -> dict[str, Any]:
        runtime.stream_writer({"from": "runtime"})
        return {"log": [runtime.context["user"]]}

    def b(state: Log, config: Any) -> dict[str, Any]:
        lib.get_stream_writer()("from get_stream_writer")
        return {"log": [config["configurable"]["thread_id"], lib.get_config()["metadata"]["langgraph_node"]]}

    def c(state: Log, writer: Any, store: Any = None) -> dict[str, Any]:
        return {"log": [type(writer).__name__]}

    a.__annotations__["runtime"] = lib.Runtime[Context]
    from langchain_core.runnables import RunnableConfig

    b.__annotations__["config"] = RunnableConfig
    builder = lib.StateGraph(Log, context_schema=Context)
    builder.add_node(a).add_node(b).add_edge(lib.START, "a").add_edge("a", "b")
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": []}, thread(), context={"user": "ann"})
    it.history(graph, thread())


@program()
def each_mode_alone(lib: Any, it: Player) -> None:
    if not it.manner.streams:
        return
    graph = chain(lib, "a", "b", checkpointer=lib.InMemorySaver())
    for mode in ("values", "updates", "checkpoints", "tasks", "debug", "messages", "custom"):
        it.run(graph, {"log": ["in"]}, thread(mode), stream_mode=mode)
        it.run(graph, {"log": ["in"]}, thread(f"{mode} list"), stream_mode=[mode])
    it.run(graph, {"log": ["in"]}, thread("default"), stream_mode=None)


@program()
def output_keys(lib: Any, it: Player) -> None:
    graph = chain(lib, "a", "b", schema=Route, checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": ["in"], "to": "x"}, thread("list"), output_keys=["to"])
    it.run(graph, {"log": ["in"], "to": "x"}, thread("one"), output_keys="log")
