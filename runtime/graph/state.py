"""`StateGraph`: the builder. Collects nodes, edges and routers, checks them, compiles them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from types import FunctionType, GenericAlias
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args, get_origin

from runtime.constants import END, HANDLER, START
from runtime.engine.action import Action, callable_name, make_action
from runtime.engine.model import GraphSpec
from runtime.graph.compiled import CompiledStateGraph
from runtime.graph.runnable import graph_class
from runtime.graph.schema import Schema, first_hint, is_schema, read_schema, return_hint
from runtime.graph.spec import build_spec
from runtime.policies import CachePolicy, RetryPolicy, TimeoutPolicy, TracePolicy, retry_policies
from runtime.types import All, Command, Send

if TYPE_CHECKING:
    from runtime.cache.base import BaseCache
    from runtime.store.base import BaseStore

_RESERVED = ("|", ":")


@dataclass(slots=True, eq=False)  # a graph may have thousands: freezing would double what one costs
class NodeSpec:
    """A node as it was added. Nobody changes it."""

    name: str
    action: Action
    input_schema: Any
    """The schema class that it reads; None for the whole state."""
    metadata: dict[str, Any] | None
    defer: bool
    ends: tuple[str, ...] | dict[str, str]
    """Where it may jump, for drawings: from `destinations` or a `Command[Literal[...]]` annotation."""
    retry: tuple[RetryPolicy, ...] = ()
    cache: CachePolicy[Any] | None = None
    timeout: TimeoutPolicy | None = None
    trace: TracePolicy | None = None
    error_handler: Action | None = None


@dataclass(frozen=True, slots=True)
class BranchSpec:
    """A router as it was added."""

    action: Action
    ends: dict[Hashable, str] | None
    """What it says -> node; None when it may go anywhere."""
    input_schema: Any


@dataclass(slots=True)
class _Topology:
    """The builder's collections."""

    nodes: dict[str, NodeSpec] = field(default_factory=dict)
    edges: set[tuple[str, str]] = field(default_factory=set)
    waiting_edges: set[tuple[tuple[str, ...], str]] = field(default_factory=set)
    branches: dict[str, dict[str, BranchSpec]] = field(default_factory=dict)


class StateGraph:
    """A graph whose nodes share a state and return updates to it.

    Args:
        state_schema: TypedDict, dataclass or Pydantic model. A key annotated with a function (`Annotated[list, add]`) is
            merged by it; any other key keeps the last write.
        context_schema: what `context=` of a call holds; nodes see it as `runtime.context`.
        input_schema, output_schema: narrower views for callers; by default the state schema.
    """

    __class_getitem__: ClassVar[Any] = classmethod(GenericAlias)
    """`StateGraph[State, Context]`, for annotations."""

    def __init__(
        self,
        state_schema: Any,
        context_schema: Any = None,
        *,
        input_schema: Any = None,
        output_schema: Any = None,
    ) -> None:
        self.state_schema = state_schema
        self.context_schema = context_schema
        self.input_schema = input_schema or state_schema
        self.output_schema = output_schema or state_schema
        self.schemas: dict[Any, Schema] = {}
        self._topology = _Topology()
        for schema in (state_schema, self.input_schema, self.output_schema):
            self._add_schema(schema)

    nodes = property(lambda self: self._topology.nodes)
    edges = property(lambda self: self._topology.edges)
    waiting_edges = property(lambda self: self._topology.waiting_edges)
    branches = property(lambda self: self._topology.branches)

    def _add_schema(self, schema: Any) -> None:
        if schema in self.schemas:
            return
        read = read_schema(schema)
        known = {name: channel for other in self.schemas.values() for name, channel in other.channels.items()}
        for name, channel in read.channels.items():
            other = known.get(name)
            kinds = {type(channel).__name__, type(other).__name__}
            if other is not None and len(kinds) == 2 and "LastValue" not in kinds:
                raise ValueError(
                    f"Channel '{name}' already exists with a different type: {type(other).__name__} in one schema, "
                    f"{type(channel).__name__} in {schema.__name__}. Give the key one reducer."
                )
        self.schemas[schema] = read

    # -- nodes ---------------------------------------------------------------------------------------------------------

    def add_node(
        self,
        node: str | Any,
        action: Any = None,
        *,
        defer: bool = False,
        metadata: dict[str, Any] | None = None,
        input_schema: Any = None,
        retry_policy: RetryPolicy | Sequence[RetryPolicy] | None = None,
        cache_policy: CachePolicy[Any] | None = None,
        error_handler: Any = None,
        destinations: dict[str, str] | tuple[str, ...] | None = None,
        timeout: float | timedelta | TimeoutPolicy | None = None,
        trace_policy: TracePolicy | None = None,
    ) -> Self:
        """Add a node.

        Args:
            node: its name; or the code itself, whose name is then taken.
            action: a function, method, partial, async function, Runnable or compiled graph.
            defer: run it only when nothing else can run.
            metadata: shown by streams and the debugger.
            input_schema: what it reads; by default the annotation of its first parameter, else the state.
            retry_policy: when to try it again; of several, the first that knows the error counts.
            cache_policy: remember its results; needs `compile(cache=...)`.
            error_handler: runs in its place, in the same super-step, when it has failed for good. Takes the state, and
                a parameter annotated `NodeError`; returns an update or a Command. The node's edges are not followed.
            destinations: where it may jump, for drawings only.
            timeout: seconds, a timedelta or a TimeoutPolicy, for each try of an async node.
            trace_policy: what callback handlers see of its input and output.

        Raises:
            ValueError: a name that is taken, reserved, or has `|` or `:` in it; a timeout on a sync function.
            TypeError: code that cannot be called, or a graph that was not compiled.
        """
        if not isinstance(node, str):
            action, name = node, callable_name(node) if not hasattr(node, "get_name") else node.get_name()
        else:
            name = node
        if action is None:
            raise TypeError(f"Node '{name}' has no action: add_node('{name}', function).")
        if isinstance(action, StateGraph):
            raise TypeError(f"Node '{name}' is a graph that was not compiled. Pass builder.compile().")
        self._check_name(name)
        if input_schema is None and (
            type(action) is FunctionType or inspect.isroutine(getattr(action, "func", action))
        ):
            hint = first_hint(action)
            input_schema = hint if hint is not None and is_schema(hint) else None
        if input_schema is not None:
            self._add_schema(input_schema)
        ends: Any = destinations if destinations is not None else _command_targets(action)
        made = make_action(action, name)
        limit = TimeoutPolicy.coerce(timeout)
        if limit is not None and made.acall is None:
            raise ValueError(
                f"Node timeouts are only supported for async nodes: sync code cannot be stopped from outside. "
                f"Node '{name}' is sync: make it async, or leave the timeout out."
            )
        self.nodes[name] = NodeSpec(
            name,
            made,
            input_schema,
            metadata,
            defer,
            ends,
            retry=retry_policies(retry_policy),
            cache=cache_policy,
            timeout=limit,
            trace=trace_policy,
            error_handler=make_action(error_handler, f"{HANDLER}{name}") if error_handler is not None else None,
        )
        return self

    def _check_name(self, name: str) -> None:
        if name in (START, END):
            raise ValueError(f"Node '{name}' is reserved: choose another name.")
        if name in self.nodes:
            raise ValueError(f"Node '{name}' already present: choose another name.")
        for character in _RESERVED:
            if character in name:
                raise ValueError(f"'{character}' is a reserved character and is not allowed in the node name '{name}'.")

    def add_sequence(self, nodes: Sequence[Any]) -> Self:
        """Add nodes (each a callable, or a (name, callable) pair) and an edge from each to the next."""
        if not nodes:
            raise ValueError("Sequence requires at least one node.")
        previous: str | None = None
        for node in nodes:
            if isinstance(node, tuple):
                name = node[0]
                self.add_node(*node)
            else:
                name = callable_name(node)
                self.add_node(name, node)
            if previous is not None:
                self.add_edge(previous, name)
            previous = name
        return self

    # -- edges ---------------------------------------------------------------------------------------------------------

    def add_edge(self, start_key: str | list[str], end_key: str) -> Self:
        """Run `end_key` after `start_key`; after all of them, once, where a list is given."""
        if isinstance(start_key, str):
            if start_key == END:
                raise ValueError("END cannot be a start node: nothing runs after it.")
            if end_key == START:
                raise ValueError("START cannot be an end node: nothing runs before it.")
            self.edges.add((start_key, end_key))
            return self
        for start in start_key:
            if start == END:
                raise ValueError("END cannot be a start node: nothing runs after it.")
            if start not in self.nodes:
                raise ValueError(f"Need to add_node '{start}' first: the edge {start_key} -> '{end_key}' starts there.")
        if end_key == START:
            raise ValueError("START cannot be an end node: nothing runs before it.")
        if end_key != END and end_key not in self.nodes:
            raise ValueError(f"Need to add_node '{end_key}' first: the edge {start_key} -> '{end_key}' ends there.")
        self.waiting_edges.add((tuple(start_key), end_key))
        return self

    def add_conditional_edges(
        self, source: str, path: Any, path_map: dict[Hashable, str] | list[str] | None = None
    ) -> Self:
        """Let `path` say where to go after `source`.

        Args:
            path: state -> node name, `Send`, END, a list of them, or a key of `path_map`.
            path_map: what `path` says -> node; a list of names maps each to itself. Without one, a `Literal` return
                annotation of `path` serves.

        Raises:
            ValueError: a second router of that name on the same source.
        """
        action = make_action(path)
        if action.name in self.branches.get(source, {}):
            raise ValueError(f"Branch with name '{action.name}' already exists for node '{source}'.")
        ends = _branch_ends(path, path_map)
        hint = first_hint(path) if inspect.isroutine(path) else None
        schema = hint if is_schema(hint) else None
        if schema is not None:
            self._add_schema(schema)
        self.branches.setdefault(source, {})[action.name] = BranchSpec(action, ends, schema)
        return self

    def set_entry_point(self, key: str) -> Self:
        """The same as `add_edge(START, key)`."""
        return self.add_edge(START, key)

    def set_finish_point(self, key: str) -> Self:
        """The same as `add_edge(key, END)`."""
        return self.add_edge(key, END)

    def set_conditional_entry_point(self, path: Any, path_map: dict[Hashable, str] | list[str] | None = None) -> Self:
        """The same as `add_conditional_edges(START, path, path_map)`."""
        return self.add_conditional_edges(START, path, path_map)

    def copy(self) -> StateGraph:
        """A builder with the same content, independent of this one."""
        twin = StateGraph(
            self.state_schema, self.context_schema, input_schema=self.input_schema, output_schema=self.output_schema
        )
        twin.schemas = dict(self.schemas)
        mine = self._topology
        twin._topology = _Topology(
            dict(mine.nodes),
            set(mine.edges),
            set(mine.waiting_edges),
            {source: dict(found) for source, found in mine.branches.items()},
        )
        return twin

    # -- compile -------------------------------------------------------------------------------------------------------

    def to_spec(self, name: str) -> GraphSpec:
        """The engine's form of it."""
        return build_spec(self, name)

    def validate(self, interrupt: Sequence[str] | None = None) -> Self:
        """Check that every place an edge, router or breakpoint names is there.

        Raises:
            ValueError: naming the place, and how to mend it.
        """
        starts = {start for start, _ in self.edges} | {s for many, _ in self.waiting_edges for s in many}
        for start in starts | set(self.branches):
            if start != START and start not in self.nodes:
                raise ValueError(
                    f"Found edge starting at unknown node '{start}'. Add it with add_node('{start}', ...)."
                )
        if START not in starts | set(self.branches):
            raise ValueError("Graph must have an entrypoint: add at least one edge from START to another node.")
        for end in self._ends():
            if end != END and end not in self.nodes:
                raise ValueError(f"Found edge ending at unknown node `{end}`. Add it with add_node('{end}', ...).")
        for name in interrupt or ():
            if name not in self.nodes:
                raise ValueError(f"Interrupt node `{name}` not found: the nodes are {sorted(self.nodes)}.")
        return self

    def _ends(self) -> list[str]:
        ends = [end for _, end in self.edges] + [end for _, end in self.waiting_edges]
        for branches in self.branches.values():
            for branch in branches.values():
                ends.extend((branch.ends or {}).values())
        for spec in self.nodes.values():
            ends.extend(spec.ends)
        return ends

    def compile(
        self,
        checkpointer: Any = None,
        *,
        cache: BaseCache[Any] | None = None,
        store: BaseStore | None = None,
        interrupt_before: All | list[str] | None = None,
        interrupt_after: All | list[str] | None = None,
        debug: bool = False,
        name: str | None = None,
        transformers: Sequence[Any] | None = None,
    ) -> CompiledStateGraph:
        """A graph that runs. Later changes of the builder do not reach it.

        Args:
            checkpointer: a saver; True: a thread of its own inside the parent's; False: store nothing; None: inherit.
            cache: remembers results of nodes that have a `cache_policy`.
            store: long-term memory that nodes reach by `runtime.store`.
            interrupt_before, interrupt_after: breakpoints: node names, or '*' for all.
            debug: print each step.
            name: shown in events; 'LangGraph' by default.
            transformers: further projections of its runs, see `stream_events`.

        Raises:
            TypeError: a checkpointer that is none (a class, a path, a context manager that was not entered).
            ValueError: see `validate`.
        """
        before = interrupt_before or []
        after = interrupt_after or []
        self.validate([*(before if before != "*" else ()), *(after if after != "*" else ())])
        return graph_class()(
            self.copy(),
            checkpointer=checkpointer,
            store=store,
            cache=cache,
            before=before,
            after=after,
            debug=debug,
            name=name,
            transformers=transformers or (),
        )


def _command_targets(action: Any) -> tuple[str, ...]:
    """The names in a `Command[Literal[...]]` return annotation."""
    if not callable(action) or hasattr(action, "invoke"):
        return ()
    hint = return_hint(action)
    if hint is None:
        return ()
    for part in (hint, *get_args(hint)):
        if get_origin(part) is Command:
            for target in get_args(part):
                if get_origin(target) is Literal:
                    return tuple(str(value) for value in get_args(target))
    return ()


def _branch_ends(path: Callable[..., Any], path_map: Any) -> dict[Hashable, str] | None:
    if isinstance(path_map, Mapping):
        return dict(path_map)
    if isinstance(path_map, (list, tuple)):
        return {name: name for name in path_map}
    if path_map is not None:
        raise TypeError(f"path_map must be a dict or a list of node names, got {path_map!r}.")
    hint = return_hint(path) if not hasattr(path, "invoke") else None
    for part in (hint, *get_args(hint)):
        if get_origin(part) is Literal:
            return {name: name for name in get_args(part)}
    return None


__all__ = ("BranchSpec", "CompiledStateGraph", "NodeSpec", "Send", "StateGraph")
