"""The permission gate: between what a model asks for and the tool that would do it. A tool does not know who may call it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from runtime.harness.audit import AuditLog
from runtime.harness.tools import Permission, ToolRegistry
from runtime.types import interrupt

if TYPE_CHECKING:
    from langchain_core.messages import ToolMessage

    from runtime.prebuilt.tool_calls import ToolCallRequest

_DECISIONS = {
    "accept": "approve",
    "approve": "approve",
    "edit": "edit",
    "response": "respond",
    "ignore": "reject",
    "reject": "reject",
}


class PermissionGate:
    """Decides on each tool call, and asks a person where it must. Put it into a graph's tool node:

        ToolNode(registry.tools(), wrap_tool_call=gate.wrap, awrap_tool_call=gate.awrap)

    Args:
        registry: whose permissions count. A tool that it does not have is denied.
        decide: called with (name, args, permission) for another permission than the registry's, say by the arguments.
        audit: gets every decision.

    A call that must be asked about pauses the graph with `interrupt`, whose value is the usual request:
    `{"action_request": {"action", "args"}, "config": {"allow_accept", ...}, "description"}`. It is answered with
    `{"type": "accept" | "edit" | "ignore" | "response", "args": ...}` (also `approve` and `reject`, True and False):
    run it, run it with `args` instead, do not run it, give `args` to the model as the result. `actor` and `reason` beside
    them go on record. An answer that is none of these is asked for again, with what was wrong in the description.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        *,
        decide: Callable[[str, Mapping[str, Any], Permission], Permission] | None = None,
        audit: AuditLog | None = None,
    ) -> None:
        self.registry = registry
        self.audit = AuditLog() if audit is None else audit
        self._decide = decide

    def permission(self, name: str, args: Mapping[str, Any]) -> Permission:
        """What goes for a call."""
        if name not in self.registry:
            return "deny"
        declared = self.registry.get(name).permission
        return declared if self._decide is None else self._decide(name, args, declared)

    def wrap(self, request: ToolCallRequest, execute: Callable[[ToolCallRequest], Any]) -> Any:
        """For `ToolNode(wrap_tool_call=)`."""
        ruled = self._rule(request)
        return _with_note(execute(ruled[0]), ruled[1]) if isinstance(ruled, tuple) else ruled

    async def awrap(self, request: ToolCallRequest, execute: Callable[[ToolCallRequest], Awaitable[Any]]) -> Any:
        """For `ToolNode(awrap_tool_call=)`."""
        ruled = self._rule(request)
        return _with_note(await execute(ruled[0]), ruled[1]) if isinstance(ruled, tuple) else ruled

    def _rule(self, request: ToolCallRequest) -> tuple[ToolCallRequest, str] | ToolMessage:
        """What to run and what to tell the model about it, or what to answer instead."""
        call = request.tool_call
        permission = self.permission(call["name"], call["args"])
        if permission == "allow":
            self._note(request, "allow")
            return request, ""
        if permission == "deny":
            self._note(request, "deny")
            return _answer(call, f"The tool '{call['name']}' may not be used here.", "error")
        description = self.registry.get(call["name"]).description
        problem = ""
        while True:  # an answer that makes no sense is stored like any other: only a further question helps
            answer = interrupt(_question(call, problem + description))
            try:
                return self._answered(request, *_read_answer(call["name"], answer))
            except ValueError as error:
                problem = f"{error}\n"

    def _answered(
        self, request: ToolCallRequest, kind: str, args: Any, who: str, why: str
    ) -> tuple[ToolCallRequest, str] | ToolMessage:
        call = request.tool_call
        if kind == "approve":
            self._note(request, kind, actor=who, reason=why)
            return request, ""
        if kind == "reject":
            self._note(request, kind, actor=who, reason=why)
            return _answer(
                call, f"A person refused this call of '{call['name']}'." + (f" {why}" if why else ""), "error"
            )
        if kind == "respond":
            self._note(request, kind, actor=who, reason=why)
            return _answer(call, str(args), "success")
        self._note(request, kind, actor=who, reason=why, edited=args)
        changed: Any = {**call, "args": dict(args)}
        return request.override(tool_call=changed), f"(A person changed the arguments to {dict(args)}.)\n"

    def _note(self, request: ToolCallRequest, decision: str, **more: Any) -> None:
        call = request.tool_call
        config = getattr(request.runtime, "config", None) or {}
        thread_id = config.get("configurable", {}).get("thread_id")
        self.audit.record(call["name"], decision, args=call["args"], thread_id=thread_id, call_id=call["id"], **more)


def _question(call: Any, description: str) -> dict[str, Any]:
    return {
        "action_request": {"action": call["name"], "args": call["args"]},
        "config": {"allow_accept": True, "allow_edit": True, "allow_respond": True, "allow_ignore": True},
        "description": description,
    }


def _read_answer(name: str, answer: Any) -> tuple[str, Any, str, str]:
    """(decision, args, actor, reason). Raises ValueError for what is no answer."""
    if isinstance(answer, list) and len(answer) == 1:
        answer = answer[0]
    if isinstance(answer, bool):
        answer = "accept" if answer else "ignore"
    if isinstance(answer, str):
        answer = {"type": answer}
    kind = answer.get("type") if isinstance(answer, Mapping) else None
    if kind not in _DECISIONS:
        raise ValueError(f"The answer was {answer!r}. Give {{'type': one of {list(_DECISIONS)}}}.")
    decision, args = _DECISIONS[kind], answer.get("args")
    if decision == "edit":
        args = args.get("args", args) if isinstance(args, Mapping) else args
        if not isinstance(args, Mapping):
            raise ValueError(f"The answer was an edit of '{name}' with the args {args!r}. Give a dict of arguments.")
    return decision, args, str(answer.get("actor", "person")), str(answer.get("reason", ""))


def _answer(call: Any, text: str, status: Any) -> ToolMessage:
    from langchain_core.messages import ToolMessage

    return ToolMessage(text, name=call["name"], tool_call_id=call["id"], status=status)


def _with_note(result: Any, note: str) -> Any:
    """A tool's message with what the model must know about it. Commands are not ours to change."""
    if note and isinstance(getattr(result, "content", None), str):
        result.content = note + result.content
    return result
