"""A support desk, the main example: everything a graph can do, in one that reads like a working day.

triage -> three look-ups in parallel, joined -> research (a subgraph with a subgraph) -> agent and tools in a loop ->
a person approves the reply, refuses it, or gives advice for another try -> send or close.
"""

from __future__ import annotations

import operator
from typing import Annotated, Any, Literal, TypedDict

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from debugger.gallery.models import last_of, work
from debugger.gallery.support_model import REWRITE, TOOLS, categorise, order_in, support_model
from debugger.gallery.support_research import build_research
from runtime.graph import END, START, StateGraph, add_messages
from runtime.graph.state import CompiledStateGraph
from runtime.prebuilt import ToolNode
from runtime.types import Command, interrupt


class State(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    category: str
    findings: Annotated[list[str], operator.add]
    articles: list[str]
    summary: str
    draft: str
    outcome: str


def triage(state: State) -> dict[str, Any]:
    """Sort the request into a drawer."""
    return {"category": categorise(last_of(state["messages"], "human"))}


def find_order(state: State) -> dict[str, Any]:
    """Look the order up."""
    work()
    order = order_in(last_of(state["messages"], "human"))
    return {"findings": [f"order: {order or 'none named'}"]}


def find_policy(state: State) -> dict[str, Any]:
    """Look up what the rules say."""
    work(12)
    return {"findings": [f"policy for {state['category']}: 30 days, no questions"]}


def read_mood(state: State) -> dict[str, Any]:
    """Guess how the person feels."""
    text = last_of(state["messages"], "human")
    return {"findings": ["mood: upset" if "broken" in text or "!" in text else "mood: calm"]}


def after_agent(state: State) -> Literal["tools", "approval"]:
    """Tools as long as the model calls some."""
    return "tools" if getattr(state["messages"][-1], "tool_calls", None) else "approval"


def approval(state: State) -> Command[Literal["send_reply", "agent", "close"]]:
    """Ask a person: approve, refuse, or any other text as advice for another try."""
    draft = str(state["messages"][-1].text)
    said = interrupt({"question": "Send this reply?", "draft": draft, "options": ["approve", "refuse"]})
    if said == "approve":
        return Command(goto="send_reply", update={"draft": draft})
    if said == "refuse":
        return Command(goto="close", update={"draft": draft, "outcome": "refused"})
    return Command(goto="agent", update={"messages": [HumanMessage(f"{REWRITE}{said}")]})


def send_reply(state: State) -> dict[str, Any]:
    """Would send a mail: in a real system this cannot be undone, and a replay would send it again."""
    return {"outcome": f"sent: {state['draft']}"}


def close(state: State) -> dict[str, Any]:
    """File the case."""
    return {"messages": [AIMessage(f"Case closed: {state['outcome'].partition(':')[0]}.")]}


def build() -> CompiledStateGraph:
    """The compiled graph."""
    model = support_model().bind_tools(TOOLS)

    def agent(state: State) -> dict[str, Any]:
        return {"messages": [model.invoke(state["messages"])]}

    builder = StateGraph(State)
    builder.add_node("triage", triage)
    for look_up in (find_order, find_policy, read_mood):
        builder.add_node(look_up.__name__, look_up)
        builder.add_edge("triage", look_up.__name__)
    builder.add_node("research", build_research())
    builder.add_node("agent", agent)
    builder.add_node("tools", ToolNode(TOOLS))
    builder.add_node("approval", approval)
    builder.add_node("send_reply", send_reply, metadata={"side_effects": True})
    builder.add_node("close", close)
    builder.add_edge(START, "triage")
    builder.add_edge(["find_order", "find_policy", "read_mood"], "research")
    builder.add_edge("research", "agent")
    builder.add_conditional_edges("agent", after_agent)
    builder.add_edge("tools", "agent")
    builder.add_edge("send_reply", "close")
    builder.add_edge("close", END)
    return builder.compile()
