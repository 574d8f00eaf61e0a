"""`CompiledStateGraph`: a graph that runs, and the state of its threads."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from copy import copy
from types import GenericAlias
from typing import TYPE_CHECKING, Any, ClassVar, Self

from runtime.checkpoint.check import check_checkpointer
from runtime.constants import NS_SEP
from runtime.engine.drivers import aperform_all, perform_all
from runtime.engine.line import strip_task_ids
from runtime.engine.model import GraphSpec
from runtime.graph.config import merge_configs
from runtime.graph.edits import edit
from runtime.graph.runs import abatch, ainvoke, astream, astream_events, batch, invoke, stream, stream_events
from runtime.graph.schema import json_schema
from runtime.graph.snapshots import history_source, snapshot, state
from runtime.graph.subgraphs import graphs_in, is_graph
from runtime.types import StateSnapshot, StateUpdate

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from runtime.cache.base import BaseCache
    from runtime.graph.builder import Builder
    from runtime.store.base import BaseStore


class CompiledStateGraph:
    """What `StateGraph.compile` gives. Never changes after that."""

    __class_getitem__: ClassVar[Any] = classmethod(GenericAlias)
    """`CompiledStateGraph[State, Context, Input, Output]`, for annotations."""
    is_compiled_graph: ClassVar[bool] = True
    stream_mode: str = "updates"
    """What `stream` gives when it is not told."""

    def __init__(
        self,
        builder: Builder,
        *,
        checkpointer: Any,
        store: BaseStore | None,
        cache: BaseCache[Any] | None = None,
        before: Sequence[str] | str,
        after: Sequence[str] | str,
        debug: bool,
        name: str | None,
        transformers: Sequence[Any] = (),
    ) -> None:
        check_checkpointer(checkpointer)
        self.builder = builder
        self.checkpointer = checkpointer
        self.store = store
        self.cache = cache
        self.interrupt_before_nodes = before
        self.interrupt_after_nodes = after
        self.debug = debug
        self.transformers = tuple(transformers)
        self.name = name or "LangGraph"
        self.config: Mapping[str, Any] | None = None
        self.spec: GraphSpec = builder.to_spec(self.name)
        self._called: dict[str, list[Any]] = {}
        """Node to the graphs that it calls; looked for when somebody first asks."""

    # -- run -----------------------------------------------------------------------------------------------------------

    invoke = invoke
    ainvoke = ainvoke
    stream = stream
    astream = astream
    astream_events = astream_events
    stream_events = stream_events
    batch = batch
    abatch = abatch

    def with_config(self, config: RunnableConfig | None = None, **options: Any) -> Self:
        """A copy whose calls all have this config, e.g. `with_config(tags=["a"], configurable={...})`."""
        twin = copy(self)
        sources: list[Mapping[str, Any]] = [self.config or {}, config or {}, options]
        given = {key: value for source in sources for key, value in source.items()}
        for key in ("metadata", "configurable"):
            merged = {name: value for source in sources for name, value in (source.get(key) or {}).items()}
            if merged:
                given[key] = merged
        twin.config = given
        return twin

    def copy(self, update: dict[str, Any] | None = None) -> Self:
        """A copy with some attributes replaced."""
        twin = copy(self)
        for key, value in (update or {}).items():
            setattr(twin, key, value)
        return twin

    def clear_cache(self, nodes: Sequence[str] | None = None) -> None:
        """Forget remembered results, of those nodes or, without any, of all. Raises ValueError where the graph has no
        cache or no such node."""
        self._known_cache().clear(self._cache_namespaces(nodes))

    async def aclear_cache(self, nodes: Sequence[str] | None = None) -> None:
        """`clear_cache`, awaited."""
        await self._known_cache().aclear(self._cache_namespaces(nodes))

    def _known_cache(self) -> BaseCache[Any]:
        if self.cache is None:
            raise ValueError(f"Graph '{self.name}' has no cache. Give it one: compile(cache=InMemoryCache()).")
        return self.cache

    def _cache_namespaces(self, nodes: Sequence[str] | None) -> list[tuple[str, ...]]:
        unknown = [name for name in nodes or () if name not in self.spec.nodes]
        if unknown:
            raise ValueError(f"No such node: {unknown}. The nodes are {sorted(self.spec.nodes)}.")
        return [node.cache_ns for name, node in self.spec.nodes.items() if not nodes or name in nodes]

    # -- look ----------------------------------------------------------------------------------------------------------

    def get_state(self, config: RunnableConfig, *, subgraphs: bool = False) -> StateSnapshot:
        """The state of a thread, or of one of its checkpoints, or of a subgraph's namespace.

        Args:
            config: `thread_id`, and maybe `checkpoint_id` and `checkpoint_ns`, in `configurable`.
            subgraphs: put the snapshots of subgraphs into the tasks that call them.

        Raises:
            ValueError: no checkpointer, no thread_id, or a namespace that no subgraph has.
        """
        graph, saver, config = self._at(config)
        result: StateSnapshot = perform_all(saver, state(graph, config, subgraphs))
        return result

    async def aget_state(self, config: RunnableConfig, *, subgraphs: bool = False) -> StateSnapshot:
        """`get_state`, awaited."""
        graph, saver, config = self._at(config)
        result: StateSnapshot = await aperform_all(saver, state(graph, config, subgraphs))
        return result

    def get_state_history(
        self,
        config: RunnableConfig,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - LangGraph's name
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[StateSnapshot]:
        """The snapshots of a thread or namespace, newest first. Runs nothing.

        Args:
            filter: metadata that must be equal, e.g. `{"source": "input"}`.
            before: only those before this checkpoint.
            limit: at most so many.
        """
        graph, saver, config = self._at(config)
        for saved in saver.list(history_source(config), before=before, limit=limit, filter=filter):
            yield perform_all(saver, snapshot(graph, saved, subgraphs=False, settle=False))

    async def aget_state_history(
        self,
        config: RunnableConfig,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - LangGraph's name
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[StateSnapshot]:
        """`get_state_history`, awaited."""
        graph, saver, config = self._at(config)
        async for saved in saver.alist(history_source(config), before=before, limit=limit, filter=filter):
            yield await aperform_all(saver, snapshot(graph, saved, subgraphs=False, settle=False))

    # -- edit ----------------------------------------------------------------------------------------------------------

    def update_state(
        self, config: RunnableConfig, values: Any, as_node: str | None = None, task_id: str | None = None
    ) -> RunnableConfig:
        """Make a new checkpoint with `values` merged in as if node `as_node` had returned them.

        Args:
            values: an update; None makes a fork without a change.
            as_node: whose edges follow. By default the node that wrote last; START takes the values as an input, END
                finishes the thread, "__copy__" copies the checkpoint.

        Returns:
            The config of the new checkpoint. Go on with that one: the old config is the old branch.

        Raises:
            InvalidUpdateError: the node is ambiguous or does not exist, or a channel refuses the values.
        """
        return self.bulk_update_state(config, [[StateUpdate(values, as_node, task_id)]])

    async def aupdate_state(
        self, config: RunnableConfig, values: Any, as_node: str | None = None, task_id: str | None = None
    ) -> RunnableConfig:
        """`update_state`, awaited."""
        return await self.abulk_update_state(config, [[StateUpdate(values, as_node, task_id)]])

    def bulk_update_state(self, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]]) -> RunnableConfig:
        """Several edits: each inner list is merged as one super-step and makes one checkpoint."""
        graph, saver, config = self._at(config)
        result: RunnableConfig = perform_all(saver, edit(graph, saver, config, supersteps))
        return result

    async def abulk_update_state(
        self, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]]
    ) -> RunnableConfig:
        """`bulk_update_state`, awaited."""
        graph, saver, config = self._at(config)
        result: RunnableConfig = await aperform_all(saver, edit(graph, saver, config, supersteps))
        return result

    def _at(self, config: RunnableConfig) -> tuple[CompiledStateGraph, Any, Any]:
        """The graph that a config's namespace belongs to, and the saver that has its state."""
        merged = merge_configs(self.config, config)
        configurable = merged["configurable"]
        saver = None if isinstance(self.checkpointer, bool) else self.checkpointer
        saver = configurable.get("__forkpoint_saver", saver)
        if saver is None:
            raise ValueError(
                f"No checkpointer set: graph '{self.name}' stores nothing. Compile it with checkpointer=InMemorySaver()."
            )
        if not configurable.get("thread_id"):
            raise ValueError("The config names no thread: {'configurable': {'thread_id': ...}} is needed.")
        ns = configurable.get("checkpoint_ns", "")
        return (self.subgraph_at(ns) if ns else self), saver, merged

    # -- structure -----------------------------------------------------------------------------------------------------

    def subgraph_at(self, ns: str) -> CompiledStateGraph:
        """The subgraph that a checkpoint namespace belongs to. Raises ValueError when there is none."""
        graph: CompiledStateGraph = self
        for node in strip_task_ids(ns).split(NS_SEP):
            index = _call_index(ns, node)
            known = graph.children(node)
            if not known:
                raise ValueError(
                    f"Subgraph '{strip_task_ids(ns)}' not found: node '{node}' of graph '{graph.name}' calls no graph "
                    f"that is known before it has run."
                )
            graph = known[min(index, len(known) - 1)]
        return graph

    def children(self, node: str) -> list[Any]:
        """The graphs that a node calls, as far as they are known; stateless ones are left out."""
        return [graph for graph in self._calls(node) if graph.checkpointer is not False]

    def learn(self, node: str, graph: Any) -> None:
        """Remember a graph that a node was seen to call."""
        known = self._calls(node)
        if not any(graph is other for other in known):
            known.append(graph)

    def _calls(self, node: str) -> list[Any]:
        known = self._called.get(node)
        if known is None:
            spec = self.builder.nodes.get(node)
            known = self._called[node] = graphs_in(spec.action.target) if spec is not None else []
        return known

    def get_subgraphs(self, *, namespace: str | None = None, recurse: bool = False) -> Iterator[tuple[str, Any]]:
        """(node, graph) for each node that calls a graph; deeper ones as `node|inner` with `recurse`."""
        for node in self.builder.nodes:
            known = self.children(node)
            if not known or (namespace is not None and namespace.split(NS_SEP)[0] != node):
                continue
            graph = known[0]
            if namespace is None or namespace == node:
                yield node, graph
            if recurse and is_graph(graph):
                rest = namespace[len(node) + 1 :] if namespace and namespace != node else None
                for name, inner in graph.get_subgraphs(namespace=rest, recurse=True):
                    yield f"{node}{NS_SEP}{name}", inner

    async def aget_subgraphs(
        self, *, namespace: str | None = None, recurse: bool = False
    ) -> AsyncIterator[tuple[str, Any]]:
        """`get_subgraphs`, awaited."""
        for item in self.get_subgraphs(namespace=namespace, recurse=recurse):
            yield item

    def get_graph(self, config: RunnableConfig | None = None, *, xray: int | bool = False) -> Any:
        """The topology, for drawing. `xray`: open subgraphs, all or to a depth."""
        from runtime.topology import topology_of  # imports networkx, which is slow

        return topology_of(self, xray=xray)

    async def aget_graph(self, config: RunnableConfig | None = None, *, xray: int | bool = False) -> Any:
        """`get_graph`, awaited."""
        return self.get_graph(config, xray=xray)

    def get_input_jsonschema(self, config: RunnableConfig | None = None) -> dict[str, Any]:
        """JSON schema of the input. Raises what Pydantic raises for a type that JSON cannot describe."""
        return json_schema(self.builder.schemas[self.builder.input_schema])

    def get_output_jsonschema(self, config: RunnableConfig | None = None) -> dict[str, Any]:
        """JSON schema of what `invoke` gives. Raises what Pydantic raises for a type that JSON cannot describe."""
        return json_schema(self.builder.schemas[self.builder.output_schema])

    def get_name(self, suffix: str | None = None, *, name: str | None = None) -> str:
        """The graph's name, as it stands in traces."""
        return f"{name or self.name}{suffix or ''}"


def _call_index(ns: str, node: str) -> int:
    """Which call of a node a namespace belongs to: `node:id|2` is its third."""
    parts = ns.split(NS_SEP)
    for part, following in zip(parts, [*parts[1:], ""], strict=True):
        if part.split(":")[0] == node and following.isdigit():
            return int(following)
    return 0
