"""Small graphs that many tests share. State `L` has one append list; node `x` appends its name and notes that it ran."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Annotated, Any, TypedDict

from runtime.checkpoint.memory import InMemorySaver
from runtime.graph import START, StateGraph
from runtime.types import interrupt


class L(TypedDict):
    log: Annotated[list[Any], operator.add]


THREAD: Any = {"configurable": {"thread_id": "1"}}


class Recorder:
    """Makes nodes and keeps the order in which they ran."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    def node(self, name: str) -> Callable[[Any], Any]:
        """Appends its name; one called `ask` appends the answer to `q?`."""

        def append(state: Any) -> Any:
            self.ran.append(name)
            return {"log": [f"ans:{interrupt('q?')}" if name == "ask" else name]}

        return append

    def line(self, *names: str, **options: Any) -> Any:
        """START -> each in turn."""
        builder = StateGraph(L)
        previous = START
        for name in names:
            builder.add_node(name, self.node(name))
            builder.add_edge(previous, name)
            previous = name
        options.setdefault("checkpointer", InMemorySaver())
        return builder.compile(**options)

    def forget(self) -> None:
        """Start counting anew."""
        self.ran.clear()


def history(graph: Any) -> list[tuple[Any, ...]]:
    """(source, step, next, log) of each checkpoint, newest first."""
    return [
        (s.metadata["source"], s.metadata["step"], s.next, s.values.get("log")) for s in graph.get_state_history(THREAD)
    ]


def waiting_for(graph: Any, *names: str) -> Any:
    """The oldest snapshot whose next nodes are those."""
    return [s for s in graph.get_state_history(THREAD) if s.next == names][-1]
