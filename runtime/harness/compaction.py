"""Context compaction: what a model is shown of a long conversation. A projection: what is stored stays whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from runtime.harness.messages import content_of, role_of

SUMMARY_MARK = "[历史摘要] "


class ContextCompactor:
    """Folds early messages into one summary when a conversation has grown too long.

    Args:
        max_messages: fold above so many messages.
        keep_recent: how many of the last messages stay; more, where the cut would part a tool call from its results.
        keep_system: whether a first system message stays in front.
        max_tokens: fold above so many tokens too, by `count_tokens`.
        max_tool_chars: fold above so many characters of tool results too.
        count_tokens: the tokens of a list of messages. Needed for `max_tokens`.

    `compactions` counts the folds, `last_summary` is the text of the last.
    """

    def __init__(
        self,
        max_messages: int = 20,
        keep_recent: int = 6,
        keep_system: bool = True,
        *,
        max_tokens: int | None = None,
        max_tool_chars: int | None = None,
        count_tokens: Callable[[Sequence[Any]], int] | None = None,
    ) -> None:
        for name, value, least in (
            ("max_messages", max_messages, 1),
            ("keep_recent", keep_recent, 0),
            ("max_tokens", max_tokens, 1),
            ("max_tool_chars", max_tool_chars, 0),
        ):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < least):
                raise ValueError(f"{name} is {value!r}. Give a whole number of at least {least}.")
        if max_tokens is not None and count_tokens is None:
            raise ValueError("max_tokens needs count_tokens: a function of messages that gives their number of tokens.")
        self.max_messages = max_messages
        self.keep_recent = keep_recent
        self.keep_system = keep_system
        self.max_tokens = max_tokens
        self.max_tool_chars = max_tool_chars
        self.count_tokens = count_tokens
        self.compactions = 0
        self.last_summary: str | None = None

    def needs_compaction(self, messages: Sequence[Any]) -> bool:
        """Whether any limit is passed."""
        if len(messages) > self.max_messages:
            return True
        if (
            self.max_tokens is not None
            and self.count_tokens is not None
            and self.count_tokens(messages) > self.max_tokens
        ):
            return True
        if self.max_tool_chars is None:
            return False
        results = (content_of(message) for message in messages if role_of(message) == "tool")
        return (
            sum(len(content if isinstance(content, str) else str(content)) for content in results) > self.max_tool_chars
        )

    def maybe_compact(
        self, messages: Sequence[Any], summarize: Callable[[list[Any]], str] | None = None
    ) -> list[Any] | None:
        """The system message, a summary as a system message, and the last messages; None where there is nothing to do.

        Args:
            messages: dicts or LangChain's messages, untouched. The summary is of the same sort.
            summarize: the text for the messages that are folded. None: their number by role.
        """
        if not self.needs_compaction(messages):
            return None
        start = 1 if self.keep_system and role_of(messages[0]) == "system" else 0
        cut = max(start, len(messages) - self.keep_recent)
        while start < cut < len(messages) and role_of(messages[cut]) == "tool":
            cut -= 1
        if cut == start:
            return None
        old = list(messages[start:cut])
        summary = _tally(old) if summarize is None else summarize(old)
        self.compactions += 1
        self.last_summary = summary
        return [*messages[:start], _system(SUMMARY_MARK + summary, like=messages[0]), *messages[cut:]]


def _tally(messages: Sequence[Any]) -> str:
    roles = Counter(role_of(message) for message in messages)
    listed = ", ".join(f"{role}x{count}" for role, count in sorted(roles.items()))
    return f"已折叠 {len(messages)} 条早期消息 ({listed})"


def _system(text: str, like: Any) -> Any:
    if isinstance(like, dict):
        return {"role": "system", "content": text}
    from langchain_core.messages import SystemMessage

    return SystemMessage(text)
