"""What a debuggable graph has: the public methods that our compiled graphs and LangGraph's share.

The debugger talks to graphs through this alone. Nothing here knows which of the two a graph is.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from typing import Any, Protocol


class DebuggableGraph(Protocol):
    """A compiled graph."""

    name: str
    checkpointer: Any
    builder: Any
    interrupt_before_nodes: Any

    def get_state(self, config: Any, *, subgraphs: bool = False) -> Any:
        """A StateSnapshot."""

    def get_state_history(
        self,
        config: Any,
        *,
        filter: Any = None,  # noqa: A002 - the name of LangGraph's argument
        before: Any = None,
        limit: int | None = None,
    ) -> Iterator[Any]:
        """StateSnapshots, newest first."""

    def update_state(self, config: Any, values: Any, as_node: str | None = None) -> Any:
        """The config of the new checkpoint."""

    def astream(self, input: Any, config: Any = None, **options: Any) -> AsyncIterator[Any]:  # noqa: A002
        """Stream items."""

    def get_graph(self, config: Any = None, *, xray: int | bool = False) -> Any:
        """A drawable topology: nodes, edges."""

    def get_subgraphs(self, *, namespace: str | None = None, recurse: bool = False) -> Iterator[tuple[str, Any]]:
        """(path of node names joined by '|', graph)."""


class GraphKind(Protocol):
    """What differs between the two kinds of graph."""

    name: str

    def owns(self, value: Any) -> bool:
        """Whether a value is a compiled graph of this kind."""

    def owns_builder(self, value: Any) -> bool:
        """Whether a value is a builder of this kind, to be compiled."""

    def with_saver(self, graph: Any, saver: Any) -> Any:
        """The graph over our store."""

    def channels(self, graph: Any) -> Mapping[str, Any]:
        """All channels of a graph, by name."""

    def state_keys(self, graph: Any) -> Iterable[str]:
        """Names of those channels that are state."""

    def command(self, **fields: Any) -> Any:
        """A Command of this kind."""

    def overwrite(self, value: Any) -> Any:
        """A write that replaces a reduced value."""
