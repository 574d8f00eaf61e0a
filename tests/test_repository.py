"""What no committed file may hold: addresses of package registries, paths of a machine, other people's code, secrets."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MARKS = {
    "a package registry": r"registry\.npmjs|pypi\.(?:org|python)|pythonhosted|artifactory|devpi|verdaccio",
    "a path of a machine": r"(?<![\w.~-])/(?:work|root|home|Users)/[\w.-]",
    "a key": r"(?:sk|ghp|xox[bp])[-_][A-Za-z0-9]{20,}|-----BEGIN [A-Z ]*PRIVATE KEY",
}
GENERATED = ("node_modules/", "static/dist/", "uv.lock", ".venv/")


def committed() -> list[str]:
    """The files that git knows or would add. A copy without git is not judged."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return [name for name in names if (ROOT / name).is_file()]


def found_in(text: str) -> list[str]:
    return [f"{what}: {hit.group()}" for what, mark in MARKS.items() for hit in re.finditer(mark, text)]


def test_no_file_holds_an_address_a_machine_path_or_a_key() -> None:
    judged = [name for name in committed() if name != "tests/test_repository.py"]
    texts = {name: (ROOT / name).read_text(encoding="utf-8", errors="replace") for name in judged}
    assert {name: found for name, text in texts.items() if (found := found_in(text))} == {}


@pytest.mark.parametrize(
    "text", ["https://registry.npmjs.org/preact", "see /root/x", "files.pythonhosted.org", "-----BEGIN PRIVATE KEY"]
)
def test_the_marks_find_what_they_are_for(text: str) -> None:
    assert found_in(text)


@pytest.mark.parametrize("text", ["GET /threads/root/x", "https://example.com/home/x", "tests/work/x"])
def test_the_marks_leave_harmless_text_alone(text: str) -> None:
    assert found_in(text) == []


def test_the_npm_lock_has_hashes_and_no_addresses() -> None:
    lock = json.loads((ROOT / "static" / "package-lock.json").read_text())
    packages = {name: entry for name, entry in lock["packages"].items() if name}
    assert [name for name, entry in packages.items() if "resolved" in entry] == []
    assert [name for name, entry in packages.items() if "integrity" not in entry] == []


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-dev.lock"])
def test_the_python_locks_have_hashes_and_no_addresses(name: str) -> None:
    text = (ROOT / name).read_text()
    assert "://" not in text
    pinned = re.findall(r"^[a-z0-9-]+==", text, re.MULTILINE)
    assert len(pinned) > 20
    assert len(pinned) == len(re.findall(r"^[a-z0-9-]+==[^\n]*\\\n    --hash=sha256:", text, re.MULTILINE))


def test_nothing_that_is_made_is_committed() -> None:
    assert [name for name in committed() if name.startswith(GENERATED) or "/node_modules/" in name] == []
