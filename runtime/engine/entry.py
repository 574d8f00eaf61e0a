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

from runtime.constants import BRANCH_TO, END, NULL_TASK_ID, PULL, START, TASKS
from runtime.context import ExecutionContext, interrupt_id, own_questions
from runtime.engine.apply import TaskWrites
from runtime.engine.carry import copy_pause, copy_place
from runtime.engine.effects import Head, Load
from runtime.engine.line import Destination, Line, waiting_state
from runtime.engine.model import Write
from runtime.engine.plan import orphans
from runtime.engine.session import Effects, Session
from runtime.errors import EmptyInputError, UnknownInterruptError, UnknownNodeError
from runtime.types import Command, Send


def enter(session: Session) -> Effects:
    """Bring the session to its first super-step."""
    if session.parent is None:
        yield from _enter_root(session)
    else:
        yield from _enter_below(session, session.parent)


def _enter_root(session: Session) -> Effects:
    configurable: Mapping[str, Any] = session.options.config.get("configurable", {})
    inner_ns, wanted = configurable.get("checkpoint_ns", ""), configurable.get("checkpoint_id")
    inner = None
    if inner_ns and wanted:
        inner = yield from _load(session, inner_ns, wanted)
        saved = yield from _load(session, "", inner.metadata["parents"][""])
    else:
        saved = yield from _load(session, session.ns, wanted)
    session.line = Line(session.thread_id)
    if saved is not None:
        session.line.begin(saved)
    if hasattr(session.saver, "head"):
        session.watches = True
        session.head = saved.checkpoint["id"] if saved is not None else None
        if wanted or session.ns:
            session.head = yield Head(str(session.thread_id), session.ns)
    _stand(session, saved)
    value = session.options.input
    if isinstance(value, Command):
        yield from _command(session, value, saved, inner)
    elif value is None:
        yield from _go_on(session, saved, inner, fork=wanted is not None)
    else:
        yield from _new_input(session, value, saved is not None)


def _enter_below(session: Session, parent: ExecutionContext) -> Effects:
    """A graph called inside a node.

    A namespace with the task's id in it belongs to this one task: what is stored there is this task's own earlier pass,
    and goes on. The namespace of a per-thread graph is shared by all turns and branches of the thread. Such a graph goes on
    where somebody travelled to; or, when its caller resumes, where it stood as that task paused; else it takes the input,
    on top of what it was on this line of the thread.
    """
    session.line = parent.scope.line
    session.answers = parent.scratchpad.answers
    session.bare = parent.scratchpad.bare
    session.answering = parent.scope.answering
    own = session.ns == parent.checkpoint_ns or session.ns.startswith(f"{parent.checkpoint_ns}|")
    if own or session.saver is None:
        saved = yield from _load(session, session.ns, None)
        goes_on = saved is not None
    elif session.ns in session.line.chosen:
        yield from _arrive(session, session.line.chosen.pop(session.ns))
        return
    elif (paused := (yield from _paused_elsewhere(session, parent))) is not None:
        yield from _carry_on(session, paused)
        return
    else:
        saved = yield from session.line.state_of(session.ns)
        goes_on = saved is not None and parent.resuming and saved.metadata.get("parents") == session.parents
    _stand(session, saved)
    value = session.options.input
    if isinstance(value, Command):
        yield from _command(session, value, saved, None)
    elif value is None:
        yield from _go_on(session, saved, None, fork=False)
    elif goes_on:
        yield from _resume(session)
    else:
        yield from _new_input(session, value, saved is not None)


def _stand(session: Session, saved: Any) -> None:
    if saved is None:
        session.fill_channels({})
    else:
        session.take(saved)
        session.apply_null_writes()
    session.stop = session.step + int(session.options.config["recursion_limit"]) + 1


def _arrive(session: Session, to: Destination) -> Effects:
    """A per-thread graph goes on from where somebody travelled to: here, or in a graph below."""
    _stand(session, (yield from _load(session, session.ns, to.places[session.ns])))
    if to.ns != session.ns:
        yield from _travel_inside(session, to)
    elif to.keep:
        yield from _branch_off(session)
    else:
        yield from session.put_checkpoint("fork")
    yield from _resume(session)


def _paused_elsewhere(session: Session, parent: ExecutionContext) -> Effects:
    """The stored state of a per-thread graph that waits with its caller, if it was made from another root checkpoint: the
    caller's questions were copied to a branch, or an edit was made of what it stood at."""
    asked = {i.id for i in parent.waiting}
    if not parent.resuming or not (asked or session.line.edited):
        return None
    where: Any = {"configurable": {"thread_id": session.thread_id, "checkpoint_ns": session.ns}}
    paused = yield from waiting_state(where, asked, session.line.edited)
    return None if paused is None or paused.metadata.get("parents") == session.parents else paused


def _carry_on(session: Session, paused: Any) -> Effects:
    _stand(session, (yield from _load(session, session.ns, paused.checkpoint["id"])))
    yield from _branch_off(session)
    yield from _resume(session)


def _branch_off(session: Session) -> Effects:
    """The pause in hand, on a branch of its own; answers find its questions under their new ids."""
    renamed = yield from _fork_pause(session)
    for old in renamed.keys() & session.answers.keys():
        session.answers[renamed[old]] = session.answers[old]


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
        yield from _travel_inside(session, Destination(inner, keep=False))
    elif fork:
        head = yield from _load(session, session.ns, None)
        edited = session.metadata.get("source") in ("update", "fork")
        fork = not (edited and head.checkpoint["id"] == session.checkpoint["id"])
        if fork:
            yield from session.put_checkpoint("fork", writers=session.checkpoint.get("writers", ()))
        else:
            session.again = True
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
        yield from _travel_inside(session, Destination(inner, keep=True))
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


def _travel_inside(session: Session, to: Destination) -> Effects:
    """A branch from a checkpoint inside a subgraph."""
    old = session.plan()
    yield from session.put_checkpoint("fork")
    for before, after in zip(old, session.plan(), strict=True):
        yield from copy_place(session, before, after, to)
