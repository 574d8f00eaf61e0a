"""Graphs that can be debugged: one protocol, adapters for our runtime and for LangGraph, and loading from files."""

from __future__ import annotations

from debugger.graphs.adapter import ServedGraph, adapt
from debugger.graphs.loading import load_target

__all__ = ("ServedGraph", "adapt", "load_target")
