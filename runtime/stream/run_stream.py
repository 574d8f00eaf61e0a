"""Run streams: what `stream_events(version="v3")` gives. One run, several projections of it, each read on its own.

Reading any of them, or the run itself for its events, makes the run go on; `output` runs it to its end.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from runtime.stream.channel import StreamChannel
from runtime.stream.transformers import (
    BUILTINS,
    LifecyclePayload,
    MessagesTransformer,
    ProtocolEvent,
    StreamMux,
    SubgraphStatus,
    TransformerFactory,
    ValuesTransformer,
)

if TYPE_CHECKING:
    from langchain_core.language_models.chat_model_stream import AsyncChatModelStream, ChatModelStream


def make_mux(transformers: Sequence[TransformerFactory], *, is_async: bool) -> StreamMux:
    """The mux of a run. Raises TypeError or ValueError for a transformer that cannot be one."""
    builtins = [partial(made, is_async=is_async) if made is MessagesTransformer else made for made in BUILTINS]
    handle = AsyncSubgraphRunStream if is_async else SubgraphRunStream
    return StreamMux([*builtins, *transformers], handle, is_async=is_async)


class _Projections:
    """What both kinds of run streams have."""

    values: StreamChannel[Any]
    lifecycle: StreamChannel[LifecyclePayload]
    updates: StreamChannel[dict[str, Any]]
    """With UpdatesTransformer; likewise the next four with theirs."""
    custom: StreamChannel[Any]
    checkpoints: StreamChannel[dict[str, Any]]
    debug: StreamChannel[dict[str, Any]]
    tasks: StreamChannel[dict[str, Any]]

    def __init__(self, mux: StreamMux) -> None:
        self.mux = mux
        for name, value in mux.natives.items():
            setattr(self, name, value)

    @property
    def extensions(self) -> Mapping[str, Any]:
        """All projections by name, also those of custom transformers."""
        return MappingProxyType(self.mux.extensions)

    def _values(self) -> ValuesTransformer:
        found: ValuesTransformer = self.mux.find(ValuesTransformer)
        return found

    def _ended(self) -> None:
        if self.mux.log.error is not None:
            raise self.mux.log.error


class GraphRunStream(_Projections):
    """A run: iterate it for its events, or read `values`, `messages`, `lifecycle`, `subgraphs`, `output`, `interrupts`.

    Use it in a `with` block, or read it to its end, or `abort` it: otherwise the run stays where it was last read.
    """

    messages: StreamChannel[ChatModelStream]
    subgraphs: StreamChannel[SubgraphRunStream]

    def __init__(self, parts: Iterator[Any] | None, mux: StreamMux) -> None:
        super().__init__(mux)
        self._parts = parts
        if parts is not None:
            mux.bind(self._pump)

    def _pump(self) -> bool:
        """Run to the next event. False when there is none."""
        if self.mux.ended or self._parts is None:
            return False
        try:
            part = next(self._parts)
        except StopIteration:
            self.mux.finish()
        except Exception as error:  # noqa: BLE001 - told to every reader
            self.mux.finish(error)
        else:
            self.mux.feed(self.mux.take(part))
            return True
        return False

    def _drain(self) -> None:
        more, _ = self.mux.pump
        while not self.mux.ended and more is not None and more():
            pass
        self._ended()

    @property
    def output(self) -> Any:
        """The last state. Runs to the end, and raises what the run raised."""
        self._drain()
        return self._values().latest

    @property
    def interrupts(self) -> list[Any]:
        """The questions that wait. Runs to the end."""
        self._drain()
        return list(self._values().interrupts)

    @property
    def interrupted(self) -> bool:
        """Whether questions wait. Runs to the end."""
        return bool(self.interrupts)

    def interleave(self, *names: str) -> Iterator[tuple[str, Any]]:
        """The items of several projections as (name, item), in the order in which they come. Raises KeyError."""
        channels = [(name, self.extensions[name]) for name in names]
        queue: deque[tuple[str, Any]] = deque()
        for name, channel in channels:
            channel.take()
            channel.listen(lambda item, name=name: queue.append((name, item)))
        return self._interleaved(queue)

    def _interleaved(self, queue: deque[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
        more, _ = self.mux.pump
        while True:
            while queue:
                yield queue.popleft()
            if self.mux.ended or not more():
                yield from queue
                self._ended()
                return

    def abort(self) -> None:
        """Stop the run here. What was read stays; readers find the end."""
        close = getattr(self._parts, "close", None)
        if close is not None:
            close()
        self.mux.finish()

    def __iter__(self) -> Iterator[ProtocolEvent]:
        return iter(self.mux.log)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: Any) -> None:
        self.abort()


class AsyncGraphRunStream(_Projections):
    """A run, read with asyncio. `output`, `interrupts` and `interrupted` are awaited calls; readers may be concurrent."""

    messages: StreamChannel[AsyncChatModelStream]
    subgraphs: StreamChannel[AsyncSubgraphRunStream]

    def __init__(self, parts: AsyncIterator[Any] | None, mux: StreamMux) -> None:
        super().__init__(mux)
        self._parts = parts
        self._lock = asyncio.Lock()
        self._step: asyncio.Future[None] | None = None
        if parts is not None:
            mux.bind(amore=self._pump)

    async def _pump(self) -> bool:
        """Run to the next event, for whichever reader is first. A reader that is cancelled leaves the run to the others."""
        async with self._lock:
            if self.mux.ended or self._parts is None:
                return False
            if self._step is None:
                self._step = asyncio.ensure_future(self._next(self._parts))
            await asyncio.shield(self._step)
            self._step = None
        return not self.mux.ended

    async def _next(self, parts: AsyncIterator[Any]) -> None:
        try:
            part = await anext(parts)
        except StopAsyncIteration:
            await self.mux.afinish()
        except Exception as error:  # noqa: BLE001 - told to every reader
            await self.mux.afinish(error)
        else:
            await self.mux.afeed(self.mux.take(part))

    async def _drain(self) -> None:
        _, more = self.mux.pump
        while not self.mux.ended and more is not None and await more():
            pass
        self._ended()

    async def output(self) -> Any:
        """The last state. Runs to the end, and raises what the run raised."""
        await self._drain()
        return self._values().latest

    async def interrupts(self) -> list[Any]:
        """The questions that wait. Runs to the end."""
        await self._drain()
        return list(self._values().interrupts)

    async def interrupted(self) -> bool:
        """Whether questions wait. Runs to the end."""
        return bool(await self.interrupts())

    async def abort(self) -> None:
        """Stop the run here. What was read stays; readers find the end."""
        if self._step is not None:
            self._step.cancel()
            await asyncio.gather(self._step, return_exceptions=True)
        close = getattr(self._parts, "aclose", None)
        if close is not None:
            await close()
        await self.mux.afinish()

    def __aiter__(self) -> AsyncIterator[ProtocolEvent]:
        return self.mux.log.__aiter__()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: Any) -> None:
        await self.abort()


class SubgraphRunStream(GraphRunStream):
    """The run of a graph that a node called, from its first tasks on. Reading it makes the whole run go on."""

    def __init__(
        self,
        mux: StreamMux,
        *,
        path: tuple[str, ...],
        graph_name: str | None = None,
        trigger_call_id: str | None = None,
    ) -> None:
        super().__init__(None, mux)
        self.path = path
        """Its namespace."""
        self.graph_name = graph_name
        self.trigger_call_id = trigger_call_id
        self.status: SubgraphStatus = "started"
        self.error: str | None = None


class AsyncSubgraphRunStream(AsyncGraphRunStream):
    """`SubgraphRunStream` of an async run."""

    def __init__(
        self,
        mux: StreamMux,
        *,
        path: tuple[str, ...],
        graph_name: str | None = None,
        trigger_call_id: str | None = None,
    ) -> None:
        super().__init__(None, mux)
        self.path = path
        """Its namespace."""
        self.graph_name = graph_name
        self.trigger_call_id = trigger_call_id
        self.status: SubgraphStatus = "started"
        self.error: str | None = None
