"""The real command as a process: started, waited for, ended by a signal."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

COMMAND = Path(sys.executable).with_name("forkpoint")
READY = re.compile(r"^Forkpoint is ready at (http://127\.0\.0\.1:(\d+)/\?token=\S+)$")
PATIENCE = 30.0
"""Seconds until a server that says nothing counts as hanging."""


@dataclass(frozen=True, slots=True)
class Server:
    """A running `forkpoint`."""

    url: str
    """The address that it printed, with the token."""
    said: list[str]
    """What it printed before that line."""
    log: Path
    """What it wrote to its error stream."""
    process: subprocess.Popen[str]

    @property
    def origin(self) -> str:
        """The address without path and token."""
        return self.url.split("/?")[0]


@contextmanager
def running(folder: Path, *arguments: str, end: signal.Signals = signal.SIGTERM) -> Iterator[Server]:
    """`forkpoint ARGUMENTS --port 0 --no-open --db FOLDER/threads.sqlite`, ended by a signal, which must do within 2 s."""
    log = folder / "server.log"
    options = ["--port", "0", "--no-open", "--db", str(folder / "threads.sqlite")]
    with log.open("w") as errors:
        command = [str(COMMAND), *arguments, *options]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=folder)
        try:
            yield _wait_until_ready(process, log)
            took = _stop(process, end)
        finally:
            process.kill()
            process.wait()
            if process.stdout:
                process.stdout.close()
    assert process.returncode == (130 if end == signal.SIGINT else 0), (
        f"ended with {process.returncode}:\n{log.read_text()}"
    )
    assert took < 2, f"needed {took:.1f} s to end"
    assert "Traceback" not in log.read_text(), log.read_text()


def _wait_until_ready(process: subprocess.Popen[str], log: Path) -> Server:
    assert process.stdout is not None
    said: list[str] = []
    watchdog = threading.Timer(PATIENCE, process.kill)
    watchdog.start()
    try:
        for line in process.stdout:
            if match := READY.match(line):
                return Server(match.group(1), said, log, process)
            said.append(line.rstrip("\n"))
    finally:
        watchdog.cancel()
    raise AssertionError(f"forkpoint ended before it was ready. It said {said} and\n{log.read_text()}")


def _stop(process: subprocess.Popen[str], number: signal.Signals) -> float:
    """Send a signal and wait. Returns the seconds that it took, 10 when it did not end."""
    started = time.monotonic()
    process.send_signal(number)
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        return 10.0
    return time.monotonic() - started
