"""Callbacks as signs of life: whatever happens under a node resets its idle timeout. Imported only where one is set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler

_EVENTS = (
    "on_agent_action",
    "on_agent_finish",
    "on_chain_end",
    "on_chain_error",
    "on_chain_start",
    "on_chat_model_start",
    "on_custom_event",
    "on_llm_end",
    "on_llm_error",
    "on_llm_new_token",
    "on_llm_start",
    "on_retriever_end",
    "on_retriever_error",
    "on_retriever_start",
    "on_retry",
    "on_text",
    "on_tool_end",
    "on_tool_error",
    "on_tool_start",
)


class ProgressHandler(BaseCallbackHandler):
    """Calls `progress` at every event."""

    run_inline = True

    def __init__(self, progress: Callable[[], None]) -> None:
        def event(*args: Any, **kwargs: Any) -> None:
            progress()

        for name in _EVENTS:
            setattr(self, name, event)
