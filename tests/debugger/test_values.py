"""Values as tagged JSON and back."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import json
import uuid
from dataclasses import dataclass
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from pydantic import BaseModel

from debugger.values import UnreadableValueError, annotation_text, decode, encode, plain, typed


class Colour(enum.Enum):
    RED = "red"


class Person(BaseModel):
    name: str
    age: int = 0


@dataclass(frozen=True)
class Point:
    x: int
    y: int


class Broken:
    def __repr__(self) -> str:
        raise RuntimeError("no")


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        2**70,
        1.5,
        float("inf"),
        "text",
        b"\x00\xff",
        [1, [2]],
        {"a": {"b": 1}},
        {1: "x", (2, 3): "y"},
        {"$type": "not a tag"},
        (1, (2,)),
        {1, 2},
        frozenset((1,)),
        dt.datetime(2026, 1, 2, 3, tzinfo=dt.UTC),
        dt.date(2026, 1, 2),
        dt.timedelta(seconds=1.5),
        decimal.Decimal("1.10"),
        uuid.UUID(int=5),
        HumanMessage("hi", id="1"),
        AIMessage("", id="2", tool_calls=[{"name": "t", "args": {"a": 1}, "id": "c", "type": "tool_call"}]),
    ],
)
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    text = json.dumps(encode(value), allow_nan=False)
    back = decode(json.loads(text))
    assert back == value
    assert type(back) is type(value)


@pytest.mark.parametrize(
    ("annotation", "value"), [(Person, Person(name="Ada")), (Point, Point(1, 2)), (Colour, Colour.RED)]
)
def test_an_edited_instance_stays_one_by_its_keys_annotation(annotation: Any, value: Any) -> None:
    assert typed("key", annotation, decode(encode(value))) == value


def test_plain_json_becomes_the_keys_type() -> None:
    read = typed("messages", list[AnyMessage], [{"type": "human", "content": "hi"}])
    assert read == [HumanMessage("hi")]


def test_what_does_not_fit_is_named_with_its_path() -> None:
    with pytest.raises(UnreadableValueError) as caught:
        typed("people", list[Person], [{"name": "Ada"}, {"name": 5}])
    problem = caught.value.problems[0]
    assert problem.path[:3] == ["people", 1, "name"]
    assert "valid string" in problem.message


def test_unknown_objects_are_shown_inert_and_cannot_be_written_back() -> None:
    shown = encode({"f": print, "b": Broken()})
    assert shown["f"]["$repr"].startswith("<built-in")
    assert "RuntimeError" in shown["b"]["$repr"]
    with pytest.raises(ValueError, match="only shown in part"):
        decode(shown["f"])


def test_endless_and_huge_values_are_cut_and_say_so() -> None:
    loop: list[Any] = []
    loop.append(loop)
    assert "cut" in json.dumps(encode(loop))
    cut = encode("x" * 300_000)
    assert (cut["$type"], cut["$size"], len(cut["$value"])) == ("cut", 300_000, 200_000)


def test_the_server_apis_values_have_no_tags() -> None:
    shown = plain({"m": [HumanMessage("hi", id="1")], "t": (1,), "p": Person(name="Ada")})
    assert shown["m"][0]["type"] == "human"
    assert shown["t"] == [1]
    assert shown["p"] == {"name": "Ada", "age": 0}
    assert "$type" not in json.dumps(shown)


@pytest.mark.parametrize(
    ("annotation", "text"),
    [(str, "str"), (list[str], "list[str]"), (list[AnyMessage], "list[AnyMessage]"), (str | None, "str | None")],
)
def test_annotations_read_as_people_write_them(annotation: Any, text: str) -> None:
    assert annotation_text(annotation) == text
