"""`add_messages`, the reducer of a chat, and the state schema that uses it.

Owns: merging messages by id. Refuses: trimming and summarising, which nodes do by what they return.

The result shares every untouched message with `left`, in a new list, so that a checkpointer sees that only the tail is new.
A turn adds few messages to many, and `message_index` spares it a walk over the many.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Annotated, Any, Literal, Union, cast, overload

from langchain_core.messages import (
    AnyMessage,
    BaseMessage,
    BaseMessageChunk,
    MessageLikeRepresentation,
    RemoveMessage,
    convert_to_messages,
    convert_to_openai_messages,
    message_chunk_to_message,
)
from typing_extensions import TypedDict

from runtime.context import current_context
from runtime.graph.message_index import Index, find_index, keep_index, make_index
from runtime.graph.state import StateGraph

Messages = Union[list[MessageLikeRepresentation], MessageLikeRepresentation]  # noqa: UP007 - the alias holds a text
Reducer = Callable[[Messages, Messages], Messages]

REMOVE_ALL_MESSAGES = "__remove_all__"
"""Id of a `RemoveMessage` that empties the list."""

_FORMATS = ("langchain-openai", None)


@overload
def add_messages(left: Messages, right: Messages, *, format: Literal["langchain-openai"] | None = None) -> Messages: ...
@overload
def add_messages(*, format: Literal["langchain-openai"] | None = None) -> Reducer: ...
def add_messages(left: Messages | None = None, right: Messages | None = None, **options: Any) -> Messages | Reducer:
    """Merge two lists of messages by id.

    A message whose id is already there takes that place; any other is appended. `RemoveMessage(id=...)` removes, and
    `RemoveMessage(id=REMOVE_ALL_MESSAGES)` removes all before it. Texts, (role, text) pairs and dicts become messages,
    chunks become whole messages, and what has no id gets one.

    Args:
        left: what is there: a list, or one message.
        right: what comes: a list, or one message.
        options: `format="langchain-openai"` brings the content into OpenAI's shape.

    Returns:
        A new list; or, when called without messages, a reducer with these options.

    Raises:
        ValueError: only one side is given, a removal of an unknown id, an unknown format.
        NotImplementedError: something that cannot be a message.
    """
    if left is not None and right is not None:
        return cast(Messages, _merge(left, right, **options))
    if left is None and right is None:
        return cast(Reducer, partial(add_messages, **options))
    given = "left" if left is not None else "right"
    raise ValueError(f"Must specify non-null arguments for both 'left' and 'right'. Only received: '{given}'.")


def _merge(
    left: Messages,
    right: Messages,
    *,
    format: Literal["langchain-openai"] | None = None,  # noqa: A002 - LangGraph's name
) -> list[BaseMessage]:
    if format not in _FORMATS:
        raise ValueError(f"Unrecognized format={format!r}. Expected one of 'langchain-openai', None.")
    index = find_index(left) if isinstance(left, list) else None  # type: ignore[arg-type]  # found: so they are messages
    old = cast(list[BaseMessage], left) if index is not None else _with_ids(_as_messages(left))
    new = _with_ids(_as_messages(right))
    if any(map(_removes, map(type, new))):
        last_clear = max((i for i, message in enumerate(new) if _clears(message)), default=None)
        if last_clear is not None:
            return new[last_clear + 1 :]
    merged = _merge_by_id(old, new, dict(index) if index is not None else make_index(old))
    return convert_to_messages(convert_to_openai_messages(merged)) if format else merged


@lru_cache(maxsize=256)
def _removes(cls: type) -> bool:
    return issubclass(cls, RemoveMessage)


@lru_cache(maxsize=256)
def _is_whole(cls: type) -> bool:
    """Whether it is a class of messages, and not of chunks of them."""
    return issubclass(cls, BaseMessage) and not issubclass(cls, BaseMessageChunk)


def _clears(message: BaseMessage) -> bool:
    return _removes(type(message)) and message.id == REMOVE_ALL_MESSAGES


def _merge_by_id(old: list[BaseMessage], new: list[BaseMessage], index: Index) -> list[BaseMessage]:
    """Merge whole messages that have ids; `index` is that of `old`, and becomes that of the result."""
    merged = list(old)
    removed: set[str | None] = set()
    for message in new:
        at = index.get(message.id)
        if _removes(type(message)):
            if at is None:
                raise ValueError(f"Attempting to delete a message with an ID that doesn't exist ('{message.id}')")
            removed.add(message.id)
        elif at is None:
            index[message.id] = len(merged)
            merged.append(message)
        else:
            removed.discard(message.id)
            merged[at] = message
    if removed:
        return [message for message in merged if message.id not in removed]
    keep_index(merged, index)
    return merged


def _as_messages(given: Messages) -> list[BaseMessage]:
    """The same message objects where they are whole messages already."""
    messages: list[Any] = given if isinstance(given, list) else [given]
    if all(map(_is_whole, map(type, messages))):
        return messages
    return [
        message_chunk_to_message(message) if isinstance(message, BaseMessageChunk) else message
        for message in convert_to_messages(messages)
    ]


def _with_ids(messages: list[BaseMessage]) -> list[BaseMessage]:
    """Give an id to each message that lacks one, in place: its author goes on seeing it by that id."""
    for message in messages:
        if message.id is None:
            message.id = str(uuid.uuid4())
    return messages


class MessagesState(TypedDict):
    """A state with a chat in it. Inherit from it to add keys."""

    messages: Annotated[list[AnyMessage], add_messages]


class MessageGraph(StateGraph):
    """A graph whose whole state is a list of messages. Older than `StateGraph(MessagesState)`, which is to be preferred."""

    def __init__(self) -> None:
        super().__init__(Annotated[list[AnyMessage], add_messages])


def push_message(message: MessageLikeRepresentation, *, state_key: str | None = "messages") -> AnyMessage:
    """Send a message to stream mode `messages` from within a node, and write it to the state beside what the node returns.

    Args:
        message: with an id.
        state_key: of the list of messages; None to send it only.

    Raises ValueError for a message without an id, RuntimeError outside a node.
    """
    (made,) = _as_messages(cast(Any, [message]))
    if made.id is None:
        raise ValueError("Message ID is required: give the message an id, by which it is known in the state.")
    context = current_context()
    tap = context.scope.upstream.tap
    if tap is not None:
        tap.told(made, context.config["metadata"])
    if state_key is not None:
        context.scratchpad.write(state_key, made)
    return cast(AnyMessage, made)


__all__ = ("REMOVE_ALL_MESSAGES", "MessageGraph", "MessagesState", "add_messages", "push_message")
