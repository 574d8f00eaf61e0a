"""Carry a subgraph's stored state into a new branch.

A per-invocation subgraph stores its checkpoints under its task's id. A fork or an edit of the parent makes new task ids,
so what the child had reached would be lost. The functions here copy the child's checkpoint under the new id. A copied
checkpoint keeps its own id; ids of the child's tasks follow from that id alone, so the child's stored writes, questions
and grandchildren stay valid.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from runtime.constants import ERROR, INTERRUPT, RESUME
from runtime.context import interrupt_id, own_questions
from runtime.engine.effects import ListCheckpoints, ListNamespaces, Load, PutCheckpoint, PutWrites
from runtime.engine.line import Destination, asks, strip_task_ids
from runtime.engine.model import Task, Write
from runtime.engine.session import Effects, Session
from runtime.types import Interrupt


def copy_pause(session: Session, before: Task, after: Task) -> Effects:
    """Let `after` stand where `before` stood when it paused. Returns the notes to store for it.

    A task that asked waits with the same questions (its own get new ids) and the answers it had used; a task that ended
    without asking keeps its writes.
    """
    if not before.interrupts:
        return list(before.writes or ())
    own = own_questions(before.id, (i.id for i in before.interrupts))
    questions = [
        Interrupt(i.value, interrupt_id(after.id, own[i.id]), i.response_schema) if i.id in own else i
        for i in before.interrupts
    ]
    asked = {i.id for i in before.interrupts if i.id not in own}
    if asked:
        yield from carry_namespaces(session, before, after, asked)
    notes: list[Write] = [(INTERRUPT, questions)]
    if before.answered:
        notes.append((RESUME, list(before.answered.items())))
    return notes


def carry_namespaces(session: Session, before: Task, after: Task, asked: set[str]) -> Effects:
    """Copy what the graphs called by `before` had stored when they asked those questions, to `after`."""
    namespaces = yield ListNamespaces(str(session.thread_id), before.checkpoint_ns)
    for ns in sorted(namespaces, key=len):
        stored = yield ListCheckpoints({"configurable": {"thread_id": session.thread_id, "checkpoint_ns": ns}})
        pause = next((saved for saved in stored if asks(saved, asked)), stored[0] if stored else None)
        if pause is not None:
            new_ns = after.checkpoint_ns + ns[len(before.checkpoint_ns) :]
            yield from _copy(session, pause, new_ns, before, after, keep=True)


def copy_place(session: Session, before: Task, after: Task, to: Destination) -> Effects:
    """If somebody travels to a graph that `before` called, let the graphs of `after` go on from there.

    A per-thread graph has no task's id in its namespace: it is told where to go on, and passes on what is below it.
    """
    own = before.checkpoint_ns
    shared = re.compile(re.escape(strip_task_ids(own)) + r"(\|\d+)?")
    for ns, checkpoint_id in sorted(to.places.items(), key=lambda item: len(item[0])):
        if ns == own or ns.startswith(f"{own}|"):
            saved = yield Load(
                {"configurable": {"thread_id": session.thread_id, "checkpoint_ns": ns, "checkpoint_id": checkpoint_id}}
            )
            new_ns = after.checkpoint_ns + ns[len(own) :]
            yield from _copy(session, saved, new_ns, before, after, keep=to.keep and ns == to.ns)
        elif shared.fullmatch(ns):
            session.line.chosen[ns] = to


def _copy(session: Session, saved: Any, new_ns: str, before: Task, after: Task, *, keep: bool) -> Effects:
    checkpoint = saved.checkpoint
    above = {**session.parents, session.ns: session.checkpoint["id"]}
    parents = _moved(saved.metadata.get("parents", {}), before, after, above)
    metadata = {**saved.metadata, "source": "fork", "parents": parents}
    config: Any = {"configurable": {"thread_id": session.thread_id, "checkpoint_ns": new_ns}}
    yield PutCheckpoint(config, checkpoint, metadata, dict(checkpoint["channel_versions"]))
    if not keep:
        return
    at: Any = {"configurable": {**config["configurable"], "checkpoint_id": checkpoint["id"]}}
    for task_id, writes in _by_task(saved.pending_writes or ()).items():
        asked = any(channel == INTERRUPT for channel, _ in writes)
        kept = [w for w in writes if w[0] in (INTERRUPT, RESUME)] if asked else [w for w in writes if w[0] != ERROR]
        if kept:
            yield PutWrites(at, kept, task_id, "")


def _moved(parents: Mapping[str, str], before: Task, after: Task, above: Mapping[str, str]) -> dict[str, str]:
    moved = {}
    for ns, checkpoint_id in parents.items():
        if ns in above:
            moved[ns] = above[ns]
        elif ns.startswith(before.checkpoint_ns):
            moved[after.checkpoint_ns + ns[len(before.checkpoint_ns) :]] = checkpoint_id
        else:
            moved[ns] = checkpoint_id
    return moved


def _by_task(pending: Sequence[tuple[str, str, Any]]) -> dict[str, list[Write]]:
    grouped: dict[str, list[Write]] = {}
    for task_id, channel, value in pending:
        grouped.setdefault(task_id, []).append((channel, value))
    return grouped
