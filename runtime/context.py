"""The execution context: what a running task knows about the run around it.

One typed value in a ContextVar, so that `interrupt()`, `get_config()`, stream writers and graphs called inside a node find
their way without arguments. It also rides in the task's config, for code that hops to threads of its own.
No threads, no awaits, no database.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NewType

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from runtime.checkpoint.base import BaseCheckpointSaver
    from runtime.errors import NodeError
    from runtime.runtime import Runtime
    from runtime.types import Interrupt

TaskId = NewType("TaskId", str)
CONTEXT_KEY = "__forkpoint_context"
"""Key of the context in a task's `configurable`."""
_MOST_QUESTIONS = 1000
"""Of one task, where a question is looked for by its id."""


def interrupt_id(task_id: str, index: int) -> str:
    """The id of a task's `index`-th question: the same each time that the task runs."""
    return blake2b(f"{task_id}#{index}".encode(), digest_size=16).hexdigest()


def own_questions(task_id: str, ids: Iterable[str]) -> dict[str, int]:
    """Of these question ids, those that the task itself asked (and no graph that it called), each with its index."""
    wanted = set(ids)
    found = ((interrupt_id(task_id, index), index) for index in range(_MOST_QUESTIONS if wanted else 0))
    return {key: index for key, index in found if key in wanted}


class Scratchpad:
    """What one task has asked and been told.

    Questions and answers are matched by order, since a node runs again from its start. Answers come from three places:
    those that the task already used (stored with it), the answers of this run by question id, and one bare answer for
    whoever asks first. Where a task does several things side by side, each asks on a part of its own (`split`): the first
    question of the second part has the same index whoever comes first, and an answer finds its question.
    """

    __slots__ = (
        "answered",
        "answers",
        "asked",
        "bare",
        "calls",
        "children",
        "paused",
        "stride",
        "task_id",
        "whole",
        "written",
    )

    def __init__(
        self,
        task_id: str,
        answered: dict[int | str, Any],
        answers: dict[str, Any],
        bare: list[Any],
        *,
        whole: Scratchpad | None = None,
    ) -> None:
        self.task_id = task_id
        self.answered = answered
        """Question index to used answer, and what `keep` was given; stored with the task when it pauses."""
        self.answers = answers
        self.bare = bare
        """Empty, or the one answer that names no question; shared by the whole run, so it is used once."""
        self.whole = whole
        """Of which this is a part."""
        self.asked = 0
        """Index of the next question."""
        self.children = 0
        """Index of the next graph that this task calls."""
        self.calls = 0
        """Index of the next task that this task calls."""
        self.stride = 1
        self.paused = False
        """Whether an interrupt was raised: a node that returns all the same has swallowed it."""
        self.written: list[tuple[str, Any]] | None = None
        """What `write` was given."""

    def next_answer(self) -> tuple[bool, Any]:
        """(True, answer) of the next question, or (False, the question's id) when nobody has answered it."""
        index = self.asked
        self.asked += self.stride
        if index not in self.answered:
            key = interrupt_id(self.task_id, index)
            if key in self.answers:
                self.answered[index] = self.answers[key]
            elif self.bare:
                self.answered[index] = self.bare.pop()
            else:
                self._pause()
                return False, key
        return True, self.answered[index]

    def take_back(self) -> None:
        """Forget the last answer: it does not fit, the question waits again."""
        self.answered.pop(self.asked - self.stride, None)

    def start_over(self) -> None:
        """The task's code runs again from its start: questions and calls of tasks are counted anew. Graphs are not: a
        graph that is called again begins anew, in a place of its own."""
        self.asked = self.calls = 0
        self.paused = False
        self.written = None

    def write(self, channel: str, value: Any) -> None:
        """Write to a state key from within the node's code, beside what it returns."""
        pad = self
        while pad.whole is not None:
            pad = pad.whole
        pad.written = [*(pad.written or ()), (channel, value)]

    def _pause(self) -> None:
        self.paused = True
        if self.whole is not None:
            self.whole._pause()

    def keep(self, name: str, value: Any) -> None:
        """Remember something that is done, for when the task runs again after a pause."""
        self.answered[name] = value

    def kept(self, name: str) -> Any:
        """What was kept under this name, or None."""
        return self.answered.get(name)

    def next_child(self) -> int:
        """The index of the graph that is about to be called."""
        index = self.children
        self.children += self.stride
        return index

    def next_call(self) -> int:
        """The index of the task that is about to be called."""
        index = self.calls
        self.calls += self.stride
        return index

    def split(self, count: int) -> list[Scratchpad]:
        """Parts for things that are done side by side."""
        parts = []
        for number in range(count):
            part = Scratchpad(self.task_id, self.answered, self.answers, self.bare, whole=self)
            part.asked = self.asked + number * self.stride
            part.children = self.children + number * self.stride
            part.calls = self.calls + number * self.stride
            part.stride = self.stride * count
            parts.append(part)
        return parts

    def join(self, parts: Sequence[Scratchpad]) -> None:
        """Go on behind what the parts have asked and called."""
        self.asked = max(self.asked, *(part.asked for part in parts))
        self.children = max(self.children, *(part.children for part in parts))
        self.calls = max(self.calls, *(part.calls for part in parts))


@dataclass(slots=True)
class Upstream:
    """Where a nested run's stream items go."""

    modes: frozenset[str]
    """Modes that somebody above listens to."""
    push: Callable[[tuple[str, ...], str, Any], None]
    """(namespace, mode, payload); safe from any thread."""
    tap: Any
    """Their MessageTap, if they listen to mode `messages`."""


@dataclass(slots=True, eq=False)  # one a run: freezing costs a microsecond a field
class Scope:
    """What all tasks of one run share."""

    thread_id: str | None
    saver: BaseCheckpointSaver[Any] | None
    line: Any
    """The root run's Line (see engine/line.py); None in an edit."""
    upstream: Upstream
    answering: bool
    """The run brought answers: questions without one stay as they are."""
    durability: str
    base: Mapping[str, Any]
    """What of the run's config every task's has."""
    metadata: Mapping[str, Any]
    """What of it every task's metadata shows."""
    trace: Any
    """The run's GraphTrace where callback handlers listen, else None."""
    spawn: Callable[[Any], None]
    """Start a task that a task calls (see engine/calls.py); safe from any thread."""
    saw_subgraph: Callable[[str, Any], None]
    """Told of each graph that a node calls, so that drawings and snapshots know it: (node, graph)."""
    read_state: Callable[[], dict[str, Any]]
    """The graph's state as the super-step began."""
    make_runtime: Callable[[ExecutionContext], Runtime[Any]]
    """A task's Runtime."""


@dataclass(slots=True, eq=False)
class Pulse:
    """A node's signs of life."""

    beat: Callable[[], None] = lambda: None
    """Resets the idle timeout of the try that runs."""


@dataclass(slots=True, eq=False)
class ExecutionContext:
    """What a running task knows. One is made for each task, so it is not frozen, and makes what few ask for when asked."""

    scope: Scope
    node: str
    """Name of the node."""
    config: RunnableConfig
    """The task's config, as nodes see it."""
    scratchpad: Scratchpad
    checkpoint_ns: str
    """The task's own namespace: that of a graph called in it."""
    checkpoint_id: str
    """Of the checkpoint that this task runs from."""
    parents: dict[str, str]
    """Namespace to checkpoint id, of every graph above the task's children."""
    resuming: bool
    """The task continues: a graph called in it goes on from its stored state."""
    failure: NodeError | None = None
    """What an error handler is told."""
    waiting: Sequence[Interrupt] = ()
    """Questions that the task asked when it ran before, its own and those of graphs in it."""
    attempt: int = 1
    """Number of the try, from 1."""
    began: float | None = None
    """When the first try began, in seconds since 1970; None for the first try itself."""
    pulse: Pulse | None = None
    """Where the node has an idle timeout. Copies share it."""
    made_runtime: Runtime[Any] | None = None
    """Once somebody asked for it."""

    @property
    def runtime(self) -> Runtime[Any]:
        """What nodes see as `runtime`."""
        if self.made_runtime is None:
            self.made_runtime = self.scope.make_runtime(self)
        return self.made_runtime

    def again(self, attempt: int, began: float) -> ExecutionContext:
        """The context of another try."""
        self.scratchpad.start_over()
        context = self.with_config({**self.config})
        context.attempt, context.began, context.made_runtime = attempt, began, None
        return context

    def with_config(self, config: Any) -> ExecutionContext:
        """A copy with another config, which then carries the copy."""
        context = replace(self, config=config)
        config["configurable"] = {**config["configurable"], CONTEXT_KEY: context}
        return context


_CURRENT: ContextVar[ExecutionContext | None] = ContextVar("forkpoint_context", default=None)


def set_context(context: ExecutionContext | None) -> None:
    """Make `context` the current one, for the rest of this `contextvars` context."""
    _CURRENT.set(context)


def find_context(config: RunnableConfig | None) -> ExecutionContext | None:
    """The context around a call: the one its config carries, else the current one; None at the top."""
    if config:
        carried: ExecutionContext | None = config.get("configurable", {}).get(CONTEXT_KEY)
        if carried is not None:
            return carried
    return _CURRENT.get()


def current_context() -> ExecutionContext:
    """The current context. Raises RuntimeError outside a node."""
    context = _CURRENT.get()
    if context is None:
        raise RuntimeError("Called outside of a runnable context: this works only inside a node of a running graph.")
    return context
