"""What becomes of an error in a tool: a message to the model, or an error of the node.

Owns: the policy `handle_tool_errors` and the texts. Refuses: control flow; a pause or a jump is never an error.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from langchain_core.tools import ToolException
from pydantic import ValidationError

INVALID_TOOL_NAME_ERROR_TEMPLATE = "Error: {requested_tool} is not a valid tool, try one of [{available_tools}]."
TOOL_CALL_ERROR_TEMPLATE = "Error: {error}\n Please fix your mistakes."
TOOL_INVOCATION_ERROR_TEMPLATE = (
    "Error invoking tool '{tool_name}' with kwargs {tool_kwargs} with error:\n"
    " {error}\n Please fix the error and try again."
)

ErrorPolicy = bool | str | Callable[..., str] | type[Exception] | tuple[type[Exception], ...]


class ToolInvocationError(ToolException):
    """A model called a tool with arguments that do not fit. The message is for the model."""

    def __init__(
        self, tool_name: str, source: ValidationError, tool_kwargs: dict[str, Any], injected: Collection[str] = ()
    ) -> None:
        own = [e for e in source.errors() if not (e["loc"] and e["loc"][0] in injected)]
        text = "\n".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in own)
        self.message = TOOL_INVOCATION_ERROR_TEMPLATE.format(tool_name=tool_name, tool_kwargs=tool_kwargs, error=text)
        self.tool_name = tool_name
        self.tool_kwargs = tool_kwargs
        self.source = source
        super().__init__(self.message)


def default_handle_tool_errors(error: Exception) -> str:
    """Wrong arguments go back to the model; whatever else a tool raises is raised."""
    if isinstance(error, ToolInvocationError):
        return error.message
    raise error


def handled_types(policy: ErrorPolicy) -> tuple[type[Exception], ...]:
    """Which errors a policy turns into messages. A function says it by the annotation of its parameter."""
    if isinstance(policy, bool):
        return (Exception,) if policy else ()
    if isinstance(policy, str):
        return (Exception,)
    if isinstance(policy, tuple):
        return policy
    if isinstance(policy, type):
        return (policy,)
    if callable(policy):
        return _annotated_types(policy)
    raise ValueError(
        f"handle_tool_errors={policy!r} is not understood: give True, False, a text, a function, an exception class or "
        f"a tuple of them."
    )


def _annotated_types(handler: Callable[..., str]) -> tuple[type[Exception], ...]:
    parameters = [name for name in inspect.signature(handler).parameters if name != "self"]
    code = handler if inspect.isroutine(handler) else type(handler).__call__
    hint = get_type_hints(code).get(parameters[0]) if parameters else None
    if hint is None:
        return (Exception,)
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    if not all(isinstance(kind, type) and issubclass(kind, Exception) for kind in kinds):
        raise ValueError(
            f"handle_tool_errors: the parameter of {handler!r} is annotated {hint!r}. Annotate it with the exception "
            f"classes that it handles, or not at all."
        )
    return kinds


def error_text(policy: ErrorPolicy, error: Exception) -> str:
    """The message to the model for a handled error."""
    if isinstance(policy, str):
        return policy
    if isinstance(policy, (bool, tuple, type)):
        return TOOL_CALL_ERROR_TEMPLATE.format(error=repr(error))
    return policy(error)
