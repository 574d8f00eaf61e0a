"""R14: opening somebody else's store runs nothing: only allowed classes come to life, the rest is inert and stays as it was."""

from __future__ import annotations

import copy
import sys
import time
from dataclasses import dataclass, field, make_dataclass
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypedDict, TypeVar

import ormsgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from runtime.checkpoint.serde import types
from runtime.checkpoint.serde.codec import dumps, loads
from runtime.checkpoint.serde.jsonplus import JsonPlusSerializer, OpaqueValue
from runtime.checkpoint.serde.types import allow, allow_schema, find
from tests.runtime.checkpoint.serde.shapes import Box, Color, Frozen, Model, Point, Undecided

T = TypeVar("T")


def tagged(kind: str, content: Any) -> bytes:
    """Stored bytes, as anybody can write them."""
    return ormsgpack.packb(ormsgpack.Ext(1, ormsgpack.packb([kind, content])))


@pytest.fixture
def only_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that has stored nothing yet."""
    for name in ("_KNOWN", "_BY_QUALNAME", "_PENDING"):
        monkeypatch.setattr(types, name, {})


# -- nothing runs ------------------------------------------------------------------------------------------------------


@pytest.fixture
def trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module on the path that leaves a mark when it is imported. Returns where the mark would be."""
    mark = tmp_path / "mark"
    (tmp_path / "trap_module.py").write_text(f"open({str(mark)!r}, 'w').close()\nclass Trap: pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    return mark


HOSTILE = [
    ("object", ["trap_module:Trap", {}]),
    ("model", ["trap_module:Trap", [{}, []]]),
    ("enum", ["trap_module:Trap", 1]),
    ("subclass", ["trap_module:Trap", ["x", {}]]),
    ("object", ["langchain_core.messages.trap_module:Trap", {}]),
    ("object", ["runtime.types.trap_module:Trap", {}]),
    ("object", ["os:system", {"command": "touch mark"}]),
    ("enum", ["os:system", "touch mark"]),
    ("object", ["subprocess:Popen", {"args": "touch mark"}]),
    ("named", ["builtins:eval", ["1"]]),
    ("subclass", ["builtins:type", ["X", {}]]),
    ("url", ["create_model", "x"]),
    ("url", ["BaseModel", "x"]),
    ("secret", ["ImportString", "os.system"]),
    ("secret", ["trap_module", "x"]),
]


@pytest.mark.parametrize("hostile", HOSTILE, ids=str)
def test_a_payload_that_names_code_imports_and_runs_nothing(
    hostile: Any, trap: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(trap.parent)
    packed = tagged(*hostile)

    found = loads(packed)

    assert type(found) is OpaqueValue
    assert dumps(found) == packed
    assert not trap.exists()
    assert "trap_module" not in sys.modules


@pytest.mark.parametrize("kind", ["pickle", "json", "anything"])
def test_other_formats_are_not_read(kind: str) -> None:
    with pytest.raises(ValueError, match=kind):
        JsonPlusSerializer().loads_typed((kind, b"\x80\x04."))


def test_no_constructor_and_no_hook_of_a_class_runs() -> None:
    ran = []

    @dataclass
    class Loud:
        x: int

        def __post_init__(self) -> None:
            ran.append("post_init")

    class LoudModel(BaseModel):
        x: int

        def model_post_init(self, context: Any) -> None:
            ran.append("model_post_init")

    packed = dumps([Loud(1), LoudModel(x=1)])
    ran.clear()

    assert [value.x for value in loads(packed)] == [1, 1]
    assert ran == []


def test_a_class_is_not_taken_for_another_kind() -> None:
    allow(Frozen, Model, Color)

    for kind in ("enum", "named", "subclass", "model", "moment"):
        assert type(loads(tagged(kind, ["tests.runtime.checkpoint.serde.shapes:Frozen", ["n"]]))) is OpaqueValue


def test_a_payload_sets_no_attribute_that_is_no_field() -> None:
    allow(Point, Frozen)

    made = loads(
        tagged("object", ["tests.runtime.checkpoint.serde.shapes:Frozen", {"name": "n", "__class__": 1, "x": 2}])
    )

    assert type(made) is Frozen
    assert not hasattr(made, "x")


# -- bad bytes ---------------------------------------------------------------------------------------------------------


BROKEN = {
    "empty": b"",
    "cut": dumps({"a": [1, 2, 3]})[:-1],
    "no msgpack": b"\xc1",
    "list as key": ormsgpack.packb(ormsgpack.Ext(1, b"\x81\x90\x01")),
    "unknown extension": ormsgpack.packb(ormsgpack.Ext(99, b"x")),
    "negative extension": b"\xd4\xff\x00",
    "unknown kind": tagged("no such kind", 1),
    "kind that is no text": ormsgpack.packb(ormsgpack.Ext(1, ormsgpack.packb([[1], 2]))),
    "tag without pair": ormsgpack.packb(ormsgpack.Ext(1, b"\x01")),
    "empty tag": ormsgpack.packb(ormsgpack.Ext(1, b"")),
    "bad decimal": tagged("decimal", "x"),
    "bad date": tagged("date", "yesterday"),
    "bad zone": tagged("zone", "../../etc/passwd"),
    "bad pattern": tagged("pattern", ["(", 0]),
    "division by zero": tagged("fraction", [1, 0]),
    "set of lists": tagged("set", [[1]]),
    "bad array": tagged("numpy_array", ["|O", [1], "C", b"12345678"]),
    "huge array": tagged("numpy_array", ["<f8", [2**40], "C", b"12345678"]),
    "bad ip": tagged("ip", ["IPv4Address", "999.1.1.1"]),
    "unknown path": tagged("path", ["Path", "a"]),
    "opaque of version 1": ormsgpack.packb(ormsgpack.Ext(2, b"\x01")),
}


@pytest.mark.parametrize("packed", BROKEN.values(), ids=BROKEN.keys())
def test_bad_bytes_are_shown_and_written_back(packed: bytes) -> None:
    found = loads(packed)

    assert type(found) is OpaqueValue
    assert dumps(found) == packed
    assert loads(dumps({"k": [found]})) == {"k": [found]}


@given(st.binary(max_size=64))
def test_random_bytes_never_fail(packed: bytes) -> None:
    found = loads(packed)

    assert type(found) is not OpaqueValue or loads(dumps(found)) == found


@given(st.data())
def test_changed_bytes_never_fail(data: st.DataObject) -> None:
    packed = bytearray(dumps({"m": Model(color=Color.RED, many=[Point(1)]), "f": Frozen("n", (1, {2: 3})), 1: {2}}))
    for _ in range(data.draw(st.integers(1, 4))):
        packed[data.draw(st.integers(0, len(packed) - 1))] = data.draw(st.integers(0, 255))

    found = loads(bytes(packed))

    assert loads(dumps([found, 1]))[1] == 1, "whatever came of it can be written back"


@pytest.mark.parametrize("value", [[[1], Undecided()], {"a": {}, "b": Undecided()}, [{1: Undecided()}]], ids=repr)
def test_a_value_that_is_neither_true_nor_false_is_kept(value: Any) -> None:
    assert loads(dumps(value)) == value


def test_deeply_nested_bytes_neither_crash_nor_hang() -> None:
    tags = b"\x01"
    for _ in range(2000):
        tags = ormsgpack.packb(ormsgpack.Ext(1, b"\x92\xa5tuple\x91" + tags))
    started = time.monotonic()

    loads(b"\x91" * 100_000 + b"\x90")
    loads(tags)

    assert time.monotonic() - started < 5


# -- what is allowed ---------------------------------------------------------------------------------------------------


def packed_by_another_process(value: Any, monkeypatch: pytest.MonkeyPatch) -> bytes:
    packed = dumps(value)
    for name in ("_KNOWN", "_BY_QUALNAME", "_PENDING"):
        monkeypatch.setattr(types, name, {})
    return packed


def test_an_unknown_class_is_opaque_until_it_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    value = {"k": Frozen("n", [Point(1)])}
    packed = packed_by_another_process(value, monkeypatch)

    found = loads(packed)["k"]

    assert type(found) is OpaqueValue
    assert found.type_name == "tests.runtime.checkpoint.serde.shapes:Frozen"
    assert dumps({"k": found}) == packed
    JsonPlusSerializer(allowed=[Frozen])
    assert loads(packed)["k"].name == "n"
    assert type(loads(packed)["k"].inner[0]) is OpaqueValue
    allow(Point)
    assert loads(packed) == value


def test_an_opaque_value_says_what_to_do_and_can_be_copied() -> None:
    found = loads(tagged("object", ["nowhere:Lost", {"x": 1}]))

    with pytest.raises(AttributeError, match=r"nowhere:Lost.*has no attribute 'x'.*allow"):
        _ = found.x
    assert repr(found) == f"OpaqueValue('nowhere:Lost', {len(found.payload)} bytes)"
    assert copy.deepcopy(found) == found


class Leaf(NamedTuple):
    n: int


@dataclass
class Branch:
    leaves: list[Leaf]


class Base(BaseModel):
    pass


class Derived(Base):
    branch: Branch | None = None


class Inner(TypedDict):
    base: Base


class Kept(Generic[T]):
    pass


@dataclass
class Unresolvable:
    missing: "NoSuchName"  # type: ignore[name-defined]  # noqa: F821, UP037 - as people have it under TYPE_CHECKING
    color: Color


class State(TypedDict):
    inner: Inner | None
    box: Box[int]
    others: dict[str, Kept[Color]]


@pytest.mark.usefixtures("only_defaults")
def test_a_schema_allows_what_it_mentions_however_deep() -> None:
    allow_schema(State)

    for cls in (Base, Derived, Branch, Leaf, Box, Color, Kept):
        assert find(types.type_name(cls)) is cls
    assert find(types.type_name(Frozen)) is None


@pytest.mark.usefixtures("only_defaults")
def test_a_schema_that_cannot_be_read_whole_allows_the_rest() -> None:
    allow_schema(Unresolvable)

    assert find(types.type_name(Unresolvable)) is Unresolvable


@pytest.mark.usefixtures("only_defaults")
def test_a_base_model_as_annotation_allows_no_stranger() -> None:
    class Any_(TypedDict):  # noqa: N801 - a schema for anything
        value: BaseModel
        other: object
        more: Any

    allow_schema(Any_)

    assert find(types.type_name(Model)) is None
    assert find(types.type_name(Frozen)) is None


def test_messages_are_known_without_anybody_saying_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from langchain_core.documents import Document
    from langchain_core.messages import HumanMessage

    from runtime.types import Send

    packed = packed_by_another_process([HumanMessage("hi"), Document("x"), Send("n", 1)], monkeypatch)

    assert loads(packed) == [HumanMessage("hi"), Document("x"), Send("n", 1)]


def of_module(name: str, cls: Any) -> Any:
    cls.__module__ = name
    return cls


@pytest.mark.parametrize("names", [("__main__", "some.app"), ("some.app", "__main__")], ids=str)
@pytest.mark.usefixtures("only_defaults")
def test_a_scripts_class_is_found_under_the_name_of_its_file(names: tuple[str, str]) -> None:
    stored, here = names
    cls = of_module(here, make_dataclass("Mine", [("x", int)]))
    packed = tagged("object", [f"{stored}:Mine", {"x": 1}])
    assert type(loads(packed)) is OpaqueValue

    allow(cls)

    assert loads(packed) == cls(1)
    assert type(loads(tagged("object", ["third.place:Mine", {"x": 1}]))) is (cls if here == "__main__" else OpaqueValue)


# -- classes that changed since then -------------------------------------------------------------------------------------


def test_fields_that_a_class_gained_have_their_defaults() -> None:
    old = of_module("elsewhere", make_dataclass("Grown", [("x", int)]))
    fields = [("x", int), ("y", int, field(default=5)), ("z", list, field(default_factory=list))]
    new = of_module("elsewhere", make_dataclass("Grown", fields))
    packed = dumps(old(1))
    allow(new)

    assert loads(packed) == new(1, 5, [])


def test_a_model_that_gained_and_lost_fields_still_loads() -> None:
    class Thing(BaseModel):
        kept: int
        lost: int = 1

    packed = dumps(Thing(kept=1, lost=2))

    class Thing(BaseModel):  # type: ignore[no-redef]
        kept: int
        gained: list[int] = []

    allow(Thing)
    thing = loads(packed)

    assert (thing.kept, thing.gained) == (1, [])
    assert not hasattr(thing, "lost")
    assert thing.model_dump() == {"kept": 1, "gained": []}


def test_an_enum_member_that_is_gone_is_shown() -> None:
    found = loads(tagged("enum", ["tests.runtime.checkpoint.serde.shapes:Color", "green"]))

    assert type(found) is OpaqueValue
