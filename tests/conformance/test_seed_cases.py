"""The seed cases hold on `runtime`. FORMAT.md beside the cases says how they are written; `run_cases.py` plays them.

Cases of kind `server` are data for tests of the HTTP server and are played there.
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SEEDS = Path(__file__).parent.parent / "seeds"


def load_player() -> ModuleType:
    spec = importlib.util.spec_from_file_location("seed_cases_player", SEEDS / "run_cases.py")
    assert spec is not None
    assert spec.loader is not None
    player = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(player)
    player.PROVIDER = "runtime"
    return player


def load_cases() -> list[dict[str, Any]]:
    cases = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(SEEDS.glob("*.json"))]
    return [case for case in cases if case["kind"] != "server"]


PLAYER = load_player()
CASES = load_cases()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the cases leave files open
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
@pytest.mark.filterwarnings("ignore:astream_events version='v1' is deprecated")
def test_a_seed_case_holds(case: dict[str, Any]) -> None:
    assert PLAYER.run(case) == []


def test_all_cases_are_played() -> None:
    assert len(CASES) == 77


def test_the_player_can_fail() -> None:
    case = {"id": "planted", "kind": "graph", "code": ["x = 1"], "steps": [{"run": "x + 1", "expect": 3}]}
    assert PLAYER.run(case) == ["step 0: x + 1: $: 2 where 3 was expected"]
