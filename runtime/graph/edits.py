"""`update_state`: a new checkpoint as if a node had returned the given values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from runtime.constants import COPY, END, INPUT, INTERRUPT, START
from runtime.context import Scope, Upstream, own_questions
from runtime.engine.action import Action
from runtime.engine.apply import TaskWrites
from runtime.engine.carry import carry_namespaces
from runtime.engine.effects import Load, Run
from runtime.engine.execute import program, state_after
from runtime.engine.model import Failed, Finished, Outcome, Paused, Task, Write
from runtime.engine.plan import read_values
from runtime.engine.session import Effects, Session
from runtime.errors import InvalidUpdateError
from runtime.graph.config import shown_metadata, task_base, task_context
from runtime.graph.snapshots import open_session, place
from runtime.runtime import Runtime
from runtime.types import StateUpdate

if TYPE_CHECKING:
    from runtime.graph.compiled import CompiledStateGraph


def edit(
    graph: CompiledStateGraph, saver: Any, config: Mapping[str, Any], supersteps: Sequence[Sequence[StateUpdate]]
) -> Effects:
    """Each list of updates becomes a checkpoint. Returns the config of the last one."""
    if not supersteps or any(not updates for updates in supersteps):
        raise ValueError("No updates provided: give at least one StateUpdate for each super-step.")
    made: dict[str, Any] = {}
    for updates in supersteps:
        session = open_session(graph, config, saver)
        saved = yield Load(place(config))
        if saved is not None:
            session.take(saved)
        elif config["configurable"].get("checkpoint_id"):
            raise ValueError(
                f"Checkpoint '{config['configurable']['checkpoint_id']}' is not on thread '{session.thread_id}'. "
                f"get_state_history lists those that are."
            )
        else:
            session.fill_channels({})
            session.step = 0
        session.stop = session.step + 1
        yield from _superstep(graph, session, config, [StateUpdate(*update) for update in updates])
        made = _result(session, saved)
        config = {**config, **made}
    return made


def _result(session: Session, saved: Any) -> dict[str, Any]:
    configurable: dict[str, Any] = {
        "thread_id": session.thread_id,
        "checkpoint_ns": session.ns,
        "checkpoint_id": session.checkpoint["id"],
    }
    if session.ns:
        parents = saved.metadata.get("parents", {}) if saved is not None else {}
        configurable["checkpoint_map"] = {**parents, session.ns: session.checkpoint["id"]}
    return {"configurable": configurable}


def _superstep(
    graph: CompiledStateGraph, session: Session, config: Mapping[str, Any], updates: Sequence[StateUpdate]
) -> Effects:
    special = [u for u in updates if u.as_node in (COPY, END)]
    if special and len(updates) > 1:
        raise InvalidUpdateError(f"An update as '{special[0].as_node}' must be the only one of its super-step.")
    parents = dict(session.metadata.get("parents", {}))
    before = session.plan(sort=False) if session.checkpoint["ts"] else []
    if not all(u.values is None and u.as_node in (None, COPY) for u in updates):
        session.drop_orphans()
    at_head = not config["configurable"].get("checkpoint_id")
    if special and special[0].values is not None:
        raise InvalidUpdateError(f"Cannot apply updates when as_node is '{special[0].as_node}': values must be None.")
    if special and special[0].as_node == COPY:
        if not session.checkpoint["ts"]:
            raise InvalidUpdateError(f"Cannot copy: thread '{session.thread_id}' has no checkpoint.")
        yield from session.put_checkpoint(
            "fork", writers=session.checkpoint.get("writers", ()), parents=parents, sibling=True
        )
    elif special:
        _drop_tasks(session, before, keep_writes=at_head)
        yield from session.put_checkpoint("update", writers=[END], parents=parents)
    elif any(u.as_node == INPUT for u in updates):
        yield from _as_input(session, updates, parents)
    elif len(updates) == 1 and updates[0].values is None and updates[0].as_node is None:
        yield from session.put_checkpoint("update", parents=parents)
    else:
        names = yield from _write(graph, session, updates)
        yield from session.put_checkpoint("update", writers=names, parents=parents)
    yield from _carry(session, before)


def _as_input(session: Session, updates: Sequence[StateUpdate], parents: dict[str, str]) -> Effects:
    """The values wait at the start, as a new input does."""
    if len(updates) > 1:
        raise InvalidUpdateError(f"An update as '{INPUT}' must be the only one of its super-step.")
    if not session.checkpoint["ts"]:
        session.step = -1
    session.apply([TaskWrites(INPUT, (), ((START, updates[0].values),), ())])
    yield from session.put_checkpoint("input", parents=parents)


def _drop_tasks(session: Session, tasks: Sequence[Task], *, keep_writes: bool) -> None:
    """Nothing waits any more. At a head, what finished tasks have written counts; in the past, it was never applied."""
    session.apply([TaskWrites(t.name, t.path, (t.writes or ()) if keep_writes else (), t.triggers) for t in tasks])
    session.apply([TaskWrites(t.name, t.path, (), t.triggers) for t in session.plan()])


def _write(graph: CompiledStateGraph, session: Session, updates: Sequence[StateUpdate]) -> Effects:
    """Merge the values as those nodes' writes. What finished tasks of an unfinished step have written is not in the
    stored state, and so not in the new one: the edge that made them run may make them run again."""
    names = [update.as_node or infer_node(graph, session) for update in updates]
    applied = []
    for index, (name, update) in enumerate(zip(names, updates, strict=True)):
        writes = yield from _writes_of(graph, session, name, update.values)
        applied.append(TaskWrites(name, (f"__edit_{index:04d}",), writes, (INTERRUPT,)))
    session.apply(applied)
    session.checkpoint["updated_channels"] = None  # a join that was full before the edit still is
    return names


def _writes_of(graph: CompiledStateGraph, session: Session, name: str, values: Any) -> Effects:
    """What the node's writers, edges and routers make of the values."""
    node = graph.spec.nodes.get(name)
    if node is None:
        raise InvalidUpdateError(
            f"Node '{name}' does not exist. An edit can be made as one of {sorted(graph.spec.nodes)}."
        )
    as_if = replace(node, action=Action(name, None, lambda value, ctx: value, None))
    task = Task(session.checkpoint["id"], name, (), (), values, as_if, session.step, session.ns)

    def read(channels: Any) -> dict[str, Any]:
        return read_values(graph.spec, channels, graph.spec.branch_keys, session.step, session.stop)

    scope = Scope(
        thread_id=session.thread_id,
        saver=session.saver,
        line=None,
        upstream=_NOBODY,
        answering=False,
        durability="sync",
        base=task_base(session.options.config),
        metadata=shown_metadata(session.options.config),
        trace=None,
        spawn=_refuse_calls,
        saw_subgraph=lambda node, graph: None,
        read_state=lambda: read(session.channels),
        make_runtime=lambda context: Runtime(store=graph.store),
    )
    context = task_context(session, task, scope)
    outcome: Outcome = yield Run(program(graph.spec, task, context, state_after(session.channels, read)))
    match outcome:
        case Finished(writes):
            found: list[Write] = writes
            return found
        case Failed(error):
            raise error
        case Paused(_):
            raise InvalidUpdateError(f"A router of node '{name}' asks a question: it cannot run in an edit.")
        case _:
            raise InvalidUpdateError(f"An edit as node '{name}' cannot jump to the parent graph.")


def _refuse_calls(call: Any) -> None:
    raise RuntimeError("A router cannot call tasks in an edit: no graph is running.")


_NOBODY = Upstream(frozenset(), lambda ns, mode, payload: None, None)


def infer_node(graph: CompiledStateGraph, session: Session) -> str:
    """The node that wrote last. Raises InvalidUpdateError, naming the candidates, when there are several."""
    seen: Mapping[str, Mapping[str, Any]] = session.checkpoint["versions_seen"]
    last = {name: max(versions.values()) for name, versions in seen.items() if versions and name in graph.spec.nodes}
    if not last:
        return START  # nothing has run yet: the values are a beginning
    newest = max(last.values())
    writers = [name for name, version in last.items() if version == newest]
    if len(writers) == 1:
        return writers[0]
    raise InvalidUpdateError(f"Ambiguous update, specify as_node: {sorted(writers)} wrote last, in one super-step.")


def _carry(session: Session, before: Sequence[Task]) -> Effects:
    """Where a task still waits and a graph in it had asked, that graph goes on from where it paused."""
    waiting = [task for task in before if task.interrupts and task.writes is None]
    if not waiting:
        return
    after = {task.path: task for task in session.plan()}
    for task in waiting:
        own = own_questions(task.id, (i.id for i in task.interrupts))
        asked = {i.id for i in task.interrupts if i.id not in own}
        if asked and task.path in after:
            yield from carry_namespaces(session, task, after[task.path], asked)
