"""The public methods that run a compiled graph.

Sync and async ones differ only in which driver they give their Run to.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from runtime.constants import INTERRUPT
from runtime.engine.drivers import Ended
from runtime.engine.effects import Emit
from runtime.engine.model import RunOutcome
from runtime.graph.run import CallOptions, Run
from runtime.stream.shapes import Shape, check_modes
from runtime.types import GraphOutput

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from runtime.graph.compiled import CompiledStateGraph
    from runtime.runtime import RunControl
    from runtime.stream.run_stream import AsyncGraphRunStream, GraphRunStream

_DEPRECATED = frozenset(("checkpoint_during",))


def stream(
    self: CompiledStateGraph,
    input: Any,  # noqa: A002 - LangGraph's name
    config: RunnableConfig | None = None,
    *,
    context: Any = None,
    stream_mode: str | Sequence[str] | None = None,
    print_mode: str | Sequence[str] = (),
    output_keys: str | Sequence[str] | None = None,
    interrupt_before: str | Sequence[str] | None = None,
    interrupt_after: str | Sequence[str] | None = None,
    durability: str | None = None,
    control: RunControl | None = None,
    subgraphs: bool = False,
    debug: bool | None = None,
    version: str = "v1",
    **options: Any,
) -> Iterator[Any]:
    """Run the graph and give what happens, as it happens.

    Args:
        input: an update of the state; a `Command`; or None to go on, or to replay from `checkpoint_id`.
        context: what nodes see as `runtime.context`.
        stream_mode: `values`, `updates` (the default), `messages`, `custom`, `checkpoints`, `tasks`, `debug`, or a list.
        print_mode: modes to print besides.
        output_keys: state keys to show; one name gives bare values.
        interrupt_before, interrupt_after: breakpoints, in place of the compiled ones.
        durability: `sync`, `async` (the default): each step is stored before the next; `exit`: only the end.
        control: may ask the run to stop between two super-steps.
        subgraphs: also the items of graphs called in nodes, each with its namespace.
        debug: print updates and values.
        version: `v1` gives data, (mode, data) for a list of modes, with the namespace in front for subgraphs;
            `v2` gives dicts of type, ns, data.

    Raises:
        GraphRecursionError: `recursion_limit` super-steps were not enough.
        GraphDrained: `control` asked to stop.
        InvalidUpdateError, EmptyInputError, and whatever nodes raise.
    """
    given = {**options, "control": control, "debug": debug, "print_mode": print_mode, "durability": durability}
    breaks = {"interrupt_before": interrupt_before, "interrupt_after": interrupt_after}
    call = _call(self, context, stream_mode or self.stream_mode, output_keys, subgraphs, {**given, **breaks})
    shape = Shape(stream_mode or self.stream_mode, subgraphs, version, self.builder.output_schema, output_keys)
    yield from _stream(self, input, config, call, shape)


def _stream(graph: CompiledStateGraph, value: Any, config: Any, call: CallOptions, shape: Shape) -> Iterator[Any]:
    run = Run(graph, value, config, call, graph.spec.stream_keys)
    run.open(is_async=False)
    chunks = (chunk for item in run.items() if isinstance(item, Emit) for chunk in shape(item, call.print_modes))
    for tap in run.taps:
        chunks = tap.tap_output_iter(run.loop.trace.run_id, chunks)
    yield from chunks


async def astream(
    self: CompiledStateGraph,
    input: Any,  # noqa: A002 - LangGraph's name
    config: RunnableConfig | None = None,
    *,
    context: Any = None,
    stream_mode: str | Sequence[str] | None = None,
    print_mode: str | Sequence[str] = (),
    output_keys: str | Sequence[str] | None = None,
    interrupt_before: str | Sequence[str] | None = None,
    interrupt_after: str | Sequence[str] | None = None,
    durability: str | None = None,
    control: RunControl | None = None,
    subgraphs: bool = False,
    debug: bool | None = None,
    version: str = "v1",
    **options: Any,
) -> AsyncIterator[Any]:
    """`stream`, with asyncio: async nodes run at once, sync nodes in threads."""
    given = {**options, "control": control, "debug": debug, "print_mode": print_mode, "durability": durability}
    breaks = {"interrupt_before": interrupt_before, "interrupt_after": interrupt_after}
    call = _call(self, context, stream_mode or self.stream_mode, output_keys, subgraphs, {**given, **breaks})
    shape = Shape(stream_mode or self.stream_mode, subgraphs, version, self.builder.output_schema, output_keys)
    chunks = _astream(self, input, config, call, shape)
    try:
        async for chunk in chunks:
            yield chunk
    finally:
        await chunks.aclose()  # type: ignore[attr-defined]  # an async generator


def _astream(graph: CompiledStateGraph, value: Any, config: Any, call: CallOptions, shape: Shape) -> AsyncIterator[Any]:
    run = Run(graph, value, config, call, graph.spec.stream_keys)
    run.open(is_async=True)
    chunks = _achunks(run, shape)
    for tap in run.taps:
        chunks = tap.tap_output_aiter(run.loop.trace.run_id, chunks)
    return chunks


async def _achunks(run: Run, shape: Shape) -> AsyncIterator[Any]:
    items = run.aitems()
    try:
        async for item in items:
            if isinstance(item, Emit):
                for chunk in shape(item, run.print_modes):
                    yield chunk
    finally:
        await items.aclose()  # type: ignore[attr-defined]  # an async generator


def invoke(
    self: CompiledStateGraph,
    input: Any,  # noqa: A002 - LangGraph's name
    config: RunnableConfig | None = None,
    *,
    context: Any = None,
    stream_mode: str | Sequence[str] = "values",
    version: str = "v1",
    output_keys: str | Sequence[str] | None = None,
    **options: Any,
) -> Any:
    """Run the graph and give its final state; at a pause, the state with `__interrupt__`.

    Takes what `stream` takes. With `version="v2"` it gives a GraphOutput; with another `stream_mode` than `values`, the
    list of chunks.
    """
    keys = output_keys if output_keys is not None else self.spec.output_keys
    if stream_mode != "values":
        chunks = self.stream(
            input, config, context=context, stream_mode=stream_mode, version=version, output_keys=keys, **options
        )
        return list(chunks)
    run = Run(self, input, config, _call(self, context, None, None, False, options), keys)
    run.open(is_async=False)
    shape = Shape((), False, version, self.builder.output_schema)
    for item in run.items():
        if isinstance(item, Ended):
            return _result(self, item.value, version, output_keys)
        list(shape(item, run.print_modes))
    raise AssertionError("a driver gives Ended last")


async def ainvoke(
    self: CompiledStateGraph,
    input: Any,  # noqa: A002 - LangGraph's name
    config: RunnableConfig | None = None,
    *,
    context: Any = None,
    stream_mode: str | Sequence[str] = "values",
    version: str = "v1",
    output_keys: str | Sequence[str] | None = None,
    **options: Any,
) -> Any:
    """`invoke`, with asyncio."""
    keys = output_keys if output_keys is not None else self.spec.output_keys
    if stream_mode != "values":
        chunks = self.astream(
            input, config, context=context, stream_mode=stream_mode, version=version, output_keys=keys, **options
        )
        return [chunk async for chunk in chunks]
    run = Run(self, input, config, _call(self, context, None, None, False, options), keys)
    run.open(is_async=True)
    shape = Shape((), False, version, self.builder.output_schema)
    async for item in run.aitems():
        if isinstance(item, Ended):
            return _result(self, item.value, version, output_keys)
        list(shape(item, run.print_modes))
    raise AssertionError("a driver gives Ended last")


def astream_events(
    self: CompiledStateGraph,
    input: Any,  # noqa: A002 - LangGraph's name
    config: RunnableConfig | None = None,
    *,
    version: str = "v2",
    **options: Any,
) -> Any:
    """What happens in the graph, its models and its tools, with asyncio.

    Args:
        version: `v2` (the default) and `v1` give dicts of event, name, run_id, tags, metadata, data, parent_ids, for
            events `on_<kind>_<start|stream|end>`; `v3` gives a run stream, see `stream_events`.
        options: `include_names`, `include_types`, `include_tags` and their `exclude_` twins choose events of v1 and v2;
            the rest goes to `astream`.

    Returns:
        An async iterator of events; for `v3` a coroutine of an AsyncGraphRunStream.
    """
    if version == "v3":
        return _astream_v3(self, input, config, options)
    from langchain_core.runnables import Runnable  # slow to import; who wants its events pays

    runnable: Any = self
    return Runnable.astream_events(runnable, input, config, version=version, **options)  # type: ignore[call-overload]  # checked there


def stream_events(
    self: CompiledStateGraph,
    input: Any,  # noqa: A002 - LangGraph's name
    config: RunnableConfig | None = None,
    *,
    version: str = "v2",
    transformers: Sequence[Any] = (),
    **options: Any,
) -> GraphRunStream:
    """A run as projections of it, each read on its own: `values`, `messages`, `lifecycle`, `subgraphs`, `output`,
    `interrupts`, `interrupted`, `extensions`; iterated, it gives the events themselves.

    Args:
        version: `v3`. The events of v1 and v2 are async alone.
        transformers: classes, or functions of a scope, that make further projections; after those of `compile`.
        options: what `stream` takes, but for `stream_mode` and `subgraphs`.

    Raises:
        NotImplementedError: another version.
        TypeError, ValueError: a transformer or an option that cannot be one.
    """
    if version != "v3":
        raise NotImplementedError(
            f"stream_events(version='{version}') is not supported. Use astream_events() for v1/v2, or "
            "stream_events(version='v3')."
        )
    from runtime.stream.run_stream import GraphRunStream, make_mux  # few ask for it

    mux = make_mux([*self.transformers, *transformers], is_async=False)
    return GraphRunStream(_stream(self, input, config, *_events_call(self, mux.modes, options)), mux)


async def _astream_v3(
    graph: CompiledStateGraph, value: Any, config: Any, options: dict[str, Any]
) -> AsyncGraphRunStream:
    from runtime.stream.run_stream import AsyncGraphRunStream, make_mux  # few ask for it

    mux = make_mux([*graph.transformers, *options.pop("transformers", ())], is_async=True)
    return AsyncGraphRunStream(_astream(graph, value, config, *_events_call(graph, mux.modes, options)), mux)


def _events_call(graph: CompiledStateGraph, modes: list[str], options: dict[str, Any]) -> tuple[CallOptions, Shape]:
    owned = sorted({"stream_mode", "subgraphs"} & options.keys())
    if owned:
        raise TypeError(
            f"stream_events(version='v3') / astream_events(version='v3') do not accept {', '.join(owned)}: the projections "
            "say what is streamed. Add a transformer for what is missing."
        )
    call = _call(graph, options.pop("context", None), modes, options.pop("output_keys", None), True, options)
    call.message_events = True
    return call, Shape(modes, True, "v2", graph.builder.output_schema, call.output_keys)


def batch(
    self: CompiledStateGraph,
    inputs: list[Any],
    config: RunnableConfig | list[RunnableConfig] | None = None,
    *,
    return_exceptions: bool = False,
    **options: Any,
) -> list[Any]:
    """`invoke` for each input, several at once; results in the order of inputs. `config`: one, or one each."""
    from langchain_core.runnables import Runnable  # it has the pool, and the rules on configs

    runnable: Any = self
    return Runnable.batch(runnable, inputs, config, return_exceptions=return_exceptions, **options)


async def abatch(
    self: CompiledStateGraph,
    inputs: list[Any],
    config: RunnableConfig | list[RunnableConfig] | None = None,
    *,
    return_exceptions: bool = False,
    **options: Any,
) -> list[Any]:
    """`batch`, with asyncio."""
    from langchain_core.runnables import Runnable  # see batch

    runnable: Any = self
    return await Runnable.abatch(runnable, inputs, config, return_exceptions=return_exceptions, **options)


def _call(
    graph: CompiledStateGraph,
    context: Any,
    stream_mode: str | Sequence[str] | None,
    output_keys: str | Sequence[str] | None,
    subgraphs: bool,
    options: dict[str, Any],
) -> CallOptions:
    """The options of a call. Raises TypeError for an option that is none."""
    unknown = options.keys() - _CALL_OPTIONS
    if unknown:
        raise TypeError(f"Unknown option {sorted(unknown)}. The options are {sorted(_CALL_OPTIONS - _DEPRECATED)}.")
    printed = options.get("print_mode") or ()
    if options.get("debug") or (graph.debug and options.get("debug") is None):
        printed = ("updates", "values")
    return CallOptions(
        context=context,
        modes=check_modes(stream_mode) if stream_mode is not None else frozenset(),
        print_modes=check_modes(printed),
        output_keys=output_keys,
        interrupt_before=options.get("interrupt_before"),
        interrupt_after=options.get("interrupt_after"),
        durability=options.get("durability"),
        subgraphs=subgraphs,
        control=options.get("control"),
    )


_CALL_OPTIONS = _DEPRECATED | {
    "control",
    "debug",
    "durability",
    "interrupt_after",
    "interrupt_before",
    "print_mode",
    "subgraphs",
}


def _result(graph: CompiledStateGraph, outcome: RunOutcome, version: str, keys: str | Sequence[str] | None) -> Any:
    values = outcome.values
    if isinstance(keys, str) and graph.spec.root is None and not outcome.interrupts:
        value = values.get(keys)
        return GraphOutput(value) if version == "v2" else value
    if version == "v2":
        if graph.spec.root is not None:
            return GraphOutput({} if outcome.interrupts else values, outcome.interrupts)
        schema = graph.builder.schemas[graph.builder.output_schema]
        return GraphOutput(schema.coerce(values), outcome.interrupts)
    if graph.spec.root is not None:
        return {INTERRUPT: list(outcome.interrupts)} if outcome.interrupts else values
    if outcome.interrupts:
        return {**values, INTERRUPT: list(outcome.interrupts)}
    return values or None
