"""Configs at the edge: a call's RunnableConfig -> RunOptions, and a task's ExecutionContext and config.

The string-keyed `configurable` dict is read and written here and in entry.py, and nowhere deeper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from runtime.constants import NS_END, NS_SEP
from runtime.context import CONTEXT_KEY, ExecutionContext, Scratchpad, Upstream
from runtime.engine.model import Task
from runtime.engine.plan import read_values
from runtime.engine.session import Session
from runtime.runtime import Runtime

DEFAULT_RECURSION_LIMIT = 10_007
_OWN_KEYS = frozenset(("checkpoint_id", "checkpoint_ns", "checkpoint_map", CONTEXT_KEY))
_COPIED_TO_METADATA = ("thread_id", "checkpoint_ns", "run_id", "assistant_id", "graph_id")
"""The run options that tracing and streams show: a listed set, so that no secret slips in."""


def merge_configs(*configs: Mapping[str, Any] | None) -> dict[str, Any]:
    """One config out of several, later ones winning; tags add up, metadata and configurable are merged."""
    merged: dict[str, Any] = {
        "tags": [],
        "metadata": {},
        "configurable": {},
        "recursion_limit": DEFAULT_RECURSION_LIMIT,
    }
    for config in configs:
        for key, value in (config or {}).items():
            if value is None:
                continue
            if key == "tags":
                merged["tags"] = [*merged["tags"], *(tag for tag in value if tag not in merged["tags"])]
            elif key in ("metadata", "configurable"):
                merged[key] = {**merged[key], **value}
            else:
                merged[key] = value
    limit = merged["recursion_limit"]
    if not isinstance(limit, int) or limit < 1:
        raise ValueError(f"recursion_limit must be at least 1, got {limit!r}: it counts super-steps.")
    return merged


def inherit(config: Mapping[str, Any] | None, parent: ExecutionContext) -> dict[str, Any]:
    """The config of a graph called inside a task: the task's, and what the call adds."""
    above: dict[str, Any] = dict(parent.config)
    configurable = {key: value for key, value in above.get("configurable", {}).items() if key not in _OWN_KEYS}
    notes = dict(above.get("metadata", {}))
    notes.setdefault("checkpoint_ns", parent.checkpoint_ns)
    given: dict[str, Any] = dict(config or {})
    given["configurable"] = {k: v for k, v in given.get("configurable", {}).items() if k not in _OWN_KEYS}
    if given.get("callbacks") is above.get("callbacks"):
        given.pop("callbacks", None)
    return merge_configs({**above, "configurable": configurable, "metadata": notes}, given)


def own_notes(config: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata that a caller gave, without what the engine added on the way down."""
    notes: Mapping[str, Any] = config.get("metadata") or {}
    return {k: v for k, v in notes.items() if not k.startswith("langgraph_") and k not in _COPIED_TO_METADATA[:2]}


def strip_task_ids(ns: str) -> str:
    """A namespace without task ids: that of a per-thread child, and the path of node names."""
    return NS_SEP.join(part.split(NS_END)[0] for part in ns.split(NS_SEP) if not part.isdigit())


def with_callback(config: Mapping[str, Any], handler: Any) -> Any:
    """The config's callbacks and one more."""
    callbacks = config.get("callbacks")
    if callbacks is None:
        return [handler]
    if isinstance(callbacks, (list, tuple)):
        return [*callbacks, handler]
    manager = callbacks.copy()
    manager.add_handler(handler, inherit=True)
    return manager


def breakpoints(names: Sequence[str] | str | None, default: Sequence[str] | str) -> frozenset[str]:
    """Breakpoints of a call: its own, else the compiled ones."""
    chosen = default if names is None else names
    return frozenset((chosen,) if isinstance(chosen, str) else chosen)


def task_context(
    session: Session, task: Task, *, runtime: Runtime[Any], upstream: Upstream, saw_subgraph: Any
) -> ExecutionContext:
    """What a task knows, with the config that nodes see."""
    options = session.options
    base: Mapping[str, Any] = options.config
    metadata = {
        **{
            key: base["configurable"][key]
            for key in _COPIED_TO_METADATA
            if key in base["configurable"] and key != "checkpoint_ns"
        },
        **base["metadata"],
        **task.node.metadata,
        "langgraph_step": task.step,
        "langgraph_node": task.name,
        "langgraph_triggers": task.triggers,
        "langgraph_path": task.path,
        "langgraph_checkpoint_ns": task.checkpoint_ns,
    }
    parents = {**session.parents, session.ns: session.checkpoint["id"]}
    configurable: dict[str, Any] = {
        **base["configurable"],
        "checkpoint_ns": task.checkpoint_ns,
        "checkpoint_map": parents,
    }
    configurable.pop("checkpoint_id", None)
    config: Any = {**base, "metadata": metadata, "configurable": configurable}
    context = ExecutionContext(
        config=config,
        runtime=runtime,
        scratchpad=Scratchpad(task.id, task.answered, session.answers, session.bare),
        thread_id=session.thread_id,
        checkpoint_ns=task.checkpoint_ns,
        checkpoint_id=session.checkpoint["id"],
        parents=parents,
        saver=session.saver,
        upstream=upstream,
        answering=session.answering,
        resuming=task.resuming,
        durability=options.durability,
        recursion_limit=int(base["recursion_limit"]),
        saw_subgraph=saw_subgraph,
        read_state=lambda: read_values(
            session.spec, session.channels, session.spec.branch_keys, session.step, session.stop
        ),
    )
    configurable[CONTEXT_KEY] = context
    return context
