"""LangGraph server API: runs. Start, wait, stream by SSE, join, cancel."""

from __future__ import annotations

import time
from collections.abc import Iterator

from flask import Blueprint, Response, request, stream_with_context

from debugger.api.http import answer, body, service
from debugger.api.threads import state_json
from debugger.errors import DebuggerError
from debugger.inspector import Inspector
from debugger.runs import LiveRun
from debugger.sse import SseModes, frames
from debugger.wire import RunRequest, RunView

blueprint = Blueprint("runs", __name__, url_prefix="/threads/<thread_id>/runs")


def _known(thread_id: str, run_id: str) -> RunView:
    service().thread(thread_id)
    run = service().records.run(run_id)
    if run is None or run.thread_id != thread_id:
        raise DebuggerError(
            "unknown_run",
            f"Thread '{thread_id}' has no run '{run_id}'.",
            f"GET /threads/{thread_id}/runs lists its runs.",
            status=404,
        )
    return run


@blueprint.post("")
def create(thread_id: str) -> Response:
    """Start a run in the background."""
    live = service().run(thread_id, body(RunRequest))
    made = answer(live.view)
    made.headers["Content-Location"] = f"/threads/{thread_id}/runs/{live.view.run_id}"
    return made


@blueprint.get("")
def listed(thread_id: str) -> Response:
    """The thread's runs, newest first."""
    service().thread(thread_id)
    return answer(service().records.runs(thread_id))


@blueprint.get("/<run_id>")
def get(thread_id: str, run_id: str) -> Response:
    """One run."""
    return answer(_known(thread_id, run_id))


@blueprint.delete("/<run_id>")
def delete(thread_id: str, run_id: str) -> Response:
    """Forget a run that has ended."""
    run = _known(thread_id, run_id)
    if run.status in ("pending", "running"):
        raise DebuggerError("run_active", f"Run '{run_id}' is running.", "Cancel it first.", status=409)
    service().records.delete_run(run_id)
    return Response(status=204)


@blueprint.post("/<run_id>/cancel")
def cancel(thread_id: str, run_id: str) -> Response:
    """Cancel a run; `wait=1` waits until it has ended."""
    run = _known(thread_id, run_id)
    if not service().runs.cancel(run_id):
        raise DebuggerError(
            "not_running", f"Run '{run_id}' is not running: it is {run.status}.", "Nothing to do.", status=409
        )
    live = service().runs.live(run_id)
    if request.args.get("wait", "0").lower() in ("1", "true") and live is not None:
        live.wait(10)
    return answer({}, 202)


@blueprint.post("/wait")
def wait(thread_id: str) -> Response:
    """Start a run and answer when it has ended, with the final values; a failure is in `__error__`."""
    return _final(thread_id, service().run(thread_id, body(RunRequest)))


@blueprint.get("/<run_id>/join")
def join(thread_id: str, run_id: str) -> Response:
    """The final values of a run, once it has ended."""
    _known(thread_id, run_id)
    live = service().runs.live(run_id)
    if live is None:
        found = Inspector(service().graph_of(thread_id)).snapshot(thread_id)
        return answer(state_json(found)["values"])
    return _final(thread_id, live)


def _final(thread_id: str, live: LiveRun) -> Response:
    live.wait()
    if live.error is not None:
        return answer({"__error__": {"error": type(live.error).__name__, "message": str(live.error)}})
    found = state_json(Inspector(service().graph_of(thread_id)).snapshot(thread_id))
    values = dict(found["values"])
    if found["interrupts"]:
        values["__interrupt__"] = found["interrupts"]
    return answer(values)


@blueprint.post("/stream")
def stream(thread_id: str) -> Response:
    """Start a run and stream it by SSE."""
    wanted = body(RunRequest)
    live = service().run(thread_id, wanted)
    return _sse(thread_id, live, SseModes.of(wanted.stream_mode, wanted.stream_subgraphs), 0, wanted.on_disconnect)


@blueprint.get("/<run_id>/stream")
def join_stream(thread_id: str, run_id: str) -> Response:
    """Stream a run that is in flight or has just ended; Last-Event-ID gives only what came after."""
    _known(thread_id, run_id)
    live = service().runs.live(run_id)
    if live is None:
        raise DebuggerError(
            "stream_gone",
            f"Run '{run_id}' was made by an earlier start of the server.",
            f"Its events are at /debug/threads/{thread_id}/events.",
            status=404,
        )
    last = request.headers.get("Last-Event-ID", "")
    start = int(last.rpartition("-")[2]) + 1 if last.rpartition("-")[2].isdigit() else 0
    modes = SseModes.of(request.args.getlist("stream_mode") or None, request.args.get("stream_subgraphs") == "true")
    return _sse(thread_id, live, modes, start, "continue")


def _sse(thread_id: str, live: LiveRun, modes: SseModes, start: int, on_disconnect: str) -> Response:
    def send() -> Iterator[str]:
        finished = False
        try:
            yield from frames(live, modes, start, int(time.time() * 1000))
            finished = True
        finally:
            if not finished and on_disconnect == "cancel":
                service().runs.cancel(live.view.run_id)

    made = Response(stream_with_context(send()), mimetype="text/event-stream")
    where = f"/threads/{thread_id}/runs/{live.view.run_id}"
    made.headers["Content-Location"] = where
    made.headers["Location"] = f"{where}/stream"
    made.headers["X-Accel-Buffering"] = "no"
    return made
