"""Every public name of LangGraph is ours too, or the docs say why not; and what the smaller ones do is the same."""

import importlib
import importlib.util
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
BOTH = ("langgraph", "runtime")


def load_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("compare_names", ROOT / "scripts" / "compare_names.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.filterwarnings("ignore")
def test_the_table_of_the_docs_is_true_and_every_absence_explained() -> None:
    script = load_script()
    page, unexplained = script.table()
    assert unexplained == []
    assert page == script.TARGET.read_text(encoding="utf-8"), "run scripts/names --write"
    assert all(importlib.util.find_spec(f"runtime.{path.rpartition('.')[0]}") for path in script.ABSENT)


def test_checkpoints_by_hand() -> None:
    def play(library: str) -> Any:
        base = importlib.import_module(f"{library}.checkpoint.base")
        channel = importlib.import_module(f"{library}.channels.last_value").LastValue(int)
        channel.key = "x"
        channel.update([3])
        empty = base.empty_checkpoint()
        known = base.create_checkpoint({**empty, "channel_versions": {"x": "1"}}, {"x": channel}, 5, id="next")
        unknown = base.create_checkpoint(empty, {"x": channel}, 5)
        kept = base.create_checkpoint({**empty, "channel_values": {"y": 1}}, None, 5)
        copied = base.copy_checkpoint({**empty, "channel_values": {"a": [1]}})
        copied["channel_values"]["b"] = 2
        config = {
            "configurable": {
                "thread_id": "t",
                "checkpoint_id": "c",
                "checkpoint_ns": "",
                "checkpoint_map": {},
                "text": "a\x00b",
                "flag": True,
                "number": 1.5,
                "list": [1],
                "object": object(),
                "none": None,
                "langgraph_step": 3,
                "__own": 1,
            },
            "metadata": {"step": 9, "note": "n", "langgraph_node": "x", "dict": {}},
        }
        return (
            sorted(key for key in empty if key != "pending_sends"),
            (known["id"], known["channel_values"], unknown["channel_values"], kept["channel_values"]),
            (unknown["id"] > empty["id"], copied["channel_values"], empty["channel_values"]),
            [base.get_checkpoint_id({"configurable": c}) for c in ({"checkpoint_id": "x"}, {})],
            base.get_checkpoint_metadata(config, {"source": "loop", "step": 1}),
            base.get_serializable_checkpoint_metadata(config, {"source": "loop", "writes": 2}),
        )

    assert play("langgraph") == play("runtime")


def test_deprecations() -> None:
    def play(library: str) -> Any:
        kinds = importlib.import_module(f"{library}.warnings")
        made = [getattr(kinds, f"LangGraphDeprecatedSince{version}")("Use b.") for version in ("V05", "V10", "V11")]
        made.append(kinds.LangGraphDeprecationWarning("Use c", since=(1, 2)))
        return [(str(each), each.since, each.expected_removal, isinstance(each, DeprecationWarning)) for each in made]

    assert play("langgraph") == play("runtime")


def test_namespaces_are_judged_alike() -> None:
    def play(library: str) -> Any:
        base = importlib.import_module(f"{library}.store.base")
        found = []
        for op in (
            base.PutOp(("a",), "k", {}),
            base.PutOp(("a.b",), "k", {}),
            base.PutOp(("a", ""), "k", {}),
            base.PutOp(("langgraph",), "k", {}),
            base.GetOp(("a",), "k"),
            base.SearchOp(()),
        ):
            try:
                found.append(base.validate_op_namespace(op))
            except ValueError as error:
                found.append(type(error).__name__)
        return found

    assert play("langgraph") == play("runtime")


@pytest.mark.parametrize("library", BOTH)
def test_a_graph_is_what_the_protocols_say(library: str) -> None:
    graph = importlib.import_module(f"{library}.graph")
    pregel = importlib.import_module(f"{library}.pregel")
    state = importlib.import_module(f"{library}.graph.state")
    made = (
        graph.StateGraph[dict, None](graph.MessagesState)
        .add_node("a", lambda s: s)
        .add_edge("__start__", "a")
        .compile()
    )
    assert isinstance(made, pregel.Pregel)
    assert state.CompiledStateGraph[dict, None, dict, dict] is not None
    if library == "runtime":
        assert isinstance(made, importlib.import_module("runtime.pregel.protocol").PregelProtocol)


def test_importing_our_names_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for path in load_script().MODULES:
            if f"runtime.{path}" not in sys.modules and importlib.util.find_spec(f"runtime.{path}"):
                importlib.import_module(f"runtime.{path}")
