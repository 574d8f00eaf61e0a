"""The shapes that agents ask people with, and that inboxes know: a request for a decision, and the answer."""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict


class HumanInterruptConfig(TypedDict):
    """Which answers a person may give."""

    allow_ignore: bool
    allow_respond: bool
    allow_edit: bool
    allow_accept: bool


class ActionRequest(TypedDict):
    """What is about to be done."""

    action: str
    """Name of the tool."""
    args: dict[str, Any]


class HumanInterrupt(TypedDict):
    """The value of an `interrupt` that asks for a decision."""

    action_request: ActionRequest
    config: HumanInterruptConfig
    description: str | None


class HumanResponse(TypedDict):
    """The answer: run it, do not, say this instead, or run it with these arguments."""

    type: Literal["accept", "ignore", "response", "edit"]
    args: str | ActionRequest | None
    """For "response" a text, for "edit" a request."""


__all__ = ("ActionRequest", "HumanInterrupt", "HumanInterruptConfig", "HumanResponse")
