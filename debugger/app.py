"""The Flask application: configuration, routes, one error handler, the checks that every request passes."""

from __future__ import annotations

import secrets
from typing import Any
from urllib.parse import urlencode

from flask import Flask, Response, current_app, g, redirect, request
from flask_socketio import SocketIO
from werkzeug.exceptions import HTTPException

from debugger.api import assistants, debug, runs, threads
from debugger.api.http import fail
from debugger.assets import static_dir, templates_dir
from debugger.errors import DebuggerError
from debugger.pages import error_page, pages
from debugger.security import COOKIE, HEADERS, Guard, content_security_policy
from debugger.service import Service
from debugger.sockets import connect_sockets

_OPEN = "/ok"
_OPEN_FOLDER = "/static/"
"""What needs no token: a sign of life, and the built files, which hold nothing of the user's."""


def create_app(service: Service, guard: Guard) -> tuple[Flask, SocketIO]:
    """The application and its Socket.IO server."""
    app = Flask(
        "debugger", static_folder=str(static_dir()), static_url_path="/static", template_folder=str(templates_dir())
    )
    app.config["SERVICE"] = service
    app.config["GUARD"] = guard
    app.json.sort_keys = False  # type: ignore[attr-defined]  # of Flask's default provider
    for blueprint in (pages, debug.blueprint, assistants.blueprint, threads.blueprint, runs.blueprint):
        app.register_blueprint(blueprint)
    app.before_request(_check)
    app.after_request(_protect)
    app.register_error_handler(Exception, _on_error)
    sockets = SocketIO(
        app,
        async_mode="threading",
        # The stubs do not know that a function may judge the origin.
        cors_allowed_origins=lambda origin, environ: guard.origin_allowed(origin, environ.get("HTTP_HOST")),  # type: ignore[arg-type]
        max_http_buffer_size=1_000_000,
        logger=False,
        engineio_logger=False,
    )
    connect_sockets(sockets, service, guard)
    return app, sockets


def _guard() -> Guard:
    guard: Guard = current_app.config["GUARD"]
    return guard


def _check() -> Any:
    """Host, Origin and token, before anything else."""
    g.nonce = secrets.token_urlsafe(16)
    guard = _guard()
    if not guard.host_allowed(request.host):
        raise DebuggerError(
            "wrong_host",
            f"This server does not answer to the name '{request.host}'.",
            "Open the address that it printed, or start it with --host.",
            status=403,
        )
    if not guard.origin_allowed(request.headers.get("Origin"), request.host):
        raise DebuggerError(
            "wrong_origin",
            f"Calls from '{request.headers.get('Origin')}' are refused.",
            "Use the page that this server serves.",
            status=403,
        )
    if request.path == _OPEN or request.path.startswith(_OPEN_FOLDER):
        return None
    given = request.args.get("token")
    if given is not None and guard.token_fits(given):
        rest = {key: value for key, value in request.args.items() if key != "token"}
        answer = redirect(_with_query(request.path, rest))
        answer.set_cookie(COOKIE, guard.token, httponly=True, samesite="Strict", path="/")
        return answer
    bearer = request.headers.get("Authorization", "").removeprefix("Bearer ").strip() or None
    keys = (request.cookies.get(COOKIE), request.headers.get("X-Api-Key"), bearer)
    if not any(guard.token_fits(key) for key in keys):
        raise DebuggerError(
            "no_token",
            "This address needs the token of this start of the server.",
            "Open the address that `forkpoint` printed; programs send the token as X-Api-Key.",
            status=401,
        )
    return None


def _with_query(path: str, query: dict[str, str]) -> str:
    return f"{path}?{urlencode(query)}" if query else path


def _protect(answer: Response) -> Response:
    for name, value in HEADERS.items():
        answer.headers.setdefault(name, value)
    answer.headers["Content-Security-Policy"] = content_security_policy(getattr(g, "nonce", ""))
    if not request.path.startswith("/static/"):
        answer.headers.setdefault("Cache-Control", "no-store")
    return answer


def _on_error(error: Exception) -> Any:
    """Every error as JSON with a reason and a fix; for a page, as a page. No traceback leaves the server."""
    if isinstance(error, DebuggerError):
        known = error
    elif isinstance(error, HTTPException):
        known = DebuggerError(
            (error.name or "error").lower().replace(" ", "_"),
            error.description or str(error),
            "Check the address and the body of the call.",
            status=error.code or 500,
        )
    else:
        current_app.logger.error("A request failed", exc_info=error)
        known = DebuggerError(
            "internal",
            f"{type(error).__name__}: {error}",
            "This is a fault of Forkpoint: the terminal has the details.",
            status=500,
        )
    wants_page = request.method == "GET" and "text/html" in request.headers.get("Accept", "")
    return error_page(known) if wants_page else fail(known)
