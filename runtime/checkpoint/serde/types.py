"""Which classes a stored value may become: an allow-list. Nothing is ever imported because stored bytes name it.

A class is allowed when it is built in, when a graph's schema names it (`allow`), or when a live object of it was stored by
this process. Bytes that name any other class load as an OpaqueValue.
"""

from __future__ import annotations

import dataclasses
import sys
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, get_args

_KNOWN: dict[str, type] = {}
_LOCK = threading.Lock()
_OPTIONAL_MODULES = (
    "langchain_core.messages",
    "langchain_core.documents",
    "runtime.types",
    "runtime.store.base",
    "langgraph.types",
)
"""Modules whose classes may be revived, once the program itself has imported them."""


@dataclass(frozen=True, slots=True)
class OpaqueValue:
    """A stored value whose class this process does not know: shown by name, written back byte for byte."""

    type_name: str
    payload: bytes


def type_name(cls: type) -> str:
    """`module:qualified.name`."""
    return f"{cls.__module__}:{cls.__qualname__}"


def allow(*classes: type) -> None:
    """Let stored values become instances of these classes."""
    with _LOCK:
        for cls in classes:
            _KNOWN[type_name(cls)] = cls


def find(name: str) -> type | None:
    """The allowed class of that name."""
    found = _KNOWN.get(name)
    return found if found is not None else _optional(name)


def _optional(name: str) -> type | None:
    """A class of a module in the fixed list above, if that module is loaded."""
    module, _, qualname = name.partition(":")
    for package in _OPTIONAL_MODULES:
        loaded = sys.modules.get(package)
        if loaded is not None and (module == package or module.startswith(package + ".")):
            cls = getattr(loaded, qualname, None)
            if isinstance(cls, type) and type_name(cls) == name:
                allow(cls)
                return cls
    return None


def allow_annotations(annotations: Iterable[Any]) -> None:
    """Allow every class that annotations mention: their arguments, and the fields of dataclasses and models."""
    seen: set[int] = set()
    todo = list(annotations)
    while todo:
        hint = todo.pop()
        if id(hint) in seen:
            continue
        seen.add(id(hint))
        todo.extend(get_args(hint))
        if not isinstance(hint, type):
            continue
        if hint.__module__ not in ("builtins", "typing", "typing_extensions", "collections.abc"):
            allow(hint)
        if dataclasses.is_dataclass(hint):
            todo.extend(field.type for field in dataclasses.fields(hint))
        todo.extend(field.annotation for field in getattr(hint, "model_fields", {}).values())
