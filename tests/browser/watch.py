"""What a page does that it should not: console errors, uncaught errors, requests to other machines."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import ConsoleMessage


@dataclass  # without slots: Playwright notes its wrappers on the object whose methods it calls
class Watch:
    """What a page did that it should not have."""

    complaints: list[str] = field(default_factory=list)
    allowed: list[str] = field(default_factory=list)

    def allow(self, pattern: str) -> None:
        """Expect a complaint, e.g. `allow("status of 422")` where a test sends what the server must refuse."""
        self.allowed.append(pattern)

    def on_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"console {message.type}: {message.text} ({message.location.get('url', '')})")

    def on_error(self, error: Any) -> None:
        self.complaints.append(f"uncaught: {error}")

    def on_url(self, url: str) -> None:
        address = urlsplit(url)
        if address.scheme not in ("data", "blob", "about") and address.hostname != "127.0.0.1":
            self.complaints.append(f"foreign request: {url}")

    def left(self) -> list[str]:
        """Complaints that nobody expected."""
        return [text for text in self.complaints if not any(re.search(pattern, text) for pattern in self.allowed)]
