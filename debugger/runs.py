"""Run graphs in the background: a registry of runs, and the event loop that they share.

One asyncio loop in a thread of its own runs every graph by `astream`, in all seven modes; what comes out goes into the
journal and to whoever follows the run. Cancelling a run cancels its asyncio task. A run that the server loses is marked as
cancelled when the server starts again.
"""

from __future__ import annotations

import asyncio
import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from debugger.errors import DebuggerError
from debugger.events import Item, Journal
from debugger.graphs.adapter import ServedGraph
from debugger.inspector import Inspector, config_of
from debugger.models import Records, now
from debugger.wire import EventMode, RunStatus, RunView, ThreadStatus

MODES: tuple[EventMode, ...] = ("values", "updates", "messages", "custom", "checkpoints", "tasks", "debug")
_KEPT = 20
"""Ended runs whose stream can still be joined; the journal has all."""
_LAPS = 1000
"""Breakpoints that a run to the end goes past at most."""
Chunk = tuple[tuple[str, ...], str, Any]
"""(namespace, mode, payload), as the graph streams it."""


@dataclass(frozen=True, slots=True)
class RunPlan:
    """What to run."""

    input: Any
    """An input, a Command of the graph's kind, or None to go on or replay."""
    config: dict[str, Any]
    until: str = "pause"
    """`pause`, `end` or `step`, as wire.RunRequest has it."""
    after_edit: bool = False
    """The second half of "save and run to the next pause": a breakpoint right at the edit stops it."""
    interrupt_before: Any = None
    interrupt_after: Any = None
    context: Any = None
    durability: str = "sync"


@dataclass
class LiveRun:
    """A run in this process, and what it has streamed."""

    view: RunView
    chunks: list[Chunk] = field(default_factory=list)
    done: bool = False
    error: BaseException | None = None
    future: Future[None] | None = None
    changed: threading.Condition = field(default_factory=threading.Condition)

    def add(self, chunk: Chunk) -> None:
        """One more chunk."""
        with self.changed:
            self.chunks.append(chunk)
            self.changed.notify_all()

    def finish(self, view: RunView, error: BaseException | None) -> None:
        """The run has ended."""
        with self.changed:
            self.view, self.error, self.done = view, error, True
            self.changed.notify_all()

    def follow(self, start: int = 0, heartbeat: float = 5.0) -> Iterator[tuple[int, Chunk] | None]:
        """(index, chunk) from `start` on, until the run ends; None after each silent `heartbeat` (seconds)."""
        index = start
        while True:
            with self.changed:
                if index >= len(self.chunks) and not self.done:
                    self.changed.wait(heartbeat)
                fresh = self.chunks[index:]
                done = self.done
            if not fresh:
                if done:
                    return
                yield None
            for chunk in fresh:
                yield index, chunk
                index += 1

    def wait(self, timeout: float | None = None) -> bool:
        """Until the run has ended. False after `timeout` seconds."""
        with self.changed:
            return self.changed.wait_for(lambda: self.done, timeout)


class Runs:
    """Starts, follows and cancels runs."""

    def __init__(self, records: Records, journal: Journal, on_status: Callable[[str], None] | None = None) -> None:
        self._records = records
        self._journal = journal
        self._on_status = on_status
        self._live: dict[str, LiveRun] = {}
        self._busy: dict[str, str] = {}
        self._lock = threading.Lock()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="forkpoint-runs", daemon=True)
        self._thread.start()

    def start(
        self, served: ServedGraph, thread_id: str, plan: RunPlan, *, metadata: dict[str, Any], strategy: str = "reject"
    ) -> LiveRun:
        """Start a run.

        Raises:
            DebuggerError: another run is on the thread (409).
        """
        run_id = str(uuid.uuid4())
        with self._lock:
            self._refuse_busy(thread_id)
            self._busy[thread_id] = run_id
        stamp = now()
        view = RunView(
            run_id=run_id,
            thread_id=thread_id,
            assistant_id=served.id,
            created_at=stamp,
            updated_at=stamp,
            status="running",
            metadata=metadata,
            multitask_strategy=strategy,
        )
        live = LiveRun(view)
        self._forget_old()
        self._live[run_id] = live
        self._records.add_run(view)
        self._set_thread(thread_id, "busy")
        live.future = asyncio.run_coroutine_threadsafe(self._run(served, live, plan), self._loop)
        return live

    def _refuse_busy(self, thread_id: str) -> None:
        if thread_id in self._busy:
            raise DebuggerError(
                "thread_busy",
                f"Thread '{thread_id}' is running (run {self._busy[thread_id]}).",
                "Wait for it, or cancel it.",
                status=409,
            )

    def _forget_old(self) -> None:
        ended = [run_id for run_id, live in self._live.items() if live.done]
        for run_id in ended[:-_KEPT]:
            del self._live[run_id]

    def busy(self, thread_id: str) -> str | None:
        """The id of the run on a thread, None when it stands."""
        return self._busy.get(thread_id)

    def live(self, run_id: str) -> LiveRun | None:
        """A run of this process."""
        return self._live.get(run_id)

    def cancel(self, run_id: str) -> bool:
        """Cancel a run. False when it is not running."""
        live = self._live.get(run_id)
        if live is None or live.done or live.future is None:
            return False
        live.future.cancel()
        return True

    def close(self, timeout: float = 1.0) -> None:
        """Cancel every run, and stop. A node whose thread hangs is left behind."""
        if self._loop.is_closed():
            return
        running = [live for live in self._live.values() if not live.done]
        for live in running:
            self.cancel(live.view.run_id)
        for live in running:
            live.wait(timeout / max(1, len(running)))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=0.2)
        if not self._thread.is_alive():
            self._loop.close()

    # -- one run -------------------------------------------------------------------------------------------------------

    async def _run(self, served: ServedGraph, live: LiveRun, plan: RunPlan) -> None:
        thread_id, run_id = live.view.thread_id, live.view.run_id
        self._note(thread_id, run_id, "started", f"run started ({_what(plan)})")
        status: RunStatus = "error"
        error: BaseException | None = None
        try:
            await self._drive(served, live, plan)
            found = await asyncio.to_thread(Inspector(served).snapshot, thread_id)
            status = "interrupted" if found.next else "success"
        except asyncio.CancelledError:
            status = "cancelled"
        except Exception as raised:  # noqa: BLE001 - whatever a node raises is how the run ended
            error = raised
        finally:
            self._end(live, status, error)

    async def _drive(self, served: ServedGraph, live: LiveRun, plan: RunPlan) -> None:
        if plan.after_edit and plan.until == "pause" and await asyncio.to_thread(self._at_breakpoint, served, plan):
            return
        value, config = plan.input, plan.config
        for _ in range(_LAPS):
            await self._stream(served, live, plan, value, config)
            if plan.until != "end":
                return
            thread_id = live.view.thread_id
            found = await asyncio.to_thread(Inspector(served).snapshot, thread_id)
            if not found.next or found.interrupts:
                return
            value, config = None, {**plan.config, **config_of(thread_id)}

    def _at_breakpoint(self, served: ServedGraph, plan: RunPlan) -> bool:
        """Whether the place that the run starts from stands before a compiled breakpoint."""
        names = served.graph.interrupt_before_nodes
        following = served.graph.get_state(plan.config).next
        return names == "*" or bool(set(names or ()) & set(following))

    async def _stream(self, served: ServedGraph, live: LiveRun, plan: RunPlan, value: Any, config: Any) -> None:
        options: dict[str, Any] = {"durability": plan.durability}
        if plan.context is not None:
            options["context"] = plan.context
        if plan.interrupt_before is not None:
            options["interrupt_before"] = plan.interrupt_before
        if plan.until == "step":
            options["interrupt_after"] = "*"
        elif plan.interrupt_after is not None:
            options["interrupt_after"] = plan.interrupt_after
        thread_id, run_id = live.view.thread_id, live.view.run_id
        stream = served.graph.astream(value, config, stream_mode=list(MODES), subgraphs=True, **options)
        async for ns, mode, payload in stream:
            self._journal.put(Item(thread_id, run_id, mode, ns, payload))
            live.add((ns, mode, payload))

    def _end(self, live: LiveRun, status: RunStatus, error: BaseException | None) -> None:
        view = live.view
        text = None if error is None else f"{type(error).__name__}: {error}"
        with self._lock:
            self._busy.pop(view.thread_id, None)
        self._records.end_run(view.run_id, status, text)
        self._note(view.thread_id, view.run_id, status, f"run {status}" + (f": {text}" if text else ""))
        standing: dict[str, ThreadStatus] = {"success": "idle", "error": "error"}
        self._set_thread(view.thread_id, standing.get(status, "interrupted"))
        live.finish(view.model_copy(update={"status": status, "error": text, "updated_at": now()}), error)

    def _note(self, thread_id: str, run_id: str, phase: str, summary: str) -> None:
        self._journal.put(Item(thread_id, run_id, "run", (), {"phase": phase, "summary": summary}))

    def _set_thread(self, thread_id: str, status: ThreadStatus) -> None:
        self._records.change_thread(thread_id, status=status)
        if self._on_status:
            self._on_status(thread_id)


def _what(plan: RunPlan) -> str:
    if plan.input is None:
        return "replay" if plan.config["configurable"].get("checkpoint_id") else "go on"
    return "answer" if getattr(plan.input, "resume", None) is not None else "new input"
