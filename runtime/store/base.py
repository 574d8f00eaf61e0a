"""What a store is: items, the operations on them, and `BaseStore`, which turns methods into operations.

A store has two methods of its own, `batch` and `abatch`; all others are one operation each. Owns: these shapes, and what a
legal namespace is. Refuses: storage.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar, Literal, NamedTuple, TypedDict, cast

from runtime.store.embed import Embedder, ensure_embeddings, get_text_at_path, tokenize_path

Embeddings = Embedder
"""By LangGraph's name."""


class NotProvided:
    """The type of NOT_PROVIDED."""

    def __bool__(self) -> Literal[False]:
        return False

    def __repr__(self) -> Literal["NOT_GIVEN"]:
        return "NOT_GIVEN"


NOT_PROVIDED = NotProvided()
"""Default of `ttl`: the store's own default counts, whereas None means forever."""

NamespacePath = tuple[str, ...]
"""Labels from the root; in a condition `"*"` stands for any one label."""
NamespaceMatchType = Literal["prefix", "suffix"]


class InvalidNamespaceError(ValueError):
    """A namespace that no item can be stored under."""


class Item:
    """A stored value with its place and times."""

    __slots__ = ("created_at", "key", "namespace", "updated_at", "value")

    def __init__(
        self,
        *,
        value: dict[str, Any],
        key: str,
        namespace: Sequence[str],
        created_at: datetime | str,
        updated_at: datetime | str,
    ) -> None:
        self.value = value
        self.key = key
        self.namespace = tuple(namespace)
        self.created_at = _as_datetime(created_at)
        self.updated_at = _as_datetime(updated_at)

    def _place(self) -> tuple[Any, ...]:
        return (self.namespace, self.key, self.created_at, self.updated_at)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Item) and self._place() == other._place() and self.value == other.value

    def __hash__(self) -> int:
        return hash((self.namespace, self.key))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.dict().items())})"

    def dict(self) -> dict[str, Any]:
        """As plain data, times as ISO text."""
        return {
            "namespace": list(self.namespace),
            "key": self.key,
            "value": self.value,
            "created_at": self.created_at.isoformat(),
            "updated_at": self.updated_at.isoformat(),
        }


class SearchItem(Item):
    """An item as a search found it."""

    __slots__ = ("score",)

    def __init__(
        self,
        namespace: Sequence[str],
        key: str,
        value: dict[str, Any],
        created_at: datetime | str,
        updated_at: datetime | str,
        score: float | None = None,
    ) -> None:
        super().__init__(value=value, key=key, namespace=namespace, created_at=created_at, updated_at=updated_at)
        self.score = score
        """How well it fits the query; None in a search without one, and for items that are not indexed."""

    def dict(self) -> dict[str, Any]:
        """As plain data, times as ISO text."""
        return {**super().dict(), "score": self.score}


def _as_datetime(value: datetime | str) -> datetime:
    return datetime.fromisoformat(value) if isinstance(value, str) else value


class GetOp(NamedTuple):
    """Read one item."""

    namespace: tuple[str, ...]
    key: str
    refresh_ttl: bool = True


class SearchOp(NamedTuple):
    """Read the items under a prefix that fit, best first."""

    namespace_prefix: tuple[str, ...]
    filter: dict[str, Any] | None = None
    """Key to value, or to `{"$gt": value}` with $eq, $ne, $gt, $gte, $lt, $lte; nested as the value is."""
    limit: int = 10
    offset: int = 0
    query: str | None = None
    """Text that an index compares the items with."""
    refresh_ttl: bool = True


class MatchCondition(NamedTuple):
    """A namespace begins or ends so."""

    match_type: NamespaceMatchType
    path: NamespacePath


class ListNamespacesOp(NamedTuple):
    """Read which namespaces there are, sorted."""

    match_conditions: tuple[MatchCondition, ...] | None = None
    max_depth: int | None = None
    """Cut them to so many labels."""
    limit: int = 100
    offset: int = 0


class PutOp(NamedTuple):
    """Store, replace or (value None) delete one item."""

    namespace: tuple[str, ...]
    key: str
    value: Mapping[str, Any] | None
    index: Literal[False] | list[str] | None = None  # type: ignore[assignment]  # LangGraph's name; hides tuple.index
    """Paths to index; None for the store's own, False for none."""
    ttl: float | None = None
    """Minutes to live."""


Op = GetOp | SearchOp | PutOp | ListNamespacesOp
Result = Item | list[Item] | list[SearchItem] | list[tuple[str, ...]] | None


class TTLConfig(TypedDict, total=False):
    """How long items live. Times are minutes."""

    refresh_on_read: bool
    omit_expired: bool
    default_ttl: float | None
    sweep_interval_minutes: int | None


class IndexConfig(TypedDict, total=False):
    """How items are made searchable by meaning."""

    dims: int
    """Length of a vector."""
    embed: Embedder | Callable[[Sequence[str]], list[list[float]]] | Callable[[Sequence[str]], Awaitable[Any]] | str
    fields: list[str] | None
    """Paths of the texts to embed; by default the whole value."""


class BaseStore(ABC):
    """Items under namespaces. Reads of a batch see the store as it was before the batch; its writes come after them."""

    supports_ttl: ClassVar[bool] = False
    ttl_config: TTLConfig | None = None

    @abstractmethod
    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Perform operations; one result each, None for a put."""

    @abstractmethod
    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """`batch`, awaited."""

    def get(self, namespace: tuple[str, ...], key: str, *, refresh_ttl: bool | None = None) -> Item | None:
        """The item, or None."""
        return cast("Item | None", self.batch([self._get_op(namespace, key, refresh_ttl)])[0])

    async def aget(self, namespace: tuple[str, ...], key: str, *, refresh_ttl: bool | None = None) -> Item | None:
        """`get`, awaited."""
        return cast("Item | None", (await self.abatch([self._get_op(namespace, key, refresh_ttl)]))[0])

    def search(
        self,
        namespace_prefix: tuple[str, ...],
        /,
        *,
        query: str | None = None,
        filter: dict[str, Any] | None = None,  # noqa: A002 - LangGraph's name
        limit: int = 10,
        offset: int = 0,
        refresh_ttl: bool | None = None,
    ) -> list[SearchItem]:
        """The items under a prefix that fit `filter`, best fit to `query` first. SearchOp explains the arguments."""
        op = SearchOp(namespace_prefix, filter, limit, offset, query, self._refresh(refresh_ttl))
        return cast("list[SearchItem]", self.batch([op])[0])

    async def asearch(
        self,
        namespace_prefix: tuple[str, ...],
        /,
        *,
        query: str | None = None,
        filter: dict[str, Any] | None = None,  # noqa: A002 - LangGraph's name
        limit: int = 10,
        offset: int = 0,
        refresh_ttl: bool | None = None,
    ) -> list[SearchItem]:
        """`search`, awaited."""
        op = SearchOp(namespace_prefix, filter, limit, offset, query, self._refresh(refresh_ttl))
        return cast("list[SearchItem]", (await self.abatch([op]))[0])

    def put(
        self,
        namespace: tuple[str, ...],
        key: str,
        value: Mapping[str, Any],
        index: Literal[False] | list[str] | None = None,
        *,
        ttl: float | NotProvided | None = NOT_PROVIDED,
    ) -> None:
        """Store or replace an item. PutOp explains `index`; `ttl` is minutes, None for ever.

        Raises:
            InvalidNamespaceError: the namespace is empty, has an empty label, one with a dot, or the root "langgraph".
            NotImplementedError: a `ttl` for a store whose items never expire.
        """
        self.batch([self._put_op(namespace, key, value, index, ttl)])

    async def aput(
        self,
        namespace: tuple[str, ...],
        key: str,
        value: Mapping[str, Any],
        index: Literal[False] | list[str] | None = None,
        *,
        ttl: float | NotProvided | None = NOT_PROVIDED,
    ) -> None:
        """`put`, awaited."""
        await self.abatch([self._put_op(namespace, key, value, index, ttl)])

    def delete(self, namespace: tuple[str, ...], key: str) -> None:
        """Remove an item; nothing happens where there is none."""
        self.batch([PutOp(namespace, str(key), None)])

    async def adelete(self, namespace: tuple[str, ...], key: str) -> None:
        """`delete`, awaited."""
        await self.abatch([PutOp(namespace, str(key), None)])

    def list_namespaces(
        self,
        *,
        prefix: NamespacePath | None = None,
        suffix: NamespacePath | None = None,
        max_depth: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[tuple[str, ...]]:
        """Which namespaces there are. ListNamespacesOp explains the arguments."""
        op = ListNamespacesOp(_conditions(prefix, suffix), max_depth, limit, offset)
        return cast("list[tuple[str, ...]]", self.batch([op])[0])

    async def alist_namespaces(
        self,
        *,
        prefix: NamespacePath | None = None,
        suffix: NamespacePath | None = None,
        max_depth: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[tuple[str, ...]]:
        """`list_namespaces`, awaited."""
        op = ListNamespacesOp(_conditions(prefix, suffix), max_depth, limit, offset)
        return cast("list[tuple[str, ...]]", (await self.abatch([op]))[0])

    def _refresh(self, asked: bool | None) -> bool:
        return asked if asked is not None else (self.ttl_config or {}).get("refresh_on_read", True)

    def _get_op(self, namespace: tuple[str, ...], key: str, refresh_ttl: bool | None) -> GetOp:
        return GetOp(namespace, str(key), self._refresh(refresh_ttl))

    def _put_op(
        self,
        namespace: tuple[str, ...],
        key: str,
        value: Mapping[str, Any],
        index: Literal[False] | list[str] | None,
        ttl: float | NotProvided | None,
    ) -> PutOp:
        check_namespace(namespace)
        if isinstance(ttl, NotProvided):
            lives = (self.ttl_config or {}).get("default_ttl")
        elif ttl is not None and not self.supports_ttl:
            raise NotImplementedError(
                f"TTL is not supported by {type(self).__name__}. Use a store implementation that supports TTL or set ttl=None."
            )
        else:
            lives = ttl
        return PutOp(namespace, str(key), value, index, lives)


def _conditions(prefix: NamespacePath | None, suffix: NamespacePath | None) -> tuple[MatchCondition, ...]:
    given: tuple[tuple[NamespaceMatchType, NamespacePath | None], ...] = (("prefix", prefix), ("suffix", suffix))
    return tuple(MatchCondition(kind, path) for kind, path in given if path)


def check_namespace(namespace: Sequence[str]) -> None:
    """Raise InvalidNamespaceError for a namespace that no item can be stored under."""
    if not namespace:
        raise InvalidNamespaceError("Namespace cannot be empty.")
    check_labels(namespace)
    if namespace[0] == "langgraph":
        raise InvalidNamespaceError(f'Root label for namespace cannot be "langgraph". Got: {namespace}')


def check_labels(namespace: Sequence[str]) -> None:
    """Raise InvalidNamespaceError for a namespace with a label that cannot be one."""
    if isinstance(namespace, str):
        raise InvalidNamespaceError(
            f"Namespace must be a tuple of labels, got the text {namespace!r}: write ({namespace!r},)."
        )
    for label in namespace:
        if not isinstance(label, str):
            raise InvalidNamespaceError(
                f"Invalid namespace label '{label}' found in {namespace}. Namespace labels must be strings, "
                f"but got {type(label).__name__}."
            )
        if "." in label:
            raise InvalidNamespaceError(
                f"Invalid namespace label '{label}' found in {namespace}. Namespace labels cannot contain periods ('.')."
            )
        if not label:
            raise InvalidNamespaceError(f"Namespace labels cannot be empty strings. Got {label} in {namespace}")


def matches(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    """Whether a namespace begins or ends as a condition says."""
    size = len(condition.path)
    if len(namespace) < size:
        return False
    part = namespace[:size] if condition.match_type == "prefix" else namespace[len(namespace) - size :]
    return all(wanted in ("*", label) for label, wanted in zip(part, condition.path, strict=True))


def texts_to_embed(ops: Sequence[Op], index: IndexConfig | None) -> tuple[list[str], list[str]]:
    """The queries and the texts of a batch, each once; [] of both for a store without an index."""
    if index is None:
        return [], []
    queries = {op.query: None for op in ops if isinstance(op, SearchOp) and op.query}
    texts: dict[str, None] = {}
    for op in ops:
        if isinstance(op, PutOp) and op.value is not None and op.index is not False:
            fields = op.index if op.index is not None else index.get("fields") or ["$"]
            texts.update((text, None) for path in fields for text in get_text_at_path(dict(op.value), path))
    return list(queries), list(texts)


def validate_op_namespace(op: Op) -> None:
    """Raise InvalidNamespaceError for an operation that would store an item under a namespace that cannot be."""
    if isinstance(op, PutOp) and op.value is not None and op.namespace:
        check_labels(op.namespace)


__all__ = (
    "NOT_PROVIDED",
    "BaseStore",
    "Embeddings",
    "GetOp",
    "IndexConfig",
    "InvalidNamespaceError",
    "Item",
    "ListNamespacesOp",
    "MatchCondition",
    "NamespaceMatchType",
    "NamespacePath",
    "NotProvided",
    "Op",
    "PutOp",
    "Result",
    "SearchItem",
    "SearchOp",
    "TTLConfig",
    "check_namespace",
    "ensure_embeddings",
    "get_text_at_path",
    "matches",
    "texts_to_embed",
    "tokenize_path",
    "validate_op_namespace",
)
