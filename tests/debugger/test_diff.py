"""What changed between two states."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import HumanMessage

from debugger.diff import changes


def listed(before: Any, after: Any) -> list[tuple[str, str]]:
    return [(change.op, ".".join(map(str, change.path))) for change in changes(before, after)]


def test_keys_and_places_are_told_apart() -> None:
    before = {"same": 1, "gone": 2, "deep": {"x": [1, 2]}}
    after = {"same": 1, "deep": {"x": [1, 3, 4]}, "new": 5}
    assert listed(before, after) == [
        ("replace", "deep.x.1"),
        ("add", "deep.x.2"),
        ("add", "new"),
        ("remove", "gone"),
    ]


def test_messages_are_matched_by_id() -> None:
    one, two = HumanMessage("one", id="1"), HumanMessage("two", id="2")
    changed = HumanMessage("two!", id="2")
    assert listed({"m": [one, two]}, {"m": [changed]}) == [("replace", "m.0"), ("remove", "m.0")]
    assert listed({"m": [one]}, {"m": [one, two]}) == [("add", "m.1")]


def test_equal_states_have_no_change_and_odd_comparisons_do_not_raise() -> None:
    class Odd:
        def __eq__(self, other: object) -> bool:
            raise ValueError("ambiguous")

        __hash__ = None  # type: ignore[assignment]  # as arrays have it

        def __repr__(self) -> str:
            return "odd"

    assert listed({"a": 1}, {"a": 1}) == []
    assert listed({"a": Odd()}, {"a": Odd()}) == []


def test_a_long_list_of_changes_is_cut() -> None:
    assert len(changes({"a": list(range(1000))}, {"a": list(range(1, 1001))})) == 200
