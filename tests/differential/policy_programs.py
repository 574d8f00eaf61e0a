"""Programs about policies: trying again, taking too long, taking over after a failure, remembering results.

Also what the modules of `test_features.py` share: their register, and the names that `twins.library` does not have.
"""

import asyncio
import importlib
import itertools
import operator
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Annotated, Any

from flow_programs import Log, says
from twins import MANNERS, Manner, Play, Player, Program, thread
from typing_extensions import TypedDict

FEATURES: dict[str, tuple[Program, tuple[Manner, ...], Callable[[Manner], str | None]]] = {}
"""Each with the manners that mean something for it, and why it is known to differ in a manner."""

SYNC = tuple(manner for manner in MANNERS if not manner.is_async)
ASYNC = tuple(manner for manner in MANNERS if manner.is_async)
STREAMS = tuple(manner for manner in MANNERS if manner.streams)
ONE = tuple(manner for manner in MANNERS if manner.name in ("invoke", "ainvoke-v2"))
"""For programs that call the graph themselves: once sync, once async."""
ONE_ASYNC = tuple(manner for manner in ONE if manner.is_async)


def same(manner: Manner) -> str | None:
    return None


def feature(
    *,
    parallel: bool = False,
    results: bool = True,
    manners: tuple[Manner, ...] = MANNERS,
    differs: Callable[[Manner], str | None] = same,
) -> Callable[[Play], Play]:
    """`twins.program`, for `test_features.py`."""

    def register(play: Play) -> Play:
        assert play.__name__ not in FEATURES, play.__name__
        FEATURES[play.__name__] = (Program(play.__name__, play, parallel, results), manners, differs)
        return play

    return register


def names(lib: Any, path: str) -> Any:
    """A module of the library."""
    return importlib.import_module(f"{lib.name}.{path}")


def attempt(it: Player, label: str, call: Callable[[], Any]) -> Any:
    """Record what a call gives or raises."""
    try:
        return it.note(label, call())
    except Exception as error:  # noqa: BLE001 - whatever it raises is what it shows
        return it.note(label, error)


def soon(lib: Any, **more: Any) -> Any:
    """A retry policy that does not wait."""
    return names(lib, "types").RetryPolicy(**{"initial_interval": 0.001, "jitter": False, **more})


class Flaky:
    """Raises these errors, one a call, then is well."""

    def __init__(self, *errors: BaseException) -> None:
        self.errors = list(errors)
        self.calls = 0

    def __call__(self, state: Any) -> dict[str, Any]:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return {"log": [f"call {self.calls}"]}


def node_of(flaky: Flaky) -> Any:
    def node(state: Any) -> Any:
        return flaky(state)

    return node


def one_node(lib: Any, node: Any, *, compile_with: dict[str, Any] | None = None, **options: Any) -> Any:
    builder = lib.StateGraph(Log)
    builder.add_node("a", says("a")).add_node("n", node, **options).add_node("z", says("z"))
    builder.add_edge(lib.START, "a").add_edge("a", "n").add_edge("n", "z")
    return builder.compile(**{"checkpointer": lib.InMemorySaver(), **(compile_with or {})})


# -- trying again ------------------------------------------------------------------------------------------------------


@feature()
def retried_until_it_works(lib: Any, it: Player) -> None:
    flaky = Flaky(ConnectionError("1"), ConnectionError("2"))
    graph = one_node(lib, node_of(flaky), retry_policy=soon(lib))
    it.run(graph, {"log": []}, thread())
    it.note("calls", flaky.calls)
    it.history(graph, thread())


@feature()
def retried_and_given_up(lib: Any, it: Player) -> None:
    flaky = Flaky(*(ConnectionError(str(n)) for n in range(5)))
    graph = one_node(lib, node_of(flaky), retry_policy=soon(lib, max_attempts=3))
    it.run(graph, {"log": []}, thread())
    it.note("calls", flaky.calls)
    it.state(graph, thread())
    it.run(graph, None, thread())
    it.note("calls", flaky.calls)
    it.history(graph, thread())


@feature(manners=ONE)
def an_error_that_the_policy_does_not_know(lib: Any, it: Player) -> None:
    for retry_on, error in (
        (KeyError, ValueError("no")),
        (LookupError, KeyError("subclass")),
        ((KeyError, OSError), OSError("second")),
        ([ValueError], ValueError("list")),
        (lambda e: "again" in str(e), ValueError("again")),
        (lambda e: "again" in str(e), ValueError("never")),
    ):
        flaky = Flaky(error)
        graph = one_node(lib, node_of(flaky), retry_policy=soon(lib, retry_on=retry_on))
        it.run(graph, {"log": []}, thread())
        it.note("calls", flaky.calls)


@feature(manners=ONE)
def of_many_policies_the_first_that_knows_the_error(lib: Any, it: Player) -> None:
    policies = [
        soon(lib, max_attempts=2, retry_on=KeyError),
        soon(lib, max_attempts=4, retry_on=(ValueError, KeyError)),
        soon(lib, max_attempts=9, retry_on=ValueError),
    ]
    for errors in (
        [KeyError("1"), KeyError("2"), KeyError("3")],
        [ValueError(str(n)) for n in range(6)],
        [KeyError("1"), ValueError("2"), ValueError("3")],
        [ValueError("1"), ValueError("2"), KeyError("3")],
        [TypeError("1")],
    ):
        flaky = Flaky(*errors)
        graph = one_node(lib, node_of(flaky), retry_policy=policies)
        it.run(graph, {"log": []}, thread())
        it.note("calls", flaky.calls)


@feature(manners=ONE)
def what_is_tried_again_by_default(lib: Any, it: Player) -> None:
    class Own(Exception):  # noqa: N818
        pass

    class OwnValueError(ValueError):
        pass

    kinds = (
        ConnectionError,
        TimeoutError,
        OSError,
        FileNotFoundError,
        ValueError,
        KeyError,
        TypeError,
        ZeroDivisionError,
    )
    kinds += (RuntimeError, RecursionError, NotImplementedError, NameError, ImportError, StopIteration, SyntaxError)
    kinds += (AssertionError, AttributeError, BufferError, EOFError, MemoryError, ReferenceError, UnicodeError)
    kinds += (Exception, Own, OwnValueError, BrokenPipeError, ConnectionResetError, asyncio.InvalidStateError)
    kinds += (StopAsyncIteration, IndentationError, ModuleNotFoundError, PermissionError, Warning, ExceptionGroup)
    default = names(lib, "types").RetryPolicy().retry_on
    for kind in kinds:
        error = kind("m", [ValueError("x")]) if kind is ExceptionGroup else kind("m")
        it.note(kind.__name__, default(error))


@feature(manners=ONE)
def answers_of_web_servers_by_default(lib: Any, it: Player) -> None:
    import httpx

    default = names(lib, "types").RetryPolicy().retry_on
    request = httpx.Request("GET", "http://localhost/")
    for status in (400, 404, 408, 429, 499, 500, 502, 503, 599):
        response = httpx.Response(status, request=request)
        it.note(str(status), default(httpx.HTTPStatusError("m", request=request, response=response)))
    for kind in (httpx.ConnectError, httpx.ReadTimeout, httpx.InvalidURL, httpx.TooManyRedirects):
        it.note(kind.__name__, default(kind("m")))


@feature(manners=ONE)
def fields_of_policies(lib: Any, it: Player) -> None:
    types = names(lib, "types")
    policy = types.RetryPolicy(max_attempts=7)
    it.note("retry", [getattr(policy, name) for name in policy._fields if name != "retry_on"])
    it.note("changed", policy._replace(jitter=False)[:5])
    for given in (None, 2, 0.5, timedelta(seconds=3), types.TimeoutPolicy(idle_timeout=timedelta(minutes=1))):
        attempt(it, "timeout", lambda given=given: types.TimeoutPolicy.coerce(given))
    for given in (0, -1, timedelta(0), types.TimeoutPolicy(), types.TimeoutPolicy(run_timeout=-2)):
        attempt(it, "refused", lambda given=given: types.TimeoutPolicy.coerce(given))
    attempt(it, "refresh", lambda: types.TimeoutPolicy.coerce(types.TimeoutPolicy(run_timeout=1, refresh_on="x")))
    it.note("cache", types.CachePolicy(ttl=5).ttl)


@feature()
def a_retried_node_streams_each_try(lib: Any, it: Player) -> None:
    calls: list[int] = []

    def node(state: Log) -> dict[str, Any]:
        calls.append(1)
        lib.get_stream_writer()(f"try {len(calls)}")
        if len(calls) < 3:
            raise ConnectionError("again")
        return {"log": ["done"]}

    graph = one_node(lib, node, retry_policy=soon(lib))
    it.run(graph, {"log": []}, thread())


@feature()
def a_node_is_told_which_try_it_is(lib: Any, it: Player) -> None:
    def node(state: Log, runtime: Any) -> dict[str, Any]:
        info = runtime.execution_info
        it.note("try", (info.node_attempt, info.thread_id, info.node_first_attempt_time is not None))
        if info.node_attempt < 3:
            raise ConnectionError("again")
        return {"log": [f"try {info.node_attempt}"]}

    node.__annotations__["runtime"] = lib.Runtime
    graph = one_node(lib, node, retry_policy=soon(lib))
    it.run(graph, {"log": []}, thread())


@feature()
def a_question_in_a_retried_node(lib: Any, it: Player) -> None:
    calls: list[int] = []

    def node(state: Log) -> dict[str, Any]:
        first = lib.interrupt("first?")
        calls.append(1)
        if len(calls) < 3:
            raise ConnectionError("again")
        second = lib.interrupt("second?")
        return {"log": [first, second]}

    graph = one_node(lib, node, retry_policy=soon(lib))
    it.run(graph, {"log": []}, thread())
    it.note("calls", len(calls))
    it.run(graph, lib.Command(resume="A"), thread())
    it.note("calls", len(calls))
    it.run(graph, lib.Command(resume="B"), thread())
    it.note("calls", len(calls))
    it.history(graph, thread())


@feature()
def a_retried_subgraph(lib: Any, it: Player) -> None:
    flaky = Flaky(ConnectionError("1"))
    inner = lib.StateGraph(Log)
    inner.add_node("s1", says("s1")).add_node("s2", node_of(flaky))
    inner.add_edge(lib.START, "s1").add_edge("s1", "s2")
    graph = one_node(lib, inner.compile(), retry_policy=soon(lib))
    it.run(graph, {"log": []}, thread())
    it.note("calls", flaky.calls)
    it.history(graph, thread())


@feature(parallel=True)
def one_of_two_siblings_is_retried(lib: Any, it: Player) -> None:
    flaky, steady = Flaky(ConnectionError("1")), Flaky()
    builder = lib.StateGraph(Log)
    builder.add_node("p", node_of(flaky), retry_policy=soon(lib)).add_node("q", node_of(steady))
    builder.add_node("z", says("z"))
    builder.add_edge(lib.START, "p").add_edge(lib.START, "q").add_edge(["p", "q"], "z")
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": []}, thread())
    it.note("calls", (flaky.calls, steady.calls))
    it.history(graph, thread())


@feature(parallel=True)
def sends_are_retried_each_on_its_own(lib: Any, it: Player) -> None:
    seen: list[int] = []

    def work(arg: int) -> dict[str, Any]:
        seen.append(arg)
        if arg and seen.count(arg) <= arg:
            raise ConnectionError("again")
        return {"log": [f"{arg} after {seen.count(arg)}"]}

    builder = lib.StateGraph(Log)
    builder.add_node("work", work, retry_policy=soon(lib))
    builder.add_conditional_edges(lib.START, lambda s: [lib.Send("work", i) for i in range(3)], ["work"])
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": []}, thread())
    it.note("seen", sorted(seen))


@feature()
def a_router_is_retried_with_its_node(lib: Any, it: Player) -> None:
    calls: list[str] = []

    def node(state: Log) -> dict[str, Any]:
        calls.append("node")
        return {"log": ["n"]}

    def route(state: Log) -> str:
        calls.append("route")
        if calls.count("route") == 1:
            raise ConnectionError("again")
        return "z"

    builder = lib.StateGraph(Log)
    builder.add_node("n", node, retry_policy=soon(lib)).add_node("z", says("z"))
    builder.add_edge(lib.START, "n").add_conditional_edges("n", route, ["z"])
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": []}, thread())
    it.note("calls", calls)


@feature(manners=ONE)
def pauses_grow(lib: Any, it: Player) -> None:
    times: list[float] = []

    def node(state: Log) -> dict[str, Any]:
        times.append(time.monotonic())
        raise ConnectionError("again")

    policy = soon(lib, initial_interval=0.04, backoff_factor=2.0, max_interval=0.1, max_attempts=4)
    it.run(one_node(lib, node, retry_policy=policy), {"log": []}, thread())
    pauses = [after - before for before, after in itertools.pairwise(times)]
    it.note("long enough", [pause >= least for pause, least in zip(pauses, (0.039, 0.079, 0.099), strict=True)])


# -- taking too long ---------------------------------------------------------------------------------------------------


@feature(manners=ASYNC)
def a_node_that_takes_too_long(lib: Any, it: Player) -> None:
    async def slow(state: Log) -> dict[str, Any]:
        lib.get_stream_writer()("begun")
        await asyncio.sleep(5)
        return {"log": ["slow"]}

    graph = one_node(lib, slow, timeout=0.03)
    error = it.run(graph, {"log": []}, thread())
    it.note("error", (error.node, error.kind, error.run_timeout, error.idle_timeout, error.timeout))
    it.state(graph, thread())


@feature(manners=ASYNC)
def a_node_that_is_quick_enough(lib: Any, it: Player) -> None:
    async def quick(state: Log) -> dict[str, Any]:
        await asyncio.sleep(0)
        return {"log": ["quick"]}

    graph = one_node(lib, quick, timeout=timedelta(seconds=5))
    it.run(graph, {"log": []}, thread())
    it.history(graph, thread())


@feature(manners=ASYNC)
def a_timeout_is_tried_again(lib: Any, it: Player) -> None:
    calls: list[int] = []

    async def slow_once(state: Log) -> dict[str, Any]:
        calls.append(1)
        await asyncio.sleep(5 if len(calls) == 1 else 0)
        return {"log": [f"call {len(calls)}"]}

    graph = one_node(lib, slow_once, timeout=0.03, retry_policy=soon(lib))
    it.run(graph, {"log": []}, thread())
    it.note("calls", len(calls))
    it.history(graph, thread())


@feature(manners=ASYNC[:1])
def idle_timeouts_and_what_refreshes_them(lib: Any, it: Player) -> None:
    policy = names(lib, "types").TimeoutPolicy

    def node(sign: str) -> Any:
        async def working(state: Log, runtime: Any) -> dict[str, Any]:
            for _ in range(6):
                await asyncio.sleep(0.06)
                if sign == "writes":
                    runtime.stream_writer("progress")
                elif sign == "beats":
                    runtime.heartbeat()
            return {"log": [sign]}

        working.__annotations__["runtime"] = lib.Runtime
        return working

    for sign in ("writes", "beats", "nothing"):
        for refresh_on in ("auto", "heartbeat"):
            it.note("sign", (sign, refresh_on))
            timeout = policy(idle_timeout=0.25, refresh_on=refresh_on)
            error = it.run(one_node(lib, node(sign), timeout=timeout), {"log": []}, thread())
            if error is not None:
                it.note("error", (error.kind, error.timeout))


@feature(manners=ASYNC)
def a_timeout_of_one_send(lib: Any, it: Player) -> None:
    async def work(arg: float) -> dict[str, Any]:
        await asyncio.sleep(arg)
        return {"log": [f"slept {arg}"]}

    builder = lib.StateGraph(Log)
    builder.add_node("work", work)
    builder.add_conditional_edges(lib.START, lambda s: [lib.Send("work", 5, timeout=0.03)], ["work"])
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    error = it.run(graph, {"log": []}, thread())
    it.note("error", (error.node, error.kind, error.run_timeout))


@feature(manners=ONE)
def timeouts_that_are_refused(lib: Any, it: Player) -> None:
    async def node(state: Log) -> None:
        return None

    for action, timeout in ((says("n"), 1), (node, 0), (node, -1), (node, timedelta(0)), (node, 1), (node, None)):
        builder = lib.StateGraph(Log)
        try:
            builder.add_node("n", action, timeout=timeout).add_edge(lib.START, "n")
            builder.compile()
            it.note("taken", str(timeout))
        except Exception as error:  # noqa: BLE001 - what is compared
            it.note("refused", error)


# -- taking over after a failure ---------------------------------------------------------------------------------------


def taking_over(lib: Any, *, goto: Any = None) -> Any:
    def handler(state: Log, error: Any) -> Any:
        log = [f"{error.node} {type(error.error).__name__} {error.error} {state['log']}"]
        return {"log": log} if goto is None else lib.Command(update={"log": log}, goto=goto)

    handler.__annotations__["error"] = names(lib, "errors").NodeError
    return handler


@feature()
def an_error_handler_gives_an_update(lib: Any, it: Player) -> None:
    graph = one_node(lib, node_of(Flaky(ValueError("boom"))), error_handler=taking_over(lib))
    it.run(graph, {"log": ["in"]}, thread())
    it.state(graph, thread())
    it.history(graph, thread())


@feature()
def an_error_handler_jumps(lib: Any, it: Player) -> None:
    graph = one_node(lib, node_of(Flaky(ValueError("boom"))), error_handler=taking_over(lib, goto="z"))
    it.run(graph, {"log": ["in"]}, thread())
    it.history(graph, thread())


@feature()
def an_error_handler_is_not_needed(lib: Any, it: Player) -> None:
    graph = one_node(lib, node_of(Flaky()), error_handler=taking_over(lib, goto="z"))
    it.run(graph, {"log": ["in"]}, thread())
    it.history(graph, thread())


@feature()
def an_error_handler_after_all_tries(lib: Any, it: Player) -> None:
    flaky = Flaky(*(ConnectionError(str(n)) for n in range(4)))
    graph = one_node(
        lib, node_of(flaky), error_handler=taking_over(lib, goto="z"), retry_policy=soon(lib, max_attempts=2)
    )
    it.run(graph, {"log": []}, thread())
    it.note("calls", flaky.calls)


@feature()
def an_error_handler_that_fails(lib: Any, it: Player) -> None:
    def handler(state: Log) -> Any:
        raise KeyError("handler")

    graph = one_node(lib, node_of(Flaky(ValueError("boom"))), error_handler=handler)
    it.run(graph, {"log": []}, thread())
    it.state(graph, thread())
    it.run(graph, None, thread())
    it.history(graph, thread())


@feature()
def an_error_handler_and_a_question(lib: Any, it: Player) -> None:
    def node(state: Log) -> dict[str, Any]:
        return {"log": [lib.interrupt("q?")]}

    graph = one_node(lib, node, error_handler=taking_over(lib, goto="z"))
    it.run(graph, {"log": []}, thread())
    it.run(graph, lib.Command(resume="yes"), thread())
    it.history(graph, thread())


@feature(differs=lambda manner: "the question of an error handler is in our snapshots, and can be answered from there")
def an_error_handler_asks(lib: Any, it: Player) -> None:
    def handler(state: Log) -> Any:
        return lib.Command(update={"log": [lib.interrupt("what now?")]}, goto="z")

    flaky = Flaky(*(ValueError("boom") for _ in range(3)))
    graph = one_node(lib, node_of(flaky), error_handler=handler)
    it.run(graph, {"log": []}, thread())
    it.state(graph, thread())
    it.run(graph, lib.Command(resume="go on"), thread())
    it.note("calls", flaky.calls)
    it.history(graph, thread())


@feature(parallel=True)
def an_error_handler_beside_a_sibling(lib: Any, it: Player) -> None:
    builder = lib.StateGraph(Log)
    builder.add_node("p", node_of(Flaky(ValueError("boom"))), error_handler=taking_over(lib, goto="y"))
    builder.add_node("q", says("q")).add_node("y", says("y")).add_node("z", says("z"))
    builder.add_edge(lib.START, "p").add_edge(lib.START, "q").add_edge("q", "z")
    graph = builder.compile(checkpointer=lib.InMemorySaver())
    it.run(graph, {"log": []}, thread())
    it.history(graph, thread())


@feature(manners=ASYNC)
def an_async_error_handler_after_a_timeout(lib: Any, it: Player) -> None:
    async def slow(state: Log) -> dict[str, Any]:
        await asyncio.sleep(5)
        return {"log": ["slow"]}

    async def handler(state: Log, error: Any) -> Any:
        await asyncio.sleep(0)
        return {"log": [f"{error.node} {type(error.error).__name__}"]}

    handler.__annotations__["error"] = names(lib, "errors").NodeError
    graph = one_node(lib, slow, timeout=0.03, error_handler=handler)
    it.run(graph, {"log": []}, thread())


@feature()
def an_error_handler_of_a_subgraph(lib: Any, it: Player) -> None:
    inner = lib.StateGraph(Log)
    inner.add_node("s1", says("s1")).add_node("s2", node_of(Flaky(ValueError("deep"))))
    inner.add_edge(lib.START, "s1").add_edge("s1", "s2")
    graph = one_node(lib, inner.compile(), error_handler=taking_over(lib, goto="z"))
    it.run(graph, {"log": []}, thread())
    it.state(graph, thread())


# -- remembering results -----------------------------------------------------------------------------------------------


class Counted(TypedDict):
    x: int
    log: Annotated[list[str], operator.add]


def counting(lib: Any, *, use_cache: bool = True, route: Any = None, **options: Any) -> tuple[Any, list[int]]:
    calls: list[int] = []

    def n(state: Counted) -> dict[str, Any]:
        calls.append(state["x"])
        lib.get_stream_writer()("called")
        return {"log": [f"n {state['x']}"]}

    builder = lib.StateGraph(Counted)
    policy = names(lib, "types").CachePolicy(**options)
    builder.add_node("n", n, cache_policy=policy).add_node("z", says("z"))
    builder.add_edge(lib.START, "n")
    if route is None:
        builder.add_edge("n", "z")
    else:
        builder.add_conditional_edges("n", route, ["z", lib.END])
    cache = names(lib, "cache.memory").InMemoryCache() if use_cache else None
    return builder.compile(checkpointer=lib.InMemorySaver(), cache=cache), calls


@feature()
def a_cached_node(lib: Any, it: Player) -> None:
    graph, calls = counting(lib)
    it.run(graph, {"x": 1, "log": []}, thread("1"))
    it.run(graph, {"x": 1, "log": []}, thread("2"))
    it.run(graph, {"x": 2, "log": []}, thread("3"))
    it.run(graph, {"x": 1, "log": ["other"]}, thread("4"))
    it.note("calls", calls)
    for name in "1234":
        it.history(graph, thread(name))


@feature(manners=ONE)
def a_policy_without_a_cache(lib: Any, it: Player) -> None:
    graph, calls = counting(lib, use_cache=False)
    it.run(graph, {"x": 1, "log": []}, thread("1"))
    it.run(graph, {"x": 1, "log": []}, thread("2"))
    it.note("calls", calls)


@feature()
def a_cache_key_of_ones_own(lib: Any, it: Player) -> None:
    graph, calls = counting(lib, key_func=lambda state: str(state["x"] % 2))
    for x in (1, 3, 2, 4, 5):
        it.run(graph, {"x": x, "log": []}, thread(str(x)))
    it.note("calls", calls)


@feature(manners=ONE)
def a_cached_result_gets_old(lib: Any, it: Player) -> None:
    graph, calls = counting(lib, ttl=1)
    it.run(graph, {"x": 1, "log": []}, thread("1"))
    it.run(graph, {"x": 1, "log": []}, thread("2"))
    it.note("calls", list(calls))
    time.sleep(1.05)
    it.run(graph, {"x": 1, "log": []}, thread("3"))
    it.note("calls", list(calls))


@feature()
def a_cache_is_cleared(lib: Any, it: Player) -> None:
    graph, calls = counting(lib)
    for number, nodes in enumerate((None, ["n"], ["z"], ["n", "z"], [])):
        it.run(graph, {"x": 1, "log": []}, thread(f"{number} first"))
        it._do(graph, "clear_cache", nodes)
        it.run(graph, {"x": 1, "log": []}, thread(f"{number} second"))
        it.note("calls", list(calls))
        it._do(graph, "clear_cache")


@feature(manners=ONE)
def clearing_what_is_not_there(lib: Any, it: Player) -> None:
    bare, _ = counting(lib, use_cache=False)
    it._try("no cache", bare, "clear_cache")


@feature()
def a_cached_nodes_router_runs_again(lib: Any, it: Player) -> None:
    routed: list[int] = []

    def route(state: Counted) -> str:
        routed.append(1)
        return "z"

    graph, calls = counting(lib, route=route)
    it.run(graph, {"x": 1, "log": []}, thread("1"))
    it.run(graph, {"x": 1, "log": []}, thread("2"))
    it.note("calls", (calls, len(routed)))


@feature()
def a_cached_command(lib: Any, it: Player) -> None:
    calls: list[int] = []

    def n(state: Log) -> Any:
        calls.append(1)
        return lib.Command(update={"log": ["n"]}, goto="z")

    builder = lib.StateGraph(Log)
    builder.add_node("n", n, cache_policy=names(lib, "types").CachePolicy(), destinations=("z",))
    builder.add_node("z", says("z")).add_edge(lib.START, "n")
    graph = builder.compile(checkpointer=lib.InMemorySaver(), cache=names(lib, "cache.memory").InMemoryCache())
    it.run(graph, {"log": []}, thread("1"))
    it.run(graph, {"log": []}, thread("2"))
    it.note("calls", len(calls))


@feature(parallel=True)
def cached_sends(lib: Any, it: Player) -> None:
    calls: list[int] = []

    def work(arg: Any) -> dict[str, Any]:
        calls.append(arg)
        return {"log": [f"work {arg}"]}

    builder = lib.StateGraph(Counted)
    builder.add_node("work", work, cache_policy=names(lib, "types").CachePolicy())
    builder.add_conditional_edges(lib.START, lambda s: [lib.Send("work", i) for i in range(s["x"])], ["work"])
    graph = builder.compile(checkpointer=lib.InMemorySaver(), cache=names(lib, "cache.memory").InMemoryCache())
    it.run(graph, {"x": 2, "log": []}, thread("1"))
    it.run(graph, {"x": 4, "log": []}, thread("2"))
    it.note("calls", sorted(calls))


@feature()
def a_cached_node_with_a_question(lib: Any, it: Player) -> None:
    calls: list[int] = []

    def n(state: Log) -> Any:
        calls.append(1)
        return {"log": [lib.interrupt("q?")]}

    policy = names(lib, "types").CachePolicy()
    cache = names(lib, "cache.memory").InMemoryCache()
    graph = one_node(lib, n, cache_policy=policy, compile_with={"cache": cache})
    it.run(graph, {"log": []}, thread("1"))
    it.run(graph, lib.Command(resume="yes"), thread("1"))
    it.run(graph, {"log": []}, thread("2"))
    it.state(graph, thread("2"))
    it.note("calls", len(calls))


@feature()
def failures_are_not_cached(lib: Any, it: Player) -> None:
    flaky = Flaky(ValueError("first"))
    policy = names(lib, "types").CachePolicy()
    cache = names(lib, "cache.memory").InMemoryCache()
    graph = one_node(lib, node_of(flaky), cache_policy=policy, compile_with={"cache": cache})
    for name in "123":
        it.run(graph, {"log": []}, thread(name))
    it.note("calls", flaky.calls)


@feature()
def a_cached_subgraph(lib: Any, it: Player) -> None:
    calls: list[int] = []

    def s(state: Log) -> dict[str, Any]:
        calls.append(1)
        return {"log": ["s"]}

    inner = lib.StateGraph(Log)
    inner.add_node("s", s).add_edge(lib.START, "s")
    policy = names(lib, "types").CachePolicy()
    cache = names(lib, "cache.memory").InMemoryCache()
    graph = one_node(lib, inner.compile(), cache_policy=policy, compile_with={"cache": cache})
    it.run(graph, {"log": []}, thread("1"))
    it.run(graph, {"log": []}, thread("2"))
    it.note("calls", len(calls))


@feature(manners=ASYNC)
def policies_of_async_nodes(lib: Any, it: Player) -> None:
    calls: list[str] = []

    async def n(state: Log) -> dict[str, Any]:
        calls.append("n")
        await asyncio.sleep(0)
        if len(calls) == 1:
            raise ConnectionError("again")
        return {"log": ["n"]}

    policy = names(lib, "types").CachePolicy()
    cache = names(lib, "cache.memory").InMemoryCache()
    graph = one_node(lib, n, cache_policy=policy, retry_policy=soon(lib), timeout=5, compile_with={"cache": cache})
    it.run(graph, {"log": []}, thread("1"))
    it.run(graph, {"log": []}, thread("2"))
    it.note("calls", calls)
