"""What each stream mode sends, built from the engine's values. Pure.

Shapes follow the mission's documents (chapter 11.2.2) and the released LangGraph.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from runtime.constants import INTERRUPT
from runtime.engine.model import Task, Write
from runtime.types import Interrupt


def writes_to_update(task: Task, keys: Iterable[str]) -> Any:
    """What the task wrote to state keys: a dict; a list of one dict a write where a key was written twice; None for nothing."""
    writes = [(name, value) for name, value in task.writes or () if name in keys]
    if not writes:
        return None
    names = [name for name, _ in writes]
    if len(set(names)) == len(names):
        return dict(writes)
    return [{name: value} for name, value in writes]


def writes_to_result(writes: Iterable[Write], keys: Iterable[str]) -> dict[str, Any]:
    """What a finished task wrote to state keys, as snapshots and `tasks` show it; writes to one key are listed."""
    result: dict[str, Any] = {}
    counts: dict[str, int] = {}
    for name, value in writes:
        if name not in keys:
            continue
        counts[name] = counts.get(name, 0) + 1
        if counts[name] == 1:
            result[name] = value
        elif counts[name] == 2:
            result[name] = {"$writes": [result[name], value]}
        else:
            result[name]["$writes"].append(value)
    return result


def update_chunk(task: Task, keys: Iterable[str], *, cached: bool, root: str | None = None) -> dict[str, Any]:
    """Chunk of mode `updates`. `cached`: the task had ended in an earlier run. `root`: whose bare value is the update."""
    update = writes_to_update(task, keys)
    if root is not None and isinstance(update, dict):
        update = update[root]
    chunk: dict[str, Any] = {task.name: update}
    if cached:
        chunk["__metadata__"] = {"cached": True}
    return chunk


def interrupt_update(interrupts: tuple[Interrupt, ...]) -> dict[str, Any]:
    """Chunk of mode `updates` for a pause; a breakpoint has no questions."""
    return {INTERRUPT: interrupts}


def task_start(task: Task, metadata: Mapping[str, Any], tags: Sequence[str]) -> dict[str, Any]:
    """Chunk of mode `tasks` when a task starts. `metadata`, `tags`: what the caller's config says."""
    chunk = {"id": task.id, "name": task.name, "input": task.input, "triggers": task.triggers}
    notes = {**metadata, **task.node.metadata}
    if tags:
        notes["tags"] = list(tags)
    if notes:
        chunk["metadata"] = notes
    return chunk


def task_result(
    task: Task, keys: Iterable[str], *, error: str | None = None, interrupts: Iterable[Interrupt] = ()
) -> dict[str, Any]:
    """Chunk of mode `tasks` when a task ends, fails or pauses."""
    return {
        "id": task.id,
        "name": task.name,
        "error": error,
        "result": writes_to_result(task.writes or (), keys),
        "interrupts": [interrupt_dict(i) for i in interrupts],
    }


def interrupt_dict(interrupt: Interrupt) -> dict[str, Any]:
    """An Interrupt as plain data."""
    return {"value": interrupt.value, "id": interrupt.id, "response_schema": interrupt.response_schema}


def debug_chunk(step: int, kind: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    """Chunk of mode `debug` around another mode's chunk. `kind`: checkpoint, task or task_result."""
    return {
        "step": step,
        "timestamp": datetime.now(UTC).isoformat(),
        "type": kind,
        "payload": payload,
    }
