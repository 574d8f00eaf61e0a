"""The page: a shell with the data that the first paint needs. All addresses of the app give the same shell."""

from __future__ import annotations

import json

from flask import Blueprint, Response, current_app, g, make_response, render_template, url_for

from debugger.api.assistants import forkpoint_version
from debugger.assets import entry_files
from debugger.errors import DebuggerError
from debugger.service import Service
from debugger.wire import Boot

pages = Blueprint("pages", __name__)


@pages.get("/")
def app_page() -> Response:
    """The app."""
    service: Service = current_app.config["SERVICE"]
    boot = Boot(
        version=forkpoint_version(),
        graphs=[served.info() for served in service.graphs.values()],
        database=service.database,
    )
    scripts, styles = entry_files()
    assets = {
        "js": [url_for("static", filename=name) for name in scripts],
        "css": [url_for("static", filename=name) for name in styles],
    }
    page = render_template("app.html", boot_json=_for_script(boot.model_dump()), assets=assets, nonce=g.nonce)
    return make_response(page)


def _for_script(value: object) -> str:
    """JSON that is safe between script tags."""
    text = json.dumps(value, ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def error_page(error: DebuggerError) -> Response:
    """An error for a person in a browser."""
    return make_response(render_template("error.html", error=error), error.status)
