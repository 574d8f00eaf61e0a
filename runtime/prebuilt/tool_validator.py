"""`ValidationNode`: checks the arguments of tool calls against schemas, without running anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.messages import AIMessage, ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, create_schema_from_function
from pydantic import BaseModel, ValidationError


def _default_format_error(error: BaseException, call: ToolCall, schema: type[Any]) -> str:
    return f"{error!r}\n\nRespond after fixing all validation errors."


class ValidationNode:
    """A node that answers each tool call of the last AI message with its arguments as JSON, or with what is wrong.

    Args:
        schemas: models, tools with a model for their arguments, or functions with annotations.
        format_error: the text for an error; called with (error, call, schema).
        name: of the node.
        tags: kept on the node.

    The messages are of a list, or under `messages` of a dict or model. A message about an error has
    `additional_kwargs["is_error"]`, which a router can look for. Raises ValueError when the last message is not an AI's.
    """

    def __init__(
        self,
        schemas: Sequence[BaseTool | type[BaseModel] | Callable[..., Any]],
        *,
        format_error: Callable[[BaseException, ToolCall, type[BaseModel]], str] | None = None,
        name: str = "validation",
        tags: list[str] | None = None,
    ) -> None:
        self.name = name
        self.tags = tags
        self._format_error = format_error or _default_format_error
        self.schemas_by_name: dict[str, Any] = dict(map(_named_schema, schemas))

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """The tool messages: a list for a list, else under `messages`."""
        messages = input if isinstance(input, list) else _messages_of(input)
        last = messages[-1] if messages else None
        if not isinstance(last, AIMessage):
            raise ValueError(f"Last message is not an AIMessage: {last!r}. A ValidationNode comes after a model.")
        answers = [self._answer(call) for call in last.tool_calls]
        return answers if isinstance(input, list) else {"messages": answers}

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """`invoke`: nothing here waits."""
        return self.invoke(input, config)

    def _answer(self, call: ToolCall) -> ToolMessage:
        schema = self.schemas_by_name.get(call["name"])
        if schema is None:
            raise ValueError(f"No schema for the tool '{call['name']}'. There are {sorted(self.schemas_by_name)}.")
        try:
            checked = schema.model_validate(call["args"])
        except ValidationError as error:
            text, more = self._format_error(error, call, schema), {"is_error": True}
        else:
            text, more = checked.model_dump_json(), {}
        return ToolMessage(text, tool_call_id=call["id"], name=call["name"], additional_kwargs=more)


def _messages_of(state: Any) -> list[Any]:
    found: Any = state.get("messages") if isinstance(state, dict) else getattr(state, "messages", None)
    if found is None:
        raise ValueError("No message found in input: a ValidationNode reads `messages`.")
    return list(found)


def _named_schema(schema: Any) -> tuple[str, Any]:
    if isinstance(schema, BaseTool):
        if not (isinstance(schema.args_schema, type) and issubclass(schema.args_schema, BaseModel)):
            raise ValueError(f"Tool '{schema.name}' has no Pydantic model as its args_schema.")
        return schema.name, schema.args_schema
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        return schema.__name__, schema
    if callable(schema):
        model = create_schema_from_function("Validation", schema)
        return str(getattr(schema, "__name__", type(schema).__name__)), model
    raise ValueError(f"Unsupported schema: {schema!r}. Give a model, a tool or a function.")


__all__ = ("ValidationNode",)
