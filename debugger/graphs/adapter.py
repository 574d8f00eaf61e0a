"""A served graph: a compiled graph of either kind over our store, with what the page wants to know about it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pydantic import create_model

from debugger.errors import LoadError
from debugger.graphs.kinds import kind_of
from debugger.graphs.protocol import DebuggableGraph, GraphKind
from debugger.values import annotation_text
from debugger.wire import ChannelInfo, GraphInfo


@dataclass
class ServedGraph:
    """A graph that people can run and look into."""

    id: str
    kind: GraphKind
    graph: DebuggableGraph
    """The compiled graph, over our store."""
    saver: Any
    """Our store."""
    target: str
    description: str = ""
    notices: list[str] = field(default_factory=list)
    example_inputs: tuple[dict[str, Any], ...] = ()

    @cached_property
    def channels(self) -> dict[str, Any]:
        """State keys: name -> channel."""
        keys = self.state_keys
        return {name: channel for name, channel in self.kind.channels(self.graph).items() if name in keys}

    @cached_property
    def state_keys(self) -> frozenset[str]:
        """Names of the state's keys."""
        return frozenset(self.kind.state_keys(self.graph))

    @cached_property
    def annotations(self) -> dict[str, Any]:
        """State keys: name -> the type that a value of it has."""
        return {name: getattr(channel, "typ", None) for name, channel in self.channels.items()}

    def reducer(self, name: str) -> str | None:
        """The name of a key's reducer, None where the last write wins."""
        operator = getattr(self.channels.get(name), "operator", None)
        if operator is None:
            return None
        module = getattr(operator, "__module__", "") or ""
        label = getattr(operator, "__name__", type(operator).__name__)
        if module in ("_operator", "operator"):
            return f"operator.{label}"
        return str(label).lstrip("_")

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        """JSON schema of the input."""
        return self._schema("get_input_jsonschema")

    @cached_property
    def output_schema(self) -> dict[str, Any]:
        """JSON schema of the final values."""
        return self._schema("get_output_jsonschema")

    @cached_property
    def state_schema(self) -> dict[str, Any]:
        """JSON schema of all state keys; an open object where JSON cannot describe them."""
        fields: dict[str, Any] = {name: (typ, None) for name, typ in self.annotations.items()}
        with suppress(Exception):  # a type that JSON cannot describe still has its raw form
            made: dict[str, Any] = create_model("State", **fields).model_json_schema()
            return made
        return {"type": "object", "properties": {name: {} for name in sorted(self.state_keys)}}

    def _schema(self, method: str) -> dict[str, Any]:
        """What the graph says; of the whole state where it cannot (LangGraph with typing.TypedDict before Python 3.12)."""
        with suppress(Exception):
            found: dict[str, Any] = getattr(self.graph, method)()
            return found
        return self.state_schema

    @property
    def nodes(self) -> list[str]:
        """Names of the nodes, without the start."""
        return [name for name in self.graph.builder.nodes if name != "__start__"]

    def info(self) -> GraphInfo:
        """What the page shows."""
        return GraphInfo(
            id=self.id,
            kind="langgraph" if self.kind.name == "langgraph" else "runtime",
            target=self.target,
            description=self.description,
            notices=self.notices,
            channels=[
                ChannelInfo(name=name, type=annotation_text(self.annotations[name]), reducer=self.reducer(name))
                for name in self.channels
            ],
            input_schema=self.input_schema,
            example_inputs=list(self.example_inputs),
        )

    def at(self, ns: str) -> ServedGraph:
        """The graph that a checkpoint namespace belongs to: this one, or a subgraph of it."""
        if not ns:
            return self
        path = "|".join(part.split(":")[0] for part in ns.split("|") if not part.isdigit())
        found = dict(self.graph.get_subgraphs(recurse=True)).get(path)
        if found is None:
            return self
        return ServedGraph(f"{self.id}|{path}", self.kind, found, self.saver, self.target)


def adapt(
    graph: Any,
    *,
    id: str,  # noqa: A002 - the field's name
    target: str,
    saver: Any,
    description: str = "",
    example_inputs: tuple[dict[str, Any], ...] = (),
) -> ServedGraph:
    """Serve a compiled graph over our store.

    Raises:
        LoadError: the value is no compiled graph.
    """
    kind = kind_of(graph)
    if kind is None:
        raise LoadError(
            f"{target} is no graph: it is a {type(graph).__name__}.",
            "Name a compiled graph (builder.compile()), a StateGraph, or a function without arguments that gives one.",
        )
    own = getattr(graph, "checkpointer", None)
    if own is None or own is False or own is True:
        notice = "It has no checkpointer of its own: Forkpoint stores its threads."
    else:
        notice = f"Its own {type(own).__name__} is not used here: Forkpoint stores its threads."
    return ServedGraph(
        id=id,
        kind=kind,
        graph=kind.with_saver(graph, saver),
        saver=saver,
        target=target,
        description=description or _first_line(graph),
        notices=[notice],
        example_inputs=example_inputs,
    )


def _first_line(graph: Any) -> str:
    """A graph says what it is by its state schema's docstring, if it has one of its own."""
    schema = getattr(getattr(graph, "builder", None), "state_schema", None)
    text = (getattr(schema, "__doc__", None) or "").strip()
    boilerplate = text.startswith(("dict(", f"{getattr(schema, '__name__', '')}("))
    return "" if not text or boilerplate else text.splitlines()[0]
