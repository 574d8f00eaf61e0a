"""`create_react_agent`: a model that calls tools until it has its answer, as a graph.

The nodes are `agent` (the model), `tools`, and where asked for `pre_model_hook`, `post_model_hook` and
`generate_structured_response`.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired, get_type_hints

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, SystemMessage, ToolMessage
from langchain_core.runnables import Runnable, RunnableBinding, RunnableConfig, RunnableSequence
from langchain_core.tools import BaseTool
from pydantic import BaseModel
from typing_extensions import TypedDict

from runtime.constants import END, START
from runtime.graph.message import add_messages
from runtime.graph.state import CompiledStateGraph, StateGraph
from runtime.managed import RemainingSteps
from runtime.prebuilt.tool_node import ToolNode
from runtime.runtime import get_runtime
from runtime.types import Send

Prompt = SystemMessage | str | Callable[[Any], Any] | Runnable[Any, Any]
ResponseSchema = Any
"""A JSON schema as a dict, a Pydantic model or a TypedDict; or (system prompt, schema)."""
OUT_OF_STEPS = "Sorry, need more steps to process this request."


class AgentState(TypedDict):
    """State of an agent."""

    messages: Annotated[Sequence[BaseMessage], add_messages]
    remaining_steps: NotRequired[RemainingSteps]


class AgentStatePydantic(BaseModel):
    """State of an agent, as a model."""

    messages: Annotated[Sequence[BaseMessage], add_messages]
    remaining_steps: RemainingSteps = 25


class AgentStateWithStructuredResponse(AgentState):
    """State of an agent that ends with a value of a schema."""

    structured_response: dict[str, Any] | BaseModel


class AgentStateWithStructuredResponsePydantic(AgentStatePydantic):
    """The same, as a model."""

    structured_response: dict[str, Any] | BaseModel


class _Both:
    """A node with a sync and an async form."""

    def __init__(self, call: Callable[[Any, RunnableConfig], Any], acall: Callable[[Any, RunnableConfig], Any]) -> None:
        self._call = call
        self._acall = acall

    def invoke(self, input: Any, config: RunnableConfig) -> Any:  # noqa: A002 - the Runnable's name
        return self._call(input, config)

    async def ainvoke(self, input: Any, config: RunnableConfig) -> Any:  # noqa: A002
        return await self._acall(input, config)


def create_react_agent(
    model: str | Runnable[Any, Any] | Callable[..., Any],
    tools: Sequence[BaseTool | Callable[..., Any] | dict[str, Any]] | ToolNode,
    *,
    prompt: Prompt | None = None,
    response_format: ResponseSchema | None = None,
    pre_model_hook: Any = None,
    post_model_hook: Any = None,
    state_schema: Any = None,
    context_schema: type[Any] | None = None,
    checkpointer: Any = None,
    store: Any = None,
    interrupt_before: list[str] | None = None,
    interrupt_after: list[str] | None = None,
    debug: bool = False,
    version: Literal["v1", "v2"] = "v2",
    name: str | None = None,
    **deprecated_kwargs: Any,
) -> CompiledStateGraph:
    """A graph in which a model calls tools in a loop.

    Args:
        model: a chat model; its name `provider:model`, where the package langchain is installed; or a function of (state,
            runtime), sync or async, that gives a model for each turn, its tools bound.
        tools: what it may call; dicts are tools of the provider, which only the model knows. A ToolNode keeps its settings.
        prompt: a system message, or a function or Runnable from the state to the model's input.
        response_format: ends with a further call that gives `structured_response`: a schema, or (prompt, schema).
        pre_model_hook: a node before each call of the model; gives `llm_input_messages` to show the model others than those
            stored, or `messages` to change these.
        post_model_hook: a node after each call of the model.
        state_schema: with `messages` and `remaining_steps`, and `structured_response` if `response_format` is given.
        version: "v1" runs all calls of a message in one task of `tools`, "v2" sends each to a task of its own.

    The rest goes to `compile`. A run that would pass the recursion limit ends with a message that says so. A tool with
    `return_direct` ends the run with its result.

    Raises:
        ValueError: a state schema without a key that is needed, an unknown version, or a model whose bound tools are others.
        TypeError: an unknown argument.
    """
    if (schema := deprecated_kwargs.pop("config_schema", None)) is not None:
        warnings.warn("`config_schema` is deprecated: use `context_schema`.", DeprecationWarning, stacklevel=2)
        context_schema = context_schema or schema
    if deprecated_kwargs:
        raise TypeError(f"create_react_agent() got unexpected keyword arguments: {deprecated_kwargs}")
    if version not in ("v1", "v2"):
        raise ValueError(f"Invalid version {version}. Supported versions are 'v1' and 'v2'.")
    schema = _state_schema(state_schema, structured=response_format is not None)
    tool_node = tools if isinstance(tools, ToolNode) else ToolNode([t for t in tools if not isinstance(t, dict)])
    known = list(tool_node.tools_by_name.values())
    extra = [] if isinstance(tools, ToolNode) else [tool for tool in tools if isinstance(tool, dict)]
    speaker = _Speaker(model, [*known, *extra], prompt, name, hooked=pre_model_hook is not None)
    direct = frozenset(tool.name for tool in known if tool.return_direct)

    builder = StateGraph(schema, context_schema=context_schema)
    entry = "agent" if pre_model_hook is None else "pre_model_hook"
    last = "agent" if post_model_hook is None else "post_model_hook"
    end = END if response_format is None else "generate_structured_response"
    input_schema = schema if pre_model_hook is None else _hooked_schema(schema)
    builder.add_node("agent", _Both(speaker.speak, speaker.aspeak), input_schema=input_schema)
    if pre_model_hook is not None:
        builder.add_node("pre_model_hook", pre_model_hook)
        builder.add_edge("pre_model_hook", "agent")
    if post_model_hook is not None:
        builder.add_node("post_model_hook", post_model_hook)
        builder.add_edge("agent", "post_model_hook")
    if response_format is not None:
        respond = _Responder(speaker, response_format)
        builder.add_node("generate_structured_response", _Both(respond.respond, respond.arespond))
        builder.add_edge("generate_structured_response", END)
    builder.add_edge(START, entry)
    if not known:
        builder.add_edge(last, end)
    else:
        builder.add_node("tools", tool_node)
        _add_loop(builder, _Loop(entry, end, direct, version == "v2"), last)
    return builder.compile(
        checkpointer=checkpointer,
        store=store,
        interrupt_before=interrupt_before,
        interrupt_after=interrupt_after,
        debug=debug,
        name=name,
    )


def create_tool_calling_executor(*args: Any, **kwargs: Any) -> CompiledStateGraph:
    """The older name of `create_react_agent`."""
    return create_react_agent(*args, **kwargs)


# -- the loop ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Loop:
    """The ways from the model to its tools and back."""

    entry: str
    """Where a turn begins."""
    end: str
    """What comes after the last turn."""
    direct: frozenset[str]
    """Tools whose results end the run."""
    apart: bool
    """Each call is a task of its own."""

    def after_model(self, state: Any) -> Any:
        messages = _value(state, "messages")
        calls = messages[-1].tool_calls if messages and isinstance(messages[-1], AIMessage) else []
        if not calls:
            return self.end
        return _sends(state, calls) if self.apart else "tools"

    def after_hook(self, state: Any) -> Any:
        messages = _value(state, "messages")
        calls = _open_calls(messages)
        if calls:
            return _sends(state, calls)
        return self.entry if isinstance(messages[-1], ToolMessage) else self.end

    def after_tools(self, state: Any) -> str:
        for message in reversed(_value(state, "messages")):
            if isinstance(message, AIMessage):
                return END if any(call["name"] in self.direct for call in message.tool_calls) else self.entry
            if not isinstance(message, ToolMessage):
                break
            if message.name in self.direct:
                return END
        return self.entry


def _add_loop(builder: Any, loop: _Loop, last: str) -> None:
    if last == "agent":
        builder.add_conditional_edges("agent", loop.after_model, ["tools", loop.end])
    else:
        builder.add_conditional_edges(last, loop.after_hook, [loop.entry, "tools", loop.end])
    if loop.direct:
        builder.add_conditional_edges("tools", loop.after_tools, [loop.entry, END])
    else:
        builder.add_edge("tools", loop.entry)


def _sends(state: Any, calls: Sequence[Any]) -> list[Send]:
    return [Send("tools", {"__type": "tool_call_with_context", "tool_call": call, "state": state}) for call in calls]


def _open_calls(messages: Sequence[Any]) -> list[Any]:
    """The calls of the last AI message that no message has answered."""
    answered = set()
    for message in reversed(messages):
        if isinstance(message, ToolMessage):
            answered.add(message.tool_call_id)
        elif isinstance(message, AIMessage):
            return [call for call in message.tool_calls if call["id"] not in answered]
    return []


# -- the model ---------------------------------------------------------------------------------------------------------


class _Speaker:
    """The model, its prompt and what it is shown."""

    def __init__(self, model: Any, tools: list[Any], prompt: Any, name: str | None, *, hooked: bool) -> None:
        self._tools = tools
        self._name = name
        self._hooked = hooked
        self._prompt = _prompt(prompt)
        self._direct = {tool.name for tool in tools if getattr(tool, "return_direct", False)}
        self._choose: Callable[..., Any] | None = None
        if isinstance(model, str):
            model = _named_model(model)
        if not isinstance(model, Runnable) and callable(model):
            self._choose = model
            self.base: Any = None
        else:
            self.base = model
            self._bound = self._prompt | _with_tools(model, tools)

    def speak(self, state: Any, config: RunnableConfig) -> Any:
        shown = self._shown(state)
        response = self._for_turn(state).invoke(shown, config)
        return self._update(state, response)

    async def aspeak(self, state: Any, config: RunnableConfig) -> Any:
        shown = self._shown(state)
        response = await (await self._afor_turn(state)).ainvoke(shown, config)
        return self._update(state, response)

    def model(self, state: Any) -> Any:
        """The model alone."""
        if self._choose is None:
            return self.base
        found = self._choose(state, get_runtime())
        if inspect.isawaitable(found):
            _close(found)
            raise RuntimeError(
                "Async model callable provided but agent invoked synchronously. Use agent.ainvoke() or agent.astream(), or "
                "provide a sync model callable."
            )
        return found

    async def amodel(self, state: Any) -> Any:
        """`model`, awaited."""
        if self._choose is None:
            return self.base
        found = self._choose(state, get_runtime())
        return await found if inspect.isawaitable(found) else found

    def _for_turn(self, state: Any) -> Any:
        return self._bound if self._choose is None else self._prompt | self.model(state)

    async def _afor_turn(self, state: Any) -> Any:
        return self._bound if self._choose is None else self._prompt | await self.amodel(state)

    def _shown(self, state: Any) -> Any:
        """The state as the prompt sees it."""
        messages = _value(state, "llm_input_messages") if self._hooked else None
        messages = messages or _value(state, "messages")
        if messages is None:
            key = "'messages' or 'llm_input_messages'" if self._hooked else "'messages'"
            raise ValueError(f"Expected input to call_model to have {key} key, but got {state}")
        _check_history(messages)
        if isinstance(state, BaseModel):
            return state.model_copy(update={"messages": messages})
        return {**state, "messages": messages}

    def _update(self, state: Any, response: Any) -> dict[str, Any]:
        if self._name is not None:
            response.name = self._name
        left = _value(state, "remaining_steps")
        if left is not None and left < self._steps_after(response):
            response = AIMessage(OUT_OF_STEPS, id=response.id)
        return {"messages": [response]}

    def _steps_after(self, response: Any) -> int:
        """How many steps must be left for what comes of a response; as in LangGraph one even for an answer."""
        return 1 if all(call["name"] in self._direct for call in getattr(response, "tool_calls", ())) else 2


class _Responder:
    """The further call for a structured response."""

    def __init__(self, speaker: _Speaker, schema: Any) -> None:
        self._speaker = speaker
        self._intro, self._schema = schema if isinstance(schema, tuple) else (None, schema)

    def respond(self, state: Any, config: RunnableConfig) -> Any:
        model = _bare(self._speaker.model(state)).with_structured_output(self._schema)
        return {"structured_response": model.invoke(self._shown(state), config)}

    async def arespond(self, state: Any, config: RunnableConfig) -> Any:
        model = _bare(await self._speaker.amodel(state)).with_structured_output(self._schema)
        return {"structured_response": await model.ainvoke(self._shown(state), config)}

    def _shown(self, state: Any) -> list[Any]:
        messages = list(_value(state, "messages"))
        return [SystemMessage(self._intro), *messages] if self._intro is not None else messages


def _prompt(prompt: Any) -> Runnable[Any, Any]:
    """From the state to the model's input."""
    from langchain_core.runnables import RunnableLambda

    if isinstance(prompt, str):
        prompt = SystemMessage(prompt)
    if prompt is None:
        return RunnableLambda(lambda state: _value(state, "messages"), name="Prompt")
    if isinstance(prompt, SystemMessage):
        return RunnableLambda(lambda state: [prompt, *_value(state, "messages")], name="Prompt")
    if isinstance(prompt, Runnable):
        return prompt
    if inspect.iscoroutinefunction(prompt):
        return RunnableLambda(_only_async, prompt, name="Prompt")
    if callable(prompt):
        return RunnableLambda(prompt, name="Prompt")
    raise ValueError(f"Got unexpected type for `prompt`: {type(prompt)}")


def _only_async(state: Any) -> Any:
    raise RuntimeError("The prompt is an async function and the agent was invoked synchronously. Use agent.ainvoke().")


def _named_model(name: str) -> Any:
    try:
        from langchain.chat_models import init_chat_model  # for those who have it
    except ImportError:
        raise ImportError(
            "Please install langchain (`pip install langchain`) to use '<provider>:<model>' string syntax for `model` "
            "parameter."
        ) from None
    return init_chat_model(name)


def _steps_of(model: Any) -> list[Any]:
    return list(model.steps) if isinstance(model, RunnableSequence) else [model]


def _with_tools(model: Any, tools: list[Any]) -> Any:
    """The model with the tools bound, unless it came so. Raises ValueError where they are others."""
    steps = _steps_of(model)
    at = next((i for i, step in enumerate(steps) if isinstance(step, RunnableBinding | BaseChatModel)), 0)
    bound = steps[at].kwargs.get("tools") if isinstance(steps[at], RunnableBinding) else None
    if not tools:
        return model
    if bound is None:
        steps[at] = steps[at].bind_tools(tools)
        return steps[0] if len(steps) == 1 else RunnableSequence(*steps)
    theirs = {name for tool in bound if (name := _tool_name(tool))}
    ours = {name for tool in tools if (name := _tool_name(tool))}
    if len(bound) != len(tools) or ours - theirs:
        raise ValueError(
            f"The model came with the tools {sorted(theirs)} bound, and create_react_agent got {sorted(ours)}. Give both the "
            "same, or a model without tools."
        )
    return model


def _tool_name(tool: Any) -> str | None:
    """Of a tool, or of a tool in the form of a provider."""
    if not isinstance(tool, Mapping):
        return getattr(tool, "name", None)
    found = tool.get("function", tool).get("name") or tool.get("toolSpec", {}).get("name")
    return str(found) if found else None


def _bare(model: Any) -> Any:
    """The chat model without what is bound to it."""
    for step in _steps_of(model):
        while isinstance(step, RunnableBinding):
            step = step.bound  # noqa: PLW2901 - from the binding inward
        if hasattr(step, "with_structured_output"):
            return step
    return model


def _check_history(messages: Sequence[AnyMessage]) -> None:
    """Raises ValueError for a call without a result: most providers refuse such a history."""
    answered = {message.tool_call_id for message in messages if isinstance(message, ToolMessage)}
    calls = [call for message in messages if isinstance(message, AIMessage) for call in message.tool_calls]
    missing = [call for call in calls if call["id"] not in answered]
    if missing:
        raise ValueError(
            f"Found AIMessages with tool_calls that do not have a corresponding ToolMessage: {missing[:3]}. Each call needs "
            "its result in the history before the model can go on: add the ToolMessages, or remove the calls."
        )


# -- the state ---------------------------------------------------------------------------------------------------------


def _state_schema(schema: Any, *, structured: bool) -> Any:
    if schema is None:
        return AgentStateWithStructuredResponse if structured else AgentState
    needed = {"messages", "remaining_steps", *(["structured_response"] if structured else [])}
    missing = needed - set(get_type_hints(schema))
    if missing:
        raise ValueError(f"Missing required key(s) {sorted(missing)} in state_schema")
    return schema


def _hooked_schema(schema: Any) -> Any:
    """What the model's node reads after a `pre_model_hook`."""
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        from pydantic import create_model

        return create_model("CallModelInputSchema", llm_input_messages=(list[AnyMessage] | None, None), __base__=schema)

    class CallModelInputSchema(schema):  # type: ignore[misc]  # the user's schema
        llm_input_messages: list[AnyMessage]

    return CallModelInputSchema


def _value(state: Any, key: str) -> Any:
    return state.get(key) if isinstance(state, Mapping) else getattr(state, key, None)


def _close(coroutine: Awaitable[Any]) -> None:
    if inspect.iscoroutine(coroutine):
        coroutine.close()


__all__ = (
    "AgentState",
    "AgentStatePydantic",
    "AgentStateWithStructuredResponse",
    "AgentStateWithStructuredResponsePydantic",
    "create_react_agent",
    "create_tool_calling_executor",
)
