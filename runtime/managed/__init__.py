"""Managed values: state keys that the engine computes instead of storing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated


@dataclass(frozen=True, slots=True)
class ManagedValue:
    """A key whose value follows from the step: given to nodes, never written or stored."""

    name: str
    compute: Callable[[int, int], object]
    """(step, last step that the recursion limit allows) -> value."""


IsLastStep = Annotated[bool, ManagedValue("IsLastStep", lambda step, stop: step == stop - 1)]
"""True in the last super-step before the recursion limit."""
RemainingSteps = Annotated[int, ManagedValue("RemainingSteps", lambda step, stop: stop - step)]
"""Super-steps left before the recursion limit."""

__all__ = ("IsLastStep", "ManagedValue", "RemainingSteps")
