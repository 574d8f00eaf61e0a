"""`ToolNode`: runs the tool calls of the last AI message; and `tools_condition`, the router before it.

Owns: reading the input, and the way of a call through it. How arguments are filled, calls run side by side, errors
are told and results put together are modules of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal, cast

from langchain_core.messages import AIMessage, AnyMessage, ToolCall, ToolMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import (
    ensure_config,
    get_config_list,
    get_executor_for_config,
    run_in_executor,
)
from langchain_core.runnables.utils import gather_with_concurrency
from langchain_core.tools import BaseTool
from langchain_core.tools import tool as create_tool
from pydantic import BaseModel, ValidationError

from runtime.constants import END
from runtime.context import ExecutionContext, find_context
from runtime.errors import GraphBubbleUp, GraphInterrupt
from runtime.prebuilt.injection import (
    InjectedArguments,
    InjectedState,
    InjectedStore,
    ToolRuntime,
    inject,
    injected_arguments,
)
from runtime.prebuilt.tool_calls import (
    AsyncToolCallWrapper,
    Result,
    ToolCallRequest,
    ToolCallWithContext,
    ToolCallWrapper,
    answered,
    enter,
    side_by_side,
)
from runtime.prebuilt.tool_errors import (
    INVALID_TOOL_NAME_ERROR_TEMPLATE,
    ErrorPolicy,
    ToolInvocationError,
    default_handle_tool_errors,
    error_text,
    handled_types,
)
from runtime.prebuilt.tool_results import InputKind, check_answer, combine, msg_content_output


class ToolNode(Runnable[Any, Any]):
    """A node that runs the tool calls of the last AI message, side by side.

    Args:
        tools: langchain-core tools, or functions with a docstring.
        name: the node's name when it is added without one.
        tags: for tracing.
        handle_tool_errors: what becomes of an error. By default arguments that do not fit are told to the model, and all
            else is raised. True tells every error; a text is told instead; an exception class or a tuple of them limits
            what is told; a function makes the text, for the errors that its parameter is annotated with; False raises.
        messages_key: the state key with the messages.
        wrap_tool_call, awrap_tool_call: called as `wrap(request, execute)` around each call.

    The input is a state (dict, dataclass, model), a list of messages, a list of tool calls, or one call with its state.
    The result has the shape of the input; a list of updates and commands if a tool returned a `Command`.
    """

    def __init__(
        self,
        tools: Sequence[BaseTool | Callable[..., Any]],
        *,
        name: str = "tools",
        tags: list[str] | None = None,
        handle_tool_errors: ErrorPolicy = default_handle_tool_errors,
        messages_key: str = "messages",
        wrap_tool_call: ToolCallWrapper | None = None,
        awrap_tool_call: AsyncToolCallWrapper | None = None,
    ) -> None:
        self.name = name
        self.tags = tags
        self._policy = handle_tool_errors
        self._handled = handled_types(handle_tool_errors)
        self._key = messages_key
        self._wrap = wrap_tool_call
        self._awrap = awrap_tool_call
        self._tools = {t.name: t for t in (t if isinstance(t, BaseTool) else create_tool(t) for t in tools)}
        self._injected = {name: injected_arguments(t) for name, t in self._tools.items()}

    @property
    def tools_by_name(self) -> dict[str, BaseTool]:
        """The tools that the node can run."""
        return self._tools

    # -- run -----------------------------------------------------------------------------------------------------------

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """Run the calls in threads. Raises what a tool raises, unless `handle_tool_errors` says otherwise."""
        config = ensure_config(config)
        kind, requests = self._requests(input, config)
        if len(requests) == 1:
            return combine([self._run(requests[0], kind)], kind, self._key)
        parts = side_by_side(requests)

        def one(request: ToolCallRequest) -> Result | GraphInterrupt:
            done = enter(request)
            if done is not None:
                return done
            try:
                return self._run(request, kind)
            except GraphInterrupt as pause:
                return pause

        with get_executor_for_config(config) as pool:
            results = list(pool.map(one, parts))
        return combine(answered(results, parts), kind, self._key)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """`invoke`, with the calls as asyncio tasks; tools that have no async form run in threads."""
        config = ensure_config(config)
        kind, requests = self._requests(input, config)
        if len(requests) == 1:
            return combine([await self._arun(requests[0], kind)], kind, self._key)
        parts = side_by_side(requests)

        async def one(request: ToolCallRequest) -> Result | GraphInterrupt:
            done = enter(request)
            if done is not None:
                return done
            try:
                return await self._arun(request, kind)
            except GraphInterrupt as pause:
                return pause

        results = await gather_with_concurrency(config.get("max_concurrency"), *map(one, parts))
        return combine(answered(results, parts), kind, self._key)

    def _run(self, request: ToolCallRequest, kind: InputKind) -> Result:
        if self._wrap is None:
            return self._execute(request, kind)
        try:
            return self._wrap(request, lambda changed: cast(Any, self._execute(changed, kind)))
        except Exception as error:  # noqa: BLE001 - the policy decides what the model is told
            return self._told(request.tool_call, error)

    async def _arun(self, request: ToolCallRequest, kind: InputKind) -> Result:
        if self._awrap is None and self._wrap is not None:
            return await run_in_executor(request.runtime.config, self._run, request, kind)
        if self._awrap is None:
            return await self._aexecute(request, kind)

        async def execute(changed: ToolCallRequest) -> Any:
            return await self._aexecute(changed, kind)

        try:
            return await self._awrap(request, execute)
        except Exception as error:  # noqa: BLE001 - the policy decides what the model is told
            return self._told(request.tool_call, error)

    def _execute(self, request: ToolCallRequest, kind: InputKind) -> Result:
        if request.tool is None and request.tool_call["name"] not in self._tools:
            return self._unknown(request.tool_call)
        tool, call = self._prepare(request)
        try:
            output = tool.invoke(call, request.runtime.config)
        except Exception as error:  # noqa: BLE001 - the policy decides what the model is told
            return self._told(request.tool_call, error)
        return check_answer(tool.name, call["id"], output, kind, self._key)

    async def _aexecute(self, request: ToolCallRequest, kind: InputKind) -> Result:
        if request.tool is None and request.tool_call["name"] not in self._tools:
            return self._unknown(request.tool_call)
        tool, call = self._prepare(request)
        try:
            output = await tool.ainvoke(call, request.runtime.config)
        except Exception as error:  # noqa: BLE001 - the policy decides what the model is told
            return self._told(request.tool_call, error)
        return check_answer(tool.name, call["id"], output, kind, self._key)

    # -- one call ------------------------------------------------------------------------------------------------------

    def _prepare(self, request: ToolCallRequest) -> tuple[BaseTool, ToolCall]:
        tool = request.tool or self._tools[request.tool_call["name"]]
        wanted = self._wanted(tool)
        runtime = replace(request.runtime, state=request.state)
        args = inject(tool, wanted, request.tool_call["args"], runtime, self._key)
        return tool, {**request.tool_call, "args": args, "type": "tool_call"}

    def _wanted(self, tool: BaseTool) -> InjectedArguments:
        """A wrapper may bring a tool that the node does not have."""
        return self._injected[tool.name] if self._tools.get(tool.name) is tool else injected_arguments(tool)

    def _unknown(self, call: ToolCall) -> ToolMessage:
        content = INVALID_TOOL_NAME_ERROR_TEMPLATE.format(
            requested_tool=call["name"], available_tools=", ".join(self._tools)
        )
        return ToolMessage(content, name=call["name"], tool_call_id=call["id"], status="error")

    def _told(self, call: ToolCall, error: Exception) -> ToolMessage:
        """The message to the model about an error; raises an error that is not to be told."""
        if isinstance(error, GraphBubbleUp):
            raise error
        if isinstance(error, ValidationError):
            known = self._injected.get(call["name"])
            error = ToolInvocationError(call["name"], error, call["args"], known.names if known else ())
        if not isinstance(error, self._handled):
            raise error
        content = error_text(self._policy, error)
        return ToolMessage(content, name=call["name"], tool_call_id=call["id"], status="error")

    # -- input ---------------------------------------------------------------------------------------------------------

    def _requests(self, given: Any, config: RunnableConfig) -> tuple[InputKind, list[ToolCallRequest]]:
        context = find_context(config)
        calls, kind, state = self._calls(given, context)
        configs = get_config_list(config, len(calls))
        return kind, [
            ToolCallRequest(call, self._tools.get(call["name"]), state, self._runtime(call, state, own, context))
            for call, own in zip(calls, configs, strict=True)
        ]

    def _runtime(
        self, call: ToolCall, state: Any, config: RunnableConfig, context: ExecutionContext | None
    ) -> ToolRuntime[Any, Any]:
        around = context.runtime if context is not None else None
        return ToolRuntime(
            state=state,
            context=around.context if around else None,
            config=config,
            stream_writer=around.stream_writer if around else _nobody_listens,
            tool_call_id=call["id"],
            store=around.store if around else None,
            tools=list(self._tools.values()),
        )

    def _calls(self, given: Any, context: ExecutionContext | None) -> tuple[list[ToolCall], InputKind, Any]:
        """The calls to run, the kind of the input, and what the tools see as the state."""
        if isinstance(given, dict) and given.get("__type") == "tool_call_with_context":
            return [given["tool_call"]], "tool_calls", given["state"]
        if isinstance(given, list) and given and isinstance(given[-1], dict) and given[-1].get("type") == "tool_call":
            return given, "tool_calls", context.scope.read_state() if context is not None else {}
        if isinstance(given, list):
            return self._last_calls(given), "list", given
        messages = given.get(self._key) if isinstance(given, dict) else getattr(given, self._key, None)
        return self._last_calls(messages or []), "dict", given

    def _last_calls(self, messages: list[AnyMessage]) -> list[ToolCall]:
        if not messages:
            raise ValueError(f"No message found in input: a ToolNode needs an AIMessage under '{self._key}'.")
        for message in reversed(messages):
            if isinstance(message, AIMessage):
                return list(message.tool_calls)
        raise ValueError(f"No AIMessage found in input: a ToolNode runs the tool calls of one, under '{self._key}'.")


def _nobody_listens(_: Any) -> None:
    """The stream writer of a tool that no graph runs."""


def tools_condition(
    state: list[AnyMessage] | dict[str, Any] | BaseModel, messages_key: str = "messages"
) -> Literal["tools", "__end__"]:
    """Router: "tools" if the last message calls tools, else END.

    Raises:
        ValueError: there is no message.
    """
    messages = state if isinstance(state, list) else None
    if messages is None:
        messages = state.get(messages_key) if isinstance(state, dict) else getattr(state, messages_key, None)
    if not messages:
        raise ValueError(f"No messages found in input state to tool_edge: {state}")
    last = messages[-1]
    return "tools" if getattr(last, "tool_calls", None) else cast(Literal["__end__"], END)


__all__ = (
    "InjectedState",
    "InjectedStore",
    "ToolCallRequest",
    "ToolCallWithContext",
    "ToolInvocationError",
    "ToolNode",
    "ToolRuntime",
    "msg_content_output",
    "tools_condition",
)
