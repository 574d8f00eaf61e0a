"""R13: what comes back is what went in, type and value, alone and inside others; the rest is refused by name."""

from __future__ import annotations

import datetime as dt
import enum
import ipaddress
import math
import pathlib
import re
import threading
import uuid
import zoneinfo
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, RemoveMessage, SystemMessage, ToolMessage
from pydantic import HttpUrl, SecretBytes, SecretStr
from pydantic.v1 import BaseModel as BaseModelV1

from runtime.checkpoint.serde.codec import dumps, loads
from runtime.types import Command, Interrupt, Overwrite, Send
from tests.runtime.checkpoint.serde.shapes import (
    Amount,
    Bag,
    Box,
    Color,
    Frozen,
    Level,
    Model,
    Names,
    Numbers,
    Open,
    Outer,
    Plain,
    Point,
    Renamed,
    Right,
    Ring,
    Rows,
    Table,
    Tally,
    Text,
    Word,
    noted,
)

BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")
VALUES: dict[str, Any] = {
    "None": None,
    "True": True,
    "zero": 0,
    "minus": -(2**63),
    "64 bits": 2**64 - 1,
    "65 bits": 2**64,
    "big minus": -(2**200),
    "int of 6,000 digits": 10**6000,
    "float": 0.1,
    "minus zero": -0.0,
    "infinity": math.inf,
    "text": "grüße 🙂",
    "lone surrogate": "a\ud800b",
    "empty text": "",
    "bytes": b"\x00\xff",
    "bytearray": bytearray(b"x"),
    "list": [1, [2, []]],
    "tuple": (1, (2, ()), [3]),
    "set": {1, "a", (2,)},
    "frozenset": frozenset({1, 2}),
    "dict": {"a": {"b": {}}},
    "int keys": {1: "a", 2: {3: "b"}},
    "bool and None keys": {True: 1, None: 2},
    "tuple keys": {(1, "a"): 1, frozenset({2}): 2},
    "bytes keys": {b"a": 1},
    "enum keys": {Color.BLUE: 1, Word.YES: 2, Level.LOW: 3},
    "uuid keys": {uuid.UUID(int=5): 1},
    "date keys": {dt.date(2026, 1, 2): 1, dt.datetime(2026, 1, 2): 2},  # noqa: DTZ001 - naive on purpose
    "surrogate keys": {"\udfff": 1},
    "big keys": {2**70: 1},
    "str subclass keys": {Text("k"): 1},
    "order of keys": {"b": 1, "a": 2, 3: 4},
    "Decimal": Decimal("1.10"),
    "Decimal NaN": Decimal("Infinity"),
    "Fraction": Fraction(1, 3),
    "range": range(1, 9, 2),
    "datetime": dt.datetime(2026, 1, 2, 3, 4, 5, 6),  # noqa: DTZ001 - naive on purpose
    "datetime with zone": dt.datetime(2026, 7, 2, tzinfo=BERLIN),
    "datetime in the second of two hours": dt.datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN, fold=1),
    "datetime utc": dt.datetime(2026, 1, 2, tzinfo=dt.UTC),
    "datetime with offset": dt.datetime(2026, 1, 2, tzinfo=dt.timezone(dt.timedelta(hours=5, minutes=30))),
    "date": dt.date(2026, 1, 2),
    "time": dt.time(1, 2, 3, 4),
    "time with fold": dt.time(1, 2, fold=1),
    "time with zone": dt.time(1, 2, tzinfo=BERLIN),
    "time utc": dt.time(1, 2, tzinfo=dt.UTC),
    "timedelta": dt.timedelta(days=-1, microseconds=7),
    "timezone": dt.timezone(dt.timedelta(hours=2)),
    "zone": BERLIN,
    "UUID": uuid.UUID(int=77),
    "deque": deque([1, 2], maxlen=5),
    "deque without end": deque([1]),
    "OrderedDict": OrderedDict(b=1, a=2),
    "Counter": Counter("aab"),
    "defaultdict": defaultdict(list, {"a": [1]}),
    "defaultdict without factory": defaultdict(None, {"a": 1}),
    "pattern": re.compile(r"(?P<a>x+)", re.IGNORECASE | re.MULTILINE),
    "bytes pattern": re.compile(rb"x"),
    "path": pathlib.Path("a/b"),
    "pure path": pathlib.PurePosixPath("/a"),
    "windows path": pathlib.PureWindowsPath("c:\\a"),
    "IPv4": ipaddress.ip_address("1.2.3.4"),
    "IPv6 network": ipaddress.ip_network("fe80::/10"),
    "interface": ipaddress.ip_interface("10.0.0.1/8"),
    "enum": Color.RED,
    "nested enum": Outer.Inner.A,
    "IntEnum": Level.LOW,
    "str enum": Word.YES,
    "flags": Right.READ | Right.WRITE,
    "named tuple": Point(1),
    "frozen dataclass": Frozen("n", Frozen("m", {1: (2,)})),
    "dataclass": Plain([1]),
    "model": Model(color=Color.RED, many=[Point(1, 2)], secret=SecretStr("geheim")),
    "model with fields set": Model(color=Color.BLUE),
    "model made without validation": Model.model_construct(color="not a colour"),
    "model with extras": Open(known=2, other=(1,)),  # type: ignore[call-arg]  # extras are what is tested
    "model with alias": Renamed(theirName=3),
    "generic model": Box[int](content=1),
    "generic model, open": Box(content=(1,)),
    "root model": Numbers([1, 2]),
    "SecretStr": SecretStr("s"),
    "SecretBytes": SecretBytes(b"s"),
    "url": HttpUrl("https://example.org/a?b=c"),
    "str subclass": Text("x"),
    "str subclass with attribute": noted(Text("x"), "n"),
    "float subclass": Amount(1.5),
    "list subclass": Names([1, (2,)]),
    "dict subclass": Table(a=(1,)),
    "set subclass": Bag({1}),
    "Counter subclass": Tally("aab"),
    "deque subclass": Ring([1, 2], maxlen=3),
    "OrderedDict subclass": Rows(b=1, a=2),
    "HumanMessage": HumanMessage("hi", id="1", name="me", additional_kwargs={"k": (1,)}),
    "AIMessage": AIMessage("", tool_calls=[{"name": "t", "args": {"x": 1}, "id": "c1"}]),
    "AIMessageChunk": AIMessageChunk("part"),
    "SystemMessage": SystemMessage([{"type": "text", "text": "be kind"}]),
    "ToolMessage": ToolMessage("r", tool_call_id="c1", artifact={"a": (1,)}, status="error"),
    "RemoveMessage": RemoveMessage(id="1"),
    "text of a message": AIMessage("x").text,
    "Document": Document("page", metadata={"n": 1}),
    "Send": Send("n", {"x": (1,)}),
    "Send with a timeout": Send("n", 1, timeout=2.5),
    "Command": Command(update={"x": 1}, goto=[Send("n", 1), "m"], resume={"i": 1}, graph=Command.PARENT),
    "Interrupt": Interrupt(("why", 1), id="i1"),
    "Overwrite": Overwrite([1]),
}


def same(found: Any, wanted: Any) -> bool:
    """Equal, of the same type, and so are the parts."""
    if type(found) is not type(wanted):
        return False
    if isinstance(wanted, dict):
        pairs = zip(found.items(), wanted.items(), strict=True)
        return len(found) == len(wanted) and all(same(a[0], b[0]) and same(a[1], b[1]) for a, b in pairs)
    if isinstance(wanted, (list, tuple, deque)):
        return len(found) == len(wanted) and all(map(same, found, wanted))
    if isinstance(wanted, (dt.datetime, dt.time)):
        return (found, found.fold, found.tzinfo) == (wanted, wanted.fold, wanted.tzinfo)
    if isinstance(wanted, float):
        return math.copysign(1, found) == math.copysign(1, wanted) and found == wanted
    return bool(found == wanted)


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())
def test_a_value_comes_back_as_itself(value: Any) -> None:
    assert same(loads(dumps(value)), value)


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())
def test_so_it_does_inside_of_others(value: Any) -> None:
    around = {"k": [value, (value,)], "d": Frozen("n", {"x": value}), 1: value}

    assert same(loads(dumps(around)), around)


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())
def test_the_bytes_of_what_came_back_are_the_same(value: Any) -> None:
    packed = dumps(value)

    assert dumps(loads(packed)) == packed


def test_what_equality_does_not_show_comes_back_too() -> None:
    assert loads(dumps(deque([1], maxlen=5))).maxlen == 5
    assert loads(dumps(defaultdict(int)))["new"] == 0
    assert list(loads(dumps(OrderedDict(b=1, a=2)))) == ["b", "a"]
    assert loads(dumps(Plain([1]))).hidden == 3
    model = loads(dumps(Model(color=Color.RED)))
    assert model.model_fields_set == {"color"}
    assert model._private == 7
    assert model.size == 0
    assert loads(dumps(noted(Text("x"), "n"))).note == "n"
    assert math.isnan(loads(dumps(math.nan)))
    assert bytes(loads(dumps([memoryview(b"x")]))[0]) == b"x"


def test_a_cached_property_is_no_field() -> None:
    model = Model(color=Color.RED, many=[Point(1)])
    assert model.size == 1

    assert "size" not in loads(dumps(model)).__dict__


def test_values_of_the_old_pydantic_come_back() -> None:
    class Old(BaseModelV1):
        x: int
        y: tuple[int, ...] = ()

    back = loads(dumps(Old(x=1)))

    assert back == Old(x=1)
    assert back.__fields_set__ == {"x"}


def test_an_exception_is_kept_as_its_text() -> None:
    assert loads(dumps(ValueError("boom"))) == "ValueError('boom')"


def test_a_subclass_of_datetime_comes_back() -> None:
    class Moment(dt.datetime):
        pass

    value = Moment(2026, 10, 25, 2, 30, tzinfo=BERLIN, fold=1)

    assert same(loads(dumps(value)), value)


@pytest.mark.parametrize(
    "value",
    [
        {"lc": 1, "type": "constructor", "id": ["os", "system"], "kwargs": {"command": "true"}},
        {"__type__": "tuple", "__value__": [1]},
        {"$type": "tuple", "$value": [1]},
        ["tuple", [1]],
        ["object", ["os:system", {}]],
        {"type": "human", "content": "hi"},
    ],
    ids=str,
)
def test_a_dict_that_looks_like_an_envelope_stays_a_dict(value: Any) -> None:
    assert same(loads(dumps(value)), value)


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters()) | st.binary(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.text() | st.integers() | st.tuples(st.integers()), inner)
        | st.tuples(inner)
        | st.builds(Frozen, st.text(), inner)
    ),
    max_leaves=12,
)


@given(json_like)
def test_any_nesting_comes_back(value: Any) -> None:
    assert same(loads(dumps(value)), value)


# -- what is refused -----------------------------------------------------------------------------------------------------


class NoData:
    pass


@dataclass
class Holder:
    inner: Any


def generator() -> Any:
    yield 1


REFUSED: dict[str, tuple[Any, str]] = {
    "function": (generator, "function"),
    "lambda": (lambda: None, "function"),
    "class": (NoData, "type"),
    "plain object": (NoData(), "NoData"),
    "complex": (1j, "complex"),
    "module": (re, "module"),
    "generator": (generator(), "generator"),
    "lock": (threading.Lock(), "lock"),
    "iterator": (iter([]), "list_iterator"),
    "defaultdict of a lambda": (defaultdict(lambda: 1), "defaultdict whose factory"),
}
AROUND: dict[str, Any] = {
    "alone": lambda v: v,
    "in a list": lambda v: [1, [v]],
    "in a dict": lambda v: {"a": {"b": v}},
    "in a dict with other keys": lambda v: {1: v},
    "in a tuple in a dataclass": lambda v: Frozen("n", (v,)),
    "beside a surrogate": lambda v: ["\ud800", v],
    "in a message": lambda v: HumanMessage("x", additional_kwargs={"k": v}),
    "thirty deep": lambda v: nested(v, 30),
}


def nested(value: Any, depth: int) -> Any:
    for _ in range(depth):
        value = Holder(value)
    return value


@pytest.mark.parametrize("around", AROUND.values(), ids=AROUND.keys())
@pytest.mark.parametrize(("value", "name"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_kept_is_refused_by_the_name_of_its_type(value: Any, name: str, around: Any) -> None:
    with pytest.raises(TypeError, match=f"not msgpack serializable: .*{re.escape(name)}"):
        dumps(around(value))

    assert loads(dumps("next")) == "next"


def test_a_value_that_contains_itself_is_refused() -> None:
    around: list[Any] = []
    around.append(around)
    holder = Holder(None)
    holder.inner = holder

    for value in (around, holder, [Holder(around)]):
        with pytest.raises(TypeError, match="nested too deeply, or contains itself"):
            dumps(value)


def test_deep_values_are_kept() -> None:
    deep: Any = 1
    for _ in range(250):
        deep = [deep]

    assert loads(dumps(deep)) == deep


def test_an_enum_of_objects_is_kept_by_name() -> None:
    class Odd(enum.Enum):
        WORKS = ("a", 1)
        CALLS = NoData()

    assert loads(dumps(Odd.WORKS)) is Odd.WORKS
    assert loads(dumps(Odd.CALLS)) is Odd.CALLS
