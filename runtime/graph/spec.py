"""Builder -> GraphSpec: what the engine needs to know of a graph."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from runtime.channels import (
    BaseChannel,
    EphemeralValue,
    LastValueAfterFinish,
    NamedBarrierValue,
    NamedBarrierValueAfterFinish,
    Topic,
)
from runtime.constants import BRANCH_TO, END, HANDLER, ROOT, START, TASKS
from runtime.engine.action import Action
from runtime.engine.model import Branch, Channels, GraphSpec, Node, Write
from runtime.graph.schema import Schema
from runtime.graph.subgraphs import is_graph
from runtime.graph.writes import branch_writer, node_writer
from runtime.managed import ManagedValue
from runtime.types import Send

if TYPE_CHECKING:
    from runtime.graph.state import BranchSpec, NodeSpec, StateGraph


def build_spec(builder: StateGraph, name: str) -> GraphSpec:
    """The engine's form of a checked builder."""
    state, managed = _state_channels(builder)
    channels: Channels = {
        **state,
        START: EphemeralValue(Any, key=START),
        TASKS: Topic(Send, accumulate=False, key=TASKS),
    }
    joins: dict[str, list[str]] = {}
    edges: dict[str, list[Write]] = {}
    for node, spec in builder.nodes.items():
        key = f"{BRANCH_TO}{node}"
        channels[key] = LastValueAfterFinish(Any, key) if spec.defer else EphemeralValue(Any, guard=False, key=key)
    for starts, end in sorted(builder.waiting_edges):
        if end == END:
            continue
        key = f"join:{'+'.join(starts)}:{end}"
        barrier = NamedBarrierValueAfterFinish if builder.nodes[end].defer else NamedBarrierValue
        channels[key] = barrier(str, set(starts), key)
        joins.setdefault(end, []).append(key)
        for start in starts:
            edges.setdefault(start, []).append((key, start))
    for start, end in sorted(builder.edges):
        if end != END:
            edges.setdefault(start, []).append((f"{BRANCH_TO}{end}", None))
    keys = tuple(state)
    names = dict.fromkeys(builder.nodes)
    nodes = {START: _start_node(builder, keys, edges, names)}
    for node, spec in builder.nodes.items():
        triggers = (f"{BRANCH_TO}{node}", *joins.get(node, ()))
        nodes[node] = _node(builder, spec, triggers, keys, tuple(edges.get(node, ())), names)
    triggered: dict[str, tuple[str, ...]] = {}
    for node_name, made in nodes.items():
        for trigger in made.triggers:
            triggered[trigger] = (*triggered.get(trigger, ()), node_name)
    output = builder.schemas[builder.output_schema]
    return GraphSpec(
        name=name,
        nodes=nodes,
        channels=channels,
        managed=managed,
        triggered_by=triggered,
        ticking=tuple(key for key, channel in channels.items() if channel.ticks),
        finishing=tuple(key for key, channel in channels.items() if channel.finishes),
        output_keys=tuple(output.channels),
        stream_keys=keys,
        branch_keys=(*keys, *managed),
        root=ROOT if ROOT in keys else None,
    )


def _state_channels(
    builder: StateGraph,
) -> tuple[dict[str, BaseChannel[Any, Any, Any]], dict[str, ManagedValue]]:
    """Every key of every schema; where two schemas name a key, the one with a reducer counts."""
    channels: dict[str, BaseChannel[Any, Any, Any]] = {}
    managed: dict[str, ManagedValue] = {}
    for schema in builder.schemas.values():
        managed.update(schema.managed)
        for key, channel in schema.channels.items():
            if key not in channels or type(channels[key]).__name__ == "LastValue":
                channels[key] = channel
    return channels, managed


def _start_node(
    builder: StateGraph, keys: tuple[str, ...], edges: Mapping[str, list[Write]], names: Collection[str]
) -> Node:
    schema = builder.schemas[builder.input_schema]

    def coerce(values: dict[str, Any]) -> Any:
        given = values[START]
        if isinstance(given, dict) and hasattr(schema.type, "model_fields"):
            schema.coerce(given)  # refuses what does not fit; nodes see the coerced state, channels hold what was given
        return given

    accepted = frozenset(schema.channels)
    write = node_writer(START, keys, names)
    quiet = write if schema.is_root else _quiet_input(accepted, write)
    return Node(
        name=START,
        action=Action(START, None, lambda value, ctx: value, None),
        triggers=(START,),
        keys=(START,),
        coerce=coerce,
        write=quiet,
        edges=tuple(edges.get(START, ())),
        branches=_branches(builder, START, None, names),
        metadata={},
        hidden=True,
    )


def _quiet_input(accepted: frozenset[str], write: Callable[[Any], list[Write]]) -> Callable[[Any], list[Write]]:
    """An input may hold keys that the graph does not know: a subgraph takes what it shares with its parent."""

    def quiet(given: Any) -> list[Write]:
        return write(
            {key: value for key, value in given.items() if key in accepted} if isinstance(given, dict) else given
        )

    return quiet


def _node(
    builder: StateGraph,
    spec: NodeSpec,
    triggers: tuple[str, ...],
    keys: tuple[str, ...],
    edges: tuple[Write, ...],
    names: Collection[str],
) -> Node:
    schema: Schema = builder.schemas[spec.input_schema or builder.state_schema]
    node = Node(
        name=spec.name,
        action=spec.action,
        triggers=triggers,
        keys=schema.keys,
        coerce=schema.coerce,
        write=node_writer(spec.name, keys, names, is_graph=is_graph(spec.action.target)),
        edges=edges,
        branches=_branches(builder, spec.name, spec.input_schema, names),
        metadata=dict(spec.metadata or {}),
        retry=spec.retry,
        timeout=spec.timeout,
        cache=spec.cache,
        cache_ns=cache_namespace(spec.action.target, spec.name),
        trace=spec.trace,
    )
    if spec.error_handler is None:
        return node
    handler = replace(
        node,
        name=f"{HANDLER}{spec.name}",
        action=spec.error_handler,
        triggers=(),
        write=node_writer(f"{HANDLER}{spec.name}", keys, names),
        edges=(),
        branches=(),
        retry=(),
        timeout=None,
        cache=None,
    )
    return replace(node, handler=handler)


def cache_namespace(target: Any, name: str) -> tuple[str, ...]:
    """Where results of a function are remembered: by what it is, and by the name it goes by."""
    code = getattr(target, "func", target)
    identity = f"{getattr(code, '__module__', '')}.{getattr(code, '__qualname__', type(code).__qualname__)}"
    return ("results", identity, name)


def _branches(builder: StateGraph, source: str, source_schema: Any, names: Collection[str]) -> tuple[Branch, ...]:
    found = builder.branches.get(source)
    if not found:
        return ()
    return tuple(_branch(builder, branch, source_schema, names) for branch in found.values())


def _branch(builder: StateGraph, branch: BranchSpec, source_schema: Any, names: Collection[str]) -> Branch:
    schema = builder.schemas[branch.input_schema or source_schema or builder.state_schema]
    keys = frozenset(schema.keys)

    def read(state: Mapping[str, Any]) -> Any:
        return schema.coerce({key: value for key, value in state.items() if key in keys})

    return Branch(branch.action, read, branch_writer(branch.action.name, branch.ends, names))
