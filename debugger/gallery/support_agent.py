"""A support desk, the main example: everything a graph can do, in one that reads like a working day.

triage -> three look-ups in parallel, joined -> research (a subgraph with a subgraph) -> agent and tools in a loop ->
a person approves, rewrites or refuses the reply -> send or close.
"""

from __future__ import annotations

import operator
import re
import time
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypedDict

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, ToolMessage

from debugger.gallery.models import ScriptedModel, last_of, token_delay
from runtime.graph import END, START, StateGraph, add_messages
from runtime.types import Command, interrupt


class State(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    category: str
    findings: Annotated[list[str], operator.add]
    articles: list[str]
    summary: str
    draft: str
    outcome: str


class Research(TypedDict):
    """Shares its keys with the desk by name. None of them has a reducer: a subgraph hands its whole state back, and a
    reducer would add what was there before a second time."""

    category: str
    articles: list[str]
    summary: str


class Search(TypedDict):
    category: str
    query: str
    articles: list[str]


def _pause() -> None:
    time.sleep(token_delay() * 6)


# -- triage and the three look-ups -----------------------------------------------------------------------------------------


def triage(state: State) -> dict[str, Any]:
    """Sort the request into one of three drawers."""
    text = last_of(state["messages"], "human").lower()
    if "refund" in text or "broken" in text:
        return {"category": "refund"}
    return {"category": "shipping" if "parcel" in text or "ship" in text else "general"}


def find_order(state: State) -> dict[str, Any]:
    """Look the order up."""
    _pause()
    number = re.search(r"\b[A-Z]\d+\b", last_of(state["messages"], "human"))
    return {"findings": [f"order {number.group()}: delivered on Tuesday" if number else "order: none named"]}


def find_policy(state: State) -> dict[str, Any]:
    """Look up what the rules say."""
    _pause()
    return {"findings": [f"policy for {state['category']}: 30 days, no questions"]}


def read_mood(state: State) -> dict[str, Any]:
    """Guess how the person feels."""
    text = last_of(state["messages"], "human")
    return {"findings": ["mood: upset" if "broken" in text or "!" in text else "mood: calm"]}


# -- research: a subgraph in a subgraph ------------------------------------------------------------------------------------


def _search() -> Any:
    def plan_query(state: Search) -> dict[str, Any]:
        return {"query": f"{state['category']} known problems"}

    def fetch(state: Search) -> dict[str, Any]:
        _pause()
        return {"articles": [f"{state['query']}, part {part}" for part in (1, 2)]}

    builder = StateGraph(Search)
    builder.add_node("plan_query", plan_query)
    builder.add_node("fetch", fetch)
    builder.add_edge(START, "plan_query")
    builder.add_edge("plan_query", "fetch")
    builder.add_edge("fetch", END)
    return builder.compile()


def _research() -> Any:
    def summarise(state: Research) -> dict[str, Any]:
        return {"summary": f"{len(state['articles'])} articles about {state['category']} requests"}

    builder = StateGraph(Research)
    builder.add_node("search", _search())
    builder.add_node("summarise", summarise)
    builder.add_edge(START, "search")
    builder.add_edge("search", "summarise")
    builder.add_edge("summarise", END)
    return builder.compile()


# -- the ReAct loop --------------------------------------------------------------------------------------------------------


def _answer(messages: list[BaseMessage]) -> AIMessage:
    """First ask for a tool, then write the reply from what it said."""
    if messages[-1].type != "tool":
        name, args = ("refund_amount", {"order": "A17"}) if "refund" in last_of(messages, "human") else ("track", {})
        return AIMessage("Let me check.", tool_calls=[{"name": name, "args": args, "id": f"call_{len(messages)}"}])
    return AIMessage(f"Dear customer, here is what we found: {last_of(messages, 'tool')}. We are glad to help.")


_TOOLS: dict[str, Callable[[dict[str, Any]], str]] = {
    "refund_amount": lambda args: f"order {args.get('order', '?')} may be refunded with 42.00",
    "track": lambda args: "the parcel is two streets away",
}


def run_tools(state: State) -> dict[str, Any]:
    """Answer each tool call of the last message."""
    _pause()
    calls = getattr(state["messages"][-1], "tool_calls", [])
    return {
        "messages": [ToolMessage(_TOOLS[c["name"]](c["args"]), tool_call_id=c["id"], name=c["name"]) for c in calls]
    }


def after_agent(state: State) -> Literal["tools", "approval"]:
    """Tools as long as the model calls some."""
    return "tools" if getattr(state["messages"][-1], "tool_calls", None) else "approval"


# -- a person decides ------------------------------------------------------------------------------------------------------


def approval(state: State) -> Command[Literal["send_reply", "agent", "close"]]:
    """Show the draft to a person: approve, refuse, or any other text as advice for another try."""
    draft = str(state["messages"][-1].content)
    said = interrupt({"question": "Send this reply?", "draft": draft, "options": ["approve", "refuse"]})
    if said == "approve":
        return Command(goto="send_reply", update={"draft": draft})
    if said == "refuse":
        return Command(goto="close", update={"draft": draft, "outcome": "refused"})
    return Command(goto="agent", update={"messages": [HumanMessage(f"Please rewrite it: {said}")]})


def send_reply(state: State) -> dict[str, Any]:
    """Would send a mail: in a real system this cannot be undone."""
    return {"outcome": f"sent: {state['draft']}"}


def close(state: State) -> dict[str, Any]:
    """File the case."""
    return {"messages": [AIMessage(f"Case closed ({state.get('outcome', 'refused')}).")]}


def build() -> Any:
    """The compiled graph."""
    model = ScriptedModel(rule=_answer)

    def agent(state: State) -> dict[str, Any]:
        return {"messages": [model.invoke(state["messages"])]}

    builder = StateGraph(State)
    builder.add_node("triage", triage)
    for look_up in (find_order, find_policy, read_mood):
        builder.add_node(look_up.__name__, look_up)
        builder.add_edge("triage", look_up.__name__)
    builder.add_node("research", _research())
    builder.add_node("agent", agent)
    builder.add_node("tools", run_tools)
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
