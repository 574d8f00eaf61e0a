"""`Runtime`: what a run hands to its nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Generic, Protocol

from typing_extensions import TypeVar

from runtime.context import current_context

if TYPE_CHECKING:
    from runtime.store.base import BaseStore
    from runtime.types import StreamWriter

ContextT = TypeVar("ContextT", default=Any)


def nobody_listens(_: Any) -> None:
    """The stream writer of a run without `stream_mode="custom"`."""


def _no_idle_timeout() -> None:
    """The heartbeat of a node that nobody times."""


class RunControl:
    """Asks one run to stop between two super-steps. Safe to use from any thread; take a new one for each run."""

    __slots__ = ("_reason",)

    def __init__(self) -> None:
        self._reason: str | None = None

    def request_drain(self, reason: str = "shutdown") -> None:
        """Stop after the super-step in hand: the run raises GraphDrained, its state is stored."""
        self._reason = reason

    @property
    def drain_requested(self) -> bool:
        """Whether somebody asked to stop."""
        return self._reason is not None

    @property
    def drain_reason(self) -> str | None:
        """Why, as given to `request_drain`."""
        return self._reason


@dataclass(slots=True)
class ExecutionInfo:
    """Where a node is being run."""

    checkpoint_id: str
    """Of the checkpoint that the super-step runs from."""
    checkpoint_ns: str
    """The task's namespace."""
    task_id: str
    thread_id: str | None = None
    run_id: str | None = None
    node_attempt: int = 1
    """Number of the try, from 1."""
    node_first_attempt_time: float | None = None
    """When the first try began, in seconds since 1970."""

    def patch(self, **changes: Any) -> ExecutionInfo:
        """A copy with some fields replaced."""
        return replace(self, **changes)


class BaseUser(Protocol):
    """Who is logged in, on a server that knows users."""

    @property
    def is_authenticated(self) -> bool:
        """Whether the user is who they say."""
        ...

    @property
    def display_name(self) -> str:
        """For people to read."""
        ...

    @property
    def identity(self) -> str:
        """Unique."""
        ...

    @property
    def permissions(self) -> list[str]:
        """What they may do."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerInfo:
    """Of a hosting server; None everywhere else."""

    assistant_id: str
    graph_id: str
    user: BaseUser | None = None


@dataclass(slots=True, kw_only=True)
class Runtime(Generic[ContextT]):
    """Handed to a node that has a parameter `runtime`."""

    context: ContextT = None  # type: ignore[assignment]  # None where the run was given no context
    """The `context=` of the call, as the graph's `context_schema`."""
    store: BaseStore | None = None
    stream_writer: StreamWriter = nobody_listens
    heartbeat: Callable[[], None] = _no_idle_timeout
    """Tells a node's idle timeout that it makes progress."""
    previous: Any = None
    """The last return value of a functional graph on this thread."""
    execution_info: ExecutionInfo | None = None
    server_info: ServerInfo | None = None
    control: RunControl | None = None

    @property
    def drain_requested(self) -> bool:
        """Whether the run was asked to stop after this super-step."""
        return self.control is not None and self.control.drain_requested

    @property
    def drain_reason(self) -> str | None:
        """Why it was asked to stop."""
        return self.control.drain_reason if self.control is not None else None

    def override(self, **changes: Any) -> Runtime[ContextT]:
        """A copy with some fields replaced."""
        return replace(self, **changes)

    def merge(self, other: Runtime[ContextT]) -> Runtime[ContextT]:
        """A copy with what the other one has been given."""
        given = {f.name: getattr(other, f.name) for f in fields(other) if getattr(other, f.name) is not f.default}
        return replace(self, **given)

    def patch_execution_info(self, **changes: Any) -> Runtime[ContextT]:
        """A copy with some fields of its execution info replaced. Raises RuntimeError where it has none."""
        if self.execution_info is None:
            raise RuntimeError("This Runtime has no execution_info: it was not made for a running task.")
        return replace(self, execution_info=self.execution_info.patch(**changes))


def get_runtime(context_schema: type[ContextT] | None = None) -> Runtime[ContextT]:
    """The Runtime of the task that is running. `context_schema` only helps type checkers.

    Raises RuntimeError outside a task.
    """
    return current_context().runtime


__all__ = ("BaseUser", "ContextT", "ExecutionInfo", "RunControl", "Runtime", "ServerInfo", "get_runtime")
