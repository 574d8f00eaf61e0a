"""What a managed value is."""

from runtime.managed import ManagedValue

ManagedValueSpec = ManagedValue
"""What stands in `Annotated`."""
ManagedValueMapping = dict[str, ManagedValueSpec]

__all__ = ("ManagedValue", "ManagedValueMapping", "ManagedValueSpec")
