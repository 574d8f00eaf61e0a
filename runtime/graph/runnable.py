"""Compiled graphs as langchain-core Runnables.

langchain-core's `Runnable` is slow to import, so a graph becomes one only where it is loaded already: who composes graphs
with Runnables has imported it. `compile` picks the class through `graph_class`.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

from runtime.graph.compiled import CompiledStateGraph


def graph_class() -> type[CompiledStateGraph]:
    """CompiledStateGraph, or its subclass that is a Runnable too."""
    return _runnable_class() if "langchain_core.runnables.base" in sys.modules else CompiledStateGraph


@cache
def _runnable_class() -> type[CompiledStateGraph]:
    from langchain_core.runnables import Runnable  # loaded already, see above

    class RunnableStateGraph(CompiledStateGraph, Runnable[Any, Any]):  # type: ignore[misc]  # ours narrows what Runnable leaves open
        """A compiled graph with batch, pipe, with_config and the other Runnable methods."""

    RunnableStateGraph.__name__ = RunnableStateGraph.__qualname__ = CompiledStateGraph.__name__
    return RunnableStateGraph
