"""Configs at the edge: a call's RunnableConfig -> RunOptions, and a task's ExecutionContext and config.

The string-keyed `configurable` dict is read and written here and in entry.py, and nowhere deeper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import time
from typing import Any

from runtime.context import CONTEXT_KEY, ExecutionContext, Pulse, Scope, Scratchpad
from runtime.engine.model import Task
from runtime.engine.session import Session
from runtime.runtime import ExecutionInfo, Runtime

DEFAULT_RECURSION_LIMIT = 10_007
_OWN_KEYS = frozenset(("checkpoint_id", "checkpoint_ns", "checkpoint_map", CONTEXT_KEY))
_SHOWN_OPTIONS = ("thread_id", "run_id", "assistant_id", "graph_id")
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
        if not config:
            continue
        for key, value in config.items():
            if value is None or (key == "recursion_limit" and value == DEFAULT_RECURSION_LIMIT):
                continue  # a task's config always has a limit: the default one is nobody's wish
            if key == "tags":
                merged["tags"] = [*merged["tags"], *(tag for tag in value if tag not in merged["tags"])]
            elif key in ("metadata", "configurable"):
                merged[key] = {**merged[key], **value}
            elif key == "callbacks" and merged.get(key):
                merged[key] = _both(merged[key], value)
            else:
                merged[key] = value
    limit = merged["recursion_limit"]
    if not isinstance(limit, int) or limit < 1:
        raise ValueError(f"recursion_limit must be at least 1, got {limit!r}: it counts super-steps.")
    return merged


def _both(first: Any, second: Any) -> Any:
    """The handlers of two configs: lists, or managers."""
    from langchain_core.runnables.config import merge_configs as merge  # slow to import, and few have both

    return merge({"callbacks": first}, {"callbacks": second})["callbacks"]


def inherit(
    parent: ExecutionContext, bound: Mapping[str, Any] | None, config: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The config of a graph called inside a task: the task's, what is bound to the graph, and what the call adds."""
    above: dict[str, Any] = dict(parent.config)
    configurable = {key: value for key, value in above.get("configurable", {}).items() if key not in _OWN_KEYS}
    notes = dict(above.get("metadata", {}))
    notes.setdefault("checkpoint_ns", parent.checkpoint_ns)
    given: dict[str, Any] = dict(config or {})
    given["configurable"] = {k: v for k, v in given.get("configurable", {}).items() if k not in _OWN_KEYS}
    if given.get("callbacks") is above.get("callbacks"):
        given.pop("callbacks", None)
    return merge_configs({**above, "configurable": configurable, "metadata": notes}, bound, given)


def own_notes(config: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata that a caller gave, without what the engine added on the way down."""
    notes: Mapping[str, Any] = config.get("metadata") or {}
    return {
        k: v for k, v in notes.items() if not k.startswith("langgraph_") and k not in ("thread_id", "checkpoint_ns")
    }


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


def shown_metadata(config: Mapping[str, Any]) -> dict[str, Any]:
    """What of a config every task's metadata shows."""
    given: Mapping[str, Any] = config["configurable"]
    return {**{key: given[key] for key in _SHOWN_OPTIONS if key in given}, **config["metadata"]}


def task_base(config: Mapping[str, Any]) -> dict[str, Any]:
    """What of a config every task's has; `run_name` and `run_id` are of the run alone."""
    base = {"callbacks": None, **config}
    base.pop("run_name", None)
    base.pop("run_id", None)
    base["configurable"] = {key: value for key, value in config["configurable"].items() if key != "checkpoint_id"}
    return base


def task_context(session: Session, task: Task, scope: Scope) -> ExecutionContext:
    """What a task knows, with the config that nodes see."""
    base = scope.base
    node_metadata = task.node.metadata
    checkpoint_id: str = session.checkpoint["id"]
    ns = session.ns
    parents: dict[str, str] = {**session.parents, ns: checkpoint_id}
    configurable: dict[str, Any] = {
        **base["configurable"],
        "checkpoint_ns": task.checkpoint_ns,
        "checkpoint_map": parents,
    }
    config: Any = {
        **base,
        "metadata": {
            **scope.metadata,
            **node_metadata,
            "langgraph_step": task.step,
            "langgraph_node": task.name,
            "langgraph_triggers": task.triggers,
            "langgraph_path": task.path,
            "langgraph_checkpoint_ns": task.checkpoint_ns,
        },
        "configurable": configurable,
    }
    context = ExecutionContext(
        scope,
        task.name,
        config,
        Scratchpad(task.id, task.answered, session.answers, session.bare),
        task.checkpoint_ns,
        checkpoint_id,
        parents,
        task.resuming,
        task.failure,
        task.interrupts,
    )
    configurable[CONTEXT_KEY] = context
    if task.timeout is not None and task.timeout.idle_timeout is not None:
        _watch_progress(context, listen=task.timeout.refresh_on == "auto")
    return context


def task_runtime(context: ExecutionContext, runtime: Runtime[Any], run_id: str | None) -> Runtime[Any]:
    """A task's Runtime, from that of the run."""
    return Runtime(
        context=runtime.context,
        store=runtime.store,
        stream_writer=runtime.stream_writer,
        previous=runtime.previous,
        execution_info=ExecutionInfo(
            checkpoint_id=context.checkpoint_id,
            checkpoint_ns=context.checkpoint_ns,
            task_id=context.scratchpad.task_id,
            thread_id=context.scope.thread_id,
            run_id=run_id,
            node_attempt=context.attempt,
            node_first_attempt_time=context.began or time(),
        ),
        control=runtime.control,
    )


def _watch_progress(context: ExecutionContext, *, listen: bool) -> None:
    """Let heartbeats, and with `listen` all that is streamed or called back, reset the idle timeout."""

    pulse = context.pulse = Pulse()

    def progress() -> None:
        pulse.beat()

    runtime = context.runtime.override(heartbeat=progress)
    if listen:
        from runtime.stream.progress import ProgressHandler  # imports langchain-core's callbacks, which is slow

        write = runtime.stream_writer

        def writer(value: Any) -> None:
            progress()
            write(value)

        runtime = runtime.override(stream_writer=writer)
        config: Any = context.config
        config["callbacks"] = with_callback(config, ProgressHandler(progress))
    context.made_runtime = runtime
