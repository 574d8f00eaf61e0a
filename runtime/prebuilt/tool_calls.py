"""One tool call on its way through a ToolNode, and several side by side.

Owns: what a wrapper around a call sees, and that parallel calls ask questions without mixing up the answers. A node runs
again from its start when it is answered; calls that had ended by then keep their answers and are not made twice.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from typing_extensions import TypedDict

from runtime.context import CONTEXT_KEY, ExecutionContext, Scratchpad, find_context, set_context
from runtime.errors import GraphInterrupt
from runtime.prebuilt.injection import ToolRuntime
from runtime.prebuilt.tool_results import Answer
from runtime.types import Command

Result = Answer | list[Answer]


class ToolCallWithContext(TypedDict):
    """Input of a ToolNode that was sent one call: `Send("tools", {...})`."""

    tool_call: ToolCall
    __type: Literal["tool_call_with_context"]
    state: Any
    """What the tool sees as the state."""


@dataclass(slots=True)
class ToolCallRequest:
    """One call, as a wrapper around it sees it."""

    tool_call: ToolCall
    tool: BaseTool | None
    """None when the model named a tool that is not there."""
    state: Any
    runtime: ToolRuntime[Any, Any]

    def override(self, **changes: Any) -> ToolCallRequest:
        """A copy with some fields replaced."""
        return replace(self, **changes)


ToolCallWrapper = Callable[
    [ToolCallRequest, Callable[[ToolCallRequest], ToolMessage | Command[Any]]], ToolMessage | Command[Any]
]
AsyncToolCallWrapper = Callable[
    [ToolCallRequest, Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]]],
    Awaitable[ToolMessage | Command[Any]],
]


def side_by_side(requests: Sequence[ToolCallRequest]) -> list[ToolCallRequest]:
    """The requests, each with a context of its own to ask questions in."""
    contexts = [find_context(request.runtime.config) for request in requests]
    around = next((context for context in contexts if context is not None), None)
    if around is None:
        return list(requests)
    pads = around.scratchpad.split(len(requests))
    return [_with_pad(request, around, pad) for request, pad in zip(requests, pads, strict=True)]


def _with_pad(request: ToolCallRequest, around: ExecutionContext, pad: Scratchpad) -> ToolCallRequest:
    config = request.runtime.config
    configurable = dict(config.get("configurable", {}))
    own: RunnableConfig = {**config, "configurable": configurable}
    configurable[CONTEXT_KEY] = replace(around, scratchpad=pad, config=own)
    return request.override(runtime=replace(request.runtime, config=own))


def enter(request: ToolCallRequest) -> Result | None:
    """Make the request's context the current one. Returns the call's answer, if it ended before the task paused."""
    context = find_context(request.runtime.config)
    set_context(context)
    place = _place(request)
    return context.scratchpad.kept(place) if context is not None and place is not None else None


def _place(request: ToolCallRequest) -> str | None:
    """The name under which a call's answer is kept."""
    key = request.tool_call["id"]
    return f"call {key}" if key is not None else None


def answered(results: Sequence[Result | GraphInterrupt], parts: Sequence[ToolCallRequest]) -> list[Result]:
    """The results, if no tool asks; else one pause with the questions of all that do. The others have ended: they are
    not run again when the answers come."""
    pads = [c.scratchpad for c in (find_context(part.runtime.config) for part in parts) if c is not None]
    pauses = [result for result in results if isinstance(result, GraphInterrupt)]
    if pauses:
        for pad, part, result in zip(pads, parts, results, strict=False):
            place = _place(part)
            if isinstance(result, ToolMessage) and place is not None:
                pad.keep(place, result)
        raise GraphInterrupt([question for pause in pauses for question in pause.interrupts])
    if pads and pads[0].whole is not None:
        pads[0].whole.join(pads)
    return cast("list[Result]", list(results))
