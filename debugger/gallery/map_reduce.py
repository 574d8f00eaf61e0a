"""Map-reduce: a router sends one task per subject, a reducer merges what they write, a join reads it all."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

from debugger.gallery.models import work
from runtime.graph import END, START, StateGraph
from runtime.graph.state import CompiledStateGraph
from runtime.types import Send


class State(TypedDict):
    subjects: list[str]
    notes: Annotated[list[str], operator.add]
    report: str


class Job(TypedDict):
    subject: str


def plan(state: State) -> dict[str, Any]:
    """Sort the subjects, so that the tasks have a stable order."""
    return {"subjects": sorted(state.get("subjects", []))}


def fan_out(state: State) -> list[Send]:
    """One task per subject; none for none."""
    return [Send("research", {"subject": subject}) for subject in state["subjects"]]


def research(job: Job) -> dict[str, Any]:
    """Write one note."""
    work(len(job["subject"]))
    return {"notes": [f"{job['subject']}: {len(job['subject'])} letters, worth a look"]}


def write_report(state: State) -> dict[str, Any]:
    """Put the notes together."""
    return {"report": "\n".join(state["notes"])}


def build() -> CompiledStateGraph:
    """The compiled graph."""
    builder = StateGraph(State)
    builder.add_node("plan", plan)
    builder.add_node("research", research)
    builder.add_node("write_report", write_report)
    builder.add_edge(START, "plan")
    builder.add_conditional_edges("plan", fan_out, ["research"])
    builder.add_edge("research", "write_report")
    builder.add_edge("write_report", END)
    return builder.compile()
