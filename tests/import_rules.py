"""DESIGN.md's rules of dependency, judged from the text of the modules: nothing is imported or run.

Owns: what each rule forbids, and the sentence that names a culprit. `broken_rules(root)` gives those sentences.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import networkx as nx

PACKAGES = ("runtime", "debugger")
LAYERS = (
    ("runtime.types", "runtime.errors", "runtime.constants"),
    ("runtime.channels",),
    ("runtime.engine",),
    ("runtime.engine.loop",),
    ("runtime.engine.drivers",),
    ("runtime.graph",),
)
"""From the bottom up: a module imports from its own layer and from those below. Others are in no layer."""
PUBLIC = [
    "runtime.cache",
    "runtime.callbacks",
    "runtime.channels",
    "runtime.checkpoint.base",
    "runtime.checkpoint.memory",
    "runtime.checkpoint.postgres",
    "runtime.checkpoint.serde.jsonplus",
    "runtime.checkpoint.sqlite",
    "runtime.config",
    "runtime.constants",
    "runtime.errors",
    "runtime.func",
    "runtime.harness",
    "runtime.managed",
    "runtime.prebuilt",
    "runtime.pregel",
    "runtime.runtime",
    "runtime.store",
    "runtime.stream",
    "runtime.topology",
    "runtime.types",
]
PUBLIC_ALONE = ("runtime", "runtime.graph", "runtime.graph.message", "runtime.graph.state")
"""Public without the modules below them."""
ONLY_IN = {
    "sqlmodel": ("runtime.checkpoint", "runtime.store", "runtime.cache", "debugger.models"),
    "sqlalchemy": ("runtime.checkpoint", "runtime.store", "runtime.cache", "debugger.models"),
    "flask": ("debugger.app", "debugger.api", "debugger.pages", "debugger.sockets", "debugger.cli"),
    "flask_socketio": ("debugger.app", "debugger.api", "debugger.pages", "debugger.sockets", "debugger.cli"),
    "werkzeug": ("debugger.app", "debugger.api", "debugger.pages", "debugger.sockets", "debugger.cli"),
    "langgraph": ("runtime.checkpoint.bridge", "debugger.graphs"),
}
BRIDGE = "runtime.checkpoint.bridge"
"""For those who have langgraph: imported late, or not at all."""
DRIVERS = "runtime.engine.drivers"
CONCURRENCY = ("threading", "concurrent", "asyncio", "queue", "multiprocessing")
STARTERS = ("Thread", "Timer", "ThreadPoolExecutor", "ProcessPoolExecutor", "sleep")
"""Calls that start threads or wait: for the drivers alone, all through `runtime`."""


@dataclass(frozen=True, slots=True)
class Import:
    """One name that a module imports."""

    source: str
    """The module that the name comes from, as written."""
    name: str | None
    """The name, None for `import source`."""
    line: int
    inside: bool
    """Within a function."""
    typing_only: bool
    """Under `if TYPE_CHECKING`."""


@dataclass(frozen=True, slots=True)
class Module:
    """A module by its dotted name, as text."""

    name: str
    tree: ast.Module
    imports: tuple[Import, ...]


def within(module: str, parents: tuple[str, ...] | list[str]) -> bool:
    """Whether the module is one of the parents or below one."""
    return any(module == parent or module.startswith(parent + ".") for parent in parents)


# -- reading -----------------------------------------------------------------------------------------------------------


def read_modules(root: Path) -> list[Module]:
    """All modules of both packages below a folder."""
    files = [file for package in PACKAGES for file in sorted((root / package).rglob("*.py"))]
    return [_read(root, file) for file in files]


def _read(root: Path, file: Path) -> Module:
    parts = file.relative_to(root).with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    tree = ast.parse(file.read_text(encoding="utf-8"), str(file))
    return Module(name, tree, tuple(_imports(tree, inside=False, typing_only=False)))


def _imports(node: ast.AST, *, inside: bool, typing_only: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(alias.name, None, child.lineno, inside, typing_only)
        elif isinstance(child, ast.ImportFrom):
            for alias in child.names:
                yield Import(child.module or "", alias.name, child.lineno, inside, typing_only)
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            yield from _imports(child, inside=inside, typing_only=True)
        else:
            deeper = inside or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from _imports(child, inside=deeper, typing_only=typing_only)


# -- rules -------------------------------------------------------------------------------------------------------------


def broken_rules(root: Path) -> list[str]:
    """A sentence for each place that breaks a rule."""
    modules = read_modules(root)
    broken = [sentence for module in modules for rule in RULES for sentence in rule(module)]
    return [*broken, *_cycles(modules)]


def _layer(module: str) -> int | None:
    found = [index for index, layer in enumerate(LAYERS) if within(module, layer)]
    return found[-1] if found else None


def _layers(module: Module) -> Iterator[str]:
    own = _layer(module.name)
    for item in module.imports:
        other = _layer(item.source)
        if own is not None and other is not None and other > own and not item.typing_only:
            yield f"{module.name}:{item.line} imports {item.source}, which is above it"


def _directions(module: Module) -> Iterator[str]:
    for item in module.imports:
        if within(module.name, ("runtime",)) and within(item.source, ("debugger",)):
            yield f"{module.name}:{item.line} imports {item.source}: the runtime knows no debugger"
        if within(module.name, ("debugger",)) and within(item.source, ("runtime",)) and not _is_public(item):
            yield f"{module.name}:{item.line} imports {item.source}.{item.name}, which is not public"


def _is_public(item: Import) -> bool:
    private = any(part.startswith("_") for part in [*item.source.split("."), item.name or ""])
    return not private and (item.source in PUBLIC_ALONE or within(item.source, PUBLIC))


def _reserved(module: Module) -> Iterator[str]:
    for item in module.imports:
        allowed = ONLY_IN.get(item.source.split(".")[0])
        if allowed is not None and not within(module.name, allowed):
            yield f"{module.name}:{item.line} imports {item.source}, which is for {', '.join(allowed)} alone"
        at_top = not item.inside and not item.typing_only and module.name != BRIDGE
        if at_top and within(item.source, ("langgraph", BRIDGE)):
            yield f"{module.name}:{item.line} imports {item.source} at its top: Forkpoint works without langgraph"


def _concurrency(module: Module) -> Iterator[str]:
    if not within(module.name, ("runtime",)) or module.name == DRIVERS:
        return
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in STARTERS:
            yield f"{module.name}:{node.lineno} calls {ast.unparse(node.func)}: only {DRIVERS} starts threads or sleeps"
    if not within(module.name, ("runtime.engine",)):
        return
    for item in module.imports:
        if item.source.split(".")[0] in CONCURRENCY:
            yield f"{module.name}:{item.line} imports {item.source}: in the engine only {DRIVERS} may"
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Await | ast.AsyncFor | ast.AsyncWith | ast.AsyncFunctionDef):
            yield f"{module.name}:{node.lineno} awaits: in the engine only {DRIVERS} may"


def _cycles(modules: list[Module]) -> Iterator[str]:
    """Imports inside functions count, so that none hides a cycle; those for type checkers do not."""
    names = {module.name for module in modules}
    graph: nx.DiGraph[str] = nx.DiGraph()
    for module in modules:
        for item in module.imports:
            below = f"{item.source}.{item.name}"
            target = below if below in names else item.source
            if target in names and target != module.name and not item.typing_only:
                graph.add_edge(module.name, target)
    for group in nx.strongly_connected_components(graph):
        if len(group) > 1:
            yield f"These import each other in a circle: {', '.join(sorted(group))}"


RULES = (_layers, _directions, _reserved, _concurrency)
