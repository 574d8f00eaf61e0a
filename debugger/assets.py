"""Where the built page and the templates are: beside the package in a checkout, inside it in an installed wheel."""

from __future__ import annotations

import json
from pathlib import Path

from debugger.errors import DebuggerError

_PACKAGE = Path(__file__).parent


def static_dir() -> Path:
    """The folder of the built page. It is empty or absent when the UI was not built."""
    inside = _PACKAGE / "_static"
    return inside if inside.exists() else _PACKAGE.parent / "static" / "dist"


def templates_dir() -> Path:
    """The folder of the Jinja templates."""
    inside = _PACKAGE / "_templates"
    return inside if inside.exists() else _PACKAGE.parent / "templates"


def entry_files() -> tuple[list[str], list[str]]:
    """(scripts, styles) that the page loads first, as paths below the static folder.

    Raises:
        DebuggerError: the UI was not built.
    """
    manifest = static_dir() / ".vite" / "manifest.json"
    if not manifest.exists():
        raise DebuggerError(
            "ui_not_built",
            f"The web page is not built: there is no {manifest}.",
            "In a checkout run `python scripts/build_ui.py`; else install the package again, without FORKPOINT_SKIP_UI.",
            status=503,
        )
    entries = json.loads(manifest.read_text())
    entry = next(item for item in entries.values() if item.get("isEntry") and item["file"].startswith("assets/main"))
    return [entry["file"]], list(entry.get("css", []))
