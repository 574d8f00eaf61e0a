"""Ground rules of all tests: nothing of the person's environment leaks in, and browser tests come last."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

BROWSER = Path(__file__).parent / "browser"

# Two shared cores make any deadline flaky; in CI the same examples come every time.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Playwright's synchronous API keeps an event loop running in this thread until the end: what comes after it
    could not start one of its own."""
    for item in items:
        if BROWSER in item.path.parents:
            item.add_marker(pytest.mark.browser)
    items.sort(key=lambda item: BROWSER in item.path.parents)


@pytest.fixture(autouse=True)
def no_outside_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """No tracing to a service, no settings of the person's."""
    for name in list(os.environ):
        if name.startswith(("LANGSMITH_", "LANGCHAIN_", "FORKPOINT_")):
            monkeypatch.delenv(name)
