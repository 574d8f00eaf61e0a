"""`pytest tests/differential --hypothesis-profile=soak` plays thousands of generated graphs instead of a few."""

from typing import Any

from hypothesis import settings
from twins import PLAYED

settings.register_profile("soak", max_examples=8000, deadline=None)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """How much was played on both libraries and compared."""
    generated = PLAYED["generated"]
    programs = len(PLAYED) - (generated > 0)
    if programs or generated:
        terminalreporter.write_line(
            f"Beside LangGraph: {programs} programs, {PLAYED.total() - generated} times in different manners; "
            f"{generated} generated graphs, each with a generated journey."
        )
