"""Mode `messages`: tokens of chat models as they come, and messages that nodes return.

The tap is a langchain-core callback handler, so it hears every model called under a node, however deep. Imported only
where somebody asks for the mode: langchain-core's callbacks are slow to import.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from typing import Any
from uuid import UUID, uuid4

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGenerationChunk, GenerationChunk, LLMResult
from langchain_core.tracers._streaming import _V2StreamingCallbackHandler

from runtime.constants import NS_SEP, TAG_NOSTREAM

Push = Callable[[tuple[str, ...], str, Any], None]
Item = tuple[BaseMessage, dict[str, Any]]


class MessageTap(BaseCallbackHandler):
    """Sends each piece of each message once."""

    run_inline = True
    """Called in the model's own thread, so that pieces keep their order."""

    def __init__(self, push: Push, root: tuple[str, ...], subgraphs: bool) -> None:
        self._push = push
        self._root = root
        self._subgraphs = subgraphs
        self._runs: dict[UUID, tuple[tuple[str, ...], dict[str, Any]]] = {}
        self._seen: set[str] = set()

    # A handler with these two makes langchain-core stream a model that was only invoked.

    def tap_output_iter(self, run_id: UUID, output: Iterator[Any]) -> Iterator[Any]:
        """Streams of models pass through as they are."""
        return output

    def tap_output_aiter(self, run_id: UUID, output: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Streams of models pass through as they are."""
        return output

    # -- what nodes read and return --------------------------------------------------------------------------------------

    def note_input(self, value: Any) -> None:
        """Messages that a node was given are not news when it returns them."""
        for message in find_messages(value):
            if message.id is not None:
                self._seen.add(message.id)

    def returned(self, value: Any, metadata: dict[str, Any]) -> Iterator[Item]:
        """Messages in what a node returned that were not sent yet."""
        for message in find_messages(value):
            if message.id is None:
                message.id = str(uuid4())
            if message.id not in self._seen:
                self._seen.add(message.id)
                yield message, metadata

    def told(self, message: BaseMessage, metadata: dict[str, Any]) -> None:
        """A message that a node's code sends by itself."""
        ns = tuple(str(metadata["langgraph_checkpoint_ns"]).split(NS_SEP))[:-1]
        if ns == self._root or self._subgraphs:
            self._seen.add(str(message.id))
            self._push(ns, "messages", (message, metadata))

    # -- what models say -------------------------------------------------------------------------------------------------

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> Any:
        if not metadata or "langgraph_checkpoint_ns" not in metadata or (tags and TAG_NOSTREAM in tags):
            return
        ns = tuple(str(metadata["langgraph_checkpoint_ns"]).split(NS_SEP))[:-1]
        if ns == self._root or self._subgraphs:
            self._runs[run_id] = (ns, {**metadata, **({"tags": shown} if (shown := _shown(tags)) else {})})

    def on_llm_new_token(
        self,
        token: str | list[str | dict[str, Any]],
        *,
        chunk: GenerationChunk | ChatGenerationChunk | None = None,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        **kwargs: Any,
    ) -> Any:
        if isinstance(chunk, ChatGenerationChunk) and run_id in self._runs:
            self._send(run_id, chunk.message)

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any) -> Any:
        if run_id in self._runs and response.generations and response.generations[0]:
            message = getattr(response.generations[0][0], "message", None)
            if isinstance(message, BaseMessage) and (message.id is None or message.id not in self._seen):
                self._send(run_id, message)
        self._runs.pop(run_id, None)

    def on_llm_error(
        self, error: BaseException, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> Any:
        self._runs.pop(run_id, None)

    def _send(self, run_id: UUID, message: BaseMessage) -> None:
        if message.id is None:
            message.id = f"run-{run_id}"
        self._seen.add(message.id)
        ns, metadata = self._runs[run_id]
        self._push(ns, "messages", (message, metadata))


class EventTap(MessageTap, _V2StreamingCallbackHandler):
    """The same in events: a message's start, each piece of its blocks, its finish."""

    def on_stream_event(self, event: Any, *, run_id: UUID, **kwargs: Any) -> Any:
        if run_id in self._runs:
            ns, metadata = self._runs[run_id]
            if event["event"] == "message-start" and event.get("id"):
                self._seen.add(event["id"])
            self._push(ns, "messages", (event, {**metadata, "run_id": str(run_id)}))

    def on_llm_new_token(self, token: Any, *, run_id: UUID, **kwargs: Any) -> Any:
        """Told as events."""

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> Any:
        """The message was told piece by piece."""
        for message in find_messages([getattr(g, "message", None) for each in response.generations for g in each]):
            if run_id in self._runs and message.id is not None:
                self._seen.add(message.id)
        self._runs.pop(run_id, None)


def _shown(tags: Sequence[str] | None) -> list[str]:
    return [tag for tag in tags or () if not tag.startswith("seq:step")]


def find_messages(value: Any) -> Iterable[BaseMessage]:
    """The messages in a state or an update: a message, a list of them, or either under any key."""
    if isinstance(value, BaseMessage):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            if isinstance(item, BaseMessage):
                yield item
    elif isinstance(value, dict):
        for item in value.values():
            if isinstance(item, (BaseMessage, list, tuple)):
                yield from find_messages(item)
    elif hasattr(value, "__dict__"):
        yield from find_messages(vars(value))
