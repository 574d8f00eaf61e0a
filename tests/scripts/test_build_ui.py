"""The page is built when something changed, with a Node that can, and a failure says what is wrong."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parent.parent.parent / "scripts" / "build_ui.py"


@pytest.fixture
def builder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """build_ui over a small static/, with an npm that only notes how it was called."""
    spec = importlib.util.spec_from_file_location("build_ui_under_test", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    static = tmp_path / "static"
    (static / "src").mkdir(parents=True)
    for name in ("package.json", "package-lock.json", ".npmrc", "vite.config.ts", "tsconfig.json", "src/main.tsx"):
        (static / name).write_text(name)
    npm = tmp_path / "npm"
    npm.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\nmkdir -p node_modules dist\ncat {tmp_path}/says >&2\nexit 0\n'
    )
    npm.chmod(0o755)
    (tmp_path / "says").write_text("")
    monkeypatch.setattr(module, "STATIC", static)
    monkeypatch.setattr(module, "find_node", lambda: module.Node((str(npm),), tmp_path))
    return module


def calls(builder: ModuleType) -> list[str]:
    file = builder.STATIC.parent / "calls"
    return file.read_text().splitlines() if file.exists() else []


def test_the_first_build_installs_and_builds_and_the_second_does_nothing(builder: ModuleType) -> None:
    assert builder.build() is True
    assert calls(builder) == ["ci --no-progress", "run build"]
    assert builder.build() is False
    assert len(calls(builder)) == 2


def test_a_changed_source_is_built_again_without_installing(builder: ModuleType) -> None:
    builder.build()
    (builder.STATIC / "src" / "main.tsx").write_text("changed")
    assert builder.build() is True
    assert calls(builder)[2:] == ["run build"]


def test_a_renamed_source_is_a_change_and_a_test_of_the_page_is_none(builder: ModuleType) -> None:
    builder.build()
    (builder.STATIC / "src" / "main.test.ts").write_text("a test")
    assert builder.build() is False
    (builder.STATIC / "src" / "main.tsx").rename(builder.STATIC / "src" / "other.tsx")
    assert builder.build() is True


def test_a_changed_lock_installs_again(builder: ModuleType) -> None:
    builder.build()
    (builder.STATIC / "package-lock.json").write_text("changed")
    assert builder.build() is True
    assert calls(builder)[2:] == ["ci --no-progress", "run build"]


def fail_with(builder: ModuleType, text: str) -> None:
    folder = builder.STATIC.parent
    (folder / "says").write_text(text)
    (folder / "npm").write_text((folder / "npm").read_text().replace("exit 0", "exit 1"))


def test_an_unreachable_registry_is_named_and_nothing_counts_as_built(builder: ModuleType) -> None:
    fail_with(builder, "npm error code ENOTFOUND")
    with pytest.raises(builder.BuildError, match="cannot reach the npm registry"):
        builder.build()
    assert builder.stamp_of(builder.STATIC / "dist") is None
    assert calls(builder) == ["ci --no-progress"]


def test_another_failure_shows_what_npm_said(builder: ModuleType) -> None:
    fail_with(builder, "main.tsx: unexpected token")
    with pytest.raises(builder.BuildError, match=r"(?s)unexpected token.*`npm ci --no-progress` failed"):
        builder.build()


@pytest.mark.parametrize("version", ["v20.19.0", "v20.20.2", "v22.12.0", "v24.0.1"])
def test_a_node_that_can_build_is_good(builder: ModuleType, version: str) -> None:
    assert builder.good_version(version)


@pytest.mark.parametrize("version", ["v18.20.0", "v20.18.9", "v21.7.0", "v22.11.0", "", "no version"])
def test_a_node_that_cannot_is_not(builder: ModuleType, version: str) -> None:
    assert not builder.good_version(version)


@pytest.mark.parametrize(("value", "skipped"), [("1", True), ("0", False), ("", False)])
def test_the_switch_leaves_the_page_alone(
    builder: ModuleType, monkeypatch: pytest.MonkeyPatch, value: str, skipped: bool
) -> None:
    monkeypatch.setenv("FORKPOINT_SKIP_UI", value)
    assert builder.skipped() is skipped
