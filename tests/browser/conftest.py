"""What every browser test has: the real server, the installed Chromium, and a page that must stay quiet.

A failed test leaves its screenshot in test-results/.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chromium import flags, installed_chromium
from tests.browser.server import Server, running
from tests.browser.watch import Watch
from tests.browser.workspace import PATIENCE

expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """The installed Chromium, asking the network for nothing."""
    path = installed_chromium()
    assert path is not None, "No Chromium found: scripts/test installs one, or name it with FORKPOINT_CHROMIUM."
    return {**browser_type_launch_args, "executable_path": path, "args": flags()}


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict[str, Any]) -> dict[str, Any]:
    """The smallest window that the page must work in."""
    return {**browser_context_args, "viewport": {"width": 1280, "height": 720}}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """`forkpoint demo` with a database of its own."""
    with running(tmp_path, "demo") as started:
        yield started


@pytest.fixture
def watch() -> Watch:
    """The watch over `page`: tests allow there what they provoke."""
    return Watch()


@pytest.fixture
def page(page: Page, watch: Watch) -> Iterator[Page]:
    """A page without console errors, uncaught errors and requests that leave the machine."""
    page.context.on("request", lambda request: watch.on_url(request.url))
    page.on("websocket", lambda socket: watch.on_url(socket.url))
    page.on("console", watch.on_console)
    page.on("pageerror", watch.on_error)
    yield page
    assert watch.left() == []
