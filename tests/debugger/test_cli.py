"""The command: what it says when it cannot start."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from debugger.cli import main


def test_a_bad_target_is_explained_without_a_traceback(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["serve", f"{tmp_path}/nope.py:graph", "--db", "memory", "--no-open"])
    said = capsys.readouterr().err
    assert status == 2
    assert said.startswith(f"forkpoint: There is no file {tmp_path}/nope.py.")
    assert "Traceback" not in said


def test_a_file_that_is_no_database_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "notes.sqlite"
    bad.write_text("not a database at all" * 100)
    assert main(["demo", "--db", str(bad), "--no-open"]) == 2
    said = capsys.readouterr().err
    assert str(bad) in said
    assert "--db" in said
    assert bad.read_text().startswith("not a database"), "it is left as it was"


def test_a_port_that_is_taken_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["demo", "--db", "memory", "--no-open", "--port", str(port)]) == 2
    said = capsys.readouterr().err
    assert f":{port}" in said
    assert "--port 0" in said
