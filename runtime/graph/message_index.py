"""Which id stands where in a list of messages, remembered from one merge to the next.

Owns: indexes of the lists that merges made last. Refuses: to keep a chat alive, or to be believed without a check.

A chat grows at its end: the list that a merge returns is the next merge's left side, and looking at a thousand ids again
costs more than all the rest of it. An entry hangs on the list's last message: it holds that one weakly, so the entry goes
when nobody else has the list, and the ones before it strongly, so that a list is recognised by comparing objects, which
is quick, and exact also for a list that was changed in place.
"""

from __future__ import annotations

from collections import OrderedDict
from operator import attrgetter
from typing import NamedTuple
from weakref import ref

from langchain_core.messages import BaseMessage

Index = dict[str | None, int]
_LIMIT = 32
"""Lists remembered at once; old versions of a list that lives on would pile up otherwise."""
_ids_of = attrgetter("id")


class _Entry(NamedTuple):
    last: ref[BaseMessage]
    before: list[BaseMessage]
    by_id: Index


_entries: OrderedDict[int, _Entry] = OrderedDict()


def find_index(messages: list[BaseMessage]) -> Index | None:
    """The index of a list that a merge made, or None. It is shared: copy it before changing it."""
    if not messages:
        return None
    entry = _entries.get(id(messages[-1]))
    if entry is None or entry.last() is not messages[-1] or entry.before != messages[:-1]:
        return None
    return entry.by_id


def make_index(messages: list[BaseMessage]) -> Index:
    """Id to place; the last place where an id stands twice."""
    return dict(zip(map(_ids_of, messages), range(len(messages)), strict=True))


def keep_index(messages: list[BaseMessage], index: Index) -> None:
    """Remember the index of a list of whole messages that all have ids."""
    if not messages:
        return
    key = id(messages[-1])
    _entries[key] = _Entry(ref(messages[-1], lambda _: _entries.pop(key, None)), messages[:-1], index)
    _entries.move_to_end(key)
    if len(_entries) > _LIMIT:
        _entries.popitem(last=False)
