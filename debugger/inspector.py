"""What a person can do with a thread: look, page through its timeline, prepare an edit, edit.

Usable from a notebook: no Flask, no sockets. Running graphs is runs.py's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from debugger.diff import changes
from debugger.errors import unknown_checkpoint
from debugger.graphs.adapter import ServedGraph
from debugger.history import headers, namespaces, opened
from debugger.timeline import Header, changed_channels, lanes
from debugger.values import encode, has_messages
from debugger.wire import (
    CheckpointView,
    InterruptView,
    NamespaceRef,
    TaskView,
    TimelinePage,
    TimelineRow,
)

_START = "__start__"


def config_of(thread_id: str, ns: str = "", checkpoint_id: str | None = None) -> dict[str, Any]:
    """The config that names a place in a thread."""
    configurable = {"thread_id": thread_id, "checkpoint_ns": ns}
    if checkpoint_id:
        configurable["checkpoint_id"] = checkpoint_id
    return {"configurable": configurable}


class Inspector:
    """Looks into the threads of one graph."""

    def __init__(self, served: ServedGraph) -> None:
        self.served = served

    # -- reading -------------------------------------------------------------------------------------------------------

    def snapshot(self, thread_id: str, ns: str = "", checkpoint_id: str | None = None) -> Any:
        """A StateSnapshot. A head is read as such, so that what finished tasks of its step wrote shows.

        Raises:
            DebuggerError: there is no such checkpoint.
        """
        head = self.head(thread_id, ns)
        if checkpoint_id in (None, head):
            found = self.served.graph.get_state(config_of(thread_id, ns))
        else:
            found = self.served.graph.get_state(config_of(thread_id, ns, checkpoint_id))
        if found.metadata is None:
            raise unknown_checkpoint(thread_id, checkpoint_id or "(newest)", ns)
        return found

    def head(self, thread_id: str, ns: str = "") -> str | None:
        """Id of the newest checkpoint, None on a thread that nobody has used."""
        saved = self.served.saver.get_tuple(config_of(thread_id, ns))
        return None if saved is None else str(saved.checkpoint["id"])

    def namespaces(self, thread_id: str) -> list[NamespaceRef]:
        """The root, and every subgraph's own line of checkpoints."""
        return namespaces(self.served.saver, thread_id)

    def look(self, thread_id: str, checkpoint_id: str, ns: str = "") -> CheckpointView:
        """Everything about a checkpoint.

        Raises:
            DebuggerError: there is no such checkpoint.
        """
        found = self.snapshot(thread_id, ns, checkpoint_id)
        parent_id = (found.parent_config or {}).get("configurable", {}).get("checkpoint_id")
        before: Mapping[str, Any] = {}
        if parent_id:
            before = self.served.graph.get_state(config_of(thread_id, ns, parent_id)).values
        called = opened(self.served.saver, thread_id, ns).get(checkpoint_id, [])
        return CheckpointView(
            graph_id=self.served.id,
            thread_id=thread_id,
            ns=ns,
            checkpoint_id=checkpoint_id,
            parent_id=parent_id,
            step=found.metadata["step"],
            source=found.metadata["source"],
            created_at=found.created_at,
            values={key: encode(value) for key, value in found.values.items()},
            message_channels=[key for key, value in found.values.items() if has_messages(value)],
            next=list(found.next),
            tasks=[self._task(task, called) for task in found.tasks],
            interrupts=[InterruptView(id=i.id, value=encode(i.value)) for i in found.interrupts],
            metadata=encode(dict(found.metadata)),
            config=encode(dict(found.config)),
            changes=changes(before, found.values),
            children=called,
            warnings=self._warnings(found, ns),
        )

    def _task(self, task: Any, called: Iterable[NamespaceRef]) -> TaskView:
        state = task.state
        ns = None
        if state is not None:
            config = state if isinstance(state, dict) else state.config
            ns = config["configurable"].get("checkpoint_ns")
        if ns is None:
            ns = next((found.ns for found in called if found.task_id == task.id), None)
        return TaskView(
            id=task.id,
            name=task.name,
            path=encode(list(task.path)),
            error=None if task.error is None else str(task.error),
            interrupts=[InterruptView(id=i.id, value=encode(i.value)) for i in task.interrupts],
            result=encode(task.result),
            ended=task.result is not None,
            subgraph_ns=ns,
        )

    def _warnings(self, found: Any, ns: str) -> list[str]:
        warnings = []
        if ns and self.served.kind.name == "langgraph":
            warnings.append("LangGraph cannot go on inside a subgraph: a replay from here starts the subgraph again.")
        again = dict.fromkeys(name for name in found.next if self._has_side_effects(name))
        if again:
            names = ", ".join(again)
            warnings.append(f"{names} acts on the outside world: running it again is not undone by going back in time.")
        return warnings

    def _has_side_effects(self, node: str) -> bool:
        spec = self.served.graph.builder.nodes.get(node)
        return bool((getattr(spec, "metadata", None) or {}).get("side_effects"))

    # -- timeline ------------------------------------------------------------------------------------------------------

    def timeline(self, thread_id: str, ns: str = "", *, limit: int = 100, before: str | None = None) -> TimelinePage:
        """A page of the timeline, newest first.

        Args:
            limit: rows at most.
            before: checkpoint id; only rows older than it.
        """
        found = headers(self.served.saver, thread_id, ns)
        laid_out = lanes(found)
        by_id = {header.checkpoint_id: header for header in found}
        older = [h for h in found if before is None or h.checkpoint_id < before]
        page = older[:limit]
        head = found[0].checkpoint_id if found else None
        lane_of = {branch.id: branch.lane for branch in laid_out.branches}
        called = opened(self.served.saver, thread_id, ns)
        keys = self.served.at(ns).state_keys
        rows = [
            self._row(header, by_id.get(header.parent_id or ""), laid_out.branch_of, lane_of, head, called, keys)
            for header in page
        ]
        return TimelinePage(
            thread_id=thread_id,
            ns=ns,
            rows=rows,
            branches=list(laid_out.branches),
            head=head,
            total=len(found),
            next_before=page[-1].checkpoint_id if len(older) > limit else None,
        )

    def _row(
        self,
        header: Header,
        parent: Header | None,
        branch_of: Mapping[str, str],
        lane_of: Mapping[str, int],
        head: str | None,
        called: Mapping[str, list[NamespaceRef]],
        keys: frozenset[str],
    ) -> TimelineRow:
        branch = branch_of[header.checkpoint_id]
        as_node = header.metadata.get("as_node")
        return TimelineRow(
            checkpoint_id=header.checkpoint_id,
            parent_id=header.parent_id,
            step=header.step,
            source=header.source,  # type: ignore[arg-type]  # Pydantic checks it
            writers=[as_node] if header.source == "update" and as_node else list(header.writers),
            changed=changed_channels(header, parent, keys),
            next=list(header.next),
            created_at=header.created_at,
            interrupts=header.interrupts,
            error=header.error,
            lane=lane_of[branch],
            branch=branch,
            is_head=header.checkpoint_id == head,
            run_id=header.metadata.get("run_id"),
            children=called.get(header.checkpoint_id, []),
        )

    def require(self, thread_id: str, ns: str, checkpoint_id: str | None) -> None:
        """Raises DebuggerError when there is no such checkpoint."""
        if checkpoint_id is not None:
            saved = self.served.saver.get_tuple(config_of(thread_id, ns, checkpoint_id))
            if saved is None:
                raise unknown_checkpoint(thread_id, checkpoint_id, ns)
