"""Every error of the runtime. Each message names the culprit and the fix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runtime.types import Command, Interrupt


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
