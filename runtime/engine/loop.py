"""The super-step loop: plan, execute, update, until nothing is left to run.

The idea: the loop is a generator. It yields effects (store this, start these tasks, emit that) and receives replies, and
knows neither threads nor asyncio; `drivers.py` performs the effects in either world, and tests script them. The price is
that every step with an effect is a `yield from`; the gain is one loop instead of two.

Within a super-step the order is fixed, since people read streams by it: plan; the checkpoint; starts of tasks; as each
task ends, its writes are stored and then shown; when all have ended, the new values and the next checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from runtime.constants import ERROR, INTERRUPT, NO_WRITES, RESUME, RETURN
from runtime.context import ExecutionContext
from runtime.engine.apply import order_of
from runtime.engine.calls import TaskCall, called_task
from runtime.engine.effects import CacheGet, CachePut, NextDone, Start, Tell
from runtime.engine.entry import enter
from runtime.engine.execute import Program, for_parent, program, state_after, written_channels
from runtime.engine.model import Drained, Failed, Finished, Jumped, Outcome, Paused, RunOutcome, Task, Write
from runtime.engine.plan import cache_key, handler_task
from runtime.engine.session import Effects, Session, recall
from runtime.errors import GraphDrained, GraphInterrupt, GraphRecursionError, InvalidUpdateError
from runtime.runtime import RunControl
from runtime.stream.payloads import interrupt_update, task_result, task_start, update_chunk
from runtime.types import Command, Interrupt

MakeContext = Callable[[Session, Task], ExecutionContext]
"""Builds what a task knows; the graph layer has it, since it knows configs and callbacks."""


class Loop:
    """One run of a compiled graph."""

    def __init__(
        self,
        session: Session,
        make_context: MakeContext,
        state_of: Callable[[Session, Task], Any],
        control: RunControl | None = None,
    ) -> None:
        self.session = session
        self.trace: Any = None
        """The GraphTrace of the run, where callback handlers listen."""
        self._make_context = make_context
        self._state_of = state_of
        self._control = control
        self._tasks: list[Task] = []
        self._calls: dict[str, tuple[Task, TaskCall]] = {}
        """Tasks that tasks called and that are running, by id."""
        self._paused: list[Interrupt] = []
        self._failure: tuple[Task, BaseException] | None = None
        self._jump: Command[Any] | None = None
        self._drained: GraphDrained | None = None
        self._status = "pending"
        """Why it stopped: `pending` at a question, else the kind of breakpoint."""
        self._unheard = self.trace is None and not session.options.modes
        """Nobody sees a task's end before its step's."""
        self._stopped = False
        """At a question or a breakpoint, here or in a graph below."""
        self._advanced = True
        """The writes of the last step's tasks are in the channels."""

    def run(self) -> Effects:
        """The whole run. Returns a RunOutcome; raises what a task raised, or GraphInterrupt when nested."""
        trace = self.trace
        if trace is None:
            return (yield from self._run())
        value = self.session.options.input
        yield Tell(lambda: trace.begin(value))
        try:
            outcome = yield from self._run()
        except Exception as error:
            failure = error  # `error` is gone when the handlers are called
            yield Tell(lambda: trace.fail(failure))
            raise
        yield Tell(lambda: trace.finish(outcome.values))
        return outcome

    def _run(self) -> Effects:
        session = self.session
        yield from enter(session)
        if self.trace is not None and session.continuing:
            yield Tell(lambda: self.trace.resumed(session.checkpoint["id"], session.ns_path))
        try:
            yield from self._steps()
        finally:
            if session.held or session.late is not None:
                yield from session.flush()
        if self._stopped:
            if session.parent is not None:
                raise GraphInterrupt(self._paused)
            if self.trace is not None:
                paused = tuple(self._paused)
                yield Tell(lambda: self.trace.interrupted(self._status, session.checkpoint["id"], paused))
        return RunOutcome(self._final_values(), tuple(self._paused))

    def _steps(self) -> Effects:
        session = self.session
        options = session.options
        first = True
        before: Sequence[Task] = ()
        while True:
            tasks = session.plan()
            if session.wants_checkpoints:
                yield from session.emit_checkpoint(
                    [t for t in tasks if t.shown], lambda task: self._state_of(session, task)
                )
            if session.again:
                tasks = session.plan_again()
            if options.interrupt_after and _hits(options.interrupt_after, before):
                self._status = "interrupt_after"
                yield from self._stop()
                return
            if session.step > session.stop:
                raise GraphRecursionError(
                    f"Recursion limit of {options.config['recursion_limit']} reached without hitting a stop "
                    f"condition. Raise it by the config key 'recursion_limit', or end the loop with a route to END."
                )
            if not tasks:
                return
            if self._control is not None and self._control.drain_requested:
                raise GraphDrained(self._control.drain_reason or "shutdown")
            announced = first and session.continuing
            if options.interrupt_before and not announced and _hits(options.interrupt_before, tasks):
                self._status = "interrupt_before"
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

    def _execute(self, tasks: list[Task]) -> Effects:
        session = self.session
        if session.wants_tasks:
            for task in tasks:
                if not task.node.hidden:
                    yield from self._emit_start(task)
        if session.use_cache:
            yield from self._remember([task for task in tasks if task.writes is None and task.node.cache is not None])
        to_run = yield from self._sort_out(tasks)
        if not to_run:
            return
        if session.tap is not None and session.wants("messages"):
            for task in to_run:
                session.tap.note_input(task.input)
        yield Start(to_run, self._program)
        while (done := (yield NextDone())) is not None:
            if isinstance(done, TaskCall):
                yield from self._on_call(done)
            else:
                yield from self._on_done(*done)

    def _sort_out(self, tasks: Sequence[Task]) -> Effects:
        """Show what needs no running: tasks that ended before, or that wait for an answer. Returns the others."""
        session = self.session
        to_run = []
        for task in tasks:
            if task.writes is not None:
                if not task.node.hidden and task.error is None and session.wants_updates:
                    yield from session.emit("updates", self._update(task, cached=True))
            elif self._waits(task):
                yield from self._on_paused(task, task.interrupts, stored=True)
            elif task.node.hidden and not task.node.branches:
                yield from self._on_done(task, _start_outcome(task))
            else:
                to_run.append(task)
        return to_run

    def _emit_start(self, task: Task) -> Effects:
        session = self.session
        start = task_start(task, session.options.notes, session.options.config.get("tags") or ())
        yield from session.emit_task("task", start, session.step)

    def _remember(self, tasks: Sequence[Task]) -> Effects:
        """Fill in the results that the cache knows."""
        keys = {}
        for task in tasks:
            try:
                keys[task.id] = cache_key(task)
            except Exception as error:  # noqa: BLE001 - the author's key function may raise anything
                task.invalid = error
        if not keys:
            return
        known = yield CacheGet(tuple(keys.values()))
        for task in tasks:
            writes = known.get(keys.get(task.id))
            if writes is not None:
                task.writes = [(name, value) for name, value in writes]
                task.cached = True
                yield from self.session.put_writes(task.id, task.writes or [(NO_WRITES, None)], task.path)

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
        session = self.session

        def fresh(writes: list[Write]) -> Mapping[str, Any]:
            values = session.reader.read(session.spec.branch_keys, session.step, session.stop)
            for name, channel in written_channels(session.channels, writes).items():
                if name in session.spec.branch_keys and channel.is_available():
                    values[name] = channel.get()
            return values

        return program(session.spec, task, self._make_context(session, task), fresh)

    def _on_call(self, call: TaskCall) -> Effects:
        """A task calls a task: give it the stored or remembered result, or run it."""
        session = self.session
        task = called_task(call, session.checkpoint["id"], session.step, session.ns)
        recall(task, session.pending.get(task.id, ()))
        task.resuming = session.resuming
        if task.writes is None and task.node.cache is not None and session.use_cache:
            yield from self._remember([task])
            if task.cached and session.wants_updates:
                yield from session.emit("updates", self._update(task, cached=True))
        if session.wants_tasks:
            yield from self._emit_start(task)
        if not call.future.set_running_or_notify_cancel():
            return
        if task.writes is not None:
            call.future.set_result(task.writes[0][1])
            return
        self._calls[task.id] = (task, call)
        yield Start([task], self._program)

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
            case Drained(reason):
                self._drained = reason
        if task.caller is not None:
            self._answer_caller(task, outcome)

    def _answer_caller(self, task: Task, outcome: Outcome) -> None:
        """Only now, as the result is stored, does the calling task go on."""
        _, call = self._calls.pop(task.id)
        match outcome:
            case Finished(writes):
                call.future.set_result(writes[0][1])
            case Paused(interrupts):
                call.future.set_exception(GraphInterrupt(interrupts))
            case Failed(error):
                call.future.set_exception(error)
            case Drained(reason):
                call.future.set_exception(reason)
            case Jumped(command):
                call.future.set_exception(for_parent(command))

    def _on_finished(self, task: Task, writes: list[Any]) -> Effects:
        session = self.session
        task.writes = writes
        if session.saver is not None:
            late = self._unheard and len(self._tasks) == 1 and task.caller is None
            yield from session.put_writes(task.id, writes or [(NO_WRITES, None)], task.path, late=late)
        if task.node.hidden:
            return
        if task.node.cache is not None and session.use_cache:
            yield CachePut(cache_key(task), writes, task.node.cache.ttl)
        if session.tap is not None and session.wants("messages"):
            written = {name: value for name, value in writes if name in session.options.output_keys}
            for item in session.tap.returned(written, self._make_context(session, task).config["metadata"]):
                yield from session.emit("messages", item)
        if session.wants_updates:
            yield from session.emit("updates", self._update(task, cached=False))
        yield from self._emit_result(task)

    def _update(self, task: Task, *, cached: bool) -> dict[str, Any]:
        session = self.session
        if task.caller is not None:
            return update_chunk(task, (RETURN,), cached=cached, root=RETURN)
        return update_chunk(task, session.options.output_keys, cached=cached, root=session.spec.root)

    def _on_paused(self, task: Task, interrupts: tuple[Interrupt, ...], *, stored: bool) -> Effects:
        session = self.session
        self._stopped = True
        if not interrupts:  # a breakpoint in a graph below
            return
        asked = {i.id for i in self._paused}
        news = tuple(i for i in interrupts if i.id not in asked)  # a called task's question is its caller's too
        self._paused.extend(news)
        if not stored:
            notes: list[Any] = [(INTERRUPT, list(interrupts))]
            if task.answered:
                notes.append((RESUME, list(task.answered.items())))
            yield from session.put_writes(task.id, notes, task.path)
        if news:
            yield from self._announce(news)
        if task.caller is None:  # who called the task is paused as well, and its result says so
            yield from self._emit_result(task, interrupts=interrupts)

    def _on_failed(self, task: Task, error: BaseException) -> Effects:
        session = self.session
        handler = task.node.handler if isinstance(error, Exception) else None
        if task.caller is not None:
            error.add_note(f"During task with name '{task.name}' and id '{task.id}'")
        elif handler is None and self._failure is None:
            self._failure = (task, error)
        notes: list[Any] = [(ERROR, repr(error))]
        if task.answered:
            notes.append((RESUME, list(task.answered.items())))
        yield from session.put_writes(task.id, notes, task.path)
        yield from self._emit_result(task, error=repr(error))
        if handler is not None:
            task.error = error
            task.writes = []
            handling = handler_task(task, error, session.checkpoint["id"], session.ns, session.handler_input(task))
            self._tasks.append(handling)
            yield Start([handling], self._program)

    def _emit_result(self, task: Task, *, error: str | None = None, interrupts: Sequence[Interrupt] = ()) -> Effects:
        session = self.session
        if session.wants_tasks and not task.node.hidden:
            keys = (RETURN,) if task.caller is not None else session.spec.stream_keys
            payload = task_result(task, keys, error=error, interrupts=interrupts)
            yield from session.emit_task("task_result", payload, session.step)

    def _announce(self, interrupts: tuple[Interrupt, ...]) -> Effects:
        """A pause, in the modes updates and values; a breakpoint has no questions."""
        session = self.session
        yield from session.emit("updates", interrupt_update(tuple(interrupts)))
        if session.wants_values:
            if interrupts:
                state = session.values() if session.spec.root is None else {}
                yield from session.emit("values", {**state, INTERRUPT: tuple(interrupts)})
            elif not session.wants_updates:
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
        if self._drained is not None:
            raise self._drained
        if not self._stopped:
            return True
        session = self.session
        if session.parent is None and session.wants_values and self._wrote_output(tasks):
            yield from session.emit("values", self._final_values())
        if not self._paused and session.parent is None:
            yield from self._announce(())
        return False

    def _advance(self, tasks: Sequence[Task]) -> Effects:
        session = self.session
        session.apply(tasks)
        self._advanced = True
        if session.parent is None:
            session.bare.clear()  # an answer is for a question of the step that the run began with
        if session.wants_values and self._wrote_output(tasks):
            yield from session.emit("values", session.values())
        writers = [task.name for task in tasks if not task.node.hidden] if session.saver is not None else ()
        yield from session.put_checkpoint("loop", writers=writers)

    def _wrote_output(self, tasks: Sequence[Task]) -> bool:
        keys = self.session.options.output_keys
        return any(name in keys for task in tasks for name, _ in task.writes or ())

    def _final_values(self) -> Any:
        """The state; at a pause, with what the finished tasks of the step have written."""
        session = self.session
        if self._advanced:
            return session.values()
        ordered = sorted(self._tasks, key=lambda task: order_of(task.path))
        writes = [write for task in ordered for write in task.writes or ()]
        return state_after(session.channels, lambda channels: session.values(channels=channels))(writes)


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
