"""Pictures from DOT text, made on this machine by pygraphviz, whose wheels carry Graphviz. Never a service."""

from __future__ import annotations

import importlib
from typing import Literal


def picture(dot_text: str, kind: Literal["png", "svg"]) -> bytes:
    """The picture of a drawing.

    Raises:
        ImportError: pygraphviz is not installed.
    """
    try:
        pygraphviz = importlib.import_module("pygraphviz")
    except ImportError as error:
        raise ImportError(
            f"A {kind.upper()} of a graph is drawn on this machine by pygraphviz, which is not installed. "
            "Install it with: pip install 'forkpoint[export]'. draw_mermaid() and draw_dot() need nothing."
        ) from error
    drawn: bytes = pygraphviz.AGraph(string=dot_text).draw(format=kind, prog="dot")
    return drawn
