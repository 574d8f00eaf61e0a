"""The running debugger: served graphs, threads, runs and the journal, put together. No Flask."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from debugger.editing import Editor, place_of
from debugger.errors import DebuggerError, unknown_graph, unknown_thread
from debugger.events import Item, Journal
from debugger.graphs.adapter import ServedGraph
from debugger.inspector import Inspector, config_of
from debugger.models import Records
from debugger.runs import LiveRun, RunPlan, Runs
from debugger.wire import CommandBody, EventRow, RunRequest, StateEditRequest, ThreadRow

_NAMESPACE = uuid.UUID("6f0a1c9e-5b7d-4c58-9e43-2a6d3d1f7b10")
"""Assistant ids follow from graph ids."""


class Service:
    """All that the routes need."""

    def __init__(
        self,
        saver: Any,
        database: str | None,
        *,
        on_events: Callable[[str, list[EventRow]], None] | None = None,
        on_thread: Callable[[ThreadRow, bool], None] | None = None,
    ) -> None:
        self.saver = saver
        self.database = str(Path(database).resolve()) if database else "memory"
        self.records = Records(database)
        self.records.end_left_over()
        self.graphs: dict[str, ServedGraph] = {}
        self.on_events = on_events
        self.on_thread = on_thread
        self.journal = Journal(self.records, self._show_events)
        self.runs = Runs(self.records, self.journal, self._tell)

    def serve(self, graphs: Iterable[ServedGraph]) -> None:
        """Add graphs. A second one of a name gets a number."""
        for served in graphs:
            name, number = served.id, 2
            while served.id in self.graphs:
                served.id = f"{name}_{number}"
                number += 1
            self.graphs[served.id] = served

    def close(self) -> None:
        """End the runs in flight and store what waits."""
        self.runs.close()
        self.journal.close()
        self.records.close()

    def _show_events(self, thread_id: str, rows: list[EventRow]) -> None:
        if self.on_events:
            self.on_events(thread_id, rows)

    def _tell(self, thread_id: str) -> None:
        """Tell every page how a thread stands now."""
        row = self.records.thread(thread_id)
        if row is not None and self.on_thread:
            self.on_thread(row, False)

    # -- graphs --------------------------------------------------------------------------------------------------------

    def graph(self, graph_id: str) -> ServedGraph:
        """A served graph, by its id or its assistant id. Raises DebuggerError (404)."""
        if graph_id in self.graphs:
            return self.graphs[graph_id]
        for served in self.graphs.values():
            if assistant_id(served.id) == graph_id:
                return served
        raise unknown_graph(graph_id, list(self.graphs))

    def graph_of(self, thread_id: str) -> ServedGraph:
        """The graph that a thread belongs to. Raises DebuggerError (404)."""
        return self.graph(self.thread(thread_id).graph_id)

    # -- threads -------------------------------------------------------------------------------------------------------

    def thread(self, thread_id: str) -> ThreadRow:
        """A thread. Raises DebuggerError (404)."""
        row = self.records.thread(thread_id)
        if row is None:
            raise unknown_thread(thread_id)
        return row

    def create_thread(
        self, graph_id: str, metadata: dict[str, Any], *, thread_id: str | None = None, if_exists: str = "raise"
    ) -> ThreadRow:
        """A new thread. Raises DebuggerError: an id that is taken (409), an unknown graph (404)."""
        thread_id = thread_id or str(uuid.uuid4())
        found = self.records.thread(thread_id)
        if found is not None:
            if if_exists == "do_nothing":
                return found
            raise DebuggerError(
                "thread_exists",
                f"There is a thread '{thread_id}' already.",
                "Leave the id out, or say if_exists: do_nothing.",
                status=409,
            )
        served = self.graph(graph_id)
        notes = {**metadata, "graph_id": served.id, "assistant_id": assistant_id(served.id)}
        row = self.records.add_thread(thread_id, served.id, notes)
        if self.on_thread:
            self.on_thread(row, False)
        return row

    def delete_thread(self, thread_id: str) -> None:
        """Remove a thread with everything that is stored of it. Raises DebuggerError: it runs (409), or is not there."""
        row = self.thread(thread_id)
        if self.runs.busy(thread_id):
            raise DebuggerError("thread_busy", f"Thread '{thread_id}' is running.", "Cancel its run first.", status=409)
        self.saver.delete_thread(thread_id)
        self.journal.forget(thread_id)
        self.records.delete_thread(thread_id)
        if self.on_thread:
            self.on_thread(row, True)

    # -- edits ---------------------------------------------------------------------------------------------------------

    def edit(self, thread_id: str, request: StateEditRequest) -> dict[str, Any]:
        """Make an edit; it is journalled. Returns the new checkpoint's config."""
        if self.runs.busy(thread_id):
            raise DebuggerError(
                "thread_busy",
                f"Thread '{thread_id}' is running: an edit now could be lost.",
                "Wait for the run, or cancel it, and edit then.",
                status=409,
            )
        served = self.graph_of(thread_id)
        place = place_of(thread_id, request)
        config = Editor(served).edit(place, request)
        keys = ", ".join(request.values or {}) or "nothing"
        made = config["configurable"]["checkpoint_id"]
        payload = {
            "node": request.as_node,
            "checkpoint_id": made,
            "phase": "saved",
            "summary": f"edit as {request.as_node or 'the node that wrote last'}: {keys}",
            "parent_id": place.checkpoint_id,
            "ns": place.ns,
        }
        self.journal.put(Item(thread_id, None, "edit", tuple(place.ns.split("|")) if place.ns else (), payload))
        found = Inspector(served).snapshot(thread_id)
        self.records.change_thread(thread_id, status="interrupted" if found.next else "idle")
        self._tell(thread_id)
        return config

    # -- runs ----------------------------------------------------------------------------------------------------------

    def run(self, thread_id: str, request: RunRequest) -> LiveRun:
        """Start a run.

        Raises:
            DebuggerError: unknown thread, graph, checkpoint or node; a thread that is busy.
        """
        served = self.graph(request.assistant_id)
        if request.multitask_strategy != "reject":
            raise DebuggerError(
                "unsupported",
                f"multitask_strategy '{request.multitask_strategy}' is not supported: a busy thread refuses a second run.",
                "Leave it out, and cancel the run that is on where that is wanted.",
                status=422,
            )
        if self.records.thread(thread_id) is None:
            if request.if_not_exists != "create":
                raise unknown_thread(thread_id)
            self.create_thread(served.id, {}, thread_id=thread_id)
        owner = self.graph_of(thread_id)
        if owner.id != served.id:
            raise DebuggerError(
                "wrong_graph",
                f"Thread '{thread_id}' belongs to graph '{owner.id}', not to '{served.id}'.",
                f"Run it with assistant_id '{owner.id}', or make a thread for '{served.id}'.",
                status=409,
            )
        plan = self._plan(served, thread_id, request)
        return self.runs.start(
            served, thread_id, plan, metadata=request.metadata or {}, strategy=request.multitask_strategy
        )

    def _plan(self, served: ServedGraph, thread_id: str, request: RunRequest) -> RunPlan:
        ref = request.checkpoint
        ns = ref.checkpoint_ns if ref else ""
        checkpoint_id = request.checkpoint_id or (ref.checkpoint_id if ref else None)
        inspector = Inspector(served)
        inspector.require(thread_id, ns, checkpoint_id)
        for name in _names(request.interrupt_before) + _names(request.interrupt_after):
            if name not in served.nodes:
                raise DebuggerError(
                    "unknown_node",
                    f"A breakpoint names '{name}', which is no node of graph '{served.id}'.",
                    f"Its nodes are: {', '.join(served.nodes)}.",
                )
        config = _run_config(thread_id, request)
        value: Any = request.input
        if request.command is not None:
            value = self._command(served, request.command, thread_id, checkpoint_id)
            checkpoint_id = self._answer_place(served, thread_id, ns, checkpoint_id, request.command)
        elif value is None and inspector.head(thread_id) is None:
            raise DebuggerError(
                "no_input",
                f"Thread '{thread_id}' has not run yet, so there is nothing to go on with.",
                "Give an input; {} is one.",
            )
        place = config_of(thread_id, ns, checkpoint_id)["configurable"]
        if ns:  # a place inside a subgraph is named together with where the graphs above stood
            place = inspector.snapshot(thread_id, ns, checkpoint_id).config["configurable"]
        config["configurable"].update(place)
        if not ns:
            config["configurable"].pop("checkpoint_ns", None)
        return RunPlan(
            input=value,
            config=config,
            until=request.until,
            after_edit=request.after_edit,
            interrupt_before=request.interrupt_before,
            interrupt_after=request.interrupt_after,
            context=request.context,
            durability=request.durability or "sync",
        )

    def _command(self, served: ServedGraph, body: CommandBody, thread_id: str, checkpoint_id: str | None) -> Any:
        fields: dict[str, Any] = {}
        if "resume" in body.model_fields_set:
            fields["resume"] = body.resume
            if body.resume is None and served.kind.name == "langgraph":
                fields["resume"] = self._null_answer(served, thread_id, checkpoint_id)
        if body.update is not None:
            fields["update"] = body.update
        if body.goto is not None:
            fields["goto"] = body.goto
        return served.kind.command(**fields)

    def _null_answer(self, served: ServedGraph, thread_id: str, checkpoint_id: str | None) -> dict[str, None]:
        """To LangGraph, `resume=None` is no answer at all; by the question's id it is one."""
        inspector = Inspector(served)
        if checkpoint_id in (None, inspector.head(thread_id)):
            asked = inspector.snapshot(thread_id).interrupts
            if len(asked) == 1:
                return {asked[0].id: None}
        raise DebuggerError(
            "null_answer",
            "LangGraph takes null as an answer only to the one question that waits at the thread's newest checkpoint.",
            "Give another value, or replay the pause first and answer then.",
        )

    def _answer_place(
        self, served: ServedGraph, thread_id: str, ns: str, checkpoint_id: str | None, body: CommandBody
    ) -> str | None:
        """Where an answer is given. LangGraph gives an older pause the answer that it stored first, so there the pause is
        copied, and the copy is answered."""
        head = Inspector(served).head(thread_id, ns)
        if checkpoint_id is None or checkpoint_id == head or "resume" not in body.model_fields_set:
            return None if checkpoint_id == head else checkpoint_id
        if served.kind.name != "langgraph":
            return checkpoint_id
        served.graph.update_state(config_of(thread_id, ns, checkpoint_id), None, as_node="__copy__")
        return None


def _run_config(thread_id: str, request: RunRequest) -> dict[str, Any]:
    config = dict(request.config or {})
    given = {k: v for k, v in config.get("configurable", {}).items() if k not in ("thread_id", "checkpoint_id")}
    config["configurable"] = {**given, "thread_id": thread_id}
    return config


def _names(names: list[str] | str | None) -> list[str]:
    return [] if names is None or names == "*" else list(names)


def assistant_id(graph_id: str) -> str:
    """The id of the assistant that is made for a graph."""
    return str(uuid.uuid5(_NAMESPACE, graph_id))
