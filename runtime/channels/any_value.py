"""The channel of a key that several nodes write the same value to."""

from runtime.channels.last_value import AnyValue

__all__ = ("AnyValue",)
