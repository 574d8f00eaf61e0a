"""Load a graph from "path/to/file.py:name" or "package.module:name".

Runs the author's module, as `python file.py` would, and nothing else of it. Each way this can fail says what is wrong and
what to do.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import sys
import traceback
import zlib
from pathlib import Path
from types import ModuleType
from typing import Any

from debugger.errors import LoadError
from debugger.graphs.kinds import kind_of, kind_of_builder


def load_target(target: str) -> tuple[str, str, Any]:
    """(name, absolute target, compiled graph) of a target.

    Raises:
        LoadError: a missing file, a module that raises, a name that is not there or is no graph.
    """
    place, separator, name = target.rpartition(":")
    if not separator or not place or not name:
        raise LoadError(
            f"'{target}' names no graph.", "Write path/to/file.py:name, where name is a graph in that file."
        )
    if place.endswith(".py") or "/" in place or "\\" in place:
        module, shown = _load_file(Path(place)), f"{Path(place).resolve()}:{name}"
    else:
        module, shown = _load_module(place), target
    if not hasattr(module, name):
        raise LoadError(f"{place} has no '{name}'.", _suggest(module, name))
    return name, shown, _as_graph(getattr(module, name), shown)


def _load_file(path: Path) -> ModuleType:
    if not path.exists():
        raise LoadError(f"There is no file {path.resolve()}.", "Check the path; it is relative to where you are.")
    if path.is_dir():
        raise LoadError(f"{path.resolve()} is a folder.", f"Name a file in it: {path}/file.py:name.")
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    unique = _module_name(path.resolve())
    spec = importlib.util.spec_from_file_location(unique, path)
    if spec is None or spec.loader is None:
        raise LoadError(f"{path.resolve()} is no Python file.", "Its name must end in .py.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[unique] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        sys.modules.pop(unique, None)
        if isinstance(error, KeyboardInterrupt):
            raise
        raise _raised(str(path.resolve()), error) from error
    return module


def _module_name(path: Path) -> str:
    """The file's own name where that is free: classes are stored by their module's name, so it must last over restarts."""
    taken = path.stem in sys.modules or path.stem in sys.stdlib_module_names or not path.stem.isidentifier()
    return f"{path.stem}_{zlib.crc32(str(path).encode()):08x}" if taken else path.stem


def _load_module(name: str) -> ModuleType:
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and name.startswith(error.name):
            raise LoadError(
                f"There is no module '{name}'.", "Check its spelling, and that it is installed or in this folder."
            ) from error
        raise _raised(name, error) from error
    except Exception as error:
        raise _raised(name, error) from error


def _raised(place: str, error: BaseException) -> LoadError:
    """What the author's module raised, with the lines of their own files."""
    frames = [
        f for f in traceback.extract_tb(error.__traceback__) if "importlib" not in f.filename and f.filename != __file__
    ]
    lines = [f"  {f.filename}:{f.lineno}: {f.line}" for f in frames[-3:]]
    if isinstance(error, SyntaxError) and error.filename:
        lines = [f"  {error.filename}:{error.lineno}: {(error.text or '').strip()}"]
    text = f"{type(error).__name__}: {error}"
    fix = "Mend that, and start again."
    if isinstance(error, ModuleNotFoundError):
        fix = f"Install '{error.name}' into the environment that runs forkpoint, and start again."
    return LoadError("\n".join([f"{place} raised {text}", *lines]), fix)


def _as_graph(value: Any, shown: str) -> Any:
    if kind_of_builder(value) is not None:
        return _compile(value, shown)
    if kind_of(value) is not None:
        return value
    if callable(value) and not isinstance(value, type):
        try:
            made = value()
        except TypeError as error:
            raise LoadError(
                f"{shown} is a function that could not be called without arguments: {error}",
                "Give its parameters defaults, or name a compiled graph.",
            ) from error
        except Exception as error:
            raise _raised(shown, error) from error
        if kind_of_builder(made) is not None:
            return _compile(made, shown)
        if kind_of(made) is not None:
            return made
        value = made
    raise LoadError(
        f"{shown} is no graph: it is a {type(value).__name__}.",
        "Name a compiled graph (builder.compile()), a StateGraph, or a function without arguments that gives one.",
    )


def _compile(builder: Any, shown: str) -> Any:
    try:
        return builder.compile()
    except Exception as error:
        raise LoadError(f"{shown} does not compile: {error}", "Mend the graph, and start again.") from error


def _suggest(module: ModuleType, name: str) -> str:
    graphs = [n for n, v in vars(module).items() if kind_of(v) is not None or kind_of_builder(v) is not None]
    close = difflib.get_close_matches(name, [n for n in vars(module) if not n.startswith("_")], n=3)
    if graphs:
        return f"Graphs in it: {', '.join(sorted(graphs))}."
    if close:
        return f"Did you mean {' or '.join(close)}?"
    return "It holds no graph: add `graph = builder.compile()` and name that."
