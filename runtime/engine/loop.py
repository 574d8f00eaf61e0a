"""The super-step loop: plan, execute, update, until nothing is left to run.

The idea: the loop is a generator. It yields effects (store this, start these tasks, emit that) and receives replies, and
knows neither threads nor asyncio; `drivers.py` performs the effects in either world, and tests script them. The price is
that every step with an effect is a `yield from`; the gain is one loop instead of two.

Within a super-step the order is fixed, since people read streams by it: plan; the checkpoint; starts of tasks; as each
task ends, its writes are stored and then shown; when all have ended, the new values and the next checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from runtime.constants import ERROR, INTERRUPT, NO_WRITES, RESUME
from runtime.context import ExecutionContext
from runtime.engine.apply import TaskWrites, order_of
from runtime.engine.effects import NextDone, Start
from runtime.engine.entry import enter
from runtime.engine.execute import Program, for_parent, program, state_after
from runtime.engine.model import Channels, Failed, Finished, Jumped, Outcome, Paused, RunOutcome, Task
from runtime.engine.plan import read_values
from runtime.engine.session import Effects, Session
from runtime.errors import GraphInterrupt, GraphRecursionError, InvalidUpdateError
from runtime.stream.payloads import interrupt_update, task_result, task_start, update_chunk
from runtime.types import Command, Interrupt

MakeContext = Callable[[Session, Task], ExecutionContext]
"""Builds what a task knows; the graph layer has it, since it knows configs and callbacks."""


class Loop:
    """One run of a compiled graph."""

    def __init__(self, session: Session, make_context: MakeContext, state_of: Callable[[Session, Task], Any]) -> None:
        self.session = session
        self._make_context = make_context
        self._state_of = state_of
        self._fresh = state_after(session.channels, self._read_state)
        self._tasks: Sequence[Task] = ()
        self._paused: list[Interrupt] = []
        self._failure: tuple[Task, BaseException] | None = None
        self._jump: Command[Any] | None = None
        self._stopped = False
        """At a question or a breakpoint, here or in a graph below."""
        self._advanced = True
        """The writes of the last step's tasks are in the channels."""

    def run(self) -> Effects:
        """The whole run. Returns a RunOutcome; raises what a task raised, or GraphInterrupt when nested."""
        session = self.session
        yield from enter(session)
        try:
            yield from self._steps()
        finally:
            if session.held:
                yield from session.flush()
        if self._stopped and session.parent is not None:
            raise GraphInterrupt(self._paused)
        return RunOutcome(self._final_values(), tuple(self._paused))

    def _steps(self) -> Effects:
        session = self.session
        first = True
        before: Sequence[Task] = ()
        while True:
            tasks = session.plan()
            yield from session.emit_checkpoint(tasks, lambda task: self._state_of(session, task))
            if _hits(session.options.interrupt_after, before):
                yield from self._stop()
                return
            if session.step > session.stop:
                raise GraphRecursionError(
                    f"Recursion limit of {session.options.config['recursion_limit']} reached without hitting a stop "
                    f"condition. Raise it by the config key 'recursion_limit', or end the loop with a route to END."
                )
            if not tasks:
                return
            if not (first and session.continuing) and _hits(session.options.interrupt_before, tasks):
                yield from self._stop()
                return
            first = False
            self._tasks = tasks
            self._advanced = False
            yield from self._execute(tasks)
            if not (yield from self._settle(tasks)):
                return
            yield from self._advance(tasks)
            before = tasks

    def _stop(self) -> Effects:
        """A breakpoint: the outermost graph says so, those below pause the task that called them."""
        self._stopped = True
        if self.session.parent is None:
            yield from self._announce(())

    # -- execute -------------------------------------------------------------------------------------------------------

    def _execute(self, tasks: Sequence[Task]) -> Effects:
        session = self.session
        tags = session.options.config.get("tags") or ()
        for task in tasks:
            if not task.node.hidden and session.wants("tasks", "debug"):
                start = task_start(task, session.options.notes, tags)
                yield from session.emit_task("task", start, session.step)
        for task in tasks:
            if task.writes is not None and not task.node.hidden and session.wants("updates"):
                yield from session.emit("updates", update_chunk(task, session.options.output_keys, cached=True))
        to_run = []
        for task in tasks:
            if task.writes is not None:
                continue
            if self._waits(task):
                yield from self._on_paused(task, task.interrupts, stored=True)
            elif task.node.hidden and not task.node.branches:
                yield from self._on_done(task, _start_outcome(task))
            else:
                to_run.append(task)
        if to_run:
            yield from self._run_all(to_run)

    def _run_all(self, tasks: list[Task]) -> Effects:
        session = self.session
        if session.tap is not None:
            for task in tasks:
                session.tap.note_input(task.input)
        self._fresh = state_after(session.channels, self._read_state)
        yield Start(tasks, self._program)
        while (done := (yield NextDone())) is not None:
            yield from self._on_done(*done)

    def _waits(self, task: Task) -> bool:
        """Whether this run brought answers, and none for this task: it is not asked again."""
        session = self.session
        return bool(
            session.answering
            and task.interrupts
            and not session.bare
            and session.answers.keys().isdisjoint(i.id for i in task.interrupts)
        )

    def _program(self, task: Task) -> Program:
        return program(self.session.spec, task, self._make_context(self.session, task), self._fresh)

    def _read_state(self, channels: Any) -> dict[str, Any]:
        session = self.session
        return read_values(session.spec, channels, session.spec.branch_keys, session.step, session.stop)

    def _on_done(self, task: Task, outcome: Outcome) -> Effects:
        match outcome:
            case Finished(writes):
                yield from self._on_finished(task, writes)
            case Paused(interrupts):
                yield from self._on_paused(task, interrupts, stored=False)
            case Jumped(command) if self.session.parent is not None:
                self._jump = command
            case Jumped(_):
                error = InvalidUpdateError(
                    f"Node '{task.name}' returned Command(graph=Command.PARENT), but there is no parent graph: "
                    f"'{self.session.spec.name}' was not called by another graph. Leave out graph=..."
                )
                yield from self._on_failed(task, error)
            case Failed(error):
                yield from self._on_failed(task, error)

    def _on_finished(self, task: Task, writes: list[Any]) -> Effects:
        session = self.session
        task.writes = writes
        yield from session.put_writes(task.id, writes or [(NO_WRITES, None)], task.path)
        if task.node.hidden:
            return
        if session.tap is not None and session.wants("messages"):
            written = {name: value for name, value in writes if name in session.options.output_keys}
            for item in session.tap.returned(written, self._make_context(session, task).config["metadata"]):
                yield from session.emit("messages", item)
        if session.wants("updates"):
            yield from session.emit("updates", update_chunk(task, session.options.output_keys, cached=False))
        yield from self._emit_result(task)

    def _on_paused(self, task: Task, interrupts: tuple[Interrupt, ...], *, stored: bool) -> Effects:
        session = self.session
        self._stopped = True
        if not interrupts:  # a breakpoint in a graph below
            return
        self._paused.extend(interrupts)
        if not stored:
            notes: list[Any] = [(INTERRUPT, list(interrupts))]
            if task.answered:
                notes.append((RESUME, list(task.answered.items())))
            yield from session.put_writes(task.id, notes, task.path)
        yield from self._announce(interrupts)
        yield from self._emit_result(task, interrupts=interrupts)

    def _on_failed(self, task: Task, error: BaseException) -> Effects:
        if self._failure is None:
            self._failure = (task, error)
        notes: list[Any] = [(ERROR, repr(error))]
        if task.answered:
            notes.append((RESUME, list(task.answered.items())))
        yield from self.session.put_writes(task.id, notes, task.path)
        yield from self._emit_result(task, error=repr(error))

    def _emit_result(self, task: Task, *, error: str | None = None, interrupts: Sequence[Interrupt] = ()) -> Effects:
        session = self.session
        if not task.node.hidden and session.wants("tasks", "debug"):
            payload = task_result(task, session.spec.stream_keys, error=error, interrupts=interrupts)
            yield from session.emit_task("task_result", payload, session.step)

    def _announce(self, interrupts: tuple[Interrupt, ...]) -> Effects:
        """A pause, in the modes updates and values; a breakpoint has no questions."""
        session = self.session
        yield from session.emit("updates", interrupt_update(tuple(interrupts)))
        if session.wants("values"):
            if interrupts:
                yield from session.emit("values", {**_as_dict(session.values()), INTERRUPT: tuple(interrupts)})
            elif not session.wants("updates"):
                yield from session.emit("values", {INTERRUPT: ()})

    # -- settle and update ---------------------------------------------------------------------------------------------

    def _settle(self, tasks: Sequence[Task]) -> Effects:
        """After the last task of a step: True when the step can be applied."""
        if self._failure is not None:
            task, error = self._failure
            error.add_note(f"During task with name '{task.name}' and id '{task.id}'")
            raise error
        if self._jump is not None:
            raise for_parent(self._jump)
        if not self._stopped:
            return True
        session = self.session
        if session.parent is None and session.wants("values") and self._wrote_output(tasks):
            yield from session.emit("values", self._final_values())
        if not self._paused and session.parent is None:
            yield from self._announce(())
        return False

    def _advance(self, tasks: Sequence[Task]) -> Effects:
        session = self.session
        session.apply([TaskWrites(task.name, task.path, task.writes or (), task.triggers) for task in tasks])
        self._advanced = True
        if session.parent is None:
            session.bare.clear()  # an answer is for a question of the step that the run began with
        if session.wants("values") and self._wrote_output(tasks):
            yield from session.emit("values", session.values())
        writers = [task.name for task in tasks if not task.node.hidden]
        yield from session.put_checkpoint("loop", writers=writers)

    def _wrote_output(self, tasks: Sequence[Task]) -> bool:
        keys = self.session.options.output_keys
        return any(name in keys for task in tasks for name, _ in task.writes or ())

    def _final_values(self) -> dict[str, Any]:
        """The state; at a pause, with what the finished tasks of the step have written."""
        session = self.session
        if self._advanced:
            return session.values()
        ordered = sorted(self._tasks, key=lambda task: order_of(task.path))
        writes = [write for task in ordered for write in task.writes or ()]

        def read(channels: Channels) -> dict[str, Any]:
            return read_values(session.spec, channels, session.options.output_keys)

        return dict(state_after(session.channels, read)(writes))


def _start_outcome(task: Task) -> Outcome:
    """The start node without routers only spreads the input: no user code, so no driver."""
    try:
        if task.invalid is not None:
            raise task.invalid
        return Finished([*task.node.write(task.input), *task.node.edges])
    except Exception as error:  # noqa: BLE001 - the input schema may raise anything
        return Failed(error)


def _hits(names: frozenset[str], tasks: Sequence[Task]) -> bool:
    """Whether a breakpoint names one of the tasks; '*' names all but the start."""
    if not names:
        return False
    return any(("*" in names and not task.node.hidden) or task.name in names for task in tasks)


def _as_dict(values: Any) -> dict[str, Any]:
    return dict(values)
