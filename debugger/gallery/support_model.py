"""The support desk's scripted model and its tools. The model decides like a real one would: from the conversation alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import BaseTool, tool

from debugger.gallery.models import ScriptedModel, call, last_of, work

REWRITE = "Please write the reply again: "
"""How a person's advice comes into the conversation."""


@tool
def order_status(order: str) -> str:
    """Look an order up."""
    work()
    return f"Order {order} was delivered on Tuesday." if order else "No order is named."


@tool
def refund_amount(order: str) -> str:
    """Work out what may be paid back for an order."""
    work()
    return f"{7 * len(order)}.00 may be paid back for order {order}."


@tool
def track_parcel(order: str) -> str:
    """Ask the carrier where a parcel is."""
    work()
    return f"Parcel {order} is two streets away."


TOOLS: list[BaseTool] = [order_status, refund_amount, track_parcel]


def categorise(text: str) -> str:
    """The drawer for a request: refund, shipping or general."""
    if re.search(r"refund|money|broken|damaged|return", text, re.IGNORECASE):
        return "refund"
    return "shipping" if re.search(r"parcel|ship|deliver|where is", text, re.IGNORECASE) else "general"


def order_in(text: str) -> str:
    """The order number in a text, like A17; '' when none is named."""
    found = re.search(r"\b[A-Z]\d+\b", text)
    return found.group() if found else ""


def answer(messages: Sequence[BaseMessage]) -> AIMessage:
    """Reason, act, look at the result, and again: until there is enough for a reply."""
    request = last_of(messages, "human")
    if request.startswith(REWRITE):
        return AIMessage(f"Dear customer, {_facts(messages)} ({request.removeprefix(REWRITE)})")
    used = _used(messages)
    order, category = order_in(request), categorise(request)
    if not order:
        return AIMessage("Dear customer, tell us your order number, like A17, and we will look at once.")
    if category == "shipping" and not used:
        return call(messages, track_parcel, order=order)
    if category != "shipping" and not used:
        return call(messages, order_status, order=order)
    if category == "refund" and refund_amount.name not in used:
        return call(messages, refund_amount, order=order)
    return AIMessage(f"Dear customer, {_facts(messages)} We are glad to help.")


def _used(messages: Sequence[BaseMessage]) -> set[str | None]:
    """Names of the tools that were used since a person spoke."""
    since = takewhile(lambda message: message.type != "human", reversed(messages))
    return {message.name for message in since if message.type == "tool"}


def _facts(messages: Sequence[BaseMessage]) -> str:
    fact = last_of(messages, "tool") or "we are on it."
    return fact[0].lower() + fact[1:]


def support_model() -> ScriptedModel:
    """The model."""
    return ScriptedModel(rule=answer)
