"""A channel of a run: items that one reader, or several by `tee`, take at their own pace.

A reader that wants more than there is makes the run go on: nothing runs ahead of who reads. What nobody reads is not kept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class StreamChannel(Generic[T]):
    """Items of a projection.

    Args:
        name: a named channel of a custom transformer also shows its items in the run's events, as `custom:<name>`.
        maxlen: how many items wait for a reader at most; the oldest give way. None: all.

    Iterate it once, sync or async as the run is; `tee` and `atee` give several readers.
    """

    def __init__(self, name: str | None = None, *, maxlen: int | None = None) -> None:
        self.name = name
        self.maxlen = maxlen
        self.closed = False
        self.error: BaseException | None = None
        self._readers: list[Callable[[T], None]] = []
        self._taken = False
        self._more: Callable[[], bool] | None = None
        self._amore: Callable[[], Awaitable[bool]] | None = None

    # -- writing -------------------------------------------------------------------------------------------------------

    def push(self, item: T) -> None:
        """Give an item to the readers there are. Raises RuntimeError after `close` or `fail`."""
        if self.closed:
            raise RuntimeError(f"StreamChannel {self.name or ''} is closed: nothing can be pushed any more.")
        for read in self._readers:
            read(item)

    def close(self) -> None:
        """There will be no more."""
        self.closed = True

    def fail(self, error: BaseException) -> None:
        """There will be no more, because of this: readers get it after the items that wait."""
        if not self.closed:
            self.closed, self.error = True, error

    # -- reading -------------------------------------------------------------------------------------------------------

    def bind(self, more: Callable[[], bool] | None = None, amore: Callable[[], Awaitable[bool]] | None = None) -> None:
        """How a reader makes the run go on. False from it: the run has ended."""
        self._more, self._amore = more, amore

    def listen(self, read: Callable[[T], None]) -> None:
        """Call this with each item from now on."""
        self._readers.append(read)

    def tee(self, n: int = 2) -> tuple[Iterator[T], ...]:
        """Several readers, each with all items."""
        self._take()
        return tuple(self._read(self._queue()) for _ in range(n))

    def atee(self, n: int = 2) -> tuple[AsyncIterator[T], ...]:
        """`tee`, for async runs."""
        self._take()
        return tuple(self._aread(self._queue()) for _ in range(n))

    def __iter__(self) -> Iterator[T]:
        return self.tee(1)[0]

    def __aiter__(self) -> AsyncIterator[T]:
        return self.atee(1)[0]

    def take(self) -> None:
        """Count as read: who listens takes all items."""
        self._take()

    def _take(self) -> None:
        if self._taken:
            raise RuntimeError("StreamChannel already has a subscriber; use .tee(n) for fan-out.")
        self._taken = True

    def _queue(self) -> deque[T]:
        queue: deque[T] = deque(maxlen=self.maxlen)
        self._readers.append(queue.append)
        return queue

    def _read(self, queue: deque[T]) -> Iterator[T]:
        while True:
            while queue:
                yield queue.popleft()
            if not self.closed and self._more is not None and self._more():
                continue
            if queue:
                continue
            if self.error is not None:
                raise self.error
            return

    async def _aread(self, queue: deque[T]) -> AsyncIterator[T]:
        while True:
            while queue:
                yield queue.popleft()
            if not self.closed and self._amore is not None and await self._amore():
                continue
            if queue:
                continue
            if self.error is not None:
                raise self.error
            return


def is_channel(value: Any) -> bool:
    """Whether a projection is a channel."""
    return isinstance(value, StreamChannel)
