"""Build graphs: StateGraph, START, END, MessagesState, add_messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtime.constants import END, START
from runtime.graph.state import StateGraph

if TYPE_CHECKING:
    from runtime.graph.message import MessageGraph, MessagesState, add_messages

_LAZY = ("MessageGraph", "MessagesState", "add_messages")


def __getattr__(name: str) -> Any:
    """Messages pull in langchain-core, so they load when first asked for."""
    if name in _LAZY:
        import runtime.graph.message as message

        return getattr(message, name)
    raise AttributeError(f"module 'runtime.graph' has no attribute '{name}'")


__all__ = ("END", "START", "MessageGraph", "MessagesState", "StateGraph", "add_messages")
