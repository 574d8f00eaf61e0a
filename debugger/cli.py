"""The command `forkpoint`: serve graphs and open the debugger on them."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import socket
import sys
import threading
import time
import urllib.request
import webbrowser
from contextlib import ExitStack
from pathlib import Path
from types import FrameType
from typing import Any

import flask.cli

from debugger.app import create_app
from debugger.errors import LoadError
from debugger.gallery import GRAPHS
from debugger.graphs import ServedGraph, adapt, load_target
from debugger.security import Guard
from debugger.service import Service
from runtime.checkpoint.memory import InMemorySaver
from runtime.checkpoint.sqlite import SqliteSaver

_EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - compared, not bound
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def main(argv: list[str] | None = None) -> int:
    """Parse the command line and serve until stopped. Returns the exit status."""
    options = _parser().parse_args(argv)
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    flask.cli.show_server_banner = lambda *_: None
    with ExitStack() as stack:
        try:
            saver = _open_saver(options.db, stack)
            graphs = _graphs(options, saver)
        except LoadError as error:
            sys.stderr.write(f"forkpoint: {error.reason}\n  {error.fix}\n")
            return 2
        service = Service(saver, None if options.db == "memory" else str(_path(options.db)))
        service.serve(graphs)
        return _serve(service, options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("forkpoint", description="A time-travel debugger for agent graphs.")
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser("demo", help="open the debugger on the gallery of examples")
    serve = commands.add_parser("serve", help="open the debugger on graphs of your own")
    serve.add_argument("targets", nargs="+", metavar="FILE.py:NAME", help="a graph in a file, or package.module:name")
    for command in (demo, serve):
        command.add_argument("--host", default="127.0.0.1", help="address to listen on (default: this machine only)")
        command.add_argument("--port", type=int, default=2026, help="port; 0 picks a free one (default: 2026)")
        command.add_argument(
            "--db", default=".forkpoint/forkpoint.sqlite", metavar="PATH", help="database file, or 'memory'"
        )
        command.add_argument("--no-open", action="store_true", help="do not open a browser")
    return parser


# -- graphs and store --------------------------------------------------------------------------------------------------


def _path(db: str) -> Path:
    return Path(db).expanduser().resolve()


def _open_saver(db: str, stack: ExitStack) -> Any:
    if db == "memory":
        return InMemorySaver()
    path = _path(db)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        saver = stack.enter_context(SqliteSaver.from_conn_string(str(path)))
        saver.setup()
    except Exception as error:
        raise LoadError(
            f"The database {path} cannot be opened: {error}",
            "Give another file with --db, or --db memory.",
        ) from error
    return saver


def _graphs(options: argparse.Namespace, saver: Any) -> list[ServedGraph]:
    if options.command == "demo":
        return [
            adapt(
                example.build(),
                id=example.name,
                target=f"gallery:{example.name}",
                saver=saver,
                description=example.description,
                example_inputs=example.example_inputs,
            )
            for example in GRAPHS
        ]
    served = []
    for target in options.targets:
        name, shown, graph = load_target(target)
        served.append(adapt(graph, id=name, target=shown, saver=saver))
    return served


# -- serving -----------------------------------------------------------------------------------------------------------


def _serve(service: Service, options: argparse.Namespace) -> int:
    names = frozenset() if options.host in _LOOPBACK else frozenset({options.host, socket.gethostname()})
    guard = Guard(hosts=names, any_address=options.host in _EVERYWHERE)
    app, sockets = create_app(service, guard)
    try:
        port = _free_port(options.host, options.port)
    except OSError as error:
        sys.stderr.write(f"forkpoint: cannot listen on {options.host}:{options.port}: {error}\n  Try --port 0.\n")
        service.close()
        return 2
    for served in service.graphs.values():
        for notice in served.notices if options.command == "serve" else ():
            sys.stdout.write(f"{served.id}: {notice}\n")
    if options.host not in _LOOPBACK:
        sys.stdout.write(
            f"Warning: listening on {options.host}, so others on the network can reach this server. "
            f"Who has the token can run the graphs and read their threads.\n"
        )
    sys.stdout.write(f"Database: {service.database}\n")
    shown_host = "127.0.0.1" if options.host in ("0.0.0.0", "::") else options.host  # noqa: S104 - compared, not bound
    url = f"http://{shown_host}:{port}/?token={guard.token}"
    _end_on_signals(service)
    threading.Thread(target=_announce, args=(shown_host, port, url, options.no_open), daemon=True).start()
    sockets.run(app, host=options.host, port=port, allow_unsafe_werkzeug=True, use_reloader=False)
    return 0


def _free_port(host: str, port: int) -> int:
    """The port, or a free one for 0. Raises OSError when it is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((host, port))
        number: int = probe.getsockname()[1]
        return number


def _announce(host: str, port: int, url: str, no_open: bool) -> None:
    """Say the address once the server really answers."""
    for _ in range(200):
        try:
            with urllib.request.urlopen(f"http://{host}:{port}/ok", timeout=1):
                break
        except OSError:
            time.sleep(0.05)
    sys.stdout.write(f"Forkpoint is ready at {url}\n")
    sys.stdout.flush()
    if not no_open:
        webbrowser.open(url)


def _end_on_signals(service: Service) -> None:
    """SIGTERM and Ctrl-C end the runs, store what waits, and leave: a node's thread that hangs is not waited for."""

    def end(number: int, _: FrameType | None) -> None:
        threading.Thread(target=_leave, args=(service, number), daemon=True).start()

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)


def _leave(service: Service, number: int) -> None:
    closer = threading.Thread(target=service.close, daemon=True)
    closer.start()
    closer.join(timeout=1.5)
    sys.stdout.flush()
    os._exit(0 if number == signal.SIGTERM else 130)


if __name__ == "__main__":
    sys.exit(main())
