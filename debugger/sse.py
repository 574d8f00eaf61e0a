"""Server-sent events of a run, as clients of the LangGraph server read them. Pure but for waiting on the run.

Graphs always run in all modes; a client gets those it asked for. Interrupts come as `updates`; a client that did not ask
for updates gets them as `values`. A pause at a breakpoint (no questions) is not sent.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from debugger.runs import Chunk, LiveRun
from debugger.values import plain

SseEvent = tuple[str, Any]
"""(event name, data)."""


@dataclass(frozen=True, slots=True)
class SseModes:
    """What a client asked for."""

    asked: frozenset[str]
    subgraphs: bool

    @classmethod
    def of(cls, modes: Sequence[str] | str | None, subgraphs: bool) -> SseModes:
        """From a request; `values` where it names none."""
        named = [modes] if isinstance(modes, str) else list(modes or ["values"])
        return cls(frozenset(named), subgraphs)


class Events:
    """Chunk -> the events that a client gets. Remembers the text of streamed messages."""

    def __init__(self, modes: SseModes, extra: dict[str, Any] | None = None) -> None:
        self._modes = modes
        self._extra = extra or {}
        self._text: dict[str, Any] = {}

    def of(self, chunk: Chunk) -> Iterator[SseEvent]:
        """The events of one chunk: none, one, or for mode `messages` two."""
        ns, mode, payload = chunk
        if ns and not self._modes.subgraphs:
            return
        if mode == "updates" and isinstance(payload, dict) and "__interrupt__" in payload:
            yield from self._interrupt(ns, payload)
        elif mode == "values" and isinstance(payload, dict) and "__interrupt__" in payload:
            return  # comes by way of updates
        elif mode == "messages":
            yield from self._message(ns, payload)
        elif mode in self._modes.asked:
            yield self._named(mode, ns), plain(payload)

    def _interrupt(self, ns: Sequence[str], payload: dict[str, Any]) -> Iterator[SseEvent]:
        if not payload["__interrupt__"]:
            return
        if "updates" in self._modes.asked:
            yield self._named("updates", ns), plain(payload)
        elif "values" in self._modes.asked:
            yield self._named("values", ns), plain(payload)

    def _message(self, ns: Sequence[str], payload: Any) -> Iterator[SseEvent]:
        message, metadata = payload
        noted = {**plain(metadata), **self._extra}
        if "messages-tuple" in self._modes.asked:
            yield self._named("messages", ns), [plain(message), noted]
        if "messages" not in self._modes.asked:
            return
        key = str(message.id)
        whole = not type(message).__name__.endswith("Chunk")
        if key not in self._text:
            yield self._named("messages/metadata", ns), {key: {"metadata": noted}}
            self._text[key] = message
        elif not whole:
            self._text[key] = self._text[key] + message
        shown = message if whole else self._text[key]
        yield self._named("messages/complete" if whole else "messages/partial", ns), [plain(shown)]

    @staticmethod
    def _named(mode: str, ns: Sequence[str]) -> str:
        return "|".join((mode, *ns))


def frame(event: str, data: Any, event_id: str) -> str:
    """The text on the wire."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=str)
    return f"event: {event}\ndata: {text}\nid: {event_id}\n\n"


def frames(live: LiveRun, modes: SseModes, start: int, milliseconds: int) -> Iterator[str]:
    """The frames of a run from chunk `start` on, until it ends. Ids are `milliseconds-index of the chunk`."""
    view = live.view
    extra = {
        "run_id": view.run_id,
        "thread_id": view.thread_id,
        "graph_id": view.assistant_id,
        "assistant_id": view.assistant_id,
        "run_attempt": 1,
    }
    events = Events(modes, extra)
    if start == 0:
        yield frame("metadata", {"run_id": view.run_id, "attempt": 1}, f"{milliseconds}-0")
    for item in live.follow(start):
        if item is None:
            yield ": heartbeat\n\n"
            continue
        index, chunk = item
        for name, data in events.of(chunk):
            yield frame(name, data, f"{milliseconds}-{index}")
    last = len(live.chunks)
    if live.error is not None:
        error = {"error": type(live.error).__name__, "message": str(live.error)}
        yield frame("error", error, f"{milliseconds}-{last}")
    yield frame("end", None, f"{milliseconds}-{last}")
