"""What an agent runs in: sessions, context compaction, traces, a tool registry, a permission gate and its audit log.

Raw is kept apart from derived: sessions, traces and audits are appended to and never rewritten; what a model is shown is
made from them when it is read. A failure here stays here: a broken line hides no other, a trace that cannot be written
does not hurt what it traces, and no error of the traced code is swallowed.
"""

from __future__ import annotations

from runtime.harness.audit import AuditEntry, AuditLog
from runtime.harness.compaction import ContextCompactor
from runtime.harness.messages import history_problems
from runtime.harness.permissions import PermissionGate
from runtime.harness.sessions import SessionRecord, SessionStore
from runtime.harness.structured import StructuredOutputError, StructuredResult, structured_output
from runtime.harness.tools import Permission, ToolEntry, ToolRegistry
from runtime.harness.tracer import Span, Tracer

__all__ = (
    "AuditEntry",
    "AuditLog",
    "ContextCompactor",
    "Permission",
    "PermissionGate",
    "SessionRecord",
    "SessionStore",
    "Span",
    "StructuredOutputError",
    "StructuredResult",
    "ToolEntry",
    "ToolRegistry",
    "Tracer",
    "history_problems",
    "structured_output",
)
