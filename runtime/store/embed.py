"""Texts out of values, and vectors out of texts.

Owns: the path language of an index's `fields`, and giving functions the shape of an embedding model. Refuses: to keep any
vectors.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Sequence
from typing import Any, Protocol, cast


class Embedder(Protocol):
    """An embedding model: what langchain-core's `Embeddings` has."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """A vector per text to be found."""
        ...

    def embed_query(self, text: str) -> list[float]:
        """The vector of a text to search with."""
        ...

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """`embed_documents`, awaited."""
        ...

    async def aembed_query(self, text: str) -> list[float]:
        """`embed_query`, awaited."""
        ...


class FunctionEmbedder:
    """A function from texts to vectors, as an embedding model."""

    def __init__(self, function: Callable[[Sequence[str]], Any]) -> None:
        self._function = function
        self._is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            getattr(function, "__call__", None)  # noqa: B004 - whether its call is async
        )

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """A vector per text. Raises ValueError where the function is async."""
        if self._is_async:
            raise ValueError(
                "The embedding function of this store is async: use the a* methods of the store, or give it a sync function."
            )
        return cast("list[list[float]]", self._function(texts))

    def embed_query(self, text: str) -> list[float]:
        """The vector of one text. Raises ValueError where the function is async."""
        return self.embed_documents([text])[0]

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """`embed_documents`, awaited."""
        found = self._function(texts)
        return cast("list[list[float]]", await found if self._is_async else found)

    async def aembed_query(self, text: str) -> list[float]:
        """`embed_query`, awaited."""
        return (await self.aembed_documents([text]))[0]


def ensure_embeddings(embed: Any) -> Embedder:
    """An embedding model out of one, or a function, or "provider:model" (where LangChain is installed).

    Raises:
        ValueError: it is none of these, or LangChain or the provider is not installed.
    """
    if hasattr(embed, "embed_documents"):
        return cast(Embedder, embed)
    if isinstance(embed, str):
        return _load(embed)
    if callable(embed):
        return FunctionEmbedder(embed)
    raise ValueError(
        f"Expected an embedding model, a function from texts to vectors or 'provider:model' as index['embed'], got {embed!r}."
    )


def _load(name: str) -> Embedder:
    try:
        from langchain.embeddings import init_embeddings  # an optional package
    except ImportError as error:
        raise ValueError(
            f"Could not load embeddings from string '{name}': that needs the packages langchain and its provider's. "
            f"Install them, or give an embedding model or a function."
        ) from error
    return cast(Embedder, init_embeddings(name))


def tokenize_path(path: str) -> list[str]:
    """`"a.b[0].{c,d}"` -> `["a", "b", "[0]", "{c,d}"]`."""
    tokens: list[str] = []
    word = ""
    depth = 0
    for character in path:
        if character in "[{":
            if depth == 0:
                tokens, word = [*tokens, word] if word else tokens, ""
            depth += 1
        if character == "." and depth == 0:
            tokens, word = [*tokens, word] if word else tokens, ""
            continue
        word += character
        if character in "]}" and depth:
            depth -= 1
            if depth == 0:
                tokens, word = [*tokens, word], ""
    return [*tokens, word] if word else tokens


def get_text_at_path(value: Any, path: str | list[str]) -> list[str]:
    """The texts that a path leads to.

    `a.b` goes into keys, `[0]`, `[-1]`, `[*]` into lists, `*` into every key or item, `{a,b}` into both; `$` or nothing is the
    whole value as JSON. What is not text is written as JSON; None and paths that lead nowhere give nothing.
    """
    if path in ("", "$"):
        return [_json(value)]
    tokens = tokenize_path(path) if isinstance(path, str) else list(path)
    return [text for found in _walk(value, tokens) for text in _text(found)]


def _walk(value: Any, tokens: list[str]) -> list[Any]:
    if not tokens:
        return [value]
    token, rest = tokens[0], tokens[1:]
    if token.startswith("[") and token.endswith("]"):
        return [end for part in _items(value, token[1:-1].strip()) for end in _walk(part, rest)]
    if token.startswith("{") and token.endswith("}"):
        names = [name.strip() for name in token[1:-1].split(",")]
        return [end for name in names for end in _walk(value, [*tokenize_path(name), *rest])]
    if token == "*":  # noqa: S105 - a part of a path
        parts = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
        return [end for part in parts for end in _walk(part, rest)]
    return _walk(value[token], rest) if isinstance(value, dict) and token in value else []


def _items(value: Any, which: str) -> list[Any]:
    if not isinstance(value, list):
        return []
    if which == "*":
        return value
    try:
        return [value[int(which)]]
    except (ValueError, IndexError):  # no number, or not so many items: the path leads nowhere
        return []


def _text(value: Any) -> list[str]:
    if value is None:
        return []
    if isinstance(value, (str, int, float, bool)):
        return [str(value)]
    return [_json(value)]


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
