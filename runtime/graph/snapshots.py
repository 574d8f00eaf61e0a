"""Stored checkpoints -> StateSnapshots. Generators of storage effects; nothing here runs a node.

A snapshot reads raw channel values: a state that its schema would refuse still shows, and so can be repaired.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from runtime.constants import NULL_TASK_ID
from runtime.engine.apply import TaskWrites
from runtime.engine.effects import ListCheckpoints, Load
from runtime.engine.line import edited_from, waiting_state
from runtime.engine.model import RunOptions, Task
from runtime.engine.plan import orphans
from runtime.engine.session import Effects, Session
from runtime.graph.config import own_notes
from runtime.graph.run import child_config
from runtime.stream.payloads import writes_to_result
from runtime.types import PregelTask, StateSnapshot

if TYPE_CHECKING:
    from runtime.graph.compiled import CompiledStateGraph


def open_session(graph: CompiledStateGraph, config: Mapping[str, Any], saver: Any = None) -> Session:
    """A session to look at or edit a thread with: nobody listens, nothing runs."""
    configurable = config["configurable"]
    options = RunOptions(
        config=config,  # type: ignore[arg-type]  # a plain dict with a RunnableConfig's keys
        context=None,
        input=None,
        modes=frozenset(),
        output_keys=graph.spec.stream_keys,
        interrupt_before=frozenset(),
        interrupt_after=frozenset(),
        durability="sync",
        subgraphs=False,
        notes=own_notes(config),
    )
    ns = configurable.get("checkpoint_ns", "")
    session = Session(graph.spec, options, None, str(configurable["thread_id"]), ns, saver, None)
    if saver is not None:
        session.next_version = lambda current: saver.get_next_version(current, None)
    else:
        session.next_version = lambda current: f"{current or ''}~"  # only for values that are shown and dropped
    return session


def place(config: Mapping[str, Any], *, with_id: bool = True) -> Any:
    """The part of a config that names a place in a thread."""
    configurable = config["configurable"]
    named = {"thread_id": str(configurable["thread_id"]), "checkpoint_ns": configurable.get("checkpoint_ns", "")}
    if with_id and configurable.get("checkpoint_id"):
        named["checkpoint_id"] = configurable["checkpoint_id"]
    return {"configurable": named}


def history_source(config: Mapping[str, Any]) -> Any:
    """What to list for a config's history: its thread and namespace."""
    return place(config)


def state(graph: CompiledStateGraph, config: Mapping[str, Any], subgraphs: bool) -> Effects:
    """The snapshot that a config names; an empty one for a thread that nobody has used."""
    saved = yield Load(place(config))
    if saved is None:
        asked: Any = {
            "configurable": {k: v for k, v in config["configurable"].items() if k in place(config)["configurable"]}
        }
        return StateSnapshot({}, (), asked, None, None, None, (), ())
    settle = not config["configurable"].get("checkpoint_id")
    return (yield from snapshot(graph, saved, subgraphs=subgraphs, settle=settle))


def snapshot(graph: CompiledStateGraph, saved: Any, *, subgraphs: bool, settle: bool) -> Effects:
    """The read view of a stored checkpoint.

    Args:
        settle: show what the finished tasks of the step have written, and leave them out of `next`: the view of a head.
            Older checkpoints show their values as stored, and each task's result.
    """
    session = open_session(graph, saved.config)
    session.take(saved)
    session.stop = session.step + 1
    commanded = NULL_TASK_ID in session.pending
    if settle and commanded:
        session.apply_null_writes()
    tasks = session.plan(sort=False)
    missing = orphans(graph.spec, session.checkpoint)
    if commanded and not settle:  # what a Command updated shows; where it jumped is what came after
        session.apply_null_writes()
    if settle:
        ended = [TaskWrites(task.name, task.path, task.writes, task.triggers) for task in tasks if task.writes]
        if ended:
            session.apply(ended)
    handled = {task.path[2] for task in tasks if not task.shown and task.writes is None}
    tasks = [task for task in tasks if task.shown]
    due = [task for task in tasks if not (settle and task.writes is not None) or task.id in handled]
    shown = []
    for task in tasks:
        shown.append((yield from _task(graph, session, task, subgraphs, settle)))
    return StateSnapshot(
        values=session.values(graph.spec.stream_keys),
        next=(*(task.name for task in due), *missing),
        config=_with_map(saved.config, saved.metadata),
        metadata=dict(saved.metadata),
        created_at=saved.checkpoint["ts"],
        parent_config=_with_map(saved.parent_config, saved.metadata) if saved.parent_config else None,
        tasks=(*shown, *(_missing_task(name, graph) for name in missing)),
        interrupts=tuple(interrupt for task in due for interrupt in task.interrupts),
    )


def _task(graph: CompiledStateGraph, session: Session, task: Task, subgraphs: bool, settle: bool) -> Effects:
    where = child_config(graph, session.thread_id, task)
    inner: Any = where
    if where is not None and subgraphs:
        saved = yield from _child_state(session, where, task)
        if saved is None:  # it has not begun
            inner = StateSnapshot({}, (), where, None, None, None, (), ())  # type: ignore[arg-type]  # a config
        else:
            child = graph.children(task.name)[0]
            inner = yield from snapshot(child, saved, subgraphs=True, settle=True)
    asks = () if settle and task.writes is not None else task.interrupts
    ended = task.writes is not None and task.error is None
    result = writes_to_result(task.writes or (), graph.spec.stream_keys) if ended else None
    if result is not None and graph.spec.root is not None:
        result = result.get(graph.spec.root, result)
    return PregelTask(task.id, task.name, task.path, task.error, asks, inner, result)  # type: ignore[arg-type]  # a stored error is its text


def _child_state(session: Session, where: Any, task: Task) -> Effects:
    """The stored state of a graph that a task called. A per-thread child has one line of checkpoints for all turns: the
    newest that was made from this very checkpoint counts (LangGraph shows the newest of all), or what waits with the task."""
    parents = {**session.metadata.get("parents", {}), session.ns: session.checkpoint["id"]}
    saved = yield Load(where)
    if saved is None or saved.metadata.get("parents") == parents:
        return saved
    found = yield ListCheckpoints(where, filter={"parents": parents}, limit=1)
    if found:
        return found[0]
    edited = edited_from(session.metadata, session.parent_id)
    return (yield from waiting_state(where, {i.id for i in task.interrupts}, edited))


def _missing_task(name: str, graph: CompiledStateGraph) -> PregelTask:
    reason = f"waits for `{name}`, which is not in graph '{graph.name}'"
    return PregelTask("", name, (), reason)  # type: ignore[arg-type]  # shown as text, as stored errors are


def _with_map(config: Mapping[str, Any], metadata: Mapping[str, Any]) -> Any:
    """A stored config; for a subgraph, with the checkpoints of the graphs above."""
    configurable = {k: config["configurable"][k] for k in ("thread_id", "checkpoint_ns", "checkpoint_id")}
    ns = configurable["checkpoint_ns"]
    if ns:
        configurable["checkpoint_map"] = {**metadata.get("parents", {}), ns: configurable["checkpoint_id"]}
    return {"configurable": configurable}
