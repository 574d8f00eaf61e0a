"""What tools get from the graph instead of from the model: state, store, runtime.

Owns: the markers, and finding out once per tool which of its arguments they mark. A model never sees these arguments and
cannot set them: what it sends under their names is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, is_dataclass
from typing import TYPE_CHECKING, Any, Generic, get_args, get_origin, get_type_hints

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolArg
from langchain_core.tools.base import _DirectlyInjectedToolArg, get_all_basemodel_annotations
from pydantic import BaseModel
from pydantic_core import core_schema
from typing_extensions import TypeVar

if TYPE_CHECKING:
    from runtime.store.base import BaseStore
    from runtime.types import StreamWriter

ContextT = TypeVar("ContextT", default=Any)
StateT = TypeVar("StateT", default=Any)
_MISSING: Any = object()


class InjectedState(InjectedToolArg):
    """Marks a tool argument that gets the graph's state: `Annotated[dict, InjectedState]`.

    Args:
        field: only this key of the state; by default all of it.
    """

    def __init__(self, field: str | None = None) -> None:
        self.field = field


class InjectedStore(InjectedToolArg):
    """Marks a tool argument that gets the graph's store: `Annotated[BaseStore, InjectedStore()]`."""


@dataclass(frozen=True, slots=True)
class ToolRuntime(_DirectlyInjectedToolArg, Generic[ContextT, StateT]):
    """What a tool can know of the run around it: an argument annotated `runtime: ToolRuntime` gets it."""

    state: StateT
    """The state of the graph that runs the tool."""
    context: ContextT
    """The `context=` of the call."""
    config: RunnableConfig
    stream_writer: StreamWriter
    """Sends one value to `stream_mode="custom"`."""
    tool_call_id: str | None
    store: BaseStore | None
    tools: list[BaseTool] = field(default_factory=list)
    """All tools of the node."""

    def __class_getitem__(cls, parameters: Any) -> type[ToolRuntime[Any, Any]]:
        """The class itself: what it holds is for type checkers, and libraries that read hints know the plain class."""
        return cls

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> core_schema.CoreSchema:
        """Taken as it is: an argument schema has no business with what is in it."""
        return core_schema.is_instance_schema(cls)


@dataclass(frozen=True, slots=True)
class StateArgument:
    """An argument that gets the state, or one key of it."""

    field: str | None
    default: Any


@dataclass(frozen=True, slots=True)
class InjectedArguments:
    """Which arguments of one tool the graph fills."""

    state: Mapping[str, StateArgument]
    stores: tuple[str, ...]
    runtimes: tuple[str, ...]
    names: frozenset[str]
    """All arguments that are not the model's, those that langchain-core fills included."""

    @property
    def fields(self) -> list[str]:
        """The state keys that the tool needs."""
        return [argument.field for argument in self.state.values() if argument.field]


def injected_arguments(tool: BaseTool) -> InjectedArguments:
    """Read a tool's argument schema and its function's signature."""
    state: dict[str, StateArgument] = {}
    stores: list[str] = []
    runtimes: list[str] = []
    names: set[str] = set()
    schema = tool.get_input_schema()
    for name, annotation in {**_function_hints(tool), **get_all_basemodel_annotations(schema)}.items():
        for mark in _marks(annotation):
            names.add(name)
            kind = mark if isinstance(mark, type) else type(mark)
            if issubclass(kind, InjectedState):
                state[name] = StateArgument(getattr(mark, "field", None), _default(schema, name))
            elif issubclass(kind, InjectedStore):
                stores.append(name)
            elif issubclass(kind, ToolRuntime):
                runtimes.append(name)
    return InjectedArguments(state, tuple(stores), tuple(runtimes), frozenset(names))


def _function_hints(tool: BaseTool) -> dict[str, Any]:
    for code in (getattr(tool, "func", None), getattr(tool, "coroutine", None), tool._run, tool._arun):
        if code is None:
            continue
        try:
            hints = get_type_hints(code, include_extras=True)
        except (NameError, TypeError):  # a hint that only a type checker can resolve: the schema has the rest
            continue
        hints.pop("return", None)
        return hints
    return {}


def _marks(annotation: Any) -> Iterator[Any]:
    """The markers in an annotation, as class or as object."""
    marker = annotation if isinstance(annotation, type) else get_origin(annotation)
    if isinstance(annotation, (InjectedToolArg, _DirectlyInjectedToolArg)):
        yield annotation
    elif isinstance(marker, type) and issubclass(marker, (InjectedToolArg, _DirectlyInjectedToolArg)):
        yield marker
    else:
        for part in get_args(annotation):
            yield from _marks(part)


def _default(schema: type[Any], name: str) -> Any:
    described = getattr(schema, "model_fields", {}).get(name)
    if described is None or described.is_required():
        return _MISSING
    return described.get_default(call_default_factory=True)


def inject(
    tool: BaseTool,
    wanted: InjectedArguments,
    args: Mapping[str, Any],
    runtime: ToolRuntime[Any, Any],
    messages_key: str,
) -> dict[str, Any]:
    """The arguments of a call: the model's, and the graph's over them.

    Raises:
        KeyError, AttributeError: the state lacks a key that the tool needs.
        ValueError: the tool needs a store and the graph has none, or it needs keys of a state that is only messages.
    """
    filled = {name: value for name, value in args.items() if name not in wanted.names}
    for name, argument in wanted.state.items():
        value = _state_value(tool, wanted, argument, runtime.state, messages_key)
        if value is not _MISSING:
            filled[name] = value
    for name in wanted.stores:
        if runtime.store is None:
            raise ValueError(
                f"Cannot inject store into tools with InjectedStore annotations: tool '{tool.name}' wants one - "
                f"please compile your graph with a store."
            )
        filled[name] = runtime.store
    for name in wanted.runtimes:
        filled[name] = runtime
    return filled


def _state_value(
    tool: BaseTool, wanted: InjectedArguments, argument: StateArgument, state: Any, messages_key: str
) -> Any:
    if isinstance(state, list):
        if any(name != messages_key for name in wanted.fields):
            raise ValueError(
                f"Invalid input to ToolNode. Tool {tool.name} requires graph state dict as input. "
                f"State should contain fields {', '.join(wanted.fields)}."
            )
        state = {messages_key: state}
    if argument.field is None:
        return state
    if isinstance(state, (BaseModel,)) or is_dataclass(state):
        return (
            getattr(state, argument.field, argument.default)
            if argument.default is not _MISSING
            else getattr(state, argument.field)
        )
    if argument.field in state:
        return state[argument.field]
    if argument.default is _MISSING:
        raise KeyError(argument.field)
    return _MISSING
