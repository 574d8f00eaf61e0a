"""The public value types: what nodes return, what streams and snapshots hold.

Owns: data. Refuses: behaviour beyond construction; `interrupt()` is the one function here, as people import it from this
module, and it only asks the current execution context.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, NamedTuple, TypeVar

from pydantic import TypeAdapter, ValidationError

from runtime.checkpoint.check import check_checkpointer
from runtime.context import current_context
from runtime.errors import GraphInterrupt, mark_invalid_resume
from runtime.parts import (
    CheckpointPayload,
    CheckpointStreamPart,
    CheckpointTask,
    CustomStreamPart,
    DebugPayload,
    DebugStreamPart,
    MessagesStreamPart,
    StreamPart,
    TaskPayload,
    TaskResultPayload,
    TasksStreamPart,
    UpdatesStreamPart,
    ValuesStreamPart,
)
from runtime.policies import CachePolicy, RetryPolicy, TimeoutPolicy, TracePolicy, omit_payload

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig


StreamMode = Literal["values", "updates", "checkpoints", "tasks", "debug", "messages", "custom"]
Durability = Literal["sync", "async", "exit"]
All = Literal["*"]
Checkpointer = "None | bool | BaseCheckpointSaver"
"""None: inherit the parent's. True: keep a thread of its own. False: store nothing."""
StreamWriter = Callable[[Any], None]
"""Sends one value to `stream_mode="custom"`."""

N = TypeVar("N", bound=Hashable)
OutputT = TypeVar("OutputT")


@dataclass(frozen=True, slots=True)
class Interrupt:
    """A question that a node asks a person."""

    value: Any
    """What was given to `interrupt()`."""
    id: str = "placeholder-id"
    """32 hex digits; unique per question, usable as key of a resume map."""
    response_schema: Any = field(default=None, compare=False)
    """Type or JSON schema of the answer, if the node gave one."""


@dataclass(frozen=True, slots=True)
class Send:
    """One task of `node` in the next super-step, with `arg` as its whole input."""

    node: str
    arg: Any
    timeout: Any = field(default=None, kw_only=True)
    """For this task alone: seconds, a timedelta or a TimeoutPolicy."""

    def __post_init__(self) -> None:
        if self.timeout is not None:
            object.__setattr__(self, "timeout", TimeoutPolicy.coerce(self.timeout))

    def __repr__(self) -> str:
        timeout = "" if self.timeout is None else f", timeout={self.timeout!r}"
        return f"Send(node={self.node!r}, arg={self.arg!r}{timeout})"

    def __hash__(self) -> int:
        try:
            return hash((self.node, self.arg))
        except TypeError:
            return hash(self.node)


class ToolOutput:
    """What langchain-core lets through as a tool's result: stands in for its own class until that one is loaded."""


@dataclass(frozen=True, kw_only=True)
class Command(ToolOutput, Generic[N]):
    """An update, a jump, an answer: from a node, a tool, or as a graph's input."""

    graph: str | None = None
    """None: this graph. `Command.PARENT`: the graph that called this one."""
    update: Any = None
    resume: Any = None
    """The answer to a pending question, or a dict from interrupt id to answer."""
    goto: Send | Sequence[Send | N] | N = ()

    PARENT: ClassVar[Literal["__parent__"]] = "__parent__"

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in vars(self).items() if value or value in (0, False))
        return f"Command({given})"

    def _update_as_tuples(self) -> Sequence[tuple[str, Any]]:
        """The update as (key, value) pairs."""
        update = self.update
        if update is None:
            return ()
        if isinstance(update, dict):
            return tuple(update.items())
        if isinstance(update, (list, tuple)) and all(
            isinstance(t, tuple) and len(t) == 2 and isinstance(t[0], str) for t in update
        ):
            return tuple(update)
        hints = getattr(type(update), "__annotations__", None)
        if hints:
            return tuple((k, getattr(update, k)) for k in hints if getattr(update, k, None) is not None)
        return (("__root__", update),)


@dataclass(frozen=True, slots=True)
class Overwrite:
    """Replaces the value of a reduced channel, past its reducer."""

    value: Any
    type: Literal["__overwrite__"] = "__overwrite__"


class StateUpdate(NamedTuple):
    """One update of `bulk_update_state`."""

    values: dict[str, Any] | None
    as_node: str | None = None
    task_id: str | None = None


class PregelTask(NamedTuple):
    """A task as a snapshot shows it."""

    id: str
    name: str
    path: tuple[Any, ...]
    error: Exception | None = None
    interrupts: tuple[Interrupt, ...] = ()
    state: RunnableConfig | StateSnapshot | None = None
    result: Any = None


class StateSnapshot(NamedTuple):
    """The read view of a checkpoint."""

    values: Any
    next: tuple[str, ...]
    config: RunnableConfig
    metadata: dict[str, Any] | None
    created_at: str | None
    parent_config: RunnableConfig | None
    tasks: tuple[PregelTask, ...]
    interrupts: tuple[Interrupt, ...]


@dataclass(frozen=True, slots=True)
class GraphOutput(Generic[OutputT]):
    """What `invoke(version="v2")` gives."""

    value: OutputT
    interrupts: tuple[Interrupt, ...] = ()

    def __getitem__(self, key: str) -> Any:
        return self.interrupts if key == "__interrupt__" else self.value[key]  # type: ignore[index]  # user state


def interrupt(value: Any, *, response_schema: Any = None) -> Any:
    """Pause the node and ask `value`; on resume, return the answer.

    The first pass raises `GraphInterrupt`, so a node runs again from its start when it is answered: side effects belong
    after the call. Several calls in one node are answered in their order.

    Args:
        response_schema: what an answer must look like, for whoever builds a form: a JSON schema, or a type, of which the
            JSON schema is kept.

    Raises:
        RuntimeError: when called outside a node of a running graph.
        pydantic.ValidationError: the answer does not fit a `response_schema` that is a type; answer again.
    """
    scratchpad = current_context().scratchpad
    answered, found = scratchpad.next_answer()
    if not answered:
        if response_schema is not None and not isinstance(response_schema, dict):
            response_schema = TypeAdapter(response_schema).json_schema()
        raise GraphInterrupt((Interrupt(value, found, response_schema),))
    if response_schema is None or isinstance(response_schema, dict):
        return found
    try:
        return TypeAdapter(response_schema).validate_python(found)
    except ValidationError as error:
        scratchpad.take_back()
        raise mark_invalid_resume(error) from None


def ensure_valid_checkpointer(checkpointer: Any) -> Any:
    """The checkpointer itself. Raises TypeError, saying what to give, for anything that is none."""
    check_checkpointer(checkpointer)
    return checkpointer


__all__ = (
    "All",
    "CachePolicy",
    "CheckpointPayload",
    "CheckpointStreamPart",
    "CheckpointTask",
    "Checkpointer",
    "Command",
    "CustomStreamPart",
    "DebugPayload",
    "DebugStreamPart",
    "Durability",
    "GraphOutput",
    "Interrupt",
    "MessagesStreamPart",
    "Overwrite",
    "PregelTask",
    "RetryPolicy",
    "Send",
    "StateSnapshot",
    "StateUpdate",
    "StreamMode",
    "StreamPart",
    "StreamWriter",
    "TaskPayload",
    "TaskResultPayload",
    "TasksStreamPart",
    "TimeoutPolicy",
    "ToolOutput",
    "TracePolicy",
    "UpdatesStreamPart",
    "ValuesStreamPart",
    "ensure_valid_checkpointer",
    "interrupt",
    "omit_payload",
)
