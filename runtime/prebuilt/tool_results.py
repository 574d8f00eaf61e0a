"""From what tools return to what a ToolNode returns.

Owns: the check that every tool call gets its one answer, and putting several results together.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, TypeGuard

from langchain_core.messages import BaseMessage, RemoveMessage, ToolMessage, convert_to_messages
from langchain_core.messages.tool import ToolOutputMixin

from runtime.graph.message import REMOVE_ALL_MESSAGES
from runtime.types import Command, Send, ToolOutput

if (
    ToolOutput in Command.__bases__
):  # importing `runtime.types` does not cost langchain-core; a tool node needs it anyway
    Command.__bases__ = tuple(ToolOutputMixin if base is ToolOutput else base for base in Command.__bases__)

InputKind = Literal["list", "dict", "tool_calls"]
Answer = ToolMessage | Command[Any]

TOOL_MESSAGE_BLOCK_TYPES = (
    "text",
    "image_url",
    "image",
    "json",
    "search_result",
    "custom_tool_call_output",
    "document",
    "file",
)
"""Content blocks that model APIs take in a tool message."""


def msg_content_output(output: Any) -> str | list[dict[str, Any]]:
    """A tool's result as the content of a message: text and known blocks as they are, all else as JSON or text."""
    if isinstance(output, str):
        return output
    if isinstance(output, list) and all(
        isinstance(block, dict) and block.get("type") in TOOL_MESSAGE_BLOCK_TYPES for block in output
    ):
        return output
    try:
        return json.dumps(output, ensure_ascii=False)
    except (TypeError, ValueError):  # not JSON: as Python shows it
        return str(output)


def check_answer(name: str, call_id: str | None, output: Any, kind: InputKind, key: str) -> Answer | list[Answer]:
    """What a tool returned, as a message or command, or a list of them.

    Raises:
        ValueError: the call is left without its ToolMessage, or an update has another shape than the node's input.
        TypeError: it is something else.
    """
    if isinstance(output, Command):
        return _check_command(name, call_id, output, kind, key, alone=True)
    if isinstance(output, ToolMessage):
        output.content = msg_content_output(output.content)  # type: ignore[assignment]  # blocks are dicts
        return output
    if isinstance(output, list) and output and all(isinstance(part, (Command, ToolMessage)) for part in output):
        return _check_list(name, call_id, output, kind, key)
    raise TypeError(f"Tool {name} returned unexpected type: {type(output)}")


def _check_list(name: str, call_id: str | None, output: list[Answer], kind: InputKind, key: str) -> list[Answer]:
    parts = [
        _check_command(name, call_id, part, kind, key, alone=False) if isinstance(part, Command) else part
        for part in output
    ]
    bound = 0
    for part in parts:
        messages = _messages_in(part, key) if isinstance(part, Command) else [part]
        bound += sum(_answers(message, call_id) for message in messages)
    if bound != 1:
        raise ValueError(
            f"Tool {name} returned a list with {bound} messages bound to tool_call_id '{call_id}'; "
            f"expected exactly one terminating ToolMessage."
        )
    return parts


def _answers(message: Any, call_id: str | None) -> bool:
    return isinstance(message, ToolMessage) and message.tool_call_id == call_id


def _messages_in(command: Command[Any], key: str) -> list[BaseMessage]:
    update = command.update
    if isinstance(update, dict):
        update = update.get(key) or []
    if not isinstance(update, (list, tuple, str, BaseMessage)):
        return []
    return list(convert_to_messages(update if isinstance(update, (list, tuple)) else [update]))


def _check_command(
    name: str, call_id: str | None, command: Command[Any], kind: InputKind, key: str, *, alone: bool
) -> Command[Any]:
    update = command.update
    if isinstance(update, dict):
        if kind == "list":
            raise ValueError(
                f"Tools can provide a dict in Command.update only when using dict with '{key}' key as ToolNode input, "
                f"got: {update} for tool '{name}'"
            )
    elif isinstance(update, list):
        if kind != "list":
            raise ValueError(
                f"Tools can provide a list of messages in Command.update only when using list of messages as ToolNode "
                f"input, got: {update} for tool '{name}'"
            )
    else:
        return command
    messages = _messages_in(command, key)
    if any(isinstance(m, RemoveMessage) and m.id == REMOVE_ALL_MESSAGES for m in messages):
        return command
    if alone and command.graph is None and not any(_answers(m, call_id) for m in messages):
        raise ValueError(_no_answer(name, messages, kind, key))
    return _named(name, call_id, command, key)


def _named(name: str, call_id: str | None, command: Command[Any], key: str) -> Command[Any]:
    """The command with the tool's name on its answer; the tool's own objects stay as they are."""

    def signed(message: Any) -> Any:
        return message.model_copy(update={"name": name}) if _answers(message, call_id) else message

    update = command.update
    if isinstance(update, list):
        return replace(command, update=[signed(m) for m in update])
    found = update.get(key)
    if isinstance(found, (list, tuple)):
        return replace(command, update={**update, key: [signed(m) for m in found]})
    return replace(command, update={**update, key: signed(found)}) if found is not None else command


def _no_answer(name: str, messages: Sequence[BaseMessage], kind: InputKind, key: str) -> str:
    shape = '[ToolMessage("Success", tool_call_id=tool_call_id), ...]'
    example = shape if kind == "list" else f'{{"{key}": {shape}}}'
    return (
        f"Expected to have a matching ToolMessage in Command.update for tool '{name}', got: {list(messages)}. "
        f"Every tool call (LLM requesting to call a tool) in the message history MUST have a corresponding ToolMessage. "
        f"You can fix it by modifying the tool to return `Command(update={example}, ...)`."
    )


def combine(answers: Sequence[Answer | list[Answer]], kind: InputKind, key: str) -> Any:
    """One node result out of the answers to all calls.

    Messages alone have the shape of the input. With commands it is a list; jumps of several tools to the parent by
    `Send`s become one jump.
    """
    flat = [part for answer in answers for part in (answer if isinstance(answer, list) else [answer])]
    if not any(isinstance(part, Command) for part in flat):
        return flat if kind == "list" else {key: flat}
    parts: list[Any] = []
    sends: list[Send] = []
    for part in flat:
        if not isinstance(part, Command):
            parts.append([part] if kind == "list" else {key: [part]})
        elif part.graph == Command.PARENT and part.update is None and _all_sends(part.goto):
            sends.extend(part.goto)
        else:
            parts.append(part)
    return [*parts, Command(graph=Command.PARENT, goto=sends)] if sends else parts


def _all_sends(goto: Any) -> TypeGuard[list[Send]]:
    return isinstance(goto, list) and bool(goto) and all(isinstance(target, Send) for target in goto)
