"""The list of example graphs, with inputs to try."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from debugger.gallery import abc, joke, map_reduce, support_agent, travel_math, two_questions
from runtime.graph.state import CompiledStateGraph


@dataclass(frozen=True, slots=True)
class GalleryGraph:
    """An example."""

    name: str
    description: str
    """One sentence: what it shows."""
    build: Callable[[], CompiledStateGraph]
    """Makes the compiled graph; the server gives it a checkpointer."""
    example_inputs: tuple[dict[str, Any], ...]
    """Inputs that the run form offers."""


GRAPHS: tuple[GalleryGraph, ...] = (
    GalleryGraph(
        "support_agent",
        "A support desk: parallel look-ups, nested research, a ReAct loop with tools, and a person who approves the reply.",
        support_agent.build,
        (
            {"messages": [{"role": "user", "content": "My order A17 arrived broken. I want a refund."}]},
            {"messages": [{"role": "user", "content": "Where is my parcel B42?"}]},
            {"messages": [{"role": "user", "content": "Do you ship to Iceland?"}]},
        ),
    ),
    GalleryGraph(
        "travel_math",
        "Add one, then double: fork the 2 into a 10 and the thread ends in 20.",
        travel_math.build,
        ({"value": 1}, {"value": 20}),
    ),
    GalleryGraph(
        "abc",
        "Three steps in a row: replay from the middle and only the later ones run.",
        abc.build,
        ({"messages": [{"role": "user", "content": "start"}]},),
    ),
    GalleryGraph(
        "joke",
        "A topic, then a joke about it: change the topic in the past and hear another joke.",
        joke.build,
        ({}, {"topic": "socks"}),
    ),
    GalleryGraph(
        "map_reduce",
        "One task per subject by Send, merged by a reducer.",
        map_reduce.build,
        ({"subjects": ["tides", "moss", "clocks"]}, {"subjects": []}),
    ),
    GalleryGraph(
        "two_questions",
        "Two questions wait at once; each is answered on its own.",
        two_questions.build,
        ({"dish": "soup"},),
    ),
)
