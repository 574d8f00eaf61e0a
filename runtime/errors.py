"""Every error of the runtime. Each message names the culprit and the fix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from runtime.types import Command, Interrupt


class ErrorCode(Enum):
    """Names of common mistakes, as LangGraph's guides know them."""

    GRAPH_RECURSION_LIMIT = "GRAPH_RECURSION_LIMIT"
    INVALID_CONCURRENT_GRAPH_UPDATE = "INVALID_CONCURRENT_GRAPH_UPDATE"
    INVALID_GRAPH_NODE_RETURN_VALUE = "INVALID_GRAPH_NODE_RETURN_VALUE"
    MULTIPLE_SUBGRAPHS = "MULTIPLE_SUBGRAPHS"
    INVALID_CHAT_HISTORY = "INVALID_CHAT_HISTORY"


class GraphRecursionError(RecursionError):
    """A run took as many super-steps as `recursion_limit` allows and still had nodes to run."""


class InvalidUpdateError(Exception):
    """A write that no channel accepts, or an edit that names no possible node."""


class EmptyChannelError(Exception):
    """A channel was read before anything was written to it."""


class EmptyInputError(Exception):
    """A graph was started without an input, on a thread that has no checkpoint."""


class TaskNotFound(Exception):  # noqa: N818 - the field's name
    """A `task_id` that the current super-step does not have."""


class UnknownInterruptError(Exception):
    """An answer for a question that nobody asks (any more)."""

    def __init__(
        self,
        message: str,
        *,
        reason: Literal["not_pending", "empty_map", "ambiguous"] = "not_pending",
        interrupt_ids: Sequence[str] = (),
        pending_ids: Sequence[str] = (),
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.interrupt_ids = tuple(interrupt_ids)
        """The ids that were answered and that nobody asks."""
        self.pending_ids = tuple(pending_ids)
        """The ids that wait for an answer."""


class NodeTimeoutError(Exception):
    """A try of a node took longer than its timeout. No `TimeoutError`, so that the default RetryPolicy tries again."""

    def __init__(
        self,
        node: str,
        elapsed: float,
        *,
        kind: Literal["idle", "run"],
        idle_timeout: float | None = None,
        run_timeout: float | None = None,
    ) -> None:
        self.node = node
        self.elapsed = elapsed
        """Seconds."""
        self.kind = kind
        self.idle_timeout = idle_timeout
        self.run_timeout = run_timeout
        self.timeout = idle_timeout if kind == "idle" else run_timeout
        without = " without making progress" if kind == "idle" else ""
        super().__init__(
            f"Node '{node}' exceeded its {kind} timeout of {self.timeout or 0:.3f}s{without} (elapsed: {elapsed:.3f}s)."
        )


class NodeCancelledError(Exception):
    """A node raised `asyncio.CancelledError` itself: nobody cancelled the run."""

    def __init__(self, node: str, message: str | None = None) -> None:
        self.node = node
        super().__init__(message or f"Node '{node}' raised asyncio.CancelledError")


@dataclass(frozen=True, slots=True)
class NodeError:
    """What an error handler is told: give it a parameter of this type."""

    node: str
    """The node that failed."""
    error: BaseException
    """What it raised at its last try."""


class UnknownNodeError(ValueError):
    """A checkpoint waits for, or a jump names, a node that this graph does not have."""


class GraphBubbleUp(Exception):  # noqa: N818 - control flow, not a failure
    """Base of what travels up through user code to the engine. Never catch it in a node."""


class GraphInterrupt(GraphBubbleUp):
    """Raised by `interrupt()`: the task pauses."""

    interrupts: tuple[Interrupt, ...]

    def __init__(self, interrupts: Sequence[Interrupt] = ()) -> None:
        self.interrupts = tuple(interrupts)
        super().__init__(self.interrupts)


class ParentCommand(GraphBubbleUp):
    """A `Command(graph=Command.PARENT)` on its way to the graph above."""

    command: Command[Any]

    def __init__(self, command: Command[Any]) -> None:
        self.command = command
        super().__init__(command)


class NodeInterrupt(GraphInterrupt):
    """Raised by a node itself to pause with `value`. LangGraph's older form of `interrupt()`: it cannot be answered."""

    def __init__(self, value: Any, id: str | None = None) -> None:  # noqa: A002 - LangGraph's name
        super().__init__()
        self.value = value
        self.id = id


class GraphDrained(GraphBubbleUp):
    """The run stopped between two super-steps, as its RunControl asked. Its state is stored: it goes on with input None."""

    def __init__(self, reason: str = "shutdown") -> None:
        self.reason = reason
        super().__init__(f"Graph drained: {reason}")


_INVALID_ANSWER = "the answer to interrupt() does not fit its response_schema"


def mark_invalid_resume(error: Exception) -> Exception:
    """Note on an error that it is about an answer, see `is_invalid_resume`."""
    error.add_note(_INVALID_ANSWER)
    return error


def is_invalid_resume(error: BaseException) -> bool:
    """Whether an answer did not fit the `response_schema` of its question: the question can be answered again."""
    return _INVALID_ANSWER in getattr(error, "__notes__", ())
