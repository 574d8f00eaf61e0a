"""Perform the loop's effects: once with threads, once with asyncio. The only module that starts threads, awaits or sleeps.

Both drivers keep one inbox for everything that happens elsewhere (a task ended, a node wrote to the stream), so that the
order in which things happened is the order in which they are seen. A lone task of a run that nobody watches live is
called in the caller's own thread; else tasks run in a pool that is made when first needed.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import sys
from collections.abc import AsyncIterator, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any

from runtime.context import ExecutionContext, set_context
from runtime.engine.effects import (
    Call,
    Effect,
    Emit,
    ListCheckpoints,
    ListNamespaces,
    Load,
    NextDone,
    PutCheckpoint,
    PutWrites,
    Run,
    Start,
)
from runtime.engine.execute import Program
from runtime.engine.model import Failed, Outcome, Task

Loop = Generator[Effect, Any, Any]
Live = bool


class Ended:
    """What a driver's caller gets last: the loop's return value."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


# -- storage -----------------------------------------------------------------------------------------------------------


def perform(saver: Any, effect: Effect) -> Any:
    """One storage effect, now."""
    match effect:
        case PutWrites(config, writes, task_id, task_path):
            saver.put_writes(config, writes, task_id, task_path)
        case PutCheckpoint(config, checkpoint, metadata, new_versions):
            saver.put(config, checkpoint, metadata, new_versions)
        case Load(config):
            return saver.get_tuple(config)
        case ListCheckpoints(config, wanted, before, limit):
            return list(saver.list(config, filter=wanted, before=before, limit=limit))
        case ListNamespaces(thread_id, prefix):
            return below(prefix, namespaces_of(saver, thread_id))
        case Run(steps):
            return contextvars.copy_context().run(run_program, steps)
        case _:
            raise TypeError(f"No driver performs {effect!r} here.")
    return None


async def aperform(saver: Any, effect: Effect) -> Any:
    """One storage effect, by the saver's async methods; a saver in memory is called directly."""
    if isinstance(effect, Run):
        return await asyncio.create_task(arun_program(effect.steps))
    if getattr(saver, "instant", False):
        return perform(saver, effect)
    match effect:
        case PutWrites(config, writes, task_id, task_path):
            await saver.aput_writes(config, writes, task_id, task_path)
        case PutCheckpoint(config, checkpoint, metadata, new_versions):
            await saver.aput(config, checkpoint, metadata, new_versions)
        case Load(config):
            return await saver.aget_tuple(config)
        case ListCheckpoints(config, wanted, before, limit):
            return [item async for item in saver.alist(config, filter=wanted, before=before, limit=limit)]
        case ListNamespaces():
            return await asyncio.to_thread(perform, saver, effect)
        case _:
            raise TypeError(f"No driver performs {effect!r} here.")
    return None


def namespaces_of(saver: Any, thread_id: str) -> set[str]:
    """The namespaces of a thread, of a saver that lists them or of any other."""
    if hasattr(saver, "namespaces"):
        return {ns for ns, _ in saver.namespaces(thread_id)}
    listed = saver.list({"configurable": {"thread_id": thread_id}})
    return {item.config["configurable"].get("checkpoint_ns", "") for item in listed}


def below(prefix: str, namespaces: set[str]) -> list[str]:
    """Those namespaces that are `prefix` or lie under it."""
    return sorted(ns for ns in namespaces if ns == prefix or ns.startswith(prefix + "|"))


def perform_all(saver: Any, steps: Generator[Effect, Any, Any]) -> Any:
    """Run a generator of storage effects to its end."""
    reply: Any = None
    while True:
        try:
            effect = steps.send(reply)
        except StopIteration as end:
            return end.value
        reply = perform(saver, effect)


async def aperform_all(saver: Any, steps: Generator[Effect, Any, Any]) -> Any:
    """Run a generator of storage effects to its end, awaiting each."""
    reply: Any = None
    while True:
        try:
            effect = steps.send(reply)
        except StopIteration as end:
            return end.value
        reply = await aperform(saver, effect)


# -- user code ---------------------------------------------------------------------------------------------------------


def _stand_in(context: ExecutionContext) -> None:
    """Make the task's context current, for us and, where it is loaded, for langchain-core."""
    set_context(context)
    module = sys.modules.get("langchain_core.runnables.config")
    if module is not None:
        module.var_child_runnable_config.set(context.config)


def run_program(steps: Program) -> Outcome:
    """A task to its outcome, in this thread. Call inside a `contextvars` context of its own."""
    try:
        call = next(steps)
        while True:
            _stand_in(call.context)
            try:
                reply = _call(call)
            except Exception as error:  # noqa: BLE001 - the program decides what it means
                call = steps.throw(error)
            else:
                call = steps.send(reply)
    except StopIteration as end:
        outcome: Outcome = end.value
        return outcome


def _call(call: Call) -> Any:
    action = call.action
    if action.call is None:
        raise TypeError(
            f'No synchronous function provided to "{action.name}". '
            f"Either provide one, or run the graph by its async methods (ainvoke, astream)."
        )
    return action.call(call.value, call.context)


async def arun_program(steps: Program) -> Outcome:
    """A task to its outcome, in this asyncio task; sync code runs in a thread."""
    try:
        call = next(steps)
        while True:
            _stand_in(call.context)
            try:
                reply = await _acall(call)
            except Exception as error:  # noqa: BLE001 - the program decides what it means
                call = steps.throw(error)
            else:
                call = steps.send(reply)
    except StopIteration as end:
        outcome: Outcome = end.value
        return outcome


async def _acall(call: Call) -> Any:
    action = call.action
    if action.acall is not None:
        result = action.acall(call.value, call.context)
    else:
        result = await asyncio.to_thread(action.call, call.value, call.context)
    return await result if inspect.isawaitable(result) else result


# -- threads -----------------------------------------------------------------------------------------------------------


def drive(
    loop: Loop, saver: Any, inbox: SimpleQueue[Any], *, live: Live, workers: int | None
) -> Iterator[Emit | Ended]:
    """Run the loop with threads. Gives stream items as they come and `Ended` last.

    Args:
        inbox: where nodes put `Emit`s, from any thread.
        live: somebody wants items while a node is still running.
        workers: tasks at once; None for the pool's default.
    """
    pool: ThreadPoolExecutor | None = None
    lone: list[tuple[Task, Program]] = []
    running = 0
    reply: Any = None
    try:
        while True:
            try:
                effect = loop.send(reply)
            except StopIteration as end:
                yield Ended(end.value)
                return
            reply = None
            match effect:
                case Emit():
                    yield effect
                case Start(tasks, execute):
                    if len(tasks) == 1 and not live:
                        lone.append((tasks[0], execute(tasks[0])))
                        continue
                    pool = pool or ThreadPoolExecutor(workers, thread_name_prefix="forkpoint")
                    for task in tasks:
                        _submit(pool, inbox, task, execute(task))
                    running += len(tasks)
                case NextDone():
                    if lone:
                        task, steps = lone.pop()
                        reply = (task, contextvars.copy_context().run(run_program, steps))
                    while reply is None and running:
                        item = inbox.get()
                        if isinstance(item, Emit):
                            yield item
                        else:
                            running -= 1
                            reply = item
                case _:
                    reply = perform(saver, effect)
    finally:
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)
        loop.close()


def _submit(pool: ThreadPoolExecutor, inbox: SimpleQueue[Any], task: Task, steps: Program) -> None:
    def work() -> None:
        try:
            outcome = run_program(steps)
        except BaseException as error:  # noqa: BLE001 - e.g. SystemExit: the run must not wait for ever
            outcome = Failed(error)
        inbox.put((task, outcome))

    pool.submit(contextvars.copy_context().run, work)


# -- asyncio -----------------------------------------------------------------------------------------------------------


class AsyncInbox:
    """An inbox for an event loop that any thread may put to."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[Any] = asyncio.Queue()

    def put(self, item: Any) -> None:
        """Add an item; from another thread, the loop is woken."""
        try:
            here = asyncio.get_running_loop()
        except RuntimeError:
            here = None
        if here is self._loop:
            self._queue.put_nowait(item)
        else:
            self._loop.call_soon_threadsafe(self._queue.put_nowait, item)

    async def get(self) -> Any:
        """The next item."""
        return await self._queue.get()


async def adrive(loop: Loop, saver: Any, inbox: AsyncInbox, *, workers: int | None) -> AsyncIterator[Emit | Ended]:
    """Run the loop with asyncio. Gives stream items as they come and `Ended` last. Cancelling it cancels the tasks."""
    gate = asyncio.Semaphore(workers) if workers else None
    tasks_running: set[asyncio.Task[None]] = set()
    running = 0
    reply: Any = None
    try:
        while True:
            try:
                effect = loop.send(reply)
            except StopIteration as end:
                yield Ended(end.value)
                return
            reply = None
            match effect:
                case Emit():
                    yield effect
                case Start(tasks, execute):
                    for task in tasks:
                        work = asyncio.create_task(_work(inbox, task, execute(task), gate))
                        tasks_running.add(work)
                        work.add_done_callback(tasks_running.discard)
                    running += len(tasks)
                case NextDone():
                    while reply is None and running:
                        item = await inbox.get()
                        if isinstance(item, Emit):
                            yield item
                        else:
                            running -= 1
                            reply = item
                case _:
                    reply = await aperform(saver, effect)
    finally:
        for work in tuple(tasks_running):
            work.cancel()
        loop.close()


async def _work(inbox: AsyncInbox, task: Task, steps: Program, gate: asyncio.Semaphore | None) -> None:
    try:
        if gate is None:
            outcome = await arun_program(steps)
        else:
            async with gate:
                outcome = await arun_program(steps)
    except BaseException as error:
        inbox.put((task, Failed(error)))  # a node that cancels itself must not leave the run waiting
        raise
    inbox.put((task, outcome))
