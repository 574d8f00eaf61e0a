"""A topic is chosen, then a joke is written about it. Edit the topic in the past and another joke is told."""

from __future__ import annotations

from typing import Any, NotRequired

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from typing_extensions import TypedDict

from debugger.gallery.models import ScriptedModel, last_of
from runtime.graph import END, START, StateGraph
from runtime.graph.state import CompiledStateGraph

_JOKES = {
    "socks": "Why did the sock file a report? Its other half had gone missing in the wash.",
    "chickens": "Why did the chicken fork the thread? To get to the other branch.",
}


class State(TypedDict):
    topic: NotRequired[str]
    joke: NotRequired[str]


def _answer(messages: list[BaseMessage]) -> AIMessage:
    asked = last_of(messages, "human")
    if asked.startswith("Name"):
        return AIMessage("socks")
    topic = asked.removeprefix("Joke about ")
    return AIMessage(_JOKES.get(topic, f"I know {topic} jokes, but the good ones are all in another branch."))


def build() -> CompiledStateGraph:
    """The compiled graph."""
    model = ScriptedModel(rule=_answer)

    def choose_topic(state: State) -> dict[str, Any]:
        if state.get("topic"):
            return {"topic": state["topic"]}
        return {"topic": model.invoke([HumanMessage("Name a topic for a joke")]).content}

    def write_joke(state: State) -> dict[str, Any]:
        return {"joke": model.invoke([HumanMessage(f"Joke about {state['topic']}")]).content}

    builder = StateGraph(State)
    builder.add_node("choose_topic", choose_topic)
    builder.add_node("write_joke", write_joke)
    builder.add_edge(START, "choose_topic")
    builder.add_edge("choose_topic", "write_joke")
    builder.add_edge("write_joke", END)
    return builder.compile()
