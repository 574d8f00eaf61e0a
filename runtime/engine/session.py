"""One run's state, and the small steps on it: what the loop and its entry share.

Owns: the checkpoint in hand, channels, pending writes, and the effects that store and emit. Refuses: deciding what is next.
"""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from runtime.checkpoint.id import new_id
from runtime.constants import BRANCH_TO, ERROR, INTERRUPT, NO_WRITES, NS_SEP, NULL_TASK_ID, PUSH, RESUME
from runtime.context import ExecutionContext
from runtime.engine.apply import RESERVED, TaskWrites, Writer, apply_writes, restore_channels
from runtime.engine.effects import Effect, Emit, Head, PutCheckpoint, PutWrites
from runtime.engine.model import Channels, Checkpoint, GraphSpec, RunOptions, Task, Write
from runtime.engine.plan import Reader, handler_task, orphans, pending_sends, plan, read_values, triggered, uuid_of
from runtime.stream.payloads import debug_chunk, interrupt_dict, writes_to_result
from runtime.types import Interrupt

_LOG = logging.getLogger(__name__)

Effects = Generator[Effect, Any, Any]


def empty_checkpoint() -> Checkpoint:
    """The state of a thread that nobody has used."""
    return {
        "v": 4,
        "id": "",
        "ts": "",
        "channel_values": {},
        "channel_versions": {},
        "versions_seen": {},
        "updated_channels": None,
    }


def now() -> str:
    """This moment in UTC, ISO 8601."""
    return datetime.now(UTC).isoformat()


def task_path_text(path: tuple[Any, ...]) -> str:
    """A task's path as one sortable text, stored with its writes."""
    return ":".join(f"{part:010d}" if isinstance(part, int) else str(part) for part in path)


@dataclass(slots=True)
class Session:
    """A run in progress."""

    spec: GraphSpec
    options: RunOptions
    parent: ExecutionContext | None
    thread_id: str | None
    ns: str
    saver: Any
    next_version: Any
    tap: Any = None
    """The MessageTap of the run, where somebody listens to mode `messages`."""
    checkpoint: Checkpoint = field(default_factory=empty_checkpoint)
    channels: Channels = field(default_factory=dict)
    pending: dict[str, list[Write]] = field(default_factory=dict)
    """Stored task writes of the step in hand, by task id."""
    parent_id: str | None = None
    """Of the checkpoint before the one in hand."""
    metadata: dict[str, Any] = field(default_factory=dict)
    step: int = -1
    """Number of the next super-step."""
    stop: int = 0
    answers: dict[str, Any] = field(default_factory=dict)
    """Question id to answer."""
    bare: list[Any] = field(default_factory=list)
    """The one answer that names no question, until it is used."""
    resuming: bool = False
    """The step in hand had been started by an earlier run."""
    continuing: bool = False
    """The run goes on from a checkpoint: a breakpoint right there was announced before."""
    again: bool = False
    """A branch that was begun is played again from its start: tasks that ended run again, once their end was shown."""
    answering: bool = False
    """The run brought answers: questions without one stay as they are."""
    newest: Any = None
    """The greatest channel version, once it is known."""
    due: Sequence[str] | None = None
    """Nodes that the checkpoint in hand makes run, once that is known."""
    unsaved: set[str] = field(default_factory=set)
    """Channels that changed since a checkpoint was stored."""
    late: PutWrites | None = None
    """What the task has written whose checkpoint is stored next."""
    held: list[PutCheckpoint | PutWrites] = field(default_factory=list)
    """What `durability="exit"` has not stored yet."""

    watches: bool = False
    """The saver can tell the head, so that another run on the thread does not go unseen."""
    head: str | None = None
    """Newest checkpoint of the thread, as far as this run knows."""
    crossed: str | None = None
    """Newest checkpoint of another run that wrote to the thread since this one began."""
    line: Any = None
    """The root run's Line; None where no run is."""
    run_id: str | None = None
    unsaved_prefix: str = ""
    unsaved_count: int = 0
    """Of checkpoint ids that are not stored."""
    use_cache: bool = False
    """The graph has a cache of results."""
    reader: Reader = field(init=False)
    """Of the channels in hand."""
    wants_values: bool = field(init=False)
    wants_updates: bool = field(init=False)
    wants_tasks: bool = field(init=False)
    wants_checkpoints: bool = field(init=False)

    def __post_init__(self) -> None:
        self.wants_values = self.wants("values")
        self.wants_updates = self.wants("updates")
        self.wants_tasks = self.wants("tasks", "debug")
        self.wants_checkpoints = self.saver is not None and self.wants("checkpoints", "debug")

    def fill_channels(self, values: dict[str, Any]) -> None:
        """Channels that hold these stored values."""
        self.channels = restore_channels(self.spec, values)
        self.reader = Reader(self.spec, self.channels)

    # -- where we are ------------------------------------------------------------------------------------------------

    @property
    def ns_path(self) -> tuple[str, ...]:
        """The namespace as streams give it."""
        return tuple(self.ns.split(NS_SEP)) if self.ns else ()

    @property
    def parents(self) -> dict[str, str]:
        """Namespace to checkpoint id of the graphs above."""
        return self.parent.parents if self.parent and self.ns else {}

    def config_of(self, checkpoint_id: str | None) -> Any:
        """The config of a checkpoint of this graph on this thread."""
        configurable: dict[str, Any] = {"thread_id": self.thread_id, "checkpoint_ns": self.ns}
        if checkpoint_id is not None:
            configurable["checkpoint_id"] = checkpoint_id
            if self.ns:
                configurable["checkpoint_map"] = {**self.parents, self.ns: checkpoint_id}
        return {"configurable": configurable}

    def take(self, saved: Any) -> None:
        """Stand at a stored checkpoint."""
        self.checkpoint = dict(saved.checkpoint)
        self.metadata = dict(saved.metadata)
        if self.metadata.get("source") in ("update", "fork"):
            self.checkpoint["updated_channels"] = None  # more may wait than what the edit, or the fork, has touched
        self.parent_id = (saved.parent_config or {}).get("configurable", {}).get("checkpoint_id")
        self.step = self.metadata.get("step", -2) + 1
        self.newest = self.due = None
        self.unsaved = set()
        self.fill_channels(self.checkpoint["channel_values"])
        self.pending = {}
        for task_id, channel, value in saved.pending_writes or ():
            self.pending.setdefault(task_id, []).append((channel, value))

    # -- planning and applying -----------------------------------------------------------------------------------------

    def plan(self, *, sort: bool = True) -> list[Task]:
        """The tasks of the step in hand, each with what is stored about it."""
        tasks = plan(
            self.spec,
            self.checkpoint,
            self.channels,
            step=self.step,
            stop=self.stop,
            ns=self.ns,
            sort=sort,
            reader=self.reader,
            due=self.due,
        )
        if self.pending or self.resuming:
            for task in tuple(tasks):
                recall(task, self.pending.get(task.id, ()))
                task.resuming = self.resuming
                if task.error is not None and task.node.handler is not None:
                    self._plan_handler(tasks, task)
        return tasks

    def plan_again(self) -> list[Task]:
        """The tasks of the step in hand, as if none had ended."""
        self.again = False
        self.pending = {
            task_id: [write for write in writes if write[0] in (INTERRUPT, ERROR)]
            for task_id, writes in self.pending.items()
        }
        return self.plan()

    def _plan_handler(self, tasks: list[Task], failed: Task) -> None:
        """A node that has failed does not run again: its error handler does, or goes on."""
        handler = handler_task(
            failed, _as_error(failed.error), self.checkpoint["id"], self.ns, self.handler_input(failed)
        )
        recall(handler, self.pending.get(handler.id, ()))
        handler.resuming = self.resuming
        failed.writes = []
        tasks.append(handler)

    def handler_input(self, failed: Task) -> Any:
        """What the handler of a failed task reads: what the task was sent, else the state."""
        node = failed.node.handler
        if node is None or failed.path[0] == PUSH:
            return failed.input
        return node.coerce(read_values(self.spec, self.channels, node.keys, self.step, self.stop))

    def apply(self, tasks: Sequence[Writer]) -> None:
        """Merge writes into the channels in hand."""
        applied = apply_writes(
            self.spec,
            self.checkpoint,
            self.channels,
            tasks,
            self.next_version,
            newest=self.newest,
            own=self.saver is None,
        )
        self.newest = applied.version
        self.due = None
        self.reader.forget(applied.changed)
        self.unsaved |= applied.changed

    def apply_null_writes(self) -> None:
        """Merge what a Command given as input has written for no task."""
        writes = [write for write in self.pending.get(NULL_TASK_ID, ()) if write[0] not in RESERVED]
        if writes:
            self.apply([TaskWrites("__input__", (), writes, ())])
            self.checkpoint["updated_channels"] = None  # what waited before still waits

    def drop_orphans(self) -> None:
        """Forget that nodes which this graph does not have were waited for: a new input or an edit moves on."""
        for node in orphans(self.spec, self.checkpoint):
            key = f"{BRANCH_TO}{node}"
            for part in ("channel_values", "channel_versions"):
                self.checkpoint[part] = {name: value for name, value in self.checkpoint[part].items() if name != key}
        self.due = None

    def values(self, keys: Sequence[str] | None = None, channels: Channels | None = None) -> Any:
        """The state, as streams show it: a dict, or the bare value of a state without keys."""
        keys = self.options.output_keys if keys is None else keys
        if channels is not None:
            found = read_values(self.spec, channels, keys)
        else:
            found = self.reader.read(tuple(keys), 0, 0)
        return found if self.spec.root is None else found.get(self.spec.root)

    # -- storing -------------------------------------------------------------------------------------------------------

    def put_checkpoint(
        self,
        source: str,
        *,
        writers: Sequence[str] = (),
        parents: dict[str, str] | None = None,
        sibling: bool = False,
    ) -> Effects:
        """Make the channels in hand a new checkpoint, and stand there.

        Args:
            writers: nodes whose writes made it.
            parents: those of an edit in a subgraph, which no running graph is above.
            sibling: its parent is that of the checkpoint in hand (a copy).
        """
        parent_id = self.checkpoint["id"] if self.checkpoint["ts"] else None
        if sibling:
            parent_id = self.parent_id
        self.parent_id = parent_id
        self.pending = {}
        self.resuming = False
        if self.saver is None:
            self.count_step()
        else:
            due = self.due = triggered(self.spec, self.checkpoint, self.channels)
            self.checkpoint = {
                **self.checkpoint,
                "id": new_id(),
                "ts": now(),
                "writers": sorted(set(writers)),
                "next_nodes": [*(send.node for send in pending_sends(self.channels)), *due],
            }
            self.metadata = {
                "source": source,
                "step": self.step,
                "parents": dict(self.parents if parents is None else parents),
            }
            if self.line is not None and self.parent is None:
                self.line.advance(parent_id, self.checkpoint["id"], source)
            yield from self._store(parent_id)
            self.step += 1

    def count_step(self) -> None:
        """A super-step of a run that stores nothing is over."""
        self.checkpoint["id"] = self._next_unsaved_id()
        self.checkpoint["ts"] = "-"
        self.step += 1

    def _meet(self, effect: PutCheckpoint, found: str | None) -> None:
        """Mark what is about to be stored, if another run has moved the thread's head: neither hides the other.

        Args:
            found: the newest checkpoint of the thread.
        """
        if found != self.head and found is not None:
            if self.crossed is None:
                _LOG.warning(
                    "Thread '%s': another run has stored checkpoint %s since this run began. Both go on, each on a branch "
                    "of its own; the checkpoints are marked `concurrent` in their metadata. Await one run before the next.",
                    self.thread_id,
                    found,
                )
            self.crossed = found
        own = effect.checkpoint["id"]
        self.head = own if found is None else max(own, found)
        if self.crossed is not None:
            self.metadata["concurrent"] = effect.metadata["concurrent"] = self.crossed

    def _store(self, parent_id: str | None) -> Effects:
        versions = self.checkpoint["channel_versions"]
        changed = {name: versions[name] for name in self.unsaved if name in versions}
        effect = PutCheckpoint(
            self.config_of(parent_id), self.checkpoint, {**self.options.notes, **self.metadata}, changed
        )
        if self.watches:
            effect.meet = self._meet
        if self.options.durability == "exit":
            self._hold(effect)
        else:
            self.unsaved = set()
            effect.writes, self.late = self.late, None
            yield effect

    def _next_unsaved_id(self) -> str:
        """The id of a checkpoint that is not stored: it counts up, so that a nested run's tasks have the same ids when the
        parent resumes and runs it again, and an answer finds its question."""
        self.unsaved_count += 1
        if not self.unsaved_prefix:
            if self.parent is None:
                self.unsaved_prefix = new_id()[:24]
            else:
                above = f"{self.parent.scratchpad.task_id} {self.ns}"
                self.unsaved_prefix = uuid_of(above)[:24]
        return f"{self.unsaved_prefix}{self.unsaved_count:012x}"

    def put_writes(
        self, task_id: str, writes: Sequence[Write], path: tuple[Any, ...] = (), *, late: bool = False
    ) -> Effects:
        """Store what a task has written or asked.

        Args:
            late: the next checkpoint follows at once, and nobody sees the task's end before: both are stored as one.
        """
        if self.saver is None:
            return
        effect = PutWrites(self.config_of(self.checkpoint["id"]), writes, task_id, task_path_text(path))
        if self.options.durability == "exit":
            self.held.append(effect)
        elif late:
            self.late = effect
        else:
            yield effect

    def _hold(self, effect: PutCheckpoint) -> None:
        """Keep only the newest checkpoint, as the child of the last one that is stored."""
        first = next((held.config for held in self.held if isinstance(held, PutCheckpoint)), effect.config)
        self.held = [replace(effect, config=first)]

    def flush(self) -> Effects:
        """Store what was held back."""
        late, self.late = self.late, None
        if late is not None:
            yield late
        held, self.held = self.held, []
        last = next((effect for effect in held if isinstance(effect, PutCheckpoint)), None)
        if not self.watches or last is None:
            yield from held
            return
        before = self.head
        yield from held
        if "concurrent" not in last.metadata:  # another run may have stored its only checkpoint at the same moment
            found = yield Head(str(self.thread_id), self.ns, last.checkpoint["id"])
            self.head = before
            self._meet(last, found)
            if "concurrent" in last.metadata:
                yield replace(last, meet=None)

    # -- emitting ------------------------------------------------------------------------------------------------------

    def wants(self, *modes: str) -> bool:
        """Whether anybody listens to one of the modes."""
        return not self.options.modes.isdisjoint(modes)

    def emit(self, mode: str, payload: Any) -> Effects:
        """A stream item, if anybody listens to its mode."""
        if mode in self.options.modes:
            yield Emit(self.ns_path, mode, payload)

    def emit_task(self, kind: str, payload: Mapping[str, Any], step: int) -> Effects:
        """A tasks item, and the same for debug."""
        yield from self.emit("tasks", payload)
        if "debug" in self.options.modes:
            yield from self.emit("debug", debug_chunk(step, kind, payload))

    def emit_checkpoint(self, tasks: Sequence[Task], state_of: Any) -> Effects:
        """The checkpoint in hand, for modes checkpoints and debug."""
        payload = {
            "config": self.config_of(self.checkpoint["id"]),
            "parent_config": self.config_of(self.parent_id) if self.parent_id and not self.held else None,
            "values": self.values(self.spec.stream_keys),
            "metadata": self.metadata,
            "next": [task.name for task in tasks],
            "tasks": [self._checkpoint_task(task, state_of) for task in tasks],
        }
        yield from self.emit("checkpoints", payload)
        if "debug" in self.options.modes:
            yield from self.emit("debug", debug_chunk(self.step - 1, "checkpoint", payload))

    def _checkpoint_task(self, task: Task, state_of: Any) -> dict[str, Any]:
        shown: dict[str, Any] = {"id": task.id, "name": task.name}
        if task.error is not None:
            shown["error"] = str(task.error)
        else:
            result = writes_to_result(task.writes or (), self.spec.stream_keys)
            if result:
                shown["result"] = result
            shown["interrupts"] = tuple(interrupt_dict(i) for i in task.interrupts)
        shown["state"] = state_of(task)
        return shown


def recall(task: Task, stored: Iterable[Write]) -> None:
    """Fill in what is stored about a task: its writes if it ended, its questions, its answers, its error."""
    writes: list[Write] = []
    ended = False
    for channel, value in stored:
        if channel == INTERRUPT:
            task.interrupts = tuple(_as_interrupts(value))
        elif channel == RESUME:
            task.answered = dict(value)
        elif channel == ERROR:
            task.error = value
        else:
            ended = True
            if channel != NO_WRITES:
                writes.append((channel, value))
    if ended:
        task.writes = writes
        task.error = None


def _as_error(stored: Any) -> BaseException:
    return stored if isinstance(stored, BaseException) else RuntimeError(stored)


def _as_interrupts(value: Any) -> Iterable[Interrupt]:
    return value if isinstance(value, (list, tuple)) else (value,)
