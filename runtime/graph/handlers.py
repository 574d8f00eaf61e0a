"""Whether callback handlers listen that no config names: tracers switched on by the environment or by a context manager.

Imports nothing of langchain-core: where it is not loaded and no variable is set, nobody listens.
"""

from __future__ import annotations

import os
import sys
from functools import cache

_SWITCHES = ("LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2", "LANGSMITH_TRACING", "LANGCHAIN_TRACING")


def handlers_around() -> bool:
    """Whether some handler may listen to a run whose config has none."""
    if _switched_on():
        return True
    tracers = sys.modules.get("langchain_core.tracers.context")
    if tracers is not None:
        for variable, _, handler_class, switch in tracers._configure_hooks:
            if variable.get() is not None or (handler_class is not None and switch and os.environ.get(switch)):
                return True
        if tracers.tracing_v2_callback_var.get() is not None:
            return True
    loaded = sys.modules.get("langchain_core.globals")
    return loaded is not None and bool(loaded._debug)


@cache
def _switched_on() -> bool:
    """Looked up once: reading the environment costs more than a super-step's bookkeeping."""
    return any(os.environ.get(name) == "true" for name in _SWITCHES)
