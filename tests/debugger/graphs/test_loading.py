"""Targets of `forkpoint serve`: what loads, and how each bad one is explained."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugger.errors import LoadError
from debugger.graphs import adapt, load_target
from runtime.checkpoint.memory import InMemorySaver
from runtime.graph.state import CompiledStateGraph

GRAPH = """
from typing import TypedDict
from runtime.graph import START, StateGraph
class S(TypedDict):
    x: int
builder = StateGraph(S)
builder.add_node("n", lambda state: {"x": 1})
builder.add_edge(START, "n")
graph = builder.compile()
def make():
    return graph
def needs(argument):
    return graph
def fails():
    raise OSError("no key")
broken = StateGraph(S)
number = 5
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "agent.py"
    path.write_text(GRAPH)
    return path


@pytest.mark.parametrize("name", ["graph", "builder", "make"])
def test_a_graph_a_builder_and_a_factory_load(file: Path, name: str) -> None:
    found, shown, graph = load_target(f"{file}:{name}")
    assert found == name
    assert shown == f"{file}:{name}"
    assert isinstance(graph, CompiledStateGraph)


def test_a_module_loads_by_its_name() -> None:
    assert isinstance(load_target("debugger.gallery.abc:build")[2], CompiledStateGraph)


@pytest.mark.parametrize(
    ("name", "reason", "fix"),
    [
        ("grap", "has no 'grap'", "Graphs in it: broken, builder, graph"),
        ("number", "is no graph: it is a int", "Name a compiled graph"),
        ("needs", "could not be called without arguments", "Give its parameters defaults"),
        ("fails", "raised OSError: no key", "Mend that"),
        ("broken", "does not compile", "Mend the graph"),
    ],
)
def test_a_name_that_gives_no_graph_is_explained(file: Path, name: str, reason: str, fix: str) -> None:
    with pytest.raises(LoadError) as caught:
        load_target(f"{file}:{name}")
    assert reason in caught.value.reason
    assert fix in caught.value.fix


def test_a_file_that_is_not_there_is_named_in_full(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="There is no file /"):
        load_target(f"{tmp_path / 'nope.py'}:graph")
    with pytest.raises(LoadError, match="is a folder"):
        load_target(f"{tmp_path}/:graph")
    with pytest.raises(LoadError, match="names no graph"):
        load_target("agent.py")
    with pytest.raises(LoadError, match="no module 'no_such_module'"):
        load_target("no_such_module:graph")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = 1\n1 / 0\n", "ZeroDivisionError: division by zero"),
        ("def (:\n", "SyntaxError"),
        ("import no_such_package\n", "ModuleNotFoundError"),
        ("raise SystemExit(3)\n", "SystemExit"),
    ],
)
def test_a_module_that_raises_is_told_with_the_authors_own_lines(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "bad.py"
    path.write_text(text)
    with pytest.raises(LoadError) as caught:
        load_target(f"{path}:graph")
    assert says in caught.value.reason
    assert f"{path}:" in caught.value.reason
    assert "importlib" not in caught.value.reason


def test_a_missing_package_is_named_in_the_fix(tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text("import no_such_package\n")
    with pytest.raises(LoadError) as caught:
        load_target(f"{path}:graph")
    assert "Install 'no_such_package'" in caught.value.fix


def test_a_served_graph_says_whose_checkpointer_is_used(file: Path) -> None:
    _, shown, graph = load_target(f"{file}:graph")
    served = adapt(graph, id="g", target=shown, saver=InMemorySaver())
    assert "no checkpointer of its own" in served.notices[0]
    assert graph.checkpointer is None, "the author's graph stays as it is"
    graph.checkpointer = InMemorySaver()
    own = adapt(graph, id="g", target=shown, saver=InMemorySaver())
    assert "Its own InMemorySaver is not used here" in own.notices[0]
