"""Read a thread's checkpoints from a store: headers without values, and the namespaces of subgraphs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from debugger.timeline import Header
from debugger.wire import NamespaceRef


def headers(saver: Any, thread_id: str, ns: str) -> list[Header]:
    """All checkpoints of a namespace, newest first, without reading a value."""
    return [
        Header(
            checkpoint_id=found.checkpoint_id,
            parent_id=found.parent_id,
            step=found.step,
            source=found.source,
            created_at=found.ts,
            writers=tuple(found.writers or ()),
            next=tuple(found.next or ()),
            versions=found.channel_versions,
            interrupts=found.interrupts,
            error=found.error,
            metadata=found.metadata,
        )
        for found in saver.headers(thread_id, ns)
    ]


def namespaces(saver: Any, thread_id: str) -> list[NamespaceRef]:
    """The thread's namespaces, the root first, each below the one that called it."""
    return [reference(ns, count) for ns, count in sorted(saver.namespaces(thread_id))]


def reference(ns: str, count: int) -> NamespaceRef:
    """A namespace for people."""
    parts = ns.split("|") if ns else []
    names: list[str] = []
    task_id = None
    for part in parts:
        if part.isdigit() and names:
            names[-1] += f" (call {int(part) + 1})"
            continue
        node, _, task = part.partition(":")
        names.append(node)
        task_id = task or None
    return NamespaceRef(
        ns=ns, label=" > ".join(names) or "root", node=names[-1] if names else None, task_id=task_id, count=count
    )


def children(all_namespaces: Iterable[NamespaceRef], ns: str, task_ids: Iterable[str]) -> list[NamespaceRef]:
    """The namespaces that the given tasks of a namespace opened."""
    prefix = f"{ns}|" if ns else ""
    wanted = set(task_ids)
    return [
        found
        for found in all_namespaces
        if found.ns.startswith(prefix) and found.ns != ns and _task_of(found.ns[len(prefix) :]) in wanted
    ]


def _task_of(rest: str) -> str | None:
    """The task id in the first part of a namespace, if that is the whole of it (but for a call's number)."""
    first, *more = rest.split("|")
    return first.partition(":")[2] or None if all(part.isdigit() for part in more) else None
