"""A process that writes a thread into a store: `crowd.py FILE THREAD COUNT`. Waits for a line on its input to begin, says
each checkpoint id once it is stored."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from runtime.checkpoint.sqlite import SqliteSaver
from tests.conformance.savers import at, record


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main(file: str, thread_id: str, count: int) -> None:
    say("ready")
    sys.stdin.readline()
    with SqliteSaver.from_conn_string(file) as saver:
        config = at(thread_id)
        for number in range(count):
            version = f"{number:06d}"
            metadata = {"source": "loop", "step": number}
            config = saver.put(
                config,
                record({"n": number, "big": "x" * 5000}, {"n": version, "big": version}),
                metadata,
                {"n": version, "big": version},
            )
            saver.put_writes(config, [("n", number), ("m", [number])], f"task{number}")
            say(config["configurable"]["checkpoint_id"])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
