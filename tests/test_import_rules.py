"""Who may import whom. Each rule is also tried on a planted violation: a rule that cannot fail says nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.import_rules import broken_rules, read_modules

ROOT = Path(__file__).parent.parent


def test_every_module_keeps_the_rules_of_dependency() -> None:
    assert len(read_modules(ROOT)) > 50
    assert broken_rules(ROOT) == []


def plant(root: Path, files: dict[str, str]) -> list[str]:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return broken_rules(root)


@pytest.mark.parametrize(
    ("file", "text", "complaint"),
    [
        ("runtime/channels/topic.py", "from runtime.engine.plan import x", "runtime.engine.plan, which is above it"),
        ("runtime/errors.py", "import runtime.channels.topic", "runtime.channels.topic, which is above it"),
        ("runtime/engine/plan.py", "from runtime.engine.loop import x", "runtime.engine.loop, which is above it"),
        (
            "runtime/engine/loop.py",
            "def f():\n    from runtime.engine.drivers import x",
            "runtime.engine.drivers, which",
        ),
        ("runtime/engine/drivers.py", "from runtime.graph import x", "runtime.graph, which is above it"),
        ("runtime/types.py", "import debugger.wire", "the runtime knows no debugger"),
        ("debugger/runs.py", "from runtime.engine.plan import x", "runtime.engine.plan.x, which is not public"),
        ("debugger/runs.py", "from runtime.types import _x", "runtime.types._x, which is not public"),
        ("debugger/runs.py", "from runtime.graph.compiled import X", "which is not public"),
        ("debugger/inspector.py", "from flask import request", "imports flask, which is for debugger.app"),
        ("debugger/runs.py", "import sqlmodel", "imports sqlmodel, which is for runtime.checkpoint"),
        ("runtime/graph/state.py", "import sqlalchemy.orm", "imports sqlalchemy.orm, which is for"),
        ("debugger/graphs/kinds.py", "import langgraph.types", "works without langgraph"),
        ("runtime/graph/state.py", "from runtime.checkpoint.bridge import X", "works without langgraph"),
        ("runtime/graph/state.py", "def f():\n    import langgraph", "imports langgraph, which is for"),
        ("runtime/engine/loop.py", "import threading", "in the engine only runtime.engine.drivers may"),
        ("runtime/engine/loop.py", "async def f(): ...", "awaits: in the engine only"),
        ("runtime/graph/runs.py", "import time\ntime.sleep(1)", "only runtime.engine.drivers starts threads or sleeps"),
        ("runtime/store/memory.py", "import threading\nthreading.Thread()", "starts threads or sleeps"),
    ],
)
def test_a_planted_violation_is_named(tmp_path: Path, file: str, text: str, complaint: str) -> None:
    (sentence,) = plant(tmp_path, {file: text})
    assert sentence.startswith(file.removesuffix(".py").replace("/", ".") + ":")
    assert complaint in sentence


def test_a_circle_is_found_even_when_a_function_hides_it(tmp_path: Path) -> None:
    files = {
        "runtime/graph/a.py": "from runtime.graph import b",
        "runtime/graph/b.py": "def f():\n    from runtime.graph.a import x",
    }
    assert plant(tmp_path, files) == ["These import each other in a circle: runtime.graph.a, runtime.graph.b"]


def test_what_is_allowed_raises_no_complaint(tmp_path: Path) -> None:
    files = {
        "runtime/engine/drivers.py": "import threading\nfrom runtime.engine.loop import x\nthreading.Thread()",
        "runtime/engine/loop.py": "from runtime.engine.plan import x\nfrom runtime.errors import y",
        "runtime/graph/a.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from runtime.graph.b import x",
        "runtime/graph/b.py": "from runtime.graph.a import x",
        "runtime/checkpoint/schema.py": "import sqlmodel",
        "debugger/api/runs.py": "import flask\nfrom runtime.types import Command",
        "runtime/checkpoint/bridge.py": "import langgraph.types",
        "debugger/graphs/kinds.py": "def f():\n    import langgraph.types",
    }
    assert plant(tmp_path, files) == []
