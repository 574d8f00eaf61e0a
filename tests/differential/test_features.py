"""Every program about one feature shows the same on `runtime` as on `langgraph`."""

import callback_programs  # noqa: F401 - registers its programs
import control_programs  # noqa: F401 - registers its programs
import func_programs  # noqa: F401 - registers its programs
import projection_programs  # noqa: F401 - registers its programs
import pytest
from policy_programs import FEATURES
from test_programs import differences
from twins import Manner, play


def cases() -> list[object]:
    """Each program in each of its manners."""
    found: list[object] = []
    for name, (_, manners, differs) in sorted(FEATURES.items()):
        for manner in manners:
            reason = differs(manner)
            marks = [pytest.mark.xfail(strict=True, reason=reason)] if reason else []
            found.append(pytest.param(name, manner, id=f"{name}-{manner.name}", marks=marks))
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "manner"), cases())
def test_a_feature_shows_the_same(name: str, manner: Manner) -> None:
    program, _, _ = FEATURES[name]
    expected = play("langgraph", program, manner)
    found = play("runtime", program, manner)
    assert found == expected, differences(expected, found)
