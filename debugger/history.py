"""Read a thread's checkpoints from a store: headers without values, and the namespaces of subgraphs."""

from __future__ import annotations

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


def opened(saver: Any, thread_id: str, ns: str) -> dict[str, list[NamespaceRef]]:
    """Checkpoint id of a namespace -> the namespaces of the graphs that were called from it.

    Each checkpoint of a subgraph names those that the graphs above stood at, so no value is read, and the line of a
    per-thread subgraph is found from every turn.
    """
    direct = {found.ns: found for found in namespaces(saver, thread_id) if _is_child(found.ns, ns)}
    if not direct:
        return {}
    by_parent: dict[str, dict[str, NamespaceRef]] = {}
    for header in saver.headers(thread_id, None):
        parent = header.metadata.get("parents", {}).get(ns)
        if parent is not None and header.checkpoint_ns in direct:
            by_parent.setdefault(parent, {})[header.checkpoint_ns] = direct[header.checkpoint_ns]
    return {parent: [found[key] for key in sorted(found)] for parent, found in by_parent.items()}


def _is_child(ns: str, parent: str) -> bool:
    """Whether a namespace lies directly below another; a call's number is no level of its own."""
    prefix = f"{parent}|" if parent else ""
    if not ns or ns == parent or not ns.startswith(prefix):
        return False
    first, *more = ns[len(prefix) :].split("|")
    return not first.isdigit() and all(part.isdigit() for part in more)
