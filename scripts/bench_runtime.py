"""How long a super-step takes on `runtime` and on `langgraph`: both in one run, turn by turn, judged by their ratio.

Owns: the shapes, the way of measuring, the gate. Absolute times on a shared machine move by half; the ratio of two programs
that take turns does not. Per shape and saver it prints the median of the rounds' ratios and best over best; `--gate` ends
with 1 when both lie above the "must" (one noisy round fails nobody).
"""

from __future__ import annotations

import argparse
import gc
import importlib
import operator
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypedDict

PROVIDERS = ("runtime", "langgraph")
SAVERS = ("none", "memory", "sqlite")
ROUNDS = 9

Invoke = Callable[[], object]


class Count(TypedDict):
    """A number that grows."""

    n: int


class Notes(TypedDict):
    """A list that tasks add to."""

    notes: Annotated[list[int], operator.add]


@dataclass(frozen=True, slots=True)
class Shape:
    """A graph to measure."""

    name: str
    build: Callable[[Any, Any], Any]
    """From a provider's `graph` and `types` modules to a StateGraph."""
    given: dict[str, Any]
    """The input."""
    units: int
    """What a run is divided by: super-steps, or tasks of a fan-out."""
    must: dict[str, float]
    """By saver, the ratio that must not be passed."""


def chain(graph: Any, _: Any) -> Any:
    """Ten nodes in a row."""
    builder = graph.StateGraph(Count)
    names = [f"n{index}" for index in range(10)]
    for name in names:
        builder.add_node(name, lambda state: {"n": state["n"] + 1})
    for start, end in zip([graph.START, *names], [*names, graph.END], strict=True):
        builder.add_edge(start, end)
    return builder


def loop(graph: Any, _: Any) -> Any:
    """One node, a thousand times."""
    builder = graph.StateGraph(Count)
    builder.add_node("n", lambda state: {"n": state["n"] + 1})
    builder.add_edge(graph.START, "n")
    builder.add_conditional_edges("n", lambda state: "n" if state["n"] < 1000 else graph.END, ["n", graph.END])
    return builder


def sends(graph: Any, types: Any) -> Any:
    """A hundred tasks of one node in one super-step."""
    builder = graph.StateGraph(Notes)
    builder.add_node("task", lambda number: {"notes": [number]})
    builder.add_conditional_edges(graph.START, lambda _: [types.Send("task", index) for index in range(100)], ["task"])
    return builder


SHAPES = (
    Shape("chain of 10", chain, {"n": 0}, 10, {"none": 0.25, "memory": 0.20, "sqlite": 0.40}),
    Shape("loop of 1,000", loop, {"n": 0}, 1000, {"none": 0.25, "memory": 0.20, "sqlite": 0.40}),
    Shape("100 Sends", sends, {"notes": []}, 100, {"none": 0.35}),
)


# -- measuring ---------------------------------------------------------------------------------------------------------


def open_saver(provider: str, kind: str, folder: Path, stack: ExitStack) -> Any:
    """A fresh saver, None for `none`."""
    if kind == "none":
        return None
    module = importlib.import_module(f"{provider}.checkpoint.{kind}")
    if kind == "memory":
        return module.InMemorySaver()
    return stack.enter_context(module.SqliteSaver.from_conn_string(str(folder / f"{provider}.sqlite")))


def prepare(provider: str, shape: Shape, saver: Any) -> Invoke:
    """A call that runs the graph once, each time on a new thread."""
    modules = [importlib.import_module(f"{provider}.{name}") for name in ("graph", "types")]
    compiled = shape.build(*modules).compile(checkpointer=saver)
    threads = iter(range(1_000_000))

    def invoke() -> object:
        config = {"recursion_limit": 2000, "configurable": {"thread_id": f"t{next(threads)}"}}
        return compiled.invoke(shape.given, config)

    return invoke


def timed(invoke: Invoke) -> float:
    """Seconds of one run."""
    gc.collect()
    started = time.perf_counter()
    invoke()
    return time.perf_counter() - started


def measure(shape: Shape, kind: str, rounds: int) -> tuple[list[float], list[float]]:
    """Seconds a run of ours and of the peer's, in turns; who goes first changes with each round."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        calls = {name: prepare(name, shape, open_saver(name, kind, Path(folder), stack)) for name in PROVIDERS}
        answers = {name: call() for name, call in calls.items()}
        if answers["runtime"] != answers["langgraph"]:
            raise SystemExit(f"{shape.name} gives other results on the two: there is nothing to compare.")
        times: dict[str, list[float]] = {name: [] for name in PROVIDERS}
        for number in range(rounds):
            for name in PROVIDERS if number % 2 else reversed(PROVIDERS):
                times[name].append(timed(calls[name]))
    return times["runtime"], times["langgraph"]


def report(shape: Shape, kind: str, rounds: int) -> bool:
    """Measure, print a line, and tell whether the shape is within its must."""
    ours, theirs = measure(shape, kind, rounds)
    median = statistics.median(mine / other for mine, other in zip(ours, theirs, strict=True))
    best = min(ours) / min(theirs)
    must = shape.must.get(kind)
    passed = must is None or min(median, best) <= must
    unit = 1e6 / shape.units
    verdict = "" if must is None else f"   must {must:.2f}  {'ok' if passed else 'TOO SLOW'}"
    print(
        f"{shape.name:<14} {kind:<7} {min(ours) * unit:8.0f} us {min(theirs) * unit:8.0f} us"
        f"   median {median:5.2f}   best {best:5.2f}{verdict}",
        flush=True,
    )
    return passed


def main() -> int:
    """Measure what was asked for. Returns 1 with `--gate` when something is too slow."""
    parser = argparse.ArgumentParser("scripts/bench", description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("shapes", nargs="*", help="words of the shapes to measure (default: all)")
    parser.add_argument("--gate", action="store_true", help="fail above the must")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"turns for each of the two (default: {ROUNDS})")
    options = parser.parse_args()
    os.environ["LANGSMITH_TRACING"] = "false"
    chosen = [shape for shape in SHAPES if not options.shapes or any(word in shape.name for word in options.shapes)]
    print(f"{'shape':<14} {'saver':<7} {'runtime':>11} {'langgraph':>11}   ratio, by round and by best")
    passed = [report(shape, kind, options.rounds) for shape in chosen for kind in SAVERS]
    return 1 if options.gate and not all(passed) else 0


if __name__ == "__main__":
    sys.exit(main())
