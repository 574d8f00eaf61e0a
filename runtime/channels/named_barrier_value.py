"""Channels that wait until all names have been written."""

from runtime.channels.barrier import NamedBarrierValue, NamedBarrierValueAfterFinish

__all__ = ("NamedBarrierValue", "NamedBarrierValueAfterFinish")
