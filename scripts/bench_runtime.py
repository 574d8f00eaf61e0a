"""How long a super-step takes on `runtime` and on `langgraph`: both in one run, turn by turn, judged by their ratio.

Owns: the way of measuring, the gate. Absolute times on a shared machine move by half; the ratio of two programs that take
turns does not. Per shape, way and saver it prints the median of the rounds' ratios and best over best; `--gate` ends with 1
when both lie above the "must" (one noisy round fails nobody).
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import importlib
import logging
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from bench_shapes import SHAPES, Shape, chain_of, loop_of, sends_of

PROVIDERS = ("runtime", "langgraph")
SAVERS = ("none", "memory", "sqlite", "sqlite-normal")
WAYS = ("sync", "async")
ROUNDS = 9


# -- one run -----------------------------------------------------------------------------------------------------------


@contextmanager
def opened_saver(provider: str, kind: str, way: str) -> Iterator[Any]:
    """A fresh saver, None for `none`. `sqlite` commits with synchronous=FULL, `sqlite-normal` with NORMAL."""
    if kind == "none":
        yield None
    elif kind == "memory":
        yield importlib.import_module(f"{provider}.checkpoint.memory").InMemorySaver()
    else:
        with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
            yield stack.enter_context(_sqlite(provider, kind, way, Path(folder) / "bench.sqlite"))


@contextmanager
def _sqlite(provider: str, kind: str, way: str, file: Path) -> Iterator[Any]:
    pragma = f"PRAGMA synchronous={'FULL' if kind == 'sqlite' else 'NORMAL'}"
    if way == "sync" or provider == "runtime":
        module = importlib.import_module(f"{provider}.checkpoint.sqlite")
        with module.SqliteSaver.from_conn_string(str(file)) as saver:
            saver.setup()
            saver.conn.execute(pragma)
            yield saver
        return
    module = importlib.import_module(f"{provider}.checkpoint.sqlite.aio")
    opened = module.AsyncSqliteSaver.from_conn_string(str(file))
    saver = LOOP.run_until_complete(opened.__aenter__())
    LOOP.run_until_complete(saver.setup())
    LOOP.run_until_complete(saver.conn.execute(pragma))
    yield saver
    LOOP.run_until_complete(opened.__aexit__(None, None, None))


LOOP = asyncio.new_event_loop()


def prepare(provider: str, shape: Shape, saver: Any, way: str) -> Callable[[], object]:
    """A call that plays the shape once, each time on a new thread of the saver."""
    modules = [importlib.import_module(f"{provider}.{name}") for name in ("graph", "types", "prebuilt")]
    compiled = shape.build(*modules, asynchronous=way == "async").compile(checkpointer=saver)
    threads = iter(range(1_000_000))

    def config() -> Any:
        return {"recursion_limit": 100_000, "configurable": {"thread_id": f"t{next(threads)}"}}

    def play() -> object:
        chosen, result = config(), None
        for turn in shape.inputs:
            result = compiled.invoke(turn, chosen)
        return result

    async def aplay() -> object:
        chosen, result = config(), None
        for turn in shape.inputs:
            result = await compiled.ainvoke(turn, chosen)
        return result

    return play if way == "sync" else lambda: LOOP.run_until_complete(aplay())


def timed(call: Callable[[], object]) -> float:
    """Seconds of one run."""
    gc.collect()
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def taking_turns(calls: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Seconds of each, in turns; who goes first changes with each round."""
    names = list(calls)
    times: dict[str, list[float]] = {name: [] for name in names}
    for number in range(rounds):
        for name in names if number % 2 else reversed(names):
            times[name].append(timed(calls[name]))
    return times


def line(name: str, ours: list[float], theirs: list[float], units: float, must: float | None) -> bool:
    """Print a line, and tell whether it is within its must."""
    median = statistics.median(mine / other for mine, other in zip(ours, theirs, strict=True))
    best = min(ours) / min(theirs)
    passed = must is None or min(median, best) <= must
    verdict = "" if must is None else f"   must {must:.2f}  {'ok' if passed else 'TOO SLOW'}"
    print(
        f"{name:<38} {min(ours) * units:9.0f} us {min(theirs) * units:9.0f} us"
        f"   median {median:5.2f}   best {best:5.2f}{verdict}",
        flush=True,
    )
    return passed


def report(shape: Shape, way: str, kind: str, rounds: int) -> bool:
    """One shape, one way, one saver."""
    with opened_saver("runtime", kind, way) as ours, opened_saver("langgraph", kind, way) as theirs:
        calls = {
            "runtime": prepare("runtime", shape, ours, way),
            "langgraph": prepare("langgraph", shape, theirs, way),
        }
        answers = {name: str(shape.shown(call())) for name, call in calls.items()}
        if answers["runtime"] != answers["langgraph"]:
            raise SystemExit(f"{shape.name} gives other results on the two: there is nothing to compare.")
        repeats = max(1, 100 // shape.units)
        times = taking_turns({name: _repeated(call, repeats) for name, call in calls.items()}, rounds)
    must = shape.must.get(kind) if way == "sync" else shape.async_must
    units = 1e6 / shape.units / repeats
    return line(f"{shape.name}, {way}, {kind}", times["runtime"], times["langgraph"], units, must)


def _repeated(call: Callable[[], object], repeats: int) -> Callable[[], object]:
    """Short runs are timed together: one alone shows the cold start of the processor more than the program."""
    return lambda: [call() for _ in range(repeats)]


# -- figures that are not a run's time ---------------------------------------------------------------------------------


def compiling(rounds: int) -> bool:
    """Building and compiling a chain of 1,000 nodes."""

    def build(provider: str) -> Callable[[], object]:
        modules = [importlib.import_module(f"{provider}.{name}") for name in ("graph", "types", "prebuilt")]
        return lambda: chain_of(1000)(*modules, asynchronous=False).compile()

    times = taking_turns({name: build(name) for name in PROVIDERS}, rounds)
    return line("compile a chain of 1,000", times["runtime"], times["langgraph"], 1e6, 0.20)


def importing(rounds: int) -> bool:
    """Importing the graph module, alone and with messages, in processes of their own."""
    passed = True
    for name, code, must in (
        ("import graph", "import {0}.graph", 0.35),
        ("import graph and messages", "import {0}.graph, langchain_core.messages", 0.5),
    ):
        calls = {provider: _imported(code.format(provider)) for provider in PROVIDERS}
        bare = min(taking_turns({"": _imported("")}, 3)[""])
        times = taking_turns(calls, rounds)
        ours, theirs = ([taken - bare for taken in times[provider]] for provider in PROVIDERS)
        passed &= line(name, ours, theirs, 1e6, must)
    return passed


def _imported(code: str) -> Callable[[], object]:
    return lambda: subprocess.run([sys.executable, "-c", code], check=True)


def flatness(rounds: int) -> bool:
    """Cost of a step in loops of 10 and of 10,000 steps, and of a task among 10 and 1,000."""
    from runtime import graph, prebuilt, types

    passed = True
    for name, make, few, many in (("step", loop_of, 10, 10_000), ("task", sends_of, 10, 1_000)):
        calls: dict[str, Callable[[], object]] = {}
        for count in (few, many):
            compiled = make(count)(graph, types, prebuilt, asynchronous=False).compile()
            start: dict[str, Any] = {"n": 0} if name == "step" else {"notes": []}
            once = partial(compiled.invoke, start, {"recursion_limit": 100_000})
            calls[str(count)] = _repeated(once, max(1, 1_000 // count))
        times = taking_turns(calls, rounds)
        per = {key: min(taken) / (max(1, 1_000 // int(key)) * int(key)) * 1e6 for key, taken in times.items()}
        ratio = per[str(many)] / per[str(few)]
        fine = ratio <= 1.2
        passed &= fine
        print(
            f"{f'one {name}: {many:,} beside {few}':<38} {per[str(many)]:9.1f} us {per[str(few)]:9.1f} us"
            f"   ratio {ratio:5.2f}   must 1.20  {'ok' if fine else 'NOT FLAT'}",
            flush=True,
        )
    return passed


def crowd(rounds: int) -> bool:
    """Steps per second of 8 threads at once beside one thread's, with the memory saver, ours and theirs."""
    shares = {}
    for provider in PROVIDERS:
        with opened_saver(provider, "memory", "sync") as saver:
            shape = Shape("loop", loop_of(200), ({"n": 0},), 200, {})
            play = prepare(provider, shape, saver, "sync")

            def together(play: Callable[[], object] = play) -> None:
                threads = [threading.Thread(target=play) for _ in range(8)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()

            def alone(play: Callable[[], object] = play) -> None:
                for _ in range(8):
                    play()

            times = taking_turns({"alone": alone, "together": together}, rounds)
            shares[provider] = min(times["alone"]) / min(times["together"])
    fine = shares["runtime"] >= 0.9
    print(
        f"{'8 threads beside one':<38} {shares['runtime']:9.2f}    {shares['langgraph']:9.2f}   "
        f"of one thread's steps per second   must 0.90  {'ok' if fine else 'TOO SLOW'}",
        flush=True,
    )
    return fine


OTHERS = {"compile": compiling, "import": importing, "flat": flatness, "threads": crowd}


def main() -> int:
    """Measure what was asked for. Returns 1 with `--gate` when something is too slow."""
    parser = argparse.ArgumentParser("scripts/bench", description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("words", nargs="*", help=f"words of the lines to measure, or of {list(OTHERS)} (default: all)")
    parser.add_argument("--gate", action="store_true", help="fail above the must")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"turns for each of the two (default: {ROUNDS})")
    options = parser.parse_args()
    os.environ["LANGSMITH_TRACING"] = "false"
    logging.disable(logging.WARNING)
    asyncio.set_event_loop(LOOP)
    print(f"{'shape, way, saver':<38} {'runtime':>12} {'langgraph':>12}   ratio, by round and by best")
    passed = []
    for shape in SHAPES:
        for way in WAYS:
            for kind in SAVERS:
                name = f"{shape.name}, {way}, {kind}"
                asked = all(word in name for word in options.words)
                if asked and not (kind == "none" and shape.needs_saver) and (way, kind) != ("async", SAVERS[-1]):
                    passed.append(report(shape, way, kind, options.rounds))
    for name, figure in OTHERS.items():
        if not options.words or name in options.words:
            passed.append(figure(options.rounds))
    return 1 if options.gate and not all(passed) else 0


if __name__ == "__main__":
    sys.exit(main())
