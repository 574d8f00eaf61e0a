"""Compiled graphs under the name of their machine in LangGraph: for `isinstance`, and for annotations."""

from runtime.graph.compiled import CompiledStateGraph as Pregel

__all__ = ("Pregel",)
