"""Write static/src/wire.ts from debugger/wire.py, so that the page and the server agree. `--check` only compares."""

from __future__ import annotations

import sys
import types
import typing
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

sys.path.insert(0, str(Path(__file__).parent.parent))

from debugger import wire

TARGET = Path(__file__).parent.parent / "static" / "src" / "wire.ts"
HEADER = "// Made by scripts/generate_wire.py from debugger/wire.py. Do not edit.\n"


def typescript(annotation: Any) -> str:
    """The TypeScript of a Python annotation. Raises TypeError for one that has none."""
    plain = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null", Any: "unknown"}
    if annotation in plain:
        return plain[annotation]
    if isinstance(annotation, type) and issubclass(annotation, wire.Wire):
        return annotation.__name__
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return " | ".join(f"'{value}'" for value in arguments)
    if origin in (typing.Union, types.UnionType):
        return " | ".join(typescript(argument) for argument in arguments)
    if origin is list:
        inner = typescript(arguments[0])
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    if origin is dict:
        return f"Record<string, {typescript(arguments[1])}>"
    raise TypeError(f"No TypeScript for {annotation!r}. Add it to scripts/generate_wire.py.")


def interface(model: type[wire.Wire]) -> str:
    """A model as an interface; fields with defaults may be left out of requests."""
    request = model.__name__.endswith(("Request", "Ref", "Body")) and model is not wire.ErrorBody
    lines = []
    for name, field in model.model_fields.items():
        mark = "" if field.is_required() or not request else "?"
        lines.append(f"  {name}{mark}: {typescript(field.annotation)}")
    body = "\n".join(lines)
    return f"export interface {model.__name__} {{\n{body}\n}}\n"


def generate() -> str:
    """The whole file."""
    models = [m for m in vars(wire).values() if isinstance(m, type) and issubclass(m, wire.Wire) and m is not wire.Wire]
    names = ("EventMode", "ThreadStatus", "RunStatus", "Source")
    aliases = [f"export type {name} = {typescript(getattr(wire, name))}\n" for name in names]
    return HEADER + "\n" + "\n".join([*aliases, *map(interface, models)])


def main() -> int:
    """Write, or compare. Returns the exit status."""
    text = generate()
    if "--check" in sys.argv:
        if TARGET.exists() and TARGET.read_text() == text:
            return 0
        sys.stderr.write(f"{TARGET} is not what debugger/wire.py says. Run: python scripts/generate_wire.py\n")
        return 1
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
