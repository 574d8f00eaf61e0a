"""Which classes a stored value may become: an allow-list. Nothing is ever imported because stored bytes name it.

A class is allowed when it is langchain-core's or this runtime's own data, when a graph's schema mentions it
(`allow_schema`), when somebody says so (`allow`), or when a live object of it was stored by this process. Bytes that name
any other class load as an OpaqueValue.
"""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, get_args, get_origin, get_type_hints

_KNOWN: dict[str, type] = {}
_PENDING: dict[int, Any] = {}
"""Schemas that nobody has looked into yet."""
_BY_QUALNAME: dict[str, dict[str, type]] = {}
"""The same classes by the second half of their names."""
_LOCK = threading.RLock()
_OWN_MODULES = (
    "langchain_core.messages",
    "langchain_core.documents",
    "langchain_core.agents",
    "langchain_core.outputs",
    "langchain_core.prompt_values",
    "runtime.types",
    "runtime.store.base",
)
"""Modules of data classes that this package depends on: imported when a stored value needs one."""
_LOADED_MODULES = ("langgraph.types", "langgraph.store.base")
"""The same, but looked at only where the program itself has imported them."""
_BUILTIN_MODULES = frozenset({"builtins", "typing", "typing_extensions", "collections", "collections.abc", "types"})
UNREADABLE = "unreadable bytes"
WHOLE = 256
"""The code of an OpaqueValue that is a whole stored value, and not a tagged part of one."""


@dataclass(frozen=True, slots=True, repr=False)
class OpaqueValue:
    """A stored value whose class this process does not know: shown by name, written back byte for byte."""

    type_name: str
    """`module:qualified.name`, or what kind of value it is."""
    payload: bytes
    """The stored bytes, untouched."""
    code: int = 1
    """How they were tagged."""

    def __repr__(self) -> str:
        return f"OpaqueValue({self.type_name!r}, {len(self.payload)} bytes)"

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"{self!r} has no attribute {name!r}: the value was stored as a class that is not allowed here. Name the "
            f"class in the graph's state schema, or allow it: JsonPlusSerializer(allowed=[...])."
        )


def type_name(cls: type) -> str:
    """`module:qualified.name`."""
    return f"{cls.__module__}:{cls.__qualname__}"


def allow(*classes: type) -> None:
    """Let stored values become instances of these classes."""
    with _LOCK:
        for cls in classes:
            _KNOWN[type_name(cls)] = cls
            _BY_QUALNAME.setdefault(cls.__qualname__, {})[type_name(cls)] = cls


def allow_schema(*schemas: Any) -> None:
    """Let stored values become instances of what these state schemas, or annotations, mention. Cheap: looked into when
    first needed."""
    with _LOCK:
        _PENDING.update({id(schema): schema for schema in schemas})


def find(name: str) -> type | None:
    """The allowed class of that name."""
    found = _KNOWN.get(name)
    if found is None and _PENDING:
        with _LOCK:
            allow(*mentioned(_PENDING.values()))
            _PENDING.clear()
        found = _KNOWN.get(name)
    return found or _listed(name) or _of_script(name)


def _listed(name: str) -> type | None:
    """A class of a module in the fixed lists above."""
    module, _, qualname = name.partition(":")
    for package in (*_OWN_MODULES, *_LOADED_MODULES):
        if module != package and not module.startswith(f"{package}."):
            continue
        if package in _OWN_MODULES:
            importlib.import_module(package)  # the name comes from the list, not from stored bytes
        cls = getattr(sys.modules.get(module), qualname, None)
        if isinstance(cls, type) and type_name(cls) == name:
            allow(cls)
            return cls
    return None


def _of_script(name: str) -> type | None:
    """The one allowed class of that qualified name, if a program's main file defined either: the same file is `__main__`
    where it is run, and has a name of its own where it is imported."""
    module, _, qualname = name.partition(":")
    found = [cls for cls in _BY_QUALNAME.get(qualname, {}).values() if "__main__" in (module, cls.__module__)]
    return found[0] if len(found) == 1 else None


def mentioned(annotations: Iterable[Any]) -> set[type]:
    """The classes that annotations mention: arguments of generics, fields of classes, and their subclasses."""
    found: set[type] = set()
    seen: set[int] = set()
    todo = [*annotations]
    while todo:
        hint = todo.pop()
        if id(hint) in seen:
            continue
        seen.add(id(hint))
        todo.extend((*get_args(hint), get_origin(hint)))
        if isinstance(hint, type) and hint.__module__ not in _BUILTIN_MODULES and hint.__module__ != "pydantic.main":
            found.add(hint)
            todo.extend(_annotations(hint))
            todo.extend(type.__subclasses__(hint))
            todo.append(getattr(hint, "__pydantic_generic_metadata__", {}).get("origin"))
    return found


def _annotations(cls: type) -> Iterable[Any]:
    try:
        return get_type_hints(cls, include_extras=True).values()
    except Exception:  # noqa: BLE001 - a name that cannot be resolved raises anything; what can be read is enough
        own: dict[str, Any] = getattr(cls, "__annotations__", {})
        return [hint for hint in own.values() if not isinstance(hint, str)]
