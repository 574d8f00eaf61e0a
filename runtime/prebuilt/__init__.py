"""Ready-made parts of agents: the agent itself, ToolNode, tools_condition, and what tools get injected."""

from __future__ import annotations

from runtime.prebuilt.chat_agent_executor import create_react_agent
from runtime.prebuilt.injection import InjectedState, InjectedStore, ToolRuntime
from runtime.prebuilt.tool_node import ToolNode, tools_condition
from runtime.prebuilt.tool_validator import ValidationNode

__all__ = (
    "InjectedState",
    "InjectedStore",
    "ToolNode",
    "ToolRuntime",
    "ValidationNode",
    "create_react_agent",
    "tools_condition",
)
