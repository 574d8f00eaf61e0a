"""What becomes of errors in tools."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import ToolException, tool

from runtime.errors import GraphInterrupt
from runtime.prebuilt import InjectedState, ToolNode
from runtime.prebuilt.tool_errors import ToolInvocationError


@tool
def fails(a: int) -> str:
    """Fail."""
    raise ValueError(f"bad {a}")


@tool
def strict(a: int, state: Annotated[dict[str, Any], InjectedState]) -> str:
    """Takes a number."""
    return ""


@tool
def pauses(a: int) -> str:
    """Pause."""
    raise GraphInterrupt


def run(tool: Any, args: dict[str, Any], **options: Any) -> Any:
    call = AIMessage("", tool_calls=[{"name": tool.name, "args": args, "id": "c0"}])
    (message,) = ToolNode([tool], **options).invoke({"messages": [call]})["messages"]
    assert message.status == "error"
    return message.content


def only_values(error: ValueError) -> str:
    return f"value: {error}"


def keys_or_types(error: KeyError | TypeError) -> str:
    return "never"


BAD_ARGUMENTS = (
    "Error invoking tool 'strict' with kwargs {'a': 'x'} with error:\n"
    " a: Input should be a valid integer, unable to parse string as an integer\n"
    " Please fix the error and try again."
)


def test_by_default_wrong_arguments_are_told_without_what_is_injected() -> None:
    assert run(strict, {"a": "x"}) == BAD_ARGUMENTS


def test_by_default_other_errors_are_raised() -> None:
    with pytest.raises(ValueError, match=r"bad 1"):
        run(fails, {"a": 1})


@pytest.mark.parametrize(
    ("policy", "text"),
    [
        (True, "Error: ValueError('bad 1')\n Please fix your mistakes."),
        (ValueError, "Error: ValueError('bad 1')\n Please fix your mistakes."),
        ((KeyError, ValueError), "Error: ValueError('bad 1')\n Please fix your mistakes."),
        ("Something went wrong.", "Something went wrong."),
        (lambda error: f"told {error}", "told bad 1"),
        (only_values, "value: bad 1"),
    ],
)
def test_a_policy_tells_the_error(policy: Any, text: str) -> None:
    assert run(fails, {"a": 1}, handle_tool_errors=policy) == text


@pytest.mark.parametrize("policy", [False, KeyError, (KeyError, TypeError), keys_or_types])
def test_what_a_policy_does_not_name_is_raised(policy: Any) -> None:
    with pytest.raises(ValueError, match=r"bad 1"):
        run(fails, {"a": 1}, handle_tool_errors=policy)
    with pytest.raises(ToolInvocationError, match=r"Error invoking tool 'strict'"):
        run(strict, {"a": "x"}, handle_tool_errors=policy)


def test_an_invocation_error_is_a_tool_exception() -> None:
    assert issubclass(ToolInvocationError, ToolException)


def test_a_pause_is_never_told_as_an_error() -> None:
    with pytest.raises(GraphInterrupt):
        run(pauses, {"a": 1}, handle_tool_errors=True)


def test_a_policy_that_cannot_be_understood_is_refused_at_once() -> None:
    def numbers(error: int) -> str:
        return ""

    for policy in (5, numbers):
        with pytest.raises(ValueError, match=r"handle_tool_errors"):
            ToolNode([fails], handle_tool_errors=policy)  # type: ignore[arg-type]  # that is the point
