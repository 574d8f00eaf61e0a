"""Where the page is found: in a checkout, in a wheel, and what is said when it is nowhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from debugger import assets
from debugger.errors import DebuggerError

MANIFEST = {
    "src/main.tsx": {"file": "assets/main-1.js", "isEntry": True, "css": ["assets/main-2.css"]},
    "src/editor.ts": {"file": "assets/editor-3.js", "isDynamicEntry": True},
}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `debugger` package in a folder of its own."""
    folder = tmp_path / "debugger"
    folder.mkdir()
    monkeypatch.setattr(assets, "_PACKAGE", folder)
    return folder


def build_page(folder: Path) -> None:
    (folder / ".vite").mkdir(parents=True)
    (folder / ".vite" / "manifest.json").write_text(json.dumps(MANIFEST))


def test_a_checkout_is_used_as_it_is(package: Path) -> None:
    assert assets.static_dir() == package.parent / "static" / "dist"
    assert assets.templates_dir() == package.parent / "templates"


def test_what_a_wheel_carries_comes_first(package: Path) -> None:
    (package / "_static").mkdir()
    (package / "_templates").mkdir()
    assert assets.static_dir() == package / "_static"
    assert assets.templates_dir() == package / "_templates"


def test_the_page_loads_its_entry_and_nothing_that_comes_later(package: Path) -> None:
    build_page(package.parent / "static" / "dist")
    assert assets.entry_files() == (["assets/main-1.js"], ["assets/main-2.css"])


def test_a_page_that_was_not_built_is_an_error_that_names_the_fix(package: Path) -> None:
    with pytest.raises(DebuggerError) as caught:
        assets.entry_files()
    assert caught.value.status == 503
    assert str(package.parent / "static" / "dist") in caught.value.reason
    assert "scripts/build_ui.py" in caught.value.fix
