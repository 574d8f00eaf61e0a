"""What the harness needs to know of a message: its role, its calls, what it answers. Dicts and LangChain messages alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_ROLES = {"human": "user", "ai": "assistant"}


def role_of(message: Any) -> str:
    """The `role` of a dict, else its `type`, else '?'. LangChain's messages have the roles of the chat APIs."""
    if isinstance(message, Mapping):
        return str(message.get("role") or message.get("type") or "?")
    kind = str(getattr(message, "type", "?"))
    return _ROLES.get(kind, kind)


def content_of(message: Any) -> Any:
    """Text or blocks."""
    return message.get("content") if isinstance(message, Mapping) else getattr(message, "content", None)


def calls_of(message: Any) -> list[Any]:
    """Ids of the tool calls that a message makes; None for a call without one."""
    calls = message.get("tool_calls") if isinstance(message, Mapping) else getattr(message, "tool_calls", None)
    return [call.get("id") if isinstance(call, Mapping) else None for call in calls or ()]


def answers(message: Any) -> Any:
    """Id of the call that a tool message answers, or None."""
    return message.get("tool_call_id") if isinstance(message, Mapping) else getattr(message, "tool_call_id", None)


def as_dict(message: Any, where: str) -> Any:
    """A message as chat APIs write it. Raises TypeError for what is neither a dict nor a LangChain message."""
    if isinstance(message, Mapping):
        return dict(message)
    if not hasattr(message, "model_dump"):
        raise TypeError(f"{where} is a {type(message).__name__}. Give a dict or a LangChain message.")
    from langchain_core.messages import BaseMessage, convert_to_openai_messages

    if not isinstance(message, BaseMessage):
        raise TypeError(f"{where} is a {type(message).__name__}. Give a dict or a LangChain message.")
    found: Any = convert_to_openai_messages(message)
    return {**found, "id": message.id} if message.id else found


def history_problems(messages: Sequence[Any]) -> list[str]:
    """What a chat API would refuse about a history, a sentence each; [] for a valid one.

    It begins with a system or user message; each tool call has its result before the next turn, each result its call.
    """
    problems = []
    open_calls: dict[Any, int] = {}
    first = next((m for m in messages if role_of(m) != "system"), None)
    if first is not None and role_of(first) != "user":
        problems.append(f"The history begins with a message of role '{role_of(first)}'. It begins with 'user'.")
    for index, message in enumerate(messages):
        role = role_of(message)
        if role == "tool":
            if answers(message) not in open_calls:
                problems.append(
                    f"messages[{index}] answers the tool call {answers(message)!r}, which no message before it makes."
                )
            open_calls.pop(answers(message), None)
            continue
        problems += _unanswered(open_calls, index)
        open_calls = dict.fromkeys(calls_of(message), index)
    return problems + _unanswered(open_calls, None)


def _unanswered(calls: dict[Any, int], index: int | None) -> list[str]:
    before = "the end" if index is None else f"messages[{index}]"
    return [f"The tool call {call!r} of messages[{at}] has no result before {before}." for call, at in calls.items()]
