"""Two nodes ask at once: salt and spice. Each question is answered on its own; a third node never waits."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

from runtime.graph import END, START, StateGraph
from runtime.graph.state import CompiledStateGraph
from runtime.types import interrupt


class State(TypedDict):
    dish: str
    steps: Annotated[list[str], operator.add]


def boil_water(state: State) -> dict[str, Any]:
    """Needs no person."""
    return {"steps": ["water boils"]}


def ask_salt(state: State) -> dict[str, Any]:
    """Asks for one of three."""
    amount = interrupt(
        {"question": f"How much salt in the {state.get('dish', 'soup')}?", "options": ["none", "a pinch", "a spoon"]}
    )
    return {"steps": [f"salt: {amount}"]}


def ask_spice(state: State) -> dict[str, Any]:
    """Asks for free text."""
    return {"steps": [f"spice: {interrupt('Which spice?')}"]}


def serve(state: State) -> dict[str, Any]:
    """Runs once all three are done."""
    return {"steps": [f"{state.get('dish', 'soup')} is served"]}


def build() -> CompiledStateGraph:
    """The compiled graph."""
    builder = StateGraph(State)
    for node in (boil_water, ask_salt, ask_spice):
        builder.add_node(node.__name__, node)
        builder.add_edge(START, node.__name__)
    builder.add_node("serve", serve)
    builder.add_edge(["boil_water", "ask_salt", "ask_spice"], "serve")
    builder.add_edge("serve", END)
    return builder.compile()
