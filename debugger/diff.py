"""Pure: what changed between two states, as paths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from debugger.values import encode
from debugger.wire import Change

_LIMIT = 200
"""Changes that are listed; a person looks at the value itself beyond that."""


def changes(before: Any, after: Any) -> list[Change]:
    """The differences, in the order of the newer state."""
    found = []
    for change in _walk(before, after, []):
        found.append(change)
        if len(found) == _LIMIT:
            break
    return found


def _walk(before: Any, after: Any, path: list[str | int]) -> Iterator[Change]:
    if before is after:
        return
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in [*after, *(key for key in before if key not in after)]:
            yield from _step(before, after, key, [*path, str(key)])
    elif isinstance(before, list) and isinstance(after, list):
        yield from _lists(before, after, path)
    elif not _same(before, after):
        yield Change(path=path, op="replace", before=encode(before), after=encode(after))


def _step(before: Mapping[Any, Any], after: Mapping[Any, Any], key: Any, path: list[str | int]) -> Iterator[Change]:
    if key not in before:
        yield Change(path=path, op="add", after=encode(after[key]))
    elif key not in after:
        yield Change(path=path, op="remove", before=encode(before[key]))
    else:
        yield from _walk(before[key], after[key], path)


def _lists(before: list[Any], after: list[Any], path: list[str | int]) -> Iterator[Change]:
    """Lists of things with ids (messages) are matched by id, others by place."""
    old, new = _by_id(before), _by_id(after)
    if old is not None and new is not None and (old or new):
        for key, (index, item) in new.items():
            if key not in old:
                yield Change(path=[*path, index], op="add", after=encode(item))
            elif not _same(old[key][1], item):
                yield Change(path=[*path, index], op="replace", before=encode(old[key][1]), after=encode(item))
        for key, (index, item) in old.items():
            if key not in new:
                yield Change(path=[*path, index], op="remove", before=encode(item))
        return
    for index in range(max(len(before), len(after))):
        if index >= len(before):
            yield Change(path=[*path, index], op="add", after=encode(after[index]))
        elif index >= len(after):
            yield Change(path=[*path, index], op="remove", before=encode(before[index]))
        else:
            yield from _walk(before[index], after[index], [*path, index])


def _by_id(items: list[Any]) -> dict[str, tuple[int, Any]] | None:
    found: dict[str, tuple[int, Any]] = {}
    for index, item in enumerate(items):
        key = getattr(item, "id", None)
        if not isinstance(key, str) or key in found:
            return None
        found[key] = (index, item)
    return found


def _same(before: Any, after: Any) -> bool:
    try:
        return bool(before == after)
    except Exception:  # noqa: BLE001 - arrays and odd objects compare by what a person would see
        return bool(encode(before) == encode(after))
