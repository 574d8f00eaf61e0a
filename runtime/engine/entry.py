"""How a run enters a thread: with a new input, with answers, with nothing (go on, or replay), or inside another graph.

Rules, each seen on the released LangGraph unless said otherwise:
- A new input drops the tasks that waited and makes an `input` checkpoint.
- No input and no checkpoint id: go on from the head. With a checkpoint id: replay; a `fork` checkpoint starts the branch,
  unless the id is that of an edit that nothing has run from yet.
- Answers at the head, named or not: go on. Answers at an older checkpoint start a branch from that pause and are used
  there (LangGraph gives the answer stored first).
- A checkpoint inside a subgraph is a place to travel to: its graph goes on from exactly there (LangGraph starts it again).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runtime.constants import BRANCH_TO, END, ERROR, INTERRUPT, NULL_TASK_ID, PULL, START, TASKS
from runtime.context import interrupt_id, own_questions
from runtime.engine.apply import TaskWrites
from runtime.engine.carry import copy_pause, copy_place
from runtime.engine.effects import Head, Load
from runtime.engine.model import Write
from runtime.engine.plan import orphans
from runtime.engine.session import Effects, Session
from runtime.errors import EmptyInputError, UnknownInterruptError, UnknownNodeError
from runtime.types import Command, Send


def enter(session: Session) -> Effects:
    """Bring the session to its first super-step."""
    options = session.options
    configurable: Mapping[str, Any] = options.config.get("configurable", {})
    value = options.input
    inner_ns = configurable.get("checkpoint_ns", "") if session.parent is None else ""
    wanted = configurable.get("checkpoint_id") if session.parent is None else None
    if inner_ns and wanted:
        inner = yield from _load(session, inner_ns, wanted)
        saved = yield from _load(session, "", inner.metadata["parents"][""])
    else:
        inner = None
        saved = yield from _load(session, session.ns, wanted)
    if session.parent is None and hasattr(session.saver, "head"):
        session.watches = True
        session.head = saved.checkpoint["id"] if saved is not None else None
        if wanted or session.ns:
            session.head = yield Head(str(session.thread_id), session.ns)
    if saved is None:
        session.fill_channels({})
    else:
        session.take(saved)
        session.apply_null_writes()
    session.stop = session.step + int(options.config["recursion_limit"]) + 1
    if session.parent is not None:
        session.answers = session.parent.scratchpad.answers
        session.bare = session.parent.scratchpad.bare
        session.answering = session.parent.scope.answering
    if isinstance(value, Command):
        yield from _command(session, value, saved, inner)
    elif value is None:
        yield from _go_on(session, saved, inner, fork=wanted is not None)
    elif saved is not None and _continues(session, saved):
        yield from _resume(session)
    else:
        yield from _new_input(session, value, saved is not None)


def _load(session: Session, ns: str, checkpoint_id: str | None) -> Effects:
    if session.saver is None:
        return None
    configurable: dict[str, Any] = {"thread_id": session.thread_id, "checkpoint_ns": ns}
    if checkpoint_id:
        configurable["checkpoint_id"] = checkpoint_id
    saved = yield Load({"configurable": configurable}, to_run=True)
    if saved is None and checkpoint_id:
        raise ValueError(
            f"Checkpoint '{checkpoint_id}' (namespace '{ns}') is not on thread '{session.thread_id}'. "
            f"get_state_history lists those that are."
        )
    return saved


def _continues(session: Session, saved: Any) -> bool:
    """Whether a graph called inside a node goes on from its stored state, whatever input it is given now.

    A namespace with the task's id in it belongs to this one task, so what is stored there is this task's own earlier
    pass. The namespace of a per-thread child is shared by all turns: there, only a state that was made from the very
    checkpoint that the parent stands at counts, and only when the parent is resuming.
    """
    parent = session.parent
    if parent is None:
        return False
    if session.ns == parent.checkpoint_ns or session.ns.startswith(parent.checkpoint_ns + "|"):
        return True
    return parent.resuming and saved.metadata.get("parents") == session.parents


def _new_input(session: Session, value: Any, used: bool) -> Effects:
    if session.saver is None and not session.options.modes and _spread(session, value):
        return
    dropped = session.plan() if used else []
    if used:
        session.drop_orphans()
    session.apply(
        [
            *(TaskWrites(task.name, task.path, (), task.triggers) for task in dropped),
            TaskWrites("__input__", (), ((START, value),), ()),
        ]
    )
    yield from session.put_checkpoint("input")


def _spread(session: Session, value: Any) -> bool:
    """Do the start node's super-step here: nothing of it is stored and nobody watches. False where it runs user code, or
    refuses the input: the loop then does it, and says why."""
    start = session.spec.nodes.get(START)
    if start is None or start.branches:
        return False
    try:
        writes = [*start.write(start.coerce({START: value})), *start.edges]
    except Exception:  # noqa: BLE001 - the input schema may raise anything
        return False
    session.apply([TaskWrites(START, (PULL, START), writes, (START,))])
    session.count_step()
    session.count_step()
    return True


def _go_on(session: Session, saved: Any, inner: Any, *, fork: bool) -> Effects:
    if saved is None:
        raise EmptyInputError(
            "Received no input for __start__: there is nothing to go on with, as the thread has no checkpoint. "
            "Give an input."
        )
    _refuse_orphans(session)
    if inner is not None:
        yield from _travel_inside(session, inner, keep=False)
    elif fork:
        head = yield from _load(session, session.ns, None)
        edited = session.metadata.get("source") in ("update", "fork")
        fork = not (edited and head.checkpoint["id"] == session.checkpoint["id"])
        if fork:
            yield from session.put_checkpoint("fork", writers=session.checkpoint.get("writers", ()))
        else:
            # A branch that was begun is played again from its start, finished siblings too.
            session.pending = {
                task_id: [write for write in writes if write[0] in (INTERRUPT, ERROR)]
                for task_id, writes in session.pending.items()
            }
    yield from _resume(session, replayed=fork and inner is None)


def _resume(session: Session, *, replayed: bool = False) -> Effects:
    session.continuing = True
    session.resuming = not replayed
    yield from session.emit("values", session.values())


def _refuse_orphans(session: Session) -> None:
    missing = orphans(session.spec, session.checkpoint)
    if missing:
        raise UnknownNodeError(
            f"The thread waits for {missing}, which graph '{session.spec.name}' does not have (any more). "
            f"Add the node again, or move on with update_state(config, values, "
            f"as_node=<one of {sorted(n for n in session.spec.nodes if n != START)}>)."
        )


def _command(session: Session, command: Command[Any], saved: Any, inner: Any) -> Effects:
    resumes = command.resume is not None or (command.update is None and command.goto == ())
    if resumes and session.saver is None:
        raise RuntimeError("Cannot use Command(resume=...) without checkpointer. Compile the graph with one.")
    if saved is None and not resumes:
        yield from _start_with(session, command)
        return
    if saved is None:
        raise EmptyInputError(
            f"There is nothing to go on with: thread '{session.thread_id}' has no checkpoint. Give an input."
        )
    _refuse_orphans(session)
    renamed: dict[str, str] = {}
    if inner is not None:
        yield from _travel_inside(session, inner, keep=True)
    elif session.options.config.get("configurable", {}).get("checkpoint_id") and session.parent is None:
        head = yield from _load(session, session.ns, None)
        if head.checkpoint["id"] != session.checkpoint["id"]:
            renamed = yield from _fork_pause(session)
    if resumes:
        _take_answers(session, _renamed(command.resume, renamed))
    writes = command_writes(session, command)
    if writes:
        yield from session.put_writes(NULL_TASK_ID, writes)
        session.pending[NULL_TASK_ID] = writes
        session.apply_null_writes()
    session.continuing = True
    session.resuming = True
    yield from session.emit("values", session.values())


def _start_with(session: Session, command: Command[Any]) -> Effects:
    """A Command on a thread that nobody has used: its update is the input; its jumps, if any, replace the entry."""
    if command.goto == ():
        yield from _new_input(session, command.update, used=False)
        return
    session.apply([TaskWrites("__input__", (), command_writes(session, command), ())])
    yield from session.put_checkpoint("input")


def _take_answers(session: Session, resume: Any) -> None:
    """Give the answer to the question it is for. A dict that names questions answers those; anything else is one answer.

    Raises:
        RuntimeError: one unnamed answer, and several questions.
        UnknownInterruptError: a dict that names questions which nobody asks.
    """
    waiting = {i.id for task in session.plan() if task.writes is None for i in task.interrupts}
    session.answering = True
    if isinstance(resume, dict) and resume:
        named = {key for key in resume if isinstance(key, str) and key in waiting}
        if named:
            unknown = [key for key in resume if key not in waiting]
            if unknown:
                raise UnknownInterruptError(
                    f"No such interrupt: {unknown}. These wait for an answer: {sorted(waiting)}."
                )
            session.answers.update(resume)
            return
        if all(isinstance(key, str) and _is_id(key) for key in resume):
            raise UnknownInterruptError(
                f"No such interrupt: {sorted(resume)}. These wait for an answer: {sorted(waiting)}."
            )
    if len(waiting) > 1:
        raise RuntimeError(
            f"When there are multiple pending interrupts, you must specify the interrupt id when resuming: "
            f"Command(resume={{id: answer}}) with ids of {sorted(waiting)}."
        )
    if waiting:
        session.answers[waiting.pop()] = resume
    else:
        session.bare.append(resume)


def _is_id(key: str) -> bool:
    return len(key) == 32 and all(c in "0123456789abcdef" for c in key)


def command_writes(session: Session, command: Command[Any]) -> list[Write]:
    """What a Command given as input writes: its update, and its jumps."""
    writes: list[Write] = list(command._update_as_tuples())
    goto = command.goto
    for target in goto if isinstance(goto, (list, tuple)) else (goto,):
        if isinstance(target, Send):
            writes.append((TASKS, target))
        elif target != END:
            if f"{BRANCH_TO}{target}" not in session.spec.channels:
                raise UnknownNodeError(
                    f"Command(goto='{target}') names a node that graph '{session.spec.name}' does not have. "
                    f"Its nodes are {sorted(n for n in session.spec.nodes if n != START)}."
                )
            writes.append((f"{BRANCH_TO}{target}", START))
    return writes


def _fork_pause(session: Session) -> Effects:
    """A branch from an older pause: the same questions wait again, finished siblings stay finished.

    Returns the ids of the questions at the older pause, each with its id in the branch.
    """
    old = session.plan()
    renamed: dict[str, str] = {}
    yield from session.put_checkpoint("fork")
    for before, after in zip(old, session.plan(), strict=True):
        notes = yield from copy_pause(session, before, after)
        if notes:
            session.pending[after.id] = notes
            yield from session.put_writes(after.id, notes, after.path)
        own = own_questions(before.id, (i.id for i in before.interrupts))
        renamed.update({key: interrupt_id(after.id, index) for key, index in own.items()})
    return renamed


def _renamed(resume: Any, names: Mapping[str, str]) -> Any:
    """Answers by id, for the questions as the branch knows them."""
    if not isinstance(resume, dict) or names.keys().isdisjoint(resume):
        return resume
    return {names.get(key, key): value for key, value in resume.items()}


def _travel_inside(session: Session, inner: Any, *, keep: bool) -> Effects:
    """A branch from a checkpoint inside a subgraph. `keep`: its questions wait again."""
    old = session.plan()
    yield from session.put_checkpoint("fork")
    for before, after in zip(old, session.plan(), strict=True):
        yield from copy_place(session, before, after, inner, keep=keep)
