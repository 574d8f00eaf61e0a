"""The channel of a value that lives for one super-step."""

from runtime.channels.last_value import EphemeralValue

__all__ = ("EphemeralValue",)
