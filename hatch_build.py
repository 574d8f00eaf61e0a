"""The wheel's build hook: builds the page and takes it and the templates into the package.

Owns: where the page and the templates lie in a wheel (`debugger/_static`, `debugger/_templates`; `debugger.assets` looks
there). An editable install takes nothing along: the checkout is used as it is. Refuses: how the page is built, which is
scripts/build_ui.py's.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).resolve().parent / "scripts"))

import build_ui


class PageBuildHook(BuildHookInterface[Any]):
    """Runs before files are collected for a wheel."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """A Node from PyPI, asked for only where none is installed."""
        return [] if build_ui.skipped() or build_ui.node_on_path() else [build_ui.NODE_FROM_PYPI]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the page, and add what the package does not hold by itself. Ends the build when the page fails."""
        if not build_ui.skipped():
            try:
                build_ui.build()
            except build_ui.BuildError as error:
                self.app.abort(str(error))
        if version == "editable":
            return
        root = Path(self.root)
        taken = build_data["force_include"]
        taken[str(root / "templates")] = "debugger/_templates"
        dist = root / "static" / "dist"
        if dist.exists():
            taken[str(dist)] = "debugger/_static"
        else:
            self.app.display_warning("The wheel has no page: FORKPOINT_SKIP_UI was set and static/dist is not there.")
