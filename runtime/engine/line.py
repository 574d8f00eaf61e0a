"""Which states of a per-thread graph belong to the line of checkpoints that a run of the root graph is on.

A graph compiled with `checkpointer=True` has one namespace for all turns of a thread, and so for all its branches too.
Each of its checkpoints names the root checkpoint from which it was made. It belongs to a run if that one is an ancestor
of the checkpoint the run stands at, and the ancestor's super-step was really done on this line: a fork or an edit comes
after a checkpoint without running its tasks. LangGraph goes by time, and mixes branches up once a thread has several.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator
from dataclasses import dataclass
from typing import Any

from runtime.constants import INTERRUPT, NS_END, NS_SEP, RESUME
from runtime.engine.effects import Effect, ListCheckpoints, Load

Reading = Generator[Effect, Any, Any]
_PAGE = 20


@dataclass(frozen=True, slots=True)
class Destination:
    """A checkpoint inside a subgraph, to which somebody travels."""

    inner: Any
    """The CheckpointTuple."""
    keep: bool
    """Its questions wait again."""

    @property
    def places(self) -> dict[str, str]:
        """Namespace to checkpoint id, of the graphs from below the root down to it."""
        places = {**self.inner.metadata["parents"], self.ns: self.inner.checkpoint["id"]}
        del places[""]
        return places

    @property
    def ns(self) -> str:
        """Its namespace."""
        ns: str = self.inner.config["configurable"]["checkpoint_ns"]
        return ns


class Line:
    """The ancestry of a run's root checkpoint, read as far back as somebody asks."""

    __slots__ = ("_above", "_steps", "_thread_id", "chosen", "edited")

    def __init__(self, thread_id: str | None) -> None:
        self._thread_id = thread_id
        self._steps: dict[str, bool] = {}
        """Root checkpoint id to whether the step that follows it was done on this line."""
        self._above: tuple[str, bool] | None = None
        """The oldest that is known of, not read yet."""
        self.edited: frozenset[str] = frozenset()
        """What an edit was made of, if the run began at the edit: graphs that waited there still wait."""
        self.chosen: dict[str, Destination] = {}
        """Namespaces of per-thread graphs on the way to where somebody travels; each is used once."""

    def begin(self, saved: Any) -> None:
        """Stand at a stored checkpoint."""
        self._steps = {saved.checkpoint["id"]: True}
        self._above = _before(saved)
        self.edited = edited_from(saved.metadata, self._above[0] if self._above else None)

    def advance(self, before: str | None, checkpoint_id: str, source: str) -> None:
        """The run has made a checkpoint."""
        if before is not None:
            self._steps[before] = _does_step(source)
        self._steps[checkpoint_id] = True

    def state_of(self, ns: str) -> Reading:
        """The newest checkpoint of a per-thread graph that belongs here, or None."""
        where = _at(self._thread_id, ns)
        saved = yield Load(where, to_run=True)
        while saved is not None and not (yield from self._holds(saved.metadata.get("parents", {}).get("", ""))):
            page = yield ListCheckpoints(where, before=saved.config, limit=1)
            saved = page[0] if page else None
        return saved

    def _holds(self, checkpoint_id: str) -> Reading:
        """Whether what was made from this root checkpoint is of this line."""
        while checkpoint_id not in self._steps and self._above is not None and self._above[0] >= checkpoint_id:
            above, done = self._above
            self._steps[above] = done
            saved = yield Load(_at(self._thread_id, "", above))
            self._above = _before(saved) if saved is not None else None
        if checkpoint_id in self._steps:
            return self._steps[checkpoint_id]
        # With `durability="exit"` a run stores its last checkpoint alone: the next one in time is the one it stored.
        after = min((known for known in self._steps if known > checkpoint_id), default=None)
        if after is None:
            return False
        between = yield ListCheckpoints(_at(self._thread_id, ""), before=_at(self._thread_id, "", after), limit=1)
        return not between or between[0].checkpoint["id"] < checkpoint_id


def strip_task_ids(ns: str) -> str:
    """A namespace without task ids: that of a per-thread child, and the path of node names."""
    return NS_SEP.join(part.split(NS_END)[0] for part in ns.split(NS_SEP) if not part.isdigit())


def waiting_state(where: Any, asked: Collection[str], edited: Collection[str]) -> Reading:
    """The newest checkpoint of a per-thread graph that waits for the answers which its caller waits for, or None.

    Args:
        asked: ids of questions that the calling task has stored.
        edited: root checkpoints of which an edit was made: it keeps the questions of graphs below, and does not show them.
    """

    def waits(saved: Any) -> bool:
        return asks(saved, asked) or (saved.metadata.get("parents", {}).get("") in edited and is_open(saved))

    newest = yield Load(where)
    if newest is None or waits(newest):
        return newest
    return (yield from _find(where, newest.config, waits))


def _find(where: Any, before: Any, fits: Callable[[Any], bool]) -> Reading:
    while page := (yield ListCheckpoints(where, before=before, limit=_PAGE)):
        for saved in page:
            if fits(saved):
                return saved
        before = page[-1].config
    return None


def edited_from(metadata: Any, parent_id: str | None) -> frozenset[str]:
    """The checkpoint that an edit was made of, as a set; empty for what is no edit."""
    edit = metadata.get("source") == "update" and parent_id is not None
    return frozenset((parent_id,)) if edit and parent_id else frozenset()


def asks(saved: Any, asked: Collection[str]) -> bool:
    """Whether a task of a stored checkpoint asks one of the questions."""
    return any(
        channel == INTERRUPT and any(i.id in asked for i in value) for _, channel, value in saved.pending_writes or ()
    )


def is_open(saved: Any) -> bool:
    """Whether a task of a stored checkpoint waits for an answer."""
    asking = {task_id for task_id, channel, _ in saved.pending_writes or () if channel == INTERRUPT}
    ended = {task_id for task_id, channel, _ in saved.pending_writes or () if channel not in (INTERRUPT, RESUME)}
    return bool(asking - ended)


def _at(thread_id: str | None, ns: str, checkpoint_id: str | None = None) -> Any:
    configurable = {"thread_id": thread_id, "checkpoint_ns": ns}
    if checkpoint_id is not None:
        configurable["checkpoint_id"] = checkpoint_id
    return {"configurable": configurable}


def _before(saved: Any) -> tuple[str, bool] | None:
    parent = (saved.parent_config or {}).get("configurable", {}).get("checkpoint_id")
    return (parent, _does_step(saved.metadata.get("source"))) if parent else None


def _does_step(source: Any) -> bool:
    return source not in ("fork", "update")
