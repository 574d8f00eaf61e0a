"""The loop by scripts: effects in, replies out. No threads, no clock, no database."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.constants import INTERRUPT
from runtime.engine.effects import Effect, Emit, Load, NextDone, PutCheckpoint, PutWrites, Start
from runtime.engine.model import Failed, Finished, Outcome, Paused, RunOutcome, Task
from runtime.graph import START, StateGraph
from runtime.graph.run import CallOptions, Run
from runtime.types import Interrupt
from tests.runtime.programs import THREAD, L


class Counting:
    """A saver that only counts versions: storage is what the script sees as effects."""

    def __init__(self) -> None:
        self.versions = 0

    def get_next_version(self, current: Any, channel: None) -> str:
        self.versions += 1
        return f"{self.versions:06d}"

    def get_tuple(self, config: Any) -> None:
        raise AssertionError("the loop itself never calls a saver")

    put_writes = get_tuple


def script(outcomes: dict[str, Outcome], *, modes: frozenset[str] = frozenset()) -> tuple[list[Effect], Any]:
    """Play p and q in parallel, then r; each task ends as `outcomes` says (by default it appends its name)."""
    builder = StateGraph(L)
    for name in "pqr":
        builder.add_node(name, lambda state: None)
    builder.add_edge(START, "p")
    builder.add_edge(START, "q")
    builder.add_edge(["p", "q"], "r")
    graph = builder.compile(checkpointer=Counting())
    options = CallOptions(None, modes, frozenset(), None, None, None, "sync", subgraphs=False)
    loop = Run(graph, {"log": []}, THREAD, options, graph.spec.stream_keys).loop.run()
    seen: list[Effect] = []
    waiting: list[Task] = []
    reply: Any = None
    while True:
        try:
            effect = loop.send(reply)
        except StopIteration as end:
            return seen, end.value
        except Exception as error:  # noqa: BLE001 - the script's result
            return seen, error
        seen.append(effect)
        reply = None
        match effect:
            case Start(tasks, _):
                waiting.extend(tasks)
            case NextDone() if waiting:
                task = waiting.pop()  # the last one started ends first
                default = Finished([("log", [task.name]), *task.node.edges])
                reply = (task, outcomes.get(task.name, default))


def kinds(effects: list[Effect]) -> list[str]:
    return [type(effect).__name__ for effect in effects]


def stored(effects: list[Effect]) -> list[PutWrites]:
    """What tasks wrote, in the order it is stored: by itself, or with the checkpoint that comes of it."""
    puts = [e.writes if isinstance(e, PutCheckpoint) else e for e in effects]
    return [put for put in puts if isinstance(put, PutWrites)]


def test_a_steps_writes_are_stored_before_the_checkpoint_that_replaces_them() -> None:
    effects, outcome = script({})
    assert isinstance(outcome, RunOutcome)
    assert outcome.values == {"log": ["p", "q", "r"]}
    assert kinds(effects) == [
        "Load",
        "PutCheckpoint",  # the input
        "PutCheckpoint",  # with what the start node wrote
        "Start",
        "NextDone",
        "PutWrites",
        "NextDone",
        "PutWrites",
        "NextDone",
        "PutCheckpoint",
        "Start",
        "NextDone",
        "NextDone",
        "PutCheckpoint",  # with what r wrote
    ]
    assert isinstance(effects[0], Load)
    puts = [effect.writes for effect in effects if isinstance(effect, PutCheckpoint)]
    assert [writes and writes.writes[0] for writes in puts] == [None, ("log", []), None, ("log", ["r"])]
    writes = stored(effects)
    assert len({put.task_id for put in writes}) == len(writes) == 4


def test_a_lone_tasks_writes_are_stored_at_once_where_somebody_sees_its_end() -> None:
    effects, _ = script({}, modes=frozenset(("updates",)))
    assert kinds(effects).count("PutWrites") == 4


def test_results_are_merged_in_task_order_whatever_ends_first() -> None:
    effects, outcome = script({})
    first_stored = stored(effects)[1]
    assert first_stored.writes[0] == ("log", ["q"]), "q ended first"
    assert outcome.values["log"][:2] == ["p", "q"]


def test_a_pause_lets_siblings_end_and_applies_nothing() -> None:
    question = Interrupt("q?", "0" * 32)
    effects, outcome = script({"q": Paused((question,))})
    assert outcome.interrupts == (question,)
    assert outcome.values == {"log": ["p"]}, "what p wrote shows, as it is stored"
    writes = stored(effects)
    assert writes[1].writes == [(INTERRUPT, [question])]
    assert writes[2].writes[0] == ("log", ["p"])
    assert [e.metadata["step"] for e in effects if isinstance(e, PutCheckpoint)] == [-1, 0]


def test_a_failure_keeps_what_siblings_wrote_and_then_raises() -> None:
    effects, error = script({"q": Failed(ValueError("boom"))})
    assert isinstance(error, ValueError)
    assert "name 'q'" in error.__notes__[0]
    writes = stored(effects)
    assert writes[1].writes == [("__error__", "ValueError('boom')")]
    assert writes[2].writes[0] == ("log", ["p"])


@pytest.mark.parametrize("mode", ["values", "updates", "tasks", "debug", "checkpoints"])
def test_only_asked_modes_are_emitted(mode: str) -> None:
    effects, _ = script({}, modes=frozenset((mode,)))
    assert {e.mode for e in effects if isinstance(e, Emit)} == {mode}
    assert not [e for e in script({})[0] if isinstance(e, Emit)]


def test_starts_of_a_parallel_step_come_before_any_result() -> None:
    effects, _ = script({}, modes=frozenset(("tasks",)))
    shown = [("input" in e.payload, e.payload["name"]) for e in effects if isinstance(e, Emit)]
    assert shown == [(True, "p"), (True, "q"), (False, "q"), (False, "p"), (True, "r"), (False, "r")]
