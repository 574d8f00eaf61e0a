"""What a graph can do, as protocols: for code that takes any graph."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class PregelProtocol(Protocol):
    """A compiled graph. See CompiledStateGraph for what each method does."""

    name: str

    def invoke(self, input: Any, config: Any = None, **options: Any) -> Any:  # noqa: A002 - LangGraph's name
        """Run to the end."""
        ...

    async def ainvoke(self, input: Any, config: Any = None, **options: Any) -> Any:  # noqa: A002
        """`invoke`, with asyncio."""
        ...

    def stream(self, input: Any, config: Any = None, **options: Any) -> Iterator[Any]:  # noqa: A002
        """Run and give what happens."""
        ...

    def astream(self, input: Any, config: Any = None, **options: Any) -> AsyncIterator[Any]:  # noqa: A002
        """`stream`, with asyncio."""
        ...

    def get_graph(self, config: Any = None, *, xray: int | bool = False) -> Any:
        """The drawing."""
        ...

    def get_state(self, config: Any, *, subgraphs: bool = False) -> Any:
        """A snapshot."""
        ...

    def get_state_history(self, config: Any, **options: Any) -> Iterator[Any]:
        """All snapshots, newest first."""
        ...

    def update_state(self, config: Any, values: Any, as_node: str | None = None) -> Any:
        """An edit."""
        ...

    def bulk_update_state(self, config: Any, supersteps: Sequence[Sequence[Any]]) -> Any:
        """Several edits, each a super-step."""
        ...

    def with_config(self, config: Mapping[str, Any] | None = None, **options: Any) -> Any:
        """A copy with a config."""
        ...


__all__ = ("PregelProtocol",)
