"""Errors that a person sees: each has a stable word, a reason that names the culprit, and a fix."""

from __future__ import annotations

from debugger.wire import ErrorBody, FieldProblem


class DebuggerError(Exception):
    """Base of all. `status` is the HTTP status that the API answers with."""

    def __init__(
        self, error: str, reason: str, fix: str, *, status: int = 400, problems: list[FieldProblem] | None = None
    ) -> None:
        self.error = error
        self.reason = reason
        self.fix = fix
        self.status = status
        self.problems = problems or []
        super().__init__(f"{reason} {fix}")

    def body(self) -> ErrorBody:
        """The answer."""
        return ErrorBody(error=self.error, reason=self.reason, fix=self.fix, problems=self.problems)


class LoadError(DebuggerError):
    """A target of `forkpoint serve` that gives no graph."""

    def __init__(self, reason: str, fix: str) -> None:
        super().__init__("cannot_load", reason, fix)


def unknown_thread(thread_id: str) -> DebuggerError:
    """404."""
    return DebuggerError(
        "unknown_thread",
        f"There is no thread '{thread_id}'.",
        "GET /debug/threads lists the threads that are here.",
        status=404,
    )


def unknown_checkpoint(thread_id: str, checkpoint_id: str, ns: str) -> DebuggerError:
    """404."""
    where = f" in namespace '{ns}'" if ns else ""
    return DebuggerError(
        "unknown_checkpoint",
        f"Thread '{thread_id}' has no checkpoint '{checkpoint_id}'{where}.",
        "The thread's timeline lists its checkpoints.",
        status=404,
    )


def unknown_graph(graph_id: str, known: list[str]) -> DebuggerError:
    """404."""
    return DebuggerError(
        "unknown_graph",
        f"No graph '{graph_id}' is served.",
        f"The served graphs are: {', '.join(known) or 'none'}.",
        status=404,
    )
