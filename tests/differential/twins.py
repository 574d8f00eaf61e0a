"""Play one program on `langgraph` and on `runtime`, and write down what it shows in a form that can be compared.

A program is a function of a library and a player. It builds graphs with the library's names and does things with them
through the player, which calls them in one of several manners (sync or async, v1 or v2, with or without the events of
subgraphs) and records what comes out. Ids and times become placeholders in the order of their first use, so that which ids
are equal is compared, and not what they are.
"""

from __future__ import annotations

import asyncio
import dataclasses
import importlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from langchain_core.messages import BaseMessage
from pydantic import BaseModel

PLAYED: Counter[str] = Counter()
"""How often each program was played on both libraries; `conftest.py` reports it."""
MODES = ("values", "updates", "checkpoints", "tasks", "debug", "messages", "custom")


def library(name: str) -> SimpleNamespace:
    """The names that programs use, of `langgraph` or `runtime`."""

    def module(path: str) -> Any:
        return importlib.import_module(f"{name}.{path}")

    found = SimpleNamespace(name=name)
    for path, names in {
        "graph": ("StateGraph", "START", "END", "MessagesState"),
        "graph.message": ("add_messages", "REMOVE_ALL_MESSAGES"),
        "types": ("Command", "Send", "interrupt"),
        "checkpoint.memory": ("InMemorySaver",),
        "store.memory": ("InMemoryStore",),
        "prebuilt": ("ToolNode", "tools_condition", "ToolRuntime", "InjectedState"),
        "runtime": ("Runtime",),
        "config": ("get_config", "get_stream_writer"),
        "errors": ("InvalidUpdateError", "GraphRecursionError"),
    }.items():
        for each in names:
            setattr(found, each, getattr(module(path), each))
    return found


@dataclass(frozen=True, slots=True)
class Manner:
    """How a program's runs are called."""

    name: str
    is_async: bool = False
    streams: bool = True
    """Stream in all modes, or invoke."""
    version: str = "v1"
    subgraphs: bool = True


MANNERS = (
    Manner("stream"),
    Manner("stream-outer", subgraphs=False),
    Manner("stream-v2", version="v2"),
    Manner("invoke", streams=False),
    Manner("astream", is_async=True),
    Manner("astream-v2-outer", is_async=True, version="v2", subgraphs=False),
    Manner("ainvoke-v2", is_async=True, streams=False, version="v2"),
)


@dataclass(frozen=True, slots=True)
class Program:
    """A program, and how closely its output is ordered."""

    name: str
    play: Callable[[Any, Player], None]
    parallel: bool
    """Whether tasks run side by side, so that results of one super-step come in any order."""
    results: bool
    """Whether snapshots are compared with the results of their tasks. The peer writes an edit into the checkpoint that
    was edited, as a result of the task that it was made as; with us a checkpoint never changes."""


PROGRAMS: dict[str, Program] = {}
Play = Callable[[Any, "Player"], None]


def program(*, parallel: bool = False, results: bool = True) -> Callable[[Play], Play]:
    """Register a program under its function's name."""

    def register(play: Play) -> Play:
        PROGRAMS[play.__name__] = Program(play.__name__, play, parallel, results)
        return play

    return register


def thread(name: str = "t", **more: Any) -> dict[str, Any]:
    """A config."""
    return {"configurable": {"thread_id": name, **more}}


@dataclass
class Player:
    """Does what a program says, and records it."""

    manner: Manner
    parallel: bool
    loop: asyncio.Runner | None = None
    record: list[Any] = field(default_factory=list)

    def note(self, label: str, value: Any) -> Any:
        """Record a value."""
        self.record.append((label, value))
        return value

    def run(self, graph: Any, value: Any, config: Any = None, *, without: tuple[str, ...] = (), **options: Any) -> Any:
        """One run, with all that it streams but modes `without`. An error ends it, is recorded and returned."""
        chunks: list[Any] = []
        error: BaseException | None = None
        try:
            if self.manner.streams:
                modes = [mode for mode in MODES if mode not in without]
                self._stream(graph, value, config, chunks, {"stream_mode": modes, **options})
            else:
                chunks.append(self._do(graph, "invoke", value, config, version=self.manner.version, **options))
        except Exception as raised:  # noqa: BLE001 - whatever a run raises is what it shows
            error = raised
        if self.parallel and self.manner.streams:
            chunks = in_order(chunks)
        self.record.append(("run", chunks, error))
        return error

    def _stream(self, graph: Any, value: Any, config: Any, chunks: list[Any], options: dict[str, Any]) -> None:
        options = {
            "subgraphs": self.manner.subgraphs,
            "version": self.manner.version,
            **options,
        }
        if self.loop is None:
            chunks.extend(graph.stream(value, config, **options))
            return

        async def collect() -> None:
            async for chunk in graph.astream(value, config, **options):
                chunks.append(chunk)

        self.loop.run(collect())

    def _do(self, graph: Any, method: str, *args: Any, **options: Any) -> Any:
        if self.loop is None:
            return getattr(graph, method)(*args, **options)
        return self.loop.run(getattr(graph, f"a{method}")(*args, **options))

    def _try(self, label: str, graph: Any, method: str, *args: Any, **options: Any) -> Any:
        try:
            return self.note(label, self._do(graph, method, *args, **options))
        except Exception as error:  # noqa: BLE001 - whatever a call raises is what it shows
            return self.note(label, error)

    def state(self, graph: Any, config: Any, *, subgraphs: bool = True) -> Any:
        """The snapshot, recorded."""
        return self._try("state", graph, "get_state", config, subgraphs=subgraphs)

    def update(self, graph: Any, config: Any, values: Any, as_node: str | None = None) -> Any:
        """An edit: the config of the new checkpoint, recorded."""
        return self._try("update", graph, "update_state", config, values, as_node)

    def history(self, graph: Any, config: Any, **options: Any) -> list[Any]:
        """All snapshots, recorded, newest first."""

        async def collect() -> list[Any]:
            return [snapshot async for snapshot in graph.aget_state_history(config, **options)]

        if self.loop is None:
            found = list(graph.get_state_history(config, **options))
        else:
            found = self.loop.run(collect())
        self.note("history", found)
        return found

    def at(self, graph: Any, config: Any, *following: str) -> Any:
        """The newest checkpoint whose next nodes are these."""
        return next(s for s in self.history(graph, config) if s.next == following)


def play(name: str, what: Program, manner: Manner) -> list[Any]:
    """The record of a program on a library, in comparable form."""
    if manner.is_async:
        with asyncio.Runner() as loop:
            player = Player(manner, what.parallel, loop)
            what.play(library(name), player)
    else:
        player = Player(manner, what.parallel)
        what.play(library(name), player)
    PLAYED[what.name] += name == "runtime"
    written: list[Any] = Writer(results=what.results, parallel=what.parallel).write(player.record)
    return written


# -- order -------------------------------------------------------------------------------------------------------------


def in_order(chunks: list[Any]) -> list[Any]:
    """Chunks of a run with parallel tasks, in an order that does not depend on who was first.

    What each namespace says is kept apart. Of the chunks between two that concern a whole super-step, those of one task
    stay in their order, and the tasks are sorted; of twins, the one that was started first comes first.
    """
    by_namespace: dict[tuple[str, ...], list[tuple[str, Any, Any]]] = {}
    for chunk in chunks:
        ns, mode, data = _parts(chunk)
        by_namespace.setdefault(ns, []).append((mode, data, chunk))
    started = [data["id"] for found in by_namespace.values() for mode, data, _ in found if _is_start(mode, data)]
    ranks = {task_id: rank for rank, task_id in enumerate(started)}
    groups = []
    for ns, found in by_namespace.items():
        group = _sorted_results(found, ranks)
        places = tuple(ranks.get(part.split(":")[-1], -1) for part in ns)
        groups.append((_blank(group), places, group))
    return [group for _, _, group in sorted(groups, key=lambda one: one[:2])]


def _parts(chunk: Any) -> tuple[tuple[str, ...], str, Any]:
    if isinstance(chunk, dict):
        return chunk["ns"], chunk["type"], chunk["data"]
    return (*(((),) if len(chunk) == 2 else ()), *chunk)


def _is_start(mode: str, data: Any) -> bool:
    return mode == "tasks" and "input" in data


def _sorted_results(chunks: list[tuple[str, Any, Any]], ranks: dict[str, int]) -> list[Any]:
    done: list[Any] = []
    pending: list[tuple[tuple[str, int], Any]] = []

    def settle() -> None:
        done.extend(chunk for _, chunk in sorted(pending, key=lambda pair: pair[0]))
        pending.clear()

    for mode, data, chunk in chunks:
        owner = _owner(mode, data, chunk, ranks)
        if owner is None:
            settle()
            done.append(chunk)
        else:
            pending.append((owner, chunk))
    settle()
    return done


def _owner(mode: str, data: Any, chunk: Any, ranks: dict[str, int]) -> tuple[str, int] | None:
    """Whose result a chunk is; None where it concerns the super-step."""
    if mode == "debug" and data["type"] == "task_result":
        mode, data = "tasks", data["payload"]
    if mode == "values" and ("__interrupt__" in data or (isinstance(chunk, dict) and chunk.get("interrupts"))):
        return f"__interrupt__ {_blank(chunk)}", -1
    if mode == "updates":
        return f"{next(iter(data))} {_blank(data)}", -1
    if mode == "tasks" and "input" not in data:
        return f"{data['name']} {_blank({data['name']: data['result'] or None})}", ranks.get(data["id"], len(ranks))
    if mode in ("custom", "messages"):
        return f"~ {_blank(data)}", -1
    return None


def _blank(value: Any) -> str:
    return repr(Writer(blank=True, parallel=True).write(value))


# -- writing -----------------------------------------------------------------------------------------------------------

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_ID = re.compile(rf"{_UUID}|(?<![0-9a-f])[0-9a-f]{{32}}(?![0-9a-f])")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?\+00:00")
_LOOSE = frozenset(
    (
        "response_schema",
        "ls_integration",
        "ls_provider",
        "ls_model_name",
        "ls_model_type",
        "ls_temperature",
        "lc_versions",
    )
)
"""Keys that newer versions of the peer and its libraries add; the documents do not have them."""


class Writer:
    """Values as plain data, ids as placeholders by first use."""

    def __init__(self, *, blank: bool = False, results: bool = True, parallel: bool = False) -> None:
        self._names: dict[str, str] = {}
        self._blank = blank
        self._results = results
        self._parallel = parallel

    def write(self, value: Any) -> Any:
        """The value in comparable form."""
        if isinstance(value, str):
            return self._text(value)
        if value is None or isinstance(value, (bool, int, float, bytes)):
            return value
        if isinstance(value, BaseException):
            return {"@": "error", "type": _error_name(value)}
        if isinstance(value, BaseMessage):
            return self._message(value)
        if isinstance(value, Mapping):
            kept = sorted((item for item in value.items() if not _is_loose(item[0])), key=_by_text)
            return {
                self._text(str(key)): self._kind_of_error(part) if key == "error" else self.write(part)
                for key, part in kept
            }
        if isinstance(value, (set, frozenset)):
            return {"@": "set", "items": sorted(map(repr, map(self.write, value)))}
        fields = _fields(value)
        if type(value).__name__ == "PregelTask":
            return self._task(value)
        if fields is not None:
            return {"@": type(value).__name__, **{name: self.write(getattr(value, name)) for name in fields}}
        if isinstance(value, (list, tuple)):
            return self._sequence(value)
        return f"<{type(value).__name__}>"

    def _kind_of_error(self, value: Any) -> Any:
        """An error, or the text of one: the peer shows either, and messages are ours."""
        text = repr(value) if isinstance(value, BaseException) else value
        return text.split("(")[0] if isinstance(text, str) else self.write(text)

    def _task(self, task: Any) -> dict[str, Any]:
        found = {"@": "PregelTask", **{name: self.write(getattr(task, name)) for name in task._fields}}
        if not self._results:
            found["result"] = None
        failed = task.error is not None and task.result is None  # that it failed before it ended, only the peer shows
        return {**found, "error": self._kind_of_error(task.error) if failed else None}

    def _sequence(self, value: list[Any] | tuple[Any, ...]) -> Any:
        if self._parallel and len(value) > 1 and all(map(_is_question, value)):
            value = type(value)(sorted(value, key=_question_text))  # they come as their tasks ended
        items = [self.write(item) for item in value]
        return {"()": items} if isinstance(value, tuple) else items

    def _message(self, message: BaseMessage) -> dict[str, Any]:
        kept = ("content", "name", "id", "tool_call_id", "tool_calls", "status")
        found = {name: self.write(getattr(message, name, None)) for name in kept}
        if _ID.search(str(message.id)):  # an id that a reducer gave: when it does is not promised
            del found["id"]
        return {"@": type(message).__name__, **{name: value for name, value in found.items() if value}}

    def _text(self, text: str) -> str:
        return _ID.sub(self._name, _TIME.sub("<time>", text))

    def _name(self, found: re.Match[str]) -> str:
        if self._blank:
            return "<id>"
        return self._names.setdefault(found.group(), f"<{len(self._names)}>")


def _is_question(value: Any) -> bool:
    return type(value).__name__ == "Interrupt" or (isinstance(value, dict) and {"id", "value"} <= value.keys())


def _question_text(question: Any) -> str:
    return str(question["value"] if isinstance(question, dict) else question.value)


def _is_loose(key: Any) -> bool:
    return key in _LOOSE or (isinstance(key, str) and key.startswith("__pregel_"))


def _by_text(item: tuple[Any, Any]) -> str:
    return str(item[0]) if not _ID.search(str(item[0])) else "~"


def _fields(value: Any) -> Iterable[str] | None:
    if isinstance(value, BaseModel):
        return type(value).model_fields
    if type(value).__name__ == "Interrupt":
        return ("value", "id")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [f.name for f in dataclasses.fields(value) if f.name not in _LOOSE]
    if type(value).__name__ == "Send":
        return ("node", "arg")
    return getattr(value, "_fields", None)


def _error_name(error: BaseException) -> str:
    """The class that both libraries have."""
    known = vars(importlib.import_module("langgraph.errors"))
    for kind in type(error).__mro__:
        if kind.__module__ == "builtins" or kind.__name__ in known or "pydantic" in kind.__module__:
            return kind.__name__
    return type(error).__name__
