"""Graphs and journeys drawn by Hypothesis.

A plan is plain data, so that a failing one prints and shrinks; `build` makes a graph of it on either library, and
`travel` takes a journey through it. Left out is what `test_better.py` and the requirements want to be different: answers
at an old pause, answers to some of several questions, edits under a graph that waits, jumps to nowhere.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from hypothesis import strategies as st
from twins import Player, thread
from typing_extensions import TypedDict

LIMIT = 12
"""Super-steps a run: graphs with loops end by it."""


def append(old: list[str], new: list[str]) -> list[str]:
    """Lists joined; only the end is kept, since a subgraph returns all it was given."""
    return [*old, *new][-30:]


class State(TypedDict):
    log: Annotated[list[str], append]
    total: Annotated[int, lambda a, b: a + b]
    last: str


@dataclass(frozen=True)
class Node:
    """What one node does."""

    name: str
    kind: str
    """say, quiet, ask, command, or sub."""
    writes_last: bool = False
    questions: int = 1
    goto: tuple[str, ...] = ()
    sub: "Graph | None" = None


@dataclass(frozen=True)
class Router:
    """What follows a node by its state."""

    source: str
    kind: str
    """pick, all, or sends."""
    targets: tuple[str, ...]


@dataclass(frozen=True)
class Graph:
    """A graph as data."""

    nodes: tuple[Node, ...]
    edges: tuple[tuple[str, str], ...]
    joins: tuple[tuple[tuple[str, ...], str], ...]
    routers: tuple[Router, ...]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True)
class Act:
    """One thing that a person does."""

    kind: str
    """run, go, resume, answer, edit, or replay."""
    value: str = ""
    at: int | None = None
    """Which checkpoint of the history; None for the head."""
    as_node: int | None = None


# -- drawing -----------------------------------------------------------------------------------------------------------


@st.composite
def graphs(draw: Any, depth: int = 2, prefix: str = "") -> Graph:
    """Any graph of up to five nodes, with subgraphs down to `depth`."""
    names = tuple(f"{prefix}{name}" for name in "abcde"[: draw(st.integers(1, 5 if depth == 2 else 3))])
    nodes = tuple(draw(_nodes(name, names, depth)) for name in names)
    places = st.sampled_from(names)
    starts = draw(st.lists(places, min_size=1, max_size=2, unique=True))
    edges = draw(st.lists(st.tuples(places, places), max_size=5, unique=True))
    many = st.lists(places, min_size=2, max_size=3, unique=True)
    joins = draw(st.lists(st.tuples(many, places), max_size=1)) if len(names) > 1 else ()
    sources = draw(st.lists(places, max_size=2, unique=True))
    return Graph(
        nodes=nodes,
        edges=(*(("__start__", name) for name in starts), *edges),
        joins=tuple((tuple(sorted(starts)), end) for starts, end in joins),
        routers=tuple(draw(_routers(source, names)) for source in sources),
        before=tuple(draw(st.lists(places, max_size=1))) if draw(st.integers(0, 3)) == 0 else (),
        after=tuple(draw(st.lists(places, max_size=1))) if draw(st.integers(0, 3)) == 0 else (),
    )


def _nodes(name: str, names: tuple[str, ...], depth: int) -> st.SearchStrategy[Node]:
    says = st.builds(Node, st.just(name), st.just("say"), st.booleans())
    found = [
        says,
        says,
        st.just(Node(name, "quiet")),
        st.builds(Node, st.just(name), st.just("ask"), st.just(False), st.integers(1, 2)),
        st.builds(
            Node,
            st.just(name),
            st.just("command"),
            goto=st.lists(st.sampled_from([*names, "__end__"]), max_size=2, unique=True).map(tuple),
        ),
    ]
    if depth:
        found.append(st.builds(Node, st.just(name), st.just("sub"), sub=graphs(depth - 1, f"{name}")))
    return st.one_of(found)


def _routers(source: str, names: tuple[str, ...]) -> st.SearchStrategy[Router]:
    some = st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True).map(tuple)
    ending = st.lists(st.sampled_from([*names, "__end__"]), min_size=1, max_size=3, unique=True).map(tuple)
    return st.one_of(
        st.builds(Router, st.just(source), st.just("pick"), ending),
        st.builds(Router, st.just(source), st.just("all"), ending),
        st.builds(Router, st.just(source), st.just("sends"), some),
    )


ACTS = st.one_of(
    st.builds(Act, st.just("run"), st.sampled_from(["x", "y"])),
    st.just(Act("go")),
    st.builds(Act, st.just("resume"), st.sampled_from(["yes", "no"])),
    st.just(Act("answer", "all")),
    st.builds(Act, st.just("edit"), st.just("E"), st.none() | st.integers(0, 20), st.none() | st.integers(0, 6)),
    st.builds(Act, st.just("replay"), at=st.integers(0, 20)),
)
JOURNEYS = st.lists(ACTS, max_size=6).map(lambda acts: (Act("run", "in"), *acts))


# -- building ----------------------------------------------------------------------------------------------------------


def build(lib: Any, plan: Graph, checkpointer: Any = None) -> Any:
    """The plan's graph, compiled."""
    builder = lib.StateGraph(State)
    for node in plan.nodes:
        code = build(lib, node.sub) if node.sub is not None else _code(lib, node)
        builder.add_node(node.name, code, destinations=tuple(node.goto) or None)
    for start, end in plan.edges:
        builder.add_edge(start, end)
    for many, end in plan.joins:
        builder.add_edge(list(many), end)
    for router in plan.routers:
        builder.add_conditional_edges(router.source, _route(lib, router), list(router.targets))
    return builder.compile(
        checkpointer=checkpointer, interrupt_before=list(plan.before), interrupt_after=list(plan.after)
    )


def _code(lib: Any, node: Node) -> Callable[[State], Any]:
    def say(state: State) -> dict[str, Any]:
        return {"log": [node.name], "total": 1, **({"last": node.name} if node.writes_last else {})}

    def quiet(state: State) -> None:
        return None

    def ask(state: State) -> dict[str, Any]:
        seen = "".join(state.get("log", [])[-2:])[-12:]  # so that tasks of one node ask different questions
        return {"log": [f"{node.name}={lib.interrupt(f'{node.name}{i} {seen}?')}" for i in range(node.questions)]}

    def command(state: State) -> Any:
        return lib.Command(update={"log": [node.name]}, goto=list(node.goto))

    return {"say": say, "quiet": quiet, "ask": ask, "command": command}[node.kind]


def _route(lib: Any, router: Router) -> Callable[[State], Any]:
    def pick(state: State) -> str:
        return router.targets[len(state.get("log", [])) % len(router.targets)]

    def all_of_them(state: State) -> list[str]:
        return list(router.targets)

    def sends(state: State) -> list[Any]:
        return [lib.Send(target, {"log": [f"sent {i}"], "total": i}) for i, target in enumerate(router.targets)]

    return {"pick": pick, "all": all_of_them, "sends": sends}[router.kind]


# -- travelling --------------------------------------------------------------------------------------------------------


class UnreadableError(Exception):
    """The peer cannot show a thread's state, e.g. since two nodes wrote one plain key, or another each time."""


def travel(lib: Any, it: Player, plan: Graph, journey: tuple[Act, ...]) -> None:
    """Do what the journey says, and record all that shows."""
    graph = build(lib, plan, lib.InMemorySaver())
    here = {**thread(), "recursion_limit": LIMIT}
    for act in journey:
        it.note("act", act.kind)
        before = it.state(graph, thread())
        if isinstance(before, Exception):
            raise UnreadableError from before
        if len({i.value for i in before.interrupts}) < len(before.interrupts):
            raise UnreadableError  # questions that cannot be told apart come in any order
        if act.kind == "run":
            _run(it, plan, graph, {"log": [act.value]}, here)
        elif act.kind == "go":
            if not (before.interrupts and _may_answer_again(plan)):
                _run(it, plan, graph, None, here)
        elif act.kind == "resume":
            if before.interrupts and not _may_answer_again(plan):
                _run(it, plan, graph, lib.Command(resume=act.value), here)
        elif act.kind == "answer":
            answers = {i.id: f"to {i.value}" for i in before.interrupts}
            if answers:
                _run(it, plan, graph, lib.Command(resume=answers), here)
        else:
            _past(it, graph, plan, here, before, act)
    it.state(graph, thread())
    it.history(graph, thread())


def _run(it: Player, plan: Graph, graph: Any, value: Any, config: Any) -> None:
    error = it.run(graph, value, config, durability="sync")
    if error is not None and any(node.sub is not None for node in plan.nodes):
        raise UnreadableError from error  # how far siblings of a task that failed below have come is a matter of luck


def _may_answer_again(plan: Graph) -> bool:
    """Whether a node can have a second question: the peer may answer it with what the first was told."""
    return any(node.questions > 1 or node.sub is not None for node in plan.nodes)


def _past(it: Player, graph: Any, plan: Graph, here: Any, before: Any, act: Act) -> None:
    found = it.history(graph, thread())
    if not found:
        return
    chosen = found[act.at % len(found)] if act.at is not None else before
    if any(task.state is not None and task.interrupts for task in chosen.tasks):
        return
    config = chosen.config if act.at is not None else thread()
    if act.kind == "replay":
        _run(it, plan, graph, None, {**here, **config})
        return
    names = [None, *(node.name for node in plan.nodes), "__start__"]
    as_node = names[act.as_node % len(names)] if act.as_node is not None else None
    edited = chosen.metadata["source"] == "update"
    if as_node is None and (plan.joins or edited or chosen.next == ("__start__",)):
        return  # who wrote last, the peer does not always see at the start, after joins, and after an edit of the start
    it.update(graph, config, {"log": [act.value]}, as_node)
