"""Transformers: each reads the events of a run and makes projections of them. And the mux, which feeds them.

An event is `{"type": "event", "seq", "method", "params": {"namespace", "timestamp", "data"}}`: `method` is a stream mode,
`lifecycle`, or `custom:<name>`. A mux has a scope: the namespace of the graph whose run it shows.
"""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, ClassVar, Literal, NotRequired

from typing_extensions import TypedDict

from runtime.constants import NS_END
from runtime.stream.channel import StreamChannel

Scope = tuple[str, ...]
SubgraphStatus = Literal["started", "completed", "failed", "interrupted", "drained"]


class ProtocolEventParams(TypedDict):
    """Where and when, and what."""

    namespace: list[str]
    """Of the graph; [] for the one that was called."""
    timestamp: int
    """Milliseconds since 1970."""
    data: Any
    interrupts: NotRequired[tuple[Any, ...]]
    """With `values`: the questions that wait."""


class ProtocolEvent(TypedDict):
    """One event of a run."""

    type: Literal["event"]
    seq: NotRequired[int]
    """From 1; later events have greater ones."""
    method: str
    params: ProtocolEventParams


class LifecyclePayload(TypedDict):
    """A graph that a node called has begun or ended."""

    event: SubgraphStatus
    namespace: list[str]
    graph_name: NotRequired[str]
    """Name of the node that called it."""
    trigger_call_id: NotRequired[str]
    """Id of the task that called it."""
    error: NotRequired[str]


class StreamTransformer(ABC):
    """Makes projections of a run's events. Given to `stream_events` as a class, or a function of the scope.

    `init` gives the projections by name; a `StreamChannel` among them is filled by `process` and closed at the run's end.
    """

    requires_async: ClassVar[bool] = False
    """It cannot work in a sync run."""
    supports_sync: ClassVar[bool] = True
    required_stream_modes: ClassVar[tuple[str, ...]] = ()
    """Stream modes whose events it needs."""
    before_builtins: ClassVar[bool] = False
    """It sees an event before the built-in ones do."""
    _native: ClassVar[bool] = False
    """Its projections are attributes of the run."""

    def __init__(self, scope: Scope = ()) -> None:
        self.scope = tuple(scope)
        self._work: set[asyncio.Task[Any]] = set()

    @abstractmethod
    def init(self) -> Mapping[str, Any]:
        """The projections. Called once, before the run."""

    def process(self, event: ProtocolEvent) -> bool:
        """An event of the scope or below. False keeps it out of the run's own events."""
        return True

    async def aprocess(self, event: ProtocolEvent) -> bool:
        """`process`, in an async run."""
        return self.process(event)

    def finalize(self) -> None:  # noqa: B027 - most have nothing to do at the end
        """The run has ended well."""

    async def afinalize(self) -> None:
        """`finalize`, in an async run."""
        self.finalize()

    def fail(self, error: BaseException) -> None:  # noqa: B027 - see finalize
        """The run has failed."""

    async def afail(self, error: BaseException) -> None:
        """`fail`, in an async run."""
        self.fail(error)

    def schedule(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Do something beside an async run, which ends only after it."""
        task = asyncio.ensure_future(work)
        self._work.add(task)
        return task

    async def settle(self) -> None:
        """Await what was scheduled; raises what it raised."""
        await asyncio.gather(*self._work)


TransformerFactory = Callable[[Scope], StreamTransformer]


class StreamMux:
    """Feeds the events of a run to its transformers, and keeps the run's own events."""

    def __init__(
        self,
        factories: Sequence[TransformerFactory],
        make_handle: Callable[..., Any],
        scope: Scope = (),
        *,
        is_async: bool = False,
        inner: bool = False,
    ) -> None:
        self.scope = scope
        self.inner = inner
        """It is fed by another mux."""
        self.make_handle = make_handle
        """Makes the run stream of a subgraph."""
        self.is_async = is_async
        self.factories = factories
        self.log: StreamChannel[ProtocolEvent] = StreamChannel()
        self.extensions: dict[str, Any] = {}
        self.natives: dict[str, Any] = {}
        self.ended = False
        self._owners: dict[str, str] = {}
        self._numbers: Iterator[int] = count(1)
        self._pump: tuple[Any, Any] = (None, None)
        made = [_make(factory, scope, is_async) for factory in factories]
        self.transformers = sorted(made, key=lambda transformer: not transformer.before_builtins)
        for transformer in self.transformers:
            self._register(transformer)

    def _register(self, transformer: StreamTransformer) -> None:
        if isinstance(transformer, SubgraphTransformer):
            transformer.mux = self
        projections = transformer.init()
        name = type(transformer).__name__
        taken = [f"'{key}' (owned by {self._owners[key]})" for key in projections if key in self._owners]
        if taken:
            raise ValueError(
                f"Transformer {name} returned projection keys that conflict with already-registered keys: "
                f"{', '.join(taken)}"
            )
        for key, value in projections.items():
            self._owners[key] = name
            self.extensions[key] = value
            if transformer._native:
                self.natives[key] = value
            if isinstance(value, StreamChannel) and value.name is not None:
                value.listen(self._teller(value.name if transformer._native else f"custom:{value.name}"))

    def _teller(self, method: str) -> Callable[[Any], None]:
        return lambda item: self.append(self.event(method, item, self.scope))

    @property
    def modes(self) -> list[str]:
        """The stream modes that the transformers need."""
        return sorted({mode for transformer in self.transformers for mode in transformer.required_stream_modes})

    def find(self, kind: type[Any]) -> Any:
        """The transformer of a kind."""
        return next(transformer for transformer in self.transformers if isinstance(transformer, kind))

    def bind(self, more: Any = None, amore: Any = None) -> None:
        """How readers make the run go on."""
        self._pump = (more, amore)
        for channel in self._channels():
            channel.bind(more, amore)

    @property
    def pump(self) -> tuple[Any, Any]:
        """What `bind` was given."""
        return self._pump

    def _channels(self) -> list[StreamChannel[Any]]:
        return [self.log, *(value for value in self.extensions.values() if isinstance(value, StreamChannel))]

    # -- events --------------------------------------------------------------------------------------------------------

    def event(self, method: str, data: Any, namespace: Sequence[str], **more: Any) -> ProtocolEvent:
        """A new event, not yet among the run's own."""
        params: Any = {"namespace": list(namespace), "timestamp": int(time.time() * 1000), "data": data, **more}
        return {"type": "event", "method": method, "params": params}

    def append(self, event: ProtocolEvent) -> None:
        """Add to the run's own events. The mux of the whole run numbers them."""
        if not self.inner:
            event["seq"] = next(self._numbers)
        self.log.push(event)

    def take(self, part: Mapping[str, Any]) -> ProtocolEvent:
        """The event of a part of a stream in its v2 shape."""
        more = {"interrupts": part["interrupts"]} if "interrupts" in part else {}
        return self.event(part["type"], part["data"], part["ns"], **more)

    def feed(self, event: ProtocolEvent) -> None:
        """Show an event to all transformers."""
        kept = [transformer.process(event) is not False for transformer in self.transformers]
        self._keep(event, kept)

    async def afeed(self, event: ProtocolEvent) -> None:
        """`feed`, in an async run."""
        kept = [await transformer.aprocess(event) is not False for transformer in self.transformers]
        self._keep(event, kept)

    def _keep(self, event: ProtocolEvent, kept: list[bool]) -> None:
        if all(kept) and event["method"] != "tasks":  # these are told as lifecycle
            self.append(event)

    # -- the end -------------------------------------------------------------------------------------------------------

    def finish(self, error: BaseException | None = None) -> None:
        """The run has ended, with this error if any."""
        if self.ended:
            return
        self.ended = True
        for transformer in self.transformers:
            if error is None:
                transformer.finalize()
            else:
                transformer.fail(error)
        self._close(error)

    async def afinish(self, error: BaseException | None = None) -> None:
        """`finish`, in an async run."""
        if self.ended:
            return
        self.ended = True
        try:
            for transformer in self.transformers:
                if error is None:
                    await transformer.settle()
                    await transformer.afinalize()
                else:
                    await transformer.afail(error)
        except Exception as failure:  # noqa: BLE001 - told to the readers, as any failure of the run
            error = failure
        self._close(error)

    def _close(self, error: BaseException | None) -> None:
        for channel in self._channels():
            if error is None:
                channel.close()
            else:
                channel.fail(error)


def _make(factory: Any, scope: Scope, is_async: bool) -> StreamTransformer:
    if isinstance(factory, StreamTransformer):
        name = type(factory).__name__
        raise TypeError(
            f"stream_events(version='v3') transformers must be scope-aware callables, got pre-built instance {name}. "
            f"Pass the transformer class or a factory like `lambda scope: {name}(scope, ...)`."
        )
    if not callable(factory):
        raise TypeError(
            f"stream_events(version='v3') transformers must be scope-aware callables, got {type(factory).__name__}."
        )
    made = factory(scope)
    if not isinstance(made, StreamTransformer):
        raise TypeError(f"A transformer factory gave a {type(made).__name__}, where a StreamTransformer is needed.")
    if not is_async and (made.requires_async or not made.supports_sync):
        raise TypeError(f"{type(made).__name__} works in async runs alone: use astream_events(version='v3').")
    return made


# -- what comes with it ------------------------------------------------------------------------------------------------


class _ModeTransformer(StreamTransformer):
    """A stream mode of the scope's own graph as a channel of the same name."""

    _native = True

    def init(self) -> Mapping[str, Any]:
        self.mode = self.required_stream_modes[0]
        self.channel: StreamChannel[Any] = StreamChannel()
        return {self.mode: self.channel}

    def process(self, event: ProtocolEvent) -> bool:
        if event["method"] == self.mode and tuple(event["params"]["namespace"]) == self.scope:
            self.take(event["params"])
        return True

    def take(self, params: Any) -> None:
        """What the channel gets."""
        self.channel.push(params["data"])


class UpdatesTransformer(_ModeTransformer):
    """`run.updates`: what each node wrote."""

    required_stream_modes = ("updates",)


class CustomTransformer(_ModeTransformer):
    """`run.custom`: what nodes wrote to their stream writer."""

    required_stream_modes = ("custom",)


class CheckpointsTransformer(_ModeTransformer):
    """`run.checkpoints`: each checkpoint as it is made."""

    required_stream_modes = ("checkpoints",)


class DebugTransformer(_ModeTransformer):
    """`run.debug`: checkpoints, starts and results of tasks."""

    required_stream_modes = ("debug",)


class TasksTransformer(_ModeTransformer):
    """`run.tasks`: starts and results of tasks."""

    required_stream_modes = ("tasks",)


class ValuesTransformer(_ModeTransformer):
    """`run.values`: the state after each super-step; and what the run's output is."""

    required_stream_modes = ("values",)

    def init(self) -> Mapping[str, Any]:
        self.latest: Any = None
        self.interrupts: list[Any] = []
        return super().init()

    def take(self, params: Any) -> None:
        self.latest = params["data"]
        self.interrupts.extend(i for i in params.get("interrupts", ()) if i not in self.interrupts)
        super().take(params)


class MessagesTransformer(StreamTransformer):
    """`run.messages`: a langchain-core ChatModelStream for each message of the scope's own graph, as it begins."""

    _native = True
    required_stream_modes = ("messages",)

    def __init__(self, scope: Scope = (), *, is_async: bool = False) -> None:
        super().__init__(scope)
        self._is_async = is_async
        self._open: dict[Any, Any] = {}

    def init(self) -> Mapping[str, Any]:
        self.channel: StreamChannel[Any] = StreamChannel()
        return {"messages": self.channel}

    def process(self, event: ProtocolEvent) -> bool:
        if event["method"] == "messages" and tuple(event["params"]["namespace"]) == self.scope:
            said, metadata = event["params"]["data"]
            if isinstance(said, Mapping):
                self._take(said, metadata)
            elif getattr(said, "type", "") == "ai":
                self._whole(said, metadata)
        return True

    def _take(self, said: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
        key = metadata.get("run_id")
        if said["event"] == "message-start":
            self._open[key] = self._begin(metadata, said.get("id"))
        stream = self._open.get(key)
        if stream is not None:
            stream.dispatch(said)
            if stream.done:
                del self._open[key]

    def _whole(self, message: Any, metadata: Mapping[str, Any]) -> None:
        from langchain_core.language_models._compat_bridge import message_to_events

        stream = self._begin(metadata, message.id)
        for said in message_to_events(message, message_id=message.id):
            stream.dispatch(said)

    def _begin(self, metadata: Mapping[str, Any], message_id: str | None) -> Any:
        from langchain_core.language_models.chat_model_stream import AsyncChatModelStream, ChatModelStream

        kind = AsyncChatModelStream if self._is_async else ChatModelStream
        stream: Any = kind(node=metadata.get("langgraph_node"), message_id=message_id)
        if self._is_async:
            stream.set_arequest_more(self.channel._amore)
        else:
            stream.set_request_more(self.channel._more)
        self.channel.push(stream)
        return stream

    def fail(self, error: BaseException) -> None:
        for stream in self._open.values():
            stream.fail(error)


class _Watcher(StreamTransformer):
    """Follows the graphs that nodes call, from the starts and results of tasks."""

    _native = True
    required_stream_modes = ("tasks",)

    def __init__(self, scope: Scope = ()) -> None:
        super().__init__(scope)
        self._open: dict[Scope, str | None] = {}
        """The graphs that run, each with the error of its task if that has failed."""

    def process(self, event: ProtocolEvent) -> bool:
        if event["method"] == "tasks":
            ns, data = tuple(event["params"]["namespace"]), event["params"]["data"]
            if "input" in data:
                if self._tracks(ns) and ns not in self._open:
                    self._open[ns] = None
                    name, _, task_id = ns[-1].partition(NS_END)
                    self.started(ns, name, task_id)
            else:
                self._ended((*ns, f"{data['name']}{NS_END}{data['id']}"), data)
        return True

    def _tracks(self, ns: Scope) -> bool:
        return len(ns) > len(self.scope) and ns[: len(self.scope)] == self.scope

    def _ended(self, path: Scope, data: Mapping[str, Any]) -> None:
        for ns in [ns for ns in reversed(self._open) if ns[: len(path)] == path]:
            if data["error"]:
                self._open[ns] = data["error"]  # the error itself is known when the run ends
            else:
                del self._open[ns]
                self.ended(ns, "interrupted" if data["interrupts"] else "completed", None)

    def finalize(self) -> None:
        for ns, error in reversed(self._open.items()):
            self.ended(ns, "failed" if error else "completed", error)

    def fail(self, error: BaseException) -> None:
        drained = type(error).__name__ == "GraphDrained"
        for ns in reversed(self._open):
            self.ended(ns, "drained" if drained else "failed", None if drained else str(error))

    @abstractmethod
    def started(self, ns: Scope, name: str, task_id: str) -> None:
        """A graph runs its first tasks."""

    @abstractmethod
    def ended(self, ns: Scope, status: SubgraphStatus, error: str | None) -> None:
        """It has ended."""


class LifecycleTransformer(_Watcher):
    """`run.lifecycle`: beginnings and ends of all graphs below, however deep."""

    def init(self) -> Mapping[str, Any]:
        self.channel: StreamChannel[LifecyclePayload] = StreamChannel("lifecycle")
        return {"lifecycle": self.channel}

    def started(self, ns: Scope, name: str, task_id: str) -> None:
        self.channel.push({"event": "started", "namespace": list(ns), "graph_name": name, "trigger_call_id": task_id})

    def ended(self, ns: Scope, status: SubgraphStatus, error: str | None) -> None:
        payload: LifecyclePayload = {"event": status, "namespace": list(ns)}
        if error is not None:
            payload["error"] = error
        self.channel.push(payload)


class SubgraphTransformer(_Watcher):
    """`run.subgraphs`: a run stream for each graph that a node of this one calls, as it begins."""

    mux: StreamMux
    """The one that it belongs to."""

    def init(self) -> Mapping[str, Any]:
        self.channel: StreamChannel[Any] = StreamChannel()
        self._handles: dict[Scope, Any] = {}
        self._error: BaseException | None = None
        return {"subgraphs": self.channel}

    def _tracks(self, ns: Scope) -> bool:
        return len(ns) == len(self.scope) + 1 and ns[: len(self.scope)] == self.scope

    def process(self, event: ProtocolEvent) -> bool:
        super().process(event)
        handle = self._handle_of(event)
        if handle is not None and not handle.mux.ended:
            handle.mux.feed(event)
        return True

    async def aprocess(self, event: ProtocolEvent) -> bool:
        super().process(event)
        handle = self._handle_of(event)
        if handle is not None and not handle.mux.ended:
            await handle.mux.afeed(event)
        return True

    def _handle_of(self, event: ProtocolEvent) -> Any:
        return self._handles.get(tuple(event["params"]["namespace"][: len(self.scope) + 1]))

    def started(self, ns: Scope, name: str, task_id: str) -> None:
        mux = StreamMux(self.mux.factories, self.mux.make_handle, ns, is_async=self.mux.is_async, inner=True)
        mux.bind(*self.mux.pump)
        handle = self._handles[ns] = self.mux.make_handle(mux, path=ns, graph_name=name, trigger_call_id=task_id)
        self.channel.push(handle)

    def ended(self, ns: Scope, status: SubgraphStatus, error: str | None) -> None:
        handle = self._handles[ns]
        handle.status, handle.error = status, error
        handle.mux.finish(self._error if status in ("failed", "drained") else None)

    def fail(self, error: BaseException) -> None:
        self._error = error
        super().fail(error)


BUILTINS: tuple[TransformerFactory, ...] = (
    ValuesTransformer,
    MessagesTransformer,
    LifecycleTransformer,
    SubgraphTransformer,
)
"""Of every run."""
