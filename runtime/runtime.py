"""`Runtime`: what a run hands to its nodes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic

from typing_extensions import TypeVar

from runtime.context import current_context

if TYPE_CHECKING:
    from runtime.store.base import BaseStore
    from runtime.types import StreamWriter

ContextT = TypeVar("ContextT", default=Any)


def _nobody_listens(_: Any) -> None:
    """The stream writer of a run without `stream_mode="custom"`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime(Generic[ContextT]):
    """Handed to a node that has a parameter `runtime`."""

    context: ContextT = None  # type: ignore[assignment]  # None where the run was given no context
    """The `context=` of the call, as the graph's `context_schema`."""
    store: BaseStore | None = None
    stream_writer: StreamWriter = _nobody_listens
    previous: Any = None
    """The last return value of a functional graph on this thread."""

    def override(self, **changes: Any) -> Runtime[ContextT]:
        """A copy with some fields replaced."""
        return replace(self, **changes)


def get_runtime(context_schema: type[ContextT] | None = None) -> Runtime[ContextT]:
    """The Runtime of the task that is running. `context_schema` only helps type checkers.

    Raises RuntimeError outside a task.
    """
    return current_context().runtime
