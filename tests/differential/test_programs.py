"""Every program shows the same on `runtime` as on `langgraph`, in every manner of calling."""

import difflib
import pprint

import agent_programs  # noqa: F401 - registers its programs
import flow_programs  # noqa: F401
import message_programs  # noqa: F401
import nested_programs  # noqa: F401
import people_programs  # noqa: F401
import pytest
import travel_programs  # noqa: F401
from twins import MANNERS, PROGRAMS, Manner, play


def differences(expected: object, found: object) -> str:
    """What differs, a few lines around each place."""
    before, after = (pprint.pformat(value, width=140, sort_dicts=True).splitlines() for value in (expected, found))
    return "\n".join(list(difflib.unified_diff(before, after, "langgraph", "runtime", lineterm="", n=6))[:80])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("manner", MANNERS, ids=lambda manner: manner.name)
@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_a_program_shows_the_same(name: str, manner: Manner) -> None:
    expected = play("langgraph", PROGRAMS[name], manner)
    found = play("runtime", PROGRAMS[name], manner)
    assert found == expected, differences(expected, found)
