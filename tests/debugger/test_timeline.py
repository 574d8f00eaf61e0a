"""Checkpoints become branches and lanes."""

from __future__ import annotations

from debugger.timeline import Header, changed_channels, lanes


def header(checkpoint_id: str, parent: str | None, **versions: str) -> Header:
    return Header(checkpoint_id, parent, 0, "loop", "", versions=versions)


def test_a_line_is_one_branch() -> None:
    found = lanes([header("3", "2"), header("2", "1"), header("1", None)])
    assert [(b.id, b.lane, b.tip, b.forked_from, b.count) for b in found.branches] == [("1", 0, "3", None, 3)]


def test_the_first_child_goes_on_and_later_ones_fork() -> None:
    found = lanes([header("1", None), header("2", "1"), header("3", "2"), header("4", "2"), header("5", "2")])
    assert found.branch_of == {"1": "1", "2": "1", "3": "1", "4": "4", "5": "5"}
    assert [(b.id, b.forked_from) for b in found.branches] == [("1", None), ("4", "2"), ("5", "2")]
    assert len({b.lane for b in found.branches}) == 3, "they overlap, so they lie side by side"


def test_a_lane_is_used_again_when_it_is_free() -> None:
    ids = [header("1", None), header("2", "1"), header("3", "2"), header("4", "1"), header("5", "3"), header("6", "3")]
    found = lanes(ids)
    by_id = {b.id: b for b in found.branches}
    assert by_id["4"].lane == 1
    assert by_id["6"].forked_from == "3"
    assert by_id["6"].lane == 2, "4 ended after 3 was made"
    later = lanes([*ids, header("7", "5"), header("8", "5")])
    assert {b.id: b.lane for b in later.branches}["8"] == 1, "4 ended before 5 was made"


def test_a_parent_that_is_gone_starts_a_line() -> None:
    found = lanes([header("5", "missing"), header("6", "5")])
    assert [(b.id, b.forked_from, b.count) for b in found.branches] == [("5", None, 2)]


def test_what_a_checkpoint_changed_shows_by_its_versions() -> None:
    parent, child = header("1", None, a="1", b="1"), header("2", "1", a="2", b="1", hidden="2")
    assert changed_channels(child, parent, ["a", "b"]) == ["a"]
    assert changed_channels(parent, None, ["a", "b"]) == ["a", "b"]
