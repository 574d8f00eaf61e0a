"""Graphs are found however a node calls them."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from runtime.graph import START, StateGraph
from runtime.graph.subgraphs import graphs_in
from tests.runtime.programs import L


def _child() -> Any:
    builder = StateGraph(L)
    builder.add_node("inner", lambda state: {"log": ["inner"]})
    builder.add_edge(START, "inner")
    return builder.compile()


CHILD = _child()
BY_NAME = {"child": CHILD}


def by_global(state: Any) -> Any:
    return CHILD.invoke(state)


def chained(state: Any) -> Any:
    return {"log": CHILD.invoke(state)["log"][-1:]}


def helper(state: Any) -> Any:
    return CHILD.invoke(state)


def by_helper(state: Any) -> Any:
    return helper(state)


def by_container(state: Any) -> Any:
    return BY_NAME["child"].invoke(state)


def by_argument(graph: Any, state: Any) -> Any:
    return graph.invoke(state)


def by_closure() -> Any:
    graph = CHILD

    def node(state: Any) -> Any:
        return (lambda s: graph.invoke(s))(state)  # noqa: PLW0108 - a call inside a lambda is the point

    return node


class Agent:
    def __init__(self) -> None:
        self.graph = CHILD

    def method(self, state: Any) -> Any:
        return self._run(state)

    def _run(self, state: Any) -> Any:
        return self.graph.invoke(state)

    def __call__(self, state: Any) -> Any:
        return self.graph.invoke(state)


def no_graph(state: Any) -> Any:
    return state


@pytest.mark.parametrize(
    "node",
    [
        CHILD,
        by_global,
        chained,
        by_helper,
        by_container,
        by_closure(),
        partial(by_argument, CHILD),
        Agent().method,
        Agent(),
    ],
    ids=["itself", "global", "chained", "helper", "container", "closure", "partial", "method", "callable object"],
)
def test_the_graph_is_found(node: Any) -> None:
    assert graphs_in(node) == [CHILD]


def test_a_node_without_a_graph_has_none() -> None:
    assert graphs_in(no_graph) == []


def test_a_graph_that_arrives_at_run_time_is_learned_when_it_runs() -> None:
    arriving = iter([CHILD])

    def node(state: Any) -> Any:
        return {"log": next(arriving).invoke(state)["log"]}

    builder = StateGraph(L)
    builder.add_node("call", node)
    builder.add_edge(START, "call")
    graph = builder.compile()
    assert list(graph.get_subgraphs()) == []
    graph.invoke({"log": []})
    assert list(graph.get_subgraphs()) == [("call", CHILD)]
