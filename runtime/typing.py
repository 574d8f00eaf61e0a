"""Type variables of graphs, for code that takes any."""

from typing import Any, TypeVar

from runtime.runtime import ContextT

StateT = TypeVar("StateT", bound=Any)
StateT_co = TypeVar("StateT_co", bound=Any, covariant=True)
StateT_contra = TypeVar("StateT_contra", bound=Any, contravariant=True)
InputT = TypeVar("InputT", bound=Any)
OutputT = TypeVar("OutputT", bound=Any)

__all__ = ("ContextT", "InputT", "OutputT", "StateT", "StateT_co", "StateT_contra")
