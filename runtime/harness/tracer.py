"""Traces: what ran, for how long, under what, and what failed. Who decided what is the audit log's (audit.py)."""

from __future__ import annotations

import contextvars
import functools
import inspect
import logging
import os
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from typing_extensions import TypedDict

from runtime.harness.lines import JsonLines

_LOG = logging.getLogger(__name__)
F = TypeVar("F", bound=Callable[..., Any])


class Span(TypedDict):
    """One call, written when it ended: children come before their parents."""

    span_id: str
    parent_id: str | None
    name: str
    ms: float
    """Milliseconds, to three decimals."""
    ok: bool
    err: str | None
    """`Type: text` of what was raised."""
    ts: float
    """When it ended, in seconds since 1970."""


class Tracer:
    """Spans of the functions that it decorates.

    Args:
        path: of a file of JSON lines that gets each span too. A file that cannot be written hurts no traced code: it is
            logged once, and `spans` has everything.

    The parent of a span follows the call: through threads and tasks that copy the context (asyncio, nodes of a graph,
    `contextvars.copy_context`); a bare thread begins at a root.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = path
        self.spans: list[Span] = []
        self._lines = None if path is None else JsonLines(path)
        self._count = 0
        self._lock = threading.Lock()
        self._parent: contextvars.ContextVar[str | None] = contextvars.ContextVar("parent_span", default=None)
        self._warned = False

    def new_span_id(self) -> str:
        """The next id: s1, s2, and so on."""
        with self._lock:
            self._count += 1
            return f"s{self._count}"

    def record(
        self,
        name: str,
        *,
        ms: float,
        ok: bool,
        err: str | None = None,
        parent_id: str | None = None,
        span_id: str | None = None,
    ) -> Span:
        """Write down a span that was measured elsewhere."""
        span = Span(
            span_id=span_id or self.new_span_id(),
            parent_id=parent_id,
            name=name,
            ms=round(float(ms), 3),
            ok=bool(ok),
            err=err,
            ts=time.time(),
        )
        with self._lock:
            self.spans.append(span)
        self._write(span)
        return span

    def _write(self, span: Span) -> None:
        if self._lines is None:
            return
        try:
            self._lines.append(dict(span), sync=False)
        except (OSError, ValueError) as error:
            if not self._warned:
                self._warned = True
                _LOG.warning(
                    "The trace file %s cannot be written, spans are kept in memory alone: %s", self.path, error
                )

    def trace(self, name: str | None = None) -> Callable[[F], F]:
        """A decorator that makes a span of each call. Results and errors pass through unchanged.

        Works on functions, coroutine functions, and both kinds of generators (the span lasts until they end).
        """

        def decorate(function: F) -> F:
            label = name or str(getattr(function, "__name__", type(function).__name__))
            return _wrapped(self, function, label)  # type: ignore[return-value]  # wraps() keeps its signature

        return decorate

    def open(self, name: str) -> _Running:
        """A context manager that makes a span of its block."""
        return _Running(self, name)

    def clear(self) -> None:
        """Forget the spans of memory; ids begin at s1 again. The file stays."""
        with self._lock:
            self.spans.clear()
            self._count = 0

    def total_ms(self) -> float:
        """The time of all roots, in milliseconds. Children are parts of it."""
        return round(sum(span["ms"] for span in tuple(self.spans) if span["parent_id"] is None), 3)

    def summary(self) -> str:
        """The spans as a tree, a line each, in the order of their starts: `OK  name 1.0ms`, `ERR name 2.0ms <- error`."""
        spans = tuple(self.spans)
        parents = {span["span_id"]: span["parent_id"] for span in spans}

        def depth(span_id: str | None) -> int:
            found = 0
            while (span_id := parents.get(span_id or "")) is not None:
                found += 1
            return found

        return "\n".join(
            f"{'  ' * depth(span['span_id'])}{'OK ' if span['ok'] else 'ERR'} {span['name']} {span['ms']}ms"
            + (f" <- {span['err']}" if span["err"] else "")
            for span in _in_tree(spans)
        )


class _Running:
    """A span between its start and its end."""

    def __init__(self, tracer: Tracer, name: str) -> None:
        self.tracer = tracer
        self.name = name

    def __enter__(self) -> _Running:
        self.parent_id = self.tracer._parent.get()
        self.span_id = self.tracer.new_span_id()
        self._token = self.tracer._parent.set(self.span_id)
        self._began = time.perf_counter()
        return self

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        ms = (time.perf_counter() - self._began) * 1000
        try:
            self.tracer._parent.reset(self._token)
        except ValueError:  # a generator that is closed from another context: nothing of ours to restore there
            _LOG.debug("Span %s ended in another context.", self.span_id)
        err = None if error is None else f"{type(error).__name__}: {error}"
        self.tracer.record(self.name, ms=ms, ok=error is None, err=err, parent_id=self.parent_id, span_id=self.span_id)


def _wrapped(tracer: Tracer, function: Callable[..., Any], label: str) -> Callable[..., Any]:
    if inspect.isasyncgenfunction(function):

        @functools.wraps(function)
        async def stream(*args: Any, **kwargs: Any) -> Any:
            with tracer.open(label):
                async for item in function(*args, **kwargs):
                    yield item

        return stream
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def call(*args: Any, **kwargs: Any) -> Any:
            with tracer.open(label):
                return await function(*args, **kwargs)

        return call
    if inspect.isgeneratorfunction(function):

        @functools.wraps(function)
        def generate(*args: Any, **kwargs: Any) -> Any:
            with tracer.open(label):
                return (yield from function(*args, **kwargs))

        return generate

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        with tracer.open(label):
            return function(*args, **kwargs)

    return run


def _in_tree(spans: tuple[Span, ...]) -> list[Span]:
    """Parents before children, siblings by their numbers; a span whose parent is not among them is a root's child."""
    known = {span["span_id"] for span in spans}
    children: dict[str | None, list[Span]] = {}
    for span in sorted(spans, key=lambda span: (len(span["span_id"]), span["span_id"])):
        parent = span["parent_id"]
        children.setdefault(parent if parent in known else None, []).append(span)
    found: list[Span] = []
    waiting = list(reversed(children.get(None, [])))
    while waiting:
        span = waiting.pop()
        found.append(span)
        waiting.extend(reversed(children.get(span["span_id"], [])))
    return found
