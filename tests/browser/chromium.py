"""Which Chromium the browser tests use, and how it is started. As a program: prints the path, fails when there is none."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def installed_chromium() -> str | None:
    """FORKPOINT_CHROMIUM, else one on PATH, else the one that Playwright fetched, else None."""
    named = os.environ.get("FORKPOINT_CHROMIUM")
    if named:
        return named
    return next((path for name in NAMES if (path := shutil.which(name))), None) or _fetched_by_playwright()


def _fetched_by_playwright() -> str | None:
    from playwright.sync_api import sync_playwright  # slow, and seldom needed

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def flags() -> list[str]:
    """How Chromium is started: it asks the network for nothing; as root it cannot have its sandbox."""
    as_root = hasattr(os, "geteuid") and os.geteuid() == 0
    return [*FLAGS, "--no-sandbox"] if as_root else list(FLAGS)


if __name__ == "__main__":
    path = installed_chromium()
    sys.stdout.write(f"{path or 'No Chromium found.'}\n")
    sys.exit(0 if path else 1)
