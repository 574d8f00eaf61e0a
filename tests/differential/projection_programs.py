"""Programs about runs as projections: `stream_events(version="v3")` and its async twin."""

import asyncio
import importlib
import operator
import warnings
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from policy_programs import ONE, ONE_ASYNC, feature
from twins import Player, thread
from typing_extensions import TypedDict

ONE_SYNC = tuple(manner for manner in ONE if not manner.is_async)


class Values(TypedDict):
    v: int
    xs: Annotated[list[str], operator.add]


def stream_of(lib: Any) -> Any:
    return importlib.import_module(f"{lib.name}.stream")


def leaf(lib: Any, kind: str) -> Any:
    def work(state: Values) -> Any:
        if kind == "fails":
            raise ValueError("bad")
        if kind == "asks":
            return {"v": lib.interrupt("q?")}
        lib.get_stream_writer()("inner")
        return {"v": state["v"] + 10}

    return lib.StateGraph(Values).add_node("work", work).add_edge(lib.START, "work").compile()


def nested(lib: Any, kind: str = "works", depth: int = 1) -> Any:
    def one(state: Values) -> Any:
        lib.get_stream_writer()({"c": 1})
        return {"v": state["v"] + 1}

    inner = leaf(lib, kind)
    for level in range(depth - 1):
        inner = lib.StateGraph(Values).add_node(f"mid{level}", inner).add_edge(lib.START, f"mid{level}").compile()
    builder = lib.StateGraph(Values).add_node("one", one).add_node("sub", inner)
    builder.add_edge(lib.START, "one").add_edge("one", "sub")
    return builder.compile(checkpointer=lib.InMemorySaver())


def talker(lib: Any, *, calls: bool = True, within: bool = False) -> Any:
    model = GenericFakeChatModel(messages=iter([AIMessage("hello big world", id="m1")] * 9))

    def talk(state: Any) -> Any:
        return {"messages": [model.invoke("x") if calls else AIMessage("plain", id="p1")]}

    graph = lib.StateGraph(lib.MessagesState).add_node("talk", talk).add_edge(lib.START, "talk").compile()
    if within:
        graph = lib.StateGraph(lib.MessagesState).add_node("sub", graph).add_edge(lib.START, "sub").compile()
    return graph


def begin(graph: Any, value: Any = None, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the peer calls it experimental
        return graph.stream_events(value or {"v": 1, "xs": []}, thread(), version="v3", **options)


async def abegin(graph: Any, value: Any = None, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return await graph.astream_events(value or {"v": 1, "xs": []}, thread(), version="v3", **options)


def shown(event: Any) -> Any:
    params = event["params"]
    data = params["data"]
    if event["method"] == "messages":
        said = data[0]
        data = dict(said) if isinstance(said, Mapping) else said
        if isinstance(data, dict):
            data.pop("id", None)
    return event["seq"], event["type"], event["method"], params["namespace"], data, params.get("interrupts")


def attempt(it: Player, label: str, call: Callable[[], Any]) -> None:
    try:
        it.note(label, call())
    except Exception as error:  # noqa: BLE001 - whatever it raises is what it shows
        it.note(label, error)


def outcome(it: Player, run: Any) -> None:
    for name in ("output", "interrupted", "interrupts"):
        attempt(it, name, lambda name=name: getattr(run, name))


def watch(lib: Any, it: Player, graph: Any, **options: Any) -> None:
    """All events of a run, sync or async."""
    events: list[Any] = []

    async def collect() -> None:
        run = await abegin(graph, **options)
        async for event in run:
            events.append(shown(event))

    try:
        if it.loop is not None:
            it.loop.run(collect())
        else:
            run = begin(graph, **options)
            for event in run:
                events.append(shown(event))
            outcome(it, run)
    except ValueError as error:
        it.note("raised", error)
    it.note("events", events)


@feature(manners=ONE)
def events_of_graphs_below(lib: Any, it: Player) -> None:
    for kind in ("works", "fails", "asks"):
        for depth in (1, 3):
            watch(lib, it, nested(lib, kind, depth))


@feature(manners=ONE)
def events_of_every_mode(lib: Any, it: Player) -> None:
    names = ("Updates", "Custom", "Tasks", "Checkpoints", "Debug")
    made = [getattr(stream_of(lib), f"{name}Transformer") for name in names]
    watch(lib, it, nested(lib), transformers=made)


@feature(manners=ONE)
def events_of_messages(lib: Any, it: Player) -> None:
    for calls in (True, False):
        for within in (True, False):
            graph = talker(lib, calls=calls, within=within)
            watch(lib, it, graph, value={"messages": [("user", "q")]})


@feature(manners=ONE_SYNC)
def projections_alone(lib: Any, it: Player) -> None:
    for name in ("values", "lifecycle", "messages"):
        it.note(name, list(getattr(begin(nested(lib, depth=2)), name)))
    for kind in ("works", "fails", "asks"):
        outcome(it, begin(nested(lib, kind)))


@feature(manners=ONE_SYNC)
def projections_side_by_side(lib: Any, it: Player) -> None:
    run = begin(nested(lib))
    values = iter(run.values)
    it.note("first", next(values))
    it.note("lifecycle", list(run.lifecycle))
    it.note("rest", list(values))
    it.note("late", list(run))
    attempt(it, "twice", lambda: list(run.values))
    one, two = begin(nested(lib)).values.tee(2)
    it.note("tee", (list(one), list(two)))
    run = begin(nested(lib), transformers=[stream_of(lib).CustomTransformer])
    it.note("interleaved", list(run.interleave("values", "custom", "lifecycle")))
    attempt(it, "unknown", lambda: list(begin(nested(lib)).interleave("nope")))


@feature(manners=ONE_SYNC)
def runs_of_graphs_below(lib: Any, it: Player) -> None:
    for kind in ("works", "asks"):
        for depth in (1, 2):
            run = begin(nested(lib, kind, depth))
            for sub in run.subgraphs:
                it.note("sub", (sub.path, sub.graph_name, sub.trigger_call_id, sub.status, sub.error))
                for deeper in sub.subgraphs:
                    it.note("deeper", (deeper.path, deeper.graph_name, deeper.output, deeper.status))
                outcome(it, sub)
                it.note("after", (sub.status, sub.error))
            outcome(it, run)
    for sub in begin(talker(lib, within=True), {"messages": [("user", "q")]}).subgraphs:
        it.note("said", [(message.node, str(message.text)) for message in sub.messages])
        it.note("extensions", sorted(sub.extensions))


@feature(manners=ONE_SYNC)
def messages_as_streams(lib: Any, it: Player) -> None:
    for calls in (True, False):
        for message in begin(talker(lib, calls=calls), {"messages": [("user", "q")]}).messages:
            it.note("said", (message.node, list(message.text), message.output.content, message.done))


@feature(manners=ONE_SYNC)
def runs_that_are_left(lib: Any, it: Player) -> None:
    run = begin(nested(lib))
    values = iter(run.values)
    next(values)
    run.abort()
    it.note("rest", list(values))
    with begin(nested(lib)) as run:
        it.note("output", run.output)


@feature(manners=ONE)
def transformers_of_ones_own(lib: Any, it: Player) -> None:
    stream = stream_of(lib)

    class Names(stream.StreamTransformer):  # type: ignore[misc,name-defined]  # of the library
        required_stream_modes = ("updates",)

        def init(self) -> Any:
            self.channel = stream.StreamChannel("names")
            return {"names": self.channel, "plain": 5}

        def process(self, event: Any) -> bool:
            if event["method"] == "updates":
                self.channel.push(sorted(event["params"]["data"]))
            return True

        def finalize(self) -> None:
            self.channel.push(["end"])

    class Silent(stream.StreamTransformer):  # type: ignore[misc,name-defined]
        def init(self) -> Any:
            return {}

        def process(self, event: Any) -> bool:
            return bool(event["method"] != "values")

    watch(lib, it, nested(lib), transformers=[Names])
    watch(lib, it, nested(lib), transformers=[Silent])
    for bad in ([Names, Names], [Names()], [5]):
        attempt(it, "refused", lambda bad=bad: begin(nested(lib), transformers=bad))
    attempt(it, "modes", lambda: begin(nested(lib), stream_mode="values"))
    attempt(it, "version", lambda: nested(lib).stream_events({"v": 1}, thread(), version="v2"))
    run = begin(nested(lib), transformers=[Names])
    it.note("extensions", (sorted(run.extensions), run.extensions["plain"], list(run.extensions["names"])))


@feature(manners=ONE_ASYNC)
def async_projections_at_once(lib: Any, it: Player) -> None:
    async def read(run: Any, name: str) -> list[Any]:
        return [item async for item in getattr(run, name)]

    async def below(run: Any) -> list[Any]:
        return [(sub.path, await sub.output(), sub.status) async for sub in run.subgraphs]

    async def main() -> None:
        for kind in ("works", "asks"):
            run = await abegin(nested(lib, kind, 2))
            found = await asyncio.gather(read(run, "values"), read(run, "lifecycle"), below(run))
            it.note("found", found)
            it.note("end", (await run.output(), await run.interrupted(), await run.interrupts()))
        one, two = (await abegin(nested(lib))).values.atee(2)
        it.note("tee", [[item async for item in each] for each in (one, two)])
        async with await abegin(nested(lib)) as run:
            it.note("output", await run.output())
        run = await abegin(talker(lib), {"messages": [("user", "q")]})
        it.note("said", [(message.node, await message.text) async for message in run.messages])

    assert it.loop is not None
    it.loop.run(main())
