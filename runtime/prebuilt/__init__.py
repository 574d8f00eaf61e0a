"""Ready-made parts of agents: ToolNode, tools_condition, and what tools get injected."""

from __future__ import annotations

from runtime.prebuilt.injection import InjectedState, InjectedStore, ToolRuntime
from runtime.prebuilt.tool_node import ToolNode, tools_condition

__all__ = ("InjectedState", "InjectedStore", "ToolNode", "ToolRuntime", "tools_condition")
