"""InMemoryStore of both libraries after the same operations gives the same answers."""

from typing import Any

import langgraph.store.base as peer_base
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.store.memory import InMemoryStore as Peer

import runtime.store.base as base
from runtime.store.memory import InMemoryStore

NAMESPACES = st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=3).map(tuple)
PREFIXES = st.lists(st.sampled_from(["a", "b", "c"]), max_size=2).map(tuple)
PATTERNS = st.none() | st.lists(st.sampled_from(["a", "b", "*"]), min_size=1, max_size=2).map(tuple)
VALUES = st.fixed_dictionaries(
    {"n": st.integers(0, 3), "deep": st.fixed_dictionaries({"t": st.sampled_from(["x", "y"])})}
)
FILTERS = st.none() | st.one_of(
    st.builds(lambda n: {"n": n}, st.integers(0, 3)),
    st.builds(
        lambda op, n: {"n": {op: n}}, st.sampled_from(["$gt", "$gte", "$lt", "$lte", "$eq", "$ne"]), st.integers(0, 3)
    ),
    st.builds(lambda t: {"deep": {"t": t}}, st.sampled_from(["x", "y"])),
)
OPERATIONS = st.one_of(
    st.tuples(st.just("put"), NAMESPACES, st.sampled_from(["k", "l"]), VALUES),
    st.tuples(st.just("get"), NAMESPACES, st.sampled_from(["k", "l"])),
    st.tuples(st.just("search"), PREFIXES, FILTERS, st.integers(0, 4), st.integers(0, 3)),
    st.tuples(st.just("list"), PATTERNS, PATTERNS, st.none() | st.integers(1, 3)),
)


def play(store: Any, types: Any, operations: list[Any]) -> list[Any]:
    """The answers. No deletions, no reads of unused namespaces: the peer lists namespaces that are empty."""
    seen: list[Any] = []
    used: set[Any] = set()
    for name, *args in operations:
        if name == "put":
            store.put(*args)
            used.add(args[0])
        elif name == "get":
            if args[0] not in used:
                continue
            found = store.get(*args)
            seen.append(found and (found.namespace, found.key, found.value))
        elif name == "search":
            prefix, wanted, limit, offset = args
            (items,) = store.batch([types.SearchOp(prefix, wanted, limit, offset)])
            seen.append([(i.namespace, i.key, i.value, i.score) for i in items])
        else:
            prefix, suffix, depth = args
            seen.append(store.list_namespaces(prefix=prefix, suffix=suffix, max_depth=depth))
    return seen


@settings(deadline=None)
@given(st.lists(OPERATIONS, max_size=20))
def test_the_same_operations_give_the_same_answers(operations: list[Any]) -> None:
    assert play(InMemoryStore(), base, operations) == play(Peer(), peer_base, operations)
