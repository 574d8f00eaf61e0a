"""A scripted chat model: answers by a rule from the conversation, streams word by word, calls tools. No network, no keys."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import LanguageModelInput
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

Rule = Callable[[list[BaseMessage]], AIMessage]
"""The conversation -> the answer."""


def token_delay() -> float:
    """Seconds between two words, so that a person sees them come. FORKPOINT_TOKEN_DELAY sets it."""
    return float(os.environ.get("FORKPOINT_TOKEN_DELAY", "0.025"))


def work(words: int = 8) -> None:
    """Take as long as a model takes for some words: a look-up that a person can watch."""
    time.sleep(token_delay() * words)


class ScriptedModel(BaseChatModel):
    """Says what its rule says."""

    rule: Rule

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[LanguageModelInput, AIMessage]:
        """Tools go along with each call, as with a real model; the rule knows them by itself."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self.rule(messages))])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for piece in _pieces(self.rule(messages)):
            yield ChatGenerationChunk(message=piece)
            time.sleep(token_delay())


def _pieces(answer: AIMessage) -> Iterator[AIMessageChunk]:
    """The answer in words, then its tool calls."""
    words = str(answer.content).split(" ") if answer.content else []
    for index, word in enumerate(words):
        yield AIMessageChunk(content=word if index == 0 else f" {word}")
    for index, call in enumerate(answer.tool_calls):
        chunk = tool_call_chunk(name=call["name"], args=json.dumps(call["args"]), id=call["id"], index=index)
        yield AIMessageChunk(content="", tool_call_chunks=[chunk])


def call(messages: Sequence[BaseMessage], tool: BaseTool, **args: Any) -> AIMessage:
    """A message that calls a tool. The call's id is the same whenever the conversation is."""
    return AIMessage("", tool_calls=[{"name": tool.name, "args": args, "id": f"call_{len(messages)}"}])


def last_of(messages: Sequence[BaseMessage], kind: str) -> str:
    """The text of the last message of a type ('human', 'tool', ...), '' when there is none."""
    return next((str(message.text) for message in reversed(messages) if message.type == kind), "")
