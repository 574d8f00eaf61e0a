"""The channel of a value that is never stored."""

from runtime.channels.last_value import UntrackedValue

__all__ = ("UntrackedValue",)
