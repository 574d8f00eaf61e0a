"""A scripted chat model: answers by rules from the conversation, streams word by word, calls tools. No network, no keys."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

Rule = Callable[[list[BaseMessage]], AIMessage]
"""The conversation -> the answer."""


def token_delay() -> float:
    """Seconds between two words, so that a person sees them come. FORKPOINT_TOKEN_DELAY sets it."""
    return float(os.environ.get("FORKPOINT_TOKEN_DELAY", "0.03"))


class ScriptedModel(BaseChatModel):
    """Says what its rule says."""

    rule: Rule

    @property
    def _llm_type(self) -> str:
        return "scripted"

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
            chunk = ChatGenerationChunk(message=piece)
            if run_manager:
                run_manager.on_llm_new_token(str(piece.content), chunk=chunk)
            yield chunk
            time.sleep(token_delay())


def _pieces(answer: AIMessage) -> Iterator[AIMessageChunk]:
    """The answer in words, then its tool calls."""
    words = str(answer.content).split(" ") if answer.content else []
    for index, word in enumerate(words):
        yield AIMessageChunk(content=word if index == 0 else f" {word}")
    for index, call in enumerate(answer.tool_calls):
        yield AIMessageChunk(
            content="",
            tool_call_chunks=[
                {
                    "name": call["name"],
                    "args": json.dumps(call["args"]),
                    "id": call["id"],
                    "index": index,
                    "type": "tool_call_chunk",
                }
            ],
        )


def last_of(messages: Sequence[BaseMessage], kind: str) -> str:
    """The text of the last message of a type ('human', 'tool', ...), '' when there is none."""
    return next((str(m.content) for m in reversed(messages) if m.type == kind), "")
