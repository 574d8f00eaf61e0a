"""The list of where features are tested names only what is there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conformance.seed_rows import ROWS

ROOT = Path(__file__).parent.parent.parent
CASES = {json.loads(file.read_text(encoding="utf-8"))["id"] for file in (ROOT / "tests" / "seeds").glob("*.json")}


def is_there(place: str) -> bool:
    """Whether a case, a test (`file::name`) or a page exists."""
    path, _, name = place.partition("::")
    if not name:
        return place in CASES or (place.startswith("docs/") and (ROOT / place).is_file())
    text = (ROOT / path).read_text(encoding="utf-8")
    return f"def {name}(" in text


@pytest.mark.parametrize("row", ROWS)
def test_a_row_is_tested_where_the_list_says(row: str) -> None:
    assert ROWS[row]
    assert [place for place in ROWS[row] if not is_there(place)] == []


def test_what_is_not_there_is_seen() -> None:
    assert not is_there("no-such-case")
    assert not is_there("docs/no-such-page.md")
    assert not is_there("tests/conformance/test_seed_rows.py::test_no_such_test")
