"""What a compiled graph keeps of the builder it came from. A protocol: state graphs and functional graphs both have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from runtime.engine.model import GraphSpec
    from runtime.graph.schema import Schema
    from runtime.graph.state import BranchSpec, NodeSpec


class Builder(Protocol):
    """Nodes, edges and schemas as they were given."""

    input_schema: Any
    output_schema: Any
    context_schema: Any

    @property
    def nodes(self) -> Mapping[str, NodeSpec]:
        """Nodes by name."""
        ...

    @property
    def edges(self) -> set[tuple[str, str]]:
        """(from, to)."""
        ...

    @property
    def waiting_edges(self) -> set[tuple[tuple[str, ...], str]]:
        """(all of these, to)."""
        ...

    @property
    def branches(self) -> Mapping[str, Mapping[str, BranchSpec]]:
        """Routers by node and by name."""
        ...

    schemas: dict[Any, Schema]

    def to_spec(self, name: str) -> GraphSpec:
        """The engine's form of it."""
        ...
