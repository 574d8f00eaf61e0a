"""The public methods invoke, stream, ainvoke and astream of a compiled graph.

The two sync and the two async methods differ only in which driver they give their Run to.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
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
    subgraphs: bool = False,
    debug: bool | None = None,
    version: str = "v1",
    **_: Any,
) -> Iterator[Any]:
    """Run the graph and give what happens, as it happens.

    Args:
        input: an update of the state; a `Command`; or None to go on, or to replay from `checkpoint_id`.
        stream_mode: `values`, `updates` (the default), `messages`, `custom`, `checkpoints`, `tasks`, `debug`, or a list.
        subgraphs: also the items of graphs called in nodes, each with its namespace.
        durability: `sync`, `async` (the default): each step is stored before the next; `exit`: only the end.
        version: `v1` gives data, (mode, data) for a list of modes, with the namespace in front for subgraphs;
            `v2` gives dicts of type, ns, data.

    Raises:
        GraphRecursionError: `recursion_limit` super-steps were not enough.
        InvalidUpdateError, EmptyInputError, and whatever nodes raise.
    """
    shape = Shape(stream_mode or "updates", subgraphs, version, self.builder.output_schema, output_keys)
    options = CallOptions(
        context,
        shape.modes | check_modes(print_mode),
        output_keys,
        interrupt_before,
        interrupt_after,
        durability,
        subgraphs,
    )
    run = Run(self, input, config, options, self.spec.stream_keys)
    for item in run.items():
        if isinstance(item, Emit):
            yield from shape(item, print_mode)


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
    subgraphs: bool = False,
    debug: bool | None = None,
    version: str = "v1",
    **_: Any,
) -> AsyncIterator[Any]:
    """`stream`, with asyncio: async nodes run at once, sync nodes in threads."""
    shape = Shape(stream_mode or "updates", subgraphs, version, self.builder.output_schema, output_keys)
    options = CallOptions(
        context,
        shape.modes | check_modes(print_mode),
        output_keys,
        interrupt_before,
        interrupt_after,
        durability,
        subgraphs,
    )
    run = Run(self, input, config, options, self.spec.stream_keys)
    async for item in run.aitems():
        if isinstance(item, Emit):
            for shaped in shape(item, print_mode):
                yield shaped


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
    run = Run(self, input, config, _quiet(context, options), keys)
    for item in run.items():
        if isinstance(item, Ended):
            return _result(self, item.value, version, output_keys)
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
    run = Run(self, input, config, _quiet(context, options), keys)
    async for item in run.aitems():
        if isinstance(item, Ended):
            return _result(self, item.value, version, output_keys)
    raise AssertionError("a driver gives Ended last")


def _quiet(context: Any, options: Mapping[str, Any]) -> CallOptions:
    """Options of a call that nobody watches."""
    return CallOptions(
        context,
        frozenset(),
        None,
        options.get("interrupt_before"),
        options.get("interrupt_after"),
        options.get("durability"),
        subgraphs=False,
    )


def _result(graph: CompiledStateGraph, outcome: RunOutcome, version: str, keys: str | Sequence[str] | None) -> Any:
    if isinstance(keys, str) and not outcome.interrupts:
        value = outcome.values.get(keys)
        return GraphOutput(value) if version == "v2" else value
    if version == "v2":
        schema = graph.builder.schemas[graph.builder.output_schema]
        return GraphOutput(schema.coerce(outcome.values), outcome.interrupts)
    if outcome.interrupts:
        return {**outcome.values, INTERRUPT: list(outcome.interrupts)}
    return outcome.values or None
