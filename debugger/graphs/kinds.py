"""The two kinds of graph: our runtime's and LangGraph's, where it is installed."""

from __future__ import annotations

import copy
import importlib
import sys
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any

from debugger.graphs.protocol import GraphKind
from runtime.graph import StateGraph
from runtime.graph.state import CompiledStateGraph
from runtime.types import Command, Overwrite


class RuntimeKind:
    """Graphs of `runtime`."""

    name = "runtime"

    def owns(self, value: Any) -> bool:
        """A compiled graph."""
        return isinstance(value, CompiledStateGraph)

    def owns_builder(self, value: Any) -> bool:
        """A StateGraph."""
        return isinstance(value, StateGraph)

    def with_saver(self, graph: Any, saver: Any) -> Any:
        """A twin over our store; the author's graph stays as it is."""
        twin = copy.copy(graph)
        twin.checkpointer = saver
        return twin

    def channels(self, graph: Any) -> Mapping[str, Any]:
        """All channels."""
        found: Mapping[str, Any] = graph.spec.channels
        return found

    def state_keys(self, graph: Any) -> Iterable[str]:
        """Those that are state."""
        found: Iterable[str] = graph.spec.stream_keys
        return found

    def command(self, **fields: Any) -> Any:
        """A Command."""
        return Command(**fields)

    def overwrite(self, value: Any) -> Any:
        """An Overwrite."""
        return Overwrite(value)


class LangGraphKind:
    """Graphs of `langgraph`. Its modules are looked up only once a graph of its kind has imported them."""

    name = "langgraph"

    def owns(self, value: Any) -> bool:
        """A compiled graph of LangGraph's: it is one of its Pregel class."""
        pregel = _loaded("langgraph.pregel")
        return pregel is not None and isinstance(value, pregel.Pregel)

    def owns_builder(self, value: Any) -> bool:
        """A StateGraph of LangGraph's."""
        graph = _loaded("langgraph.graph")
        return graph is not None and isinstance(value, graph.StateGraph)

    def with_saver(self, graph: Any, saver: Any) -> Any:
        """A twin over our store, through the bridge."""
        bridge = importlib.import_module("runtime.checkpoint.bridge")
        bridge.allow_graph(graph)
        return graph.copy(update={"checkpointer": bridge.LangGraphSaver(saver)})

    def channels(self, graph: Any) -> Mapping[str, Any]:
        """All channels."""
        found: Mapping[str, Any] = graph.channels
        return found

    def state_keys(self, graph: Any) -> Iterable[str]:
        """Those that are state."""
        found: Iterable[str] = graph.stream_channels_list
        return found

    def command(self, **fields: Any) -> Any:
        """A Command of LangGraph's."""
        return importlib.import_module("langgraph.types").Command(**fields)

    def overwrite(self, value: Any) -> Any:
        """An Overwrite of LangGraph's."""
        return importlib.import_module("langgraph.types").Overwrite(value)


def _loaded(name: str) -> ModuleType | None:
    return sys.modules.get(name)


KINDS: tuple[GraphKind, ...] = (RuntimeKind(), LangGraphKind())


def kind_of(value: Any) -> GraphKind | None:
    """The kind of a compiled graph, None for anything else."""
    return next((kind for kind in KINDS if kind.owns(value)), None)


def kind_of_builder(value: Any) -> GraphKind | None:
    """The kind of a builder, None for anything else."""
    return next((kind for kind in KINDS if kind.owns_builder(value)), None)
