"""`CompiledStateGraph`: a graph that runs, and the state of its threads."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from runtime.checkpoint.check import check_checkpointer
from runtime.constants import NS_SEP
from runtime.engine.drivers import aperform_all, perform_all
from runtime.engine.model import GraphSpec
from runtime.graph.config import merge_configs, strip_task_ids
from runtime.graph.edits import edit
from runtime.graph.runs import ainvoke, astream, invoke, stream
from runtime.graph.schema import json_schema
from runtime.graph.snapshots import history_source, snapshot, state
from runtime.graph.spec import build_spec
from runtime.graph.subgraphs import graphs_in, is_graph
from runtime.topology import topology_of
from runtime.types import StateSnapshot, StateUpdate

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from runtime.graph.state import StateGraph
    from runtime.store.base import BaseStore


class CompiledStateGraph:
    """What `StateGraph.compile` gives. Never changes after that."""

    is_compiled_graph: ClassVar[bool] = True

    def __init__(
        self,
        builder: StateGraph,
        *,
        checkpointer: Any,
        store: BaseStore | None,
        before: Sequence[str] | str,
        after: Sequence[str] | str,
        debug: bool,
        name: str | None,
    ) -> None:
        check_checkpointer(checkpointer)
        self.builder = builder
        self.checkpointer = checkpointer
        self.store = store
        self.interrupt_before_nodes = before
        self.interrupt_after_nodes = after
        self.debug = debug
        self.name = name or "LangGraph"
        self.config: Mapping[str, Any] | None = None
        self.spec: GraphSpec = build_spec(builder, self.name)
        self._static = {node: graphs_in(spec.action.target) for node, spec in builder.nodes.items()}
        self._learned: dict[str, list[Any]] = {}

    # -- run -----------------------------------------------------------------------------------------------------------

    invoke = invoke
    ainvoke = ainvoke
    stream = stream
    astream = astream

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
        known = [*self._static.get(node, ()), *self._learned.get(node, ())]
        return [graph for graph in known if graph.checkpointer is not False]

    def learn(self, node: str, graph: Any) -> None:
        """Remember a graph that a node was seen to call."""
        known = [*self._static.get(node, ()), *self._learned.get(node, ())]
        if not any(graph is other for other in known):
            self._learned.setdefault(node, []).append(graph)

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
