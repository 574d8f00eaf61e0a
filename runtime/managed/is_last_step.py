"""Managed values of the recursion limit."""

from runtime.managed import IsLastStep, RemainingSteps

__all__ = ("IsLastStep", "RemainingSteps")
