"""Tell a checkpointer from what people pass by mistake. Imports no saver."""

from __future__ import annotations

import inspect
from typing import Any


def is_saver(value: Any) -> bool:
    """Whether a value has a saver's methods."""
    return not inspect.isclass(value) and hasattr(value, "get_tuple") and hasattr(value, "put_writes")


def check_checkpointer(value: Any) -> None:
    """Raises TypeError, with a hint, for a checkpointer that is none."""
    if value is None or isinstance(value, bool) or is_saver(value):
        return
    if inspect.isclass(value):
        hint = f"an instance is needed, not the class: {value.__name__}(...)"
    elif hasattr(value, "__enter__") or hasattr(value, "__aenter__"):
        hint = "this is a context manager: `with Saver.from_conn_string(...) as saver:` and pass `saver`"
    else:
        hint = "pass a saver, True, False or None"
    raise TypeError(f"Invalid checkpointer: expected a saver, got {value!r} of type {type(value).__name__}; {hint}.")
