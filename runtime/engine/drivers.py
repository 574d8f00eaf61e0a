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
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import suppress
from queue import SimpleQueue
from typing import Any
from weakref import WeakKeyDictionary

from runtime.context import ExecutionContext, set_context
from runtime.engine.calls import TaskCall
from runtime.engine.effects import (
    CacheGet,
    CachePut,
    Call,
    Effect,
    Emit,
    Head,
    ListCheckpoints,
    ListNamespaces,
    Load,
    NextDone,
    PutCheckpoint,
    PutWrites,
    Request,
    Run,
    Sleep,
    Start,
    Tell,
)
from runtime.engine.execute import Program
from runtime.engine.model import Failed, Outcome, Task
from runtime.errors import NodeCancelledError, NodeTimeoutError
from runtime.policies import TimeoutPolicy

Loop = Generator[Effect, Any, Any]
Live = bool
_MOST_CALLS = 256
"""Threads for tasks that tasks call, where the run sets no limit: their callers wait in threads of their own."""

_MOMENT = 100e-6
"""Seconds that an event loop may wait for a thread without letting others run."""
_POOLS: WeakKeyDictionary[asyncio.AbstractEventLoop, ThreadPoolExecutor] = WeakKeyDictionary()
"""Threads for the sync code of async runs, by event loop: as many as asyncio itself would have."""


class Ended:
    """What a driver's caller gets last: the loop's return value."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


# -- storage -----------------------------------------------------------------------------------------------------------


def perform(saver: Any, effect: Effect, cache: Any = None) -> Any:
    """One storage effect, now."""
    match effect:
        case PutWrites(config, writes, task_id, task_path):
            saver.put_writes(config, writes, task_id, task_path)
        case PutCheckpoint():
            _put(saver, effect)
        case Load(config, to_run):
            return saver.checkout(config) if to_run and hasattr(saver, "checkout") else saver.get_tuple(config)
        case Head(thread_id, ns, besides):
            return head_of(saver, thread_id, ns, besides)
        case ListCheckpoints(config, wanted, before, limit):
            return list(saver.list(config, filter=wanted, before=before, limit=limit))
        case ListNamespaces(thread_id, prefix):
            return below(prefix, namespaces_of(saver, thread_id))
        case CacheGet(keys):
            return cache.get(keys)
        case CachePut(key, writes, ttl):
            cache.set({key: (writes, ttl)})
        case Tell(what):
            return what()
        case Run(steps):
            return contextvars.copy_context().run(run_program, steps)
        case _:
            raise TypeError(f"No driver performs {effect!r} here.")
    return None


async def aperform(saver: Any, effect: Effect, cache: Any = None) -> Any:
    """One storage effect, by the saver's async methods; a saver in memory is called directly."""
    match effect:
        case Run(steps):
            return await asyncio.create_task(arun_program(steps))
        case Tell(what):
            told = what()
            return await told if inspect.isawaitable(told) else told
        case CacheGet(keys):
            return await cache.aget(keys)
        case CachePut(key, remembered, ttl):
            await cache.aset({key: (remembered, ttl)})
            return None
    if getattr(saver, "instant", False):
        return perform(saver, effect)
    if getattr(saver, "threaded", False):
        return await _in_thread(perform, saver, effect)
    return await _by_its_async_methods(saver, effect)


async def _by_its_async_methods(saver: Any, effect: Effect) -> Any:
    match effect:
        case PutWrites(config, writes, task_id, task_path):
            await saver.aput_writes(config, writes, task_id, task_path)
        case PutCheckpoint():
            await _aput(saver, effect)
        case Load(config, to_run):
            return await (
                saver.acheckout(config) if to_run and hasattr(saver, "acheckout") else saver.aget_tuple(config)
            )
        case ListCheckpoints(config, wanted, before, limit):
            return [item async for item in saver.alist(config, filter=wanted, before=before, limit=limit)]
        case Head() | ListNamespaces():
            return await asyncio.to_thread(perform, saver, effect)
        case _:
            raise TypeError(f"No driver performs {effect!r} here.")
    return None


async def _aput(saver: Any, effect: PutCheckpoint) -> None:
    if effect.meet is not None:
        effect.meet(effect, await asyncio.to_thread(_head_before, saver, effect))
    writes = effect.writes
    if writes is not None:
        await saver.aput_writes(writes.config, writes.writes, writes.task_id, writes.task_path)
    await saver.aput(effect.config, effect.checkpoint, effect.metadata, effect.new_versions)


def _put(saver: Any, effect: PutCheckpoint) -> None:
    if effect.meet is not None:
        effect.meet(effect, _head_before(saver, effect))
    arguments = (effect.config, effect.checkpoint, effect.metadata, effect.new_versions)
    writes = effect.writes
    if writes is None:
        saver.put(*arguments)
    elif hasattr(saver, "put_step"):
        saver.put_step(*arguments, writes.config, writes.writes, writes.task_id, writes.task_path)
    else:
        saver.put_writes(writes.config, writes.writes, writes.task_id, writes.task_path)
        saver.put(*arguments)


def _head_before(saver: Any, effect: PutCheckpoint) -> str | None:
    configurable = effect.config["configurable"]
    return head_of(saver, configurable["thread_id"], configurable["checkpoint_ns"])


def head_of(saver: Any, thread_id: str, ns: str, besides: str | None = None) -> str | None:
    """The id of the newest checkpoint of a namespace, of a saver that can say it cheaply."""
    found: str | None = saver.head(thread_id, ns, besides=besides) if hasattr(saver, "head") else None
    return found


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
        request = next(steps)
        while True:
            try:
                reply = _answer(request)
            except Exception as error:  # noqa: BLE001 - the program decides what it means
                request = steps.throw(error)
            else:
                request = steps.send(reply)
    except StopIteration as end:
        outcome: Outcome = end.value
        return outcome


def _answer(request: Request) -> Any:
    if isinstance(request, Tell):
        return request.what()
    if isinstance(request, Sleep):
        time.sleep(request.seconds)
        return None
    action = request.action
    _stand_in(request.context)
    if action.call is None:
        raise TypeError(
            f'No synchronous function provided to "{action.name}". '
            f"Either provide one, or run the graph by its async methods (ainvoke, astream)."
        )
    return action.call(request.value, request.context)


async def arun_program(steps: Program) -> Outcome:
    """A task to its outcome, in this asyncio task; sync code runs in a thread."""
    try:
        request = next(steps)
        while True:
            try:
                reply = await _aanswer(request)
            except asyncio.CancelledError as cancelled:
                here = asyncio.current_task()
                if not isinstance(request, Call) or here is None or here.cancelling():
                    raise
                error = NodeCancelledError(request.context.node)  # nobody cancelled us: the node raised it
                error.__cause__ = cancelled
                request = steps.throw(error)
            except Exception as error:  # noqa: BLE001 - the program decides what it means
                request = steps.throw(error)
            else:
                request = steps.send(reply)
    except StopIteration as end:
        outcome: Outcome = end.value
        return outcome


async def _aanswer(request: Request) -> Any:
    if isinstance(request, Tell):
        told = request.what()
        return await told if inspect.isawaitable(told) else told
    if isinstance(request, Sleep):
        await asyncio.sleep(request.seconds)
        return None
    _stand_in(request.context)
    action = request.action
    if action.acall is None:
        result = await _in_thread(action.call, request.value, request.context)
    elif request.timeout is not None:
        return await _timed(request, request.timeout)
    else:
        result = action.acall(request.value, request.context)
    return await result if inspect.isawaitable(result) else result


async def _in_thread(call: Callable[..., Any], *arguments: Any) -> Any:
    """What `asyncio.to_thread` does, sooner for a quick call: the event loop waits a moment for it where it stands.

    To go back to the event loop and be woken by it costs more than the call of a usual router takes.
    """
    loop = asyncio.get_running_loop()
    pool = _POOLS.get(loop)
    if pool is None:
        pool = _POOLS[loop] = ThreadPoolExecutor(thread_name_prefix="forkpoint-async")
    future = pool.submit(contextvars.copy_context().run, call, *arguments)
    wait_for((future,), timeout=_MOMENT)
    return future.result() if future.done() else await asyncio.wrap_future(future)


async def _timed(request: Call, policy: TimeoutPolicy) -> Any:
    """User code that may take only so long, in all and without progress. It is cancelled, and raises NodeTimeoutError."""
    began = progressed = time.monotonic()

    def progress() -> None:
        nonlocal progressed
        progressed = time.monotonic()

    if request.context.pulse is not None:
        request.context.pulse.beat = progress
    work = asyncio.ensure_future(_awaited(lambda: request.action.acall(request.value, request.context)))
    run: Any = policy.run_timeout
    idle: Any = policy.idle_timeout
    try:
        while True:
            now = time.monotonic()
            limits = ([began + run - now] if run else []) + ([progressed + idle - now] if idle else [])
            if min(limits) <= 0:
                break
            await asyncio.wait({work}, timeout=min(limits))
            if work.done():
                return work.result()
    finally:
        if not work.done():
            work.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await work
    elapsed = time.monotonic() - began
    kind: Any = "run" if run and elapsed >= run else "idle"
    raise NodeTimeoutError(
        request.context.node, elapsed, kind=kind, run_timeout=run, idle_timeout=idle
    ) from TimeoutError()


async def _awaited(call: Callable[[], Awaitable[Any]]) -> Any:
    return await call()


# -- threads -----------------------------------------------------------------------------------------------------------


def drive(
    loop: Loop, saver: Any, inbox: SimpleQueue[Any], *, live: Live, workers: int | None, cache: Any = None
) -> Iterator[Emit | Ended]:
    """Run the loop with threads. Gives stream items as they come and `Ended` last.

    Args:
        inbox: where nodes put `Emit`s and `TaskCall`s, from any thread.
        live: somebody wants items while a node is still running, or nodes may call tasks.
        workers: tasks at once; None for the pool's default.
    """
    pool = _Pool(inbox, workers)
    lone: list[tuple[Task, Program]] = []
    reply: Any = None
    try:
        while True:
            try:
                effect = loop.send(reply)
            except StopIteration as end:
                yield Ended(end.value)
                return
            reply = None
            if isinstance(effect, NextDone):
                if lone:
                    task, steps = lone.pop()
                    reply = (task, contextvars.copy_context().run(run_program, steps))
                while reply is None and pool.running:
                    item = inbox.get()
                    if isinstance(item, Emit):
                        yield item
                    else:
                        pool.running -= not isinstance(item, TaskCall)
                        reply = item
            elif isinstance(effect, Emit):
                yield effect
            elif isinstance(effect, Start):
                tasks = effect.tasks
                if len(tasks) == 1 and not live and not pool.running:
                    lone.append((tasks[0], effect.execute(tasks[0])))
                    continue
                for task in tasks:
                    pool.submit(task, effect.execute(task))
            else:
                reply = perform(saver, effect, cache)
    finally:
        pool.close()
        loop.close()


class _Pool:
    """Threads for tasks, made when first needed. Called tasks have threads of their own: their callers wait for them."""

    def __init__(self, inbox: SimpleQueue[Any], workers: int | None) -> None:
        self.running = 0
        self._inbox = inbox
        self._workers = workers
        self._planned: ThreadPoolExecutor | None = None
        self._called: ThreadPoolExecutor | None = None
        self._callers: set[str] = set()

    def submit(self, task: Task, steps: Program) -> None:
        """Run a task in a thread; its end goes to the inbox."""
        self.running += 1

        def work() -> None:
            try:
                outcome = run_program(steps)
            except BaseException as error:  # noqa: BLE001 - e.g. SystemExit: the run must not wait for ever
                outcome = Failed(error)
            self._inbox.put((task, outcome))

        run = contextvars.copy_context().run
        if task.caller is None:
            self._planned = self._planned or ThreadPoolExecutor(self._workers, thread_name_prefix="forkpoint")
            self._planned.submit(run, work)
        elif task.caller in self._callers:  # called by a called task, which keeps a thread of the pool waiting
            threading.Thread(target=run, args=(work,), daemon=True, name="forkpoint-call").start()
        else:
            self._callers.add(task.id)
            self._called = self._called or ThreadPoolExecutor(
                self._workers or _MOST_CALLS, thread_name_prefix="forkpoint-call"
            )
            self._called.submit(run, work)

    def close(self) -> None:
        """Wait for nobody."""
        for pool in (self._planned, self._called):
            if pool is not None:
                pool.shutdown(wait=False, cancel_futures=True)


# -- asyncio -----------------------------------------------------------------------------------------------------------


class AsyncInbox:
    """An inbox for an event loop that any thread may put to. What comes out is in the order in which it was put."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._items: deque[Any] = deque()
        self._news = asyncio.Event()

    def put(self, item: Any) -> None:
        """Add an item; from another thread, the loop is woken."""
        self._items.append(item)
        try:
            here = asyncio.get_running_loop()
        except RuntimeError:
            here = None
        if here is self._loop:
            self._news.set()
        else:
            self._loop.call_soon_threadsafe(self._news.set)

    async def get(self) -> Any:
        """The next item."""
        while not self._items:
            self._news.clear()
            await self._news.wait()
        return self._items.popleft()


async def adrive(
    loop: Loop, saver: Any, inbox: AsyncInbox, *, live: Live, workers: int | None, cache: Any = None
) -> AsyncIterator[Emit | Ended]:
    """Run the loop with asyncio. Gives stream items as they come and `Ended` last. Cancelling it cancels the tasks."""
    pool = _AsyncPool(inbox, workers)
    lone: list[tuple[Task, Program]] = []
    reply: Any = None
    try:
        while True:
            try:
                effect = loop.send(reply)
            except StopIteration as end:
                yield Ended(end.value)
                return
            reply = None
            if isinstance(effect, NextDone):
                if lone:
                    task, steps = lone.pop()
                    reply = (task, await _lone(steps))
                while reply is None and pool.running:
                    item = await inbox.get()
                    if isinstance(item, Emit):
                        yield item
                    else:
                        pool.running -= not isinstance(item, TaskCall)
                        reply = item
            elif isinstance(effect, Emit):
                yield effect
            elif isinstance(effect, Start):
                tasks = effect.tasks
                if len(tasks) == 1 and not live and not pool.running:
                    lone.append((tasks[0], effect.execute(tasks[0])))
                    continue
                for task in tasks:
                    pool.submit(task, effect.execute(task))
            else:
                reply = await aperform(saver, effect, cache)
    finally:
        pool.close()
        loop.close()


async def _lone(steps: Program) -> Outcome:
    """A task that is awaited right away, in a context of its own."""
    try:
        return await asyncio.create_task(arun_program(steps))
    except BaseException as error:
        here = asyncio.current_task()
        if here is None or here.cancelling():
            raise
        return Failed(error)  # a node that cancels itself fails


class _AsyncPool:
    """Asyncio tasks. Called tasks have a limit of their own: their callers, which wait for them, are in the other."""

    def __init__(self, inbox: AsyncInbox, workers: int | None) -> None:
        self.running = 0
        self._inbox = inbox
        self._planned = asyncio.Semaphore(workers) if workers else None
        self._called = asyncio.Semaphore(workers) if workers else None
        self._callers: set[str] = set()
        self._at_work: set[asyncio.Task[None]] = set()

    def submit(self, task: Task, steps: Program) -> None:
        """Run a task; its end goes to the inbox."""
        self.running += 1
        gate = self._planned
        if task.caller is not None:
            gate = None if task.caller in self._callers else self._called
            self._callers.add(task.id)
        work = asyncio.create_task(_work(self._inbox, task, steps, gate))
        self._at_work.add(work)
        work.add_done_callback(self._at_work.discard)

    def close(self) -> None:
        """Cancel what still runs."""
        for work in tuple(self._at_work):
            work.cancel()


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
