#!/usr/bin/env bash
# Builds, tests and shows libmode. Every command sets up what it needs in .venv,
# Go and a C compiler included where the machine has none. tools/ has the rest in Python.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

say() { printf '\033[1m== %s\033[0m\n' "$*" >&2; }
die() { printf 'build.sh: %s\n' "$*" >&2; exit 1; }
source tools/venv.sh

# tool NAME ARGUMENT...: runs tools/NAME.py in the virtual environment.
tool() {
    venv
    "$VENV/bin/python" -m "tools.$1" "${@:2}"
}

# library COMMAND: runs packaging/build_library.py, where there is no virtual environment yet with the Python that makes it.
library() {
    local python=$VENV/bin/python
    [ -x "$python" ] || python=${PYTHON:-python3}
    "$python" packaging/build_library.py "$@"
}

# toolchain: sets PATH and CC to Go and a C compiler, from the machine or else from PyPI.
toolchain() {
    local need settings
    need=$(library missing)
    [ -z "$need" ] || tool install tools $need
    settings=$(library environment)
    eval "$settings"
    export GOFLAGS="${GOFLAGS:-} -buildvcs=false"
}

# build COMMAND PLACE: builds the library there. It says what takes so long, since Go says nothing until it is done.
build() {
    toolchain
    say "building libmode $(library version) in $2 with Go and $CC: a minute or two the first time, then seconds"
    library "$1" "$2"
}

# libmode: the Python package, editable, over a library built just now.
libmode() {
    build stage python/libmode
    tool install build-system 'numpy>=1.24'
    [ -x "$VENV/bin/libmode" ] &&
        [ "$("$VENV/bin/python" -c 'import libmode; print(libmode.__version__)' 2>/dev/null)" = "$(library version)" ] && return
    say "installing the Python package"
    "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
}

# ----------------------------------------------------------------- tests

# test_folders EXTRA FOLDERS [ARGUMENT...]: the tests of Go, C and these folders, with the packages of this extra; the
# arguments are pytest's.
test_folders() {
    tool install extras "$1"
    libmode
    test_go
    test_c
    say "Python: $2"
    py_test $2 "${@:3}"
}

# py_test ARGUMENT...: pytest, which test-full has count the statements of the package that are run. Threads of PyTorch
# that wait leave their core to the tests beside them, and small matrices get no threads, which there take thrice the time.
py_test() {
    OMP_WAIT_POLICY=passive OPENBLAS_NUM_THREADS=1 "$VENV/bin/python" ${COUNTED:+-m coverage run} -m pytest -q "$@"
}

test_go() {
    say "Go"
    local unformatted staticcheck
    unformatted=$("$(go env GOROOT)/bin/gofmt" -l core capi bench tests tools)
    [ -z "$unformatted" ] || die "gofmt would change: $unformatted"
    go mod verify >/dev/null # the modules are those of go.sum
    go vet ./...
    go vet -tags purego ./core/... # as where there are no vector instructions, and on other processors
    GOARCH=arm64 go vet ./core/...
    # What works on the library may need a newer Go, which Go then fetches: see tools/go.mod.
    staticcheck=$(GOTOOLCHAIN=auto go -C tools tool -n staticcheck)
    "$staticcheck" ./...
    GOTOOLCHAIN=auto go -C tools test ./... # the assembly is what its generator writes
    go test ./...
}

test_c() {
    say "C and C++"
    if [ -z "${CXX:-}" ] && [[ $CC = gcc || $CC = clang ]] && ! command -v "${CC/%gcc/g}++" >/dev/null; then
        tool install tools ziglang
        export CXX="zig c++"
        toolchain
    fi
    tests/c/run.sh "$VENV"
}

# Folders whose tests run beside the others, for the second core, and have a process each: TensorFlow and PyTorch's
# compiler abort one that has both, and the threads of XGBoost and LightGBM stand in those of PyTorch's way.
APART="install frameworks callbacks trees recipes"

# none_is_chosen STATUS [ARGUMENT...]: whether pytest ended so because these arguments (-k, say) choose none of the tests.
none_is_chosen() { [ "$1" = 5 ] && [ $# -gt 1 ]; }

# apart [ARGUMENT...]: their tests, one folder after the other, and fuzzing: by count, for Go 1.26 can fail
# when time is up (golang/go#75804).
apart() {
    local folder fuzz failed=0
    for folder in $APART; do
        py_test "tests/$folder" "$@" || none_is_chosen $? "$@" || failed=1
    done
    for fuzz in FuzzAnything FuzzDefinition; do
        go test ./core -run '^$' -fuzz "^$fuzz\$" -fuzztime "${FUZZ:-20000}x" -fuzzminimizetime 100x -parallel 1 || failed=1
    done
    return $failed
}

# beside COMMAND...: starts a command beside what follows; it ends with this script. What it says goes to a file.
beside() {
    mkdir -p build
    set -m # so that an interrupt can end all of it
    "$@" >build/beside.log 2>&1 &
    set +m
    BESIDE=$!
    trap 'kill -- -$BESIDE 2>/dev/null' EXIT
}

# ended: waits for that command, prints what it said, and returns its status.
ended() {
    local status=0
    wait $BESIDE || status=$?
    trap - EXIT
    cat build/beside.log
    return $status
}

test_all() {
    local without=(--ignore tests/salt) left_out= lent folder failed=
    for folder in $APART; do without+=(--ignore "tests/$folder"); done
    if ! command -v c++ >/dev/null; then
        without+=(--ignore tests/root)
        left_out="tests/root is left out: ROOT itself needs the headers of a C++ compiler that is called c++, and PyPI has none"
        [ "${CI:-}" != true ] || die "$left_out"
    fi
    # Go's tests need processors, and what is installed meanwhile a network and a disk.
    venv
    toolchain
    beside test_go
    tool install extras test
    tool install modeloss
    [ -n "$left_out" ] || tool install root
    lent=$(tool install openmp)
    [ -z "$lent" ] || export LD_LIBRARY_PATH="$lent${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    libmode
    ended || die "tests of Go failed"
    test_c
    say "Python"
    "$VENV/bin/ruff" check .
    "$VENV/bin/ruff" format --check .
    "$VENV/bin/ruff" format --check --line-length 88 docs/*.md docs/tutorials/*.md
    "$VENV/bin/mypy"
    beside apart "$@"
    py_test tests "${without[@]}" "$@" || none_is_chosen $? "$@" || failed=1
    say "Python, in processes of their own: $APART"
    ended || failed=1
    [ -z "$failed" ] || die "tests failed"
    [ -z "$left_out" ] || say "$left_out"
}

# test_full: what needs root and Debian's packages, or minutes more.
test_full() {
    { command -v qemu-aarch64-static && command -v debootstrap && command -v valgrind; } >/dev/null ||
        die "test-full needs: apt-get install qemu-user-static debootstrap valgrind"
    tool install extras test
    tool coverage install
    COUNTED=yes FUZZ=500000 test_all
    say "Statements that the tests run"
    tool coverage
    say "Concurrent calls, with the race detector; a million calls"
    go test -race ./core -run 'Concurrent|Threads'
    "$VENV/bin/python" tests/helpers/soak.py 1000000
    say "C and C++ with sanitizers and under valgrind"
    tests/c/sanitize.sh "$VENV"
    say "Tests that take minutes"
    local folder
    for folder in tests/[!s]*/ tests/studies; do # salt has an environment of its own, below
        py_test "$folder" -m full || none_is_chosen $? -m full || die "tests of $folder failed"
    done
    say "Wheels, lowest versions, and both commands on a bare machine"
    tool distribution wheel
    tests/install/pythons.sh
    tests/install/lowest.sh
    tests/install/salt.sh
    tests/install/bare.sh
}

# -------------------------------------------------------------- commands

demo() {
    # Help needs nothing set up.
    case " $* " in *' -h '* | *' --help '*) exec "${PYTHON:-python3}" -m studies.simple_model --help ;; esac
    "${PYTHON:-python3}" -m studies.simple_model.arguments "$@" # neither do bad arguments
    libmode
    tool install extras studies
    "$VENV/bin/python" -m studies.simple_model "$@"
}

# docs: the site. The pages of names that are no longer there would stay, so all are written anew.
# With --execute, the outputs of the tutorials instead.
docs() {
    [ $# -eq 0 ] || [ "$1" = --execute ] || die "usage: ./build.sh docs [--execute [NAME...]]"
    tool install extras docs
    libmode
    [ $# -eq 0 ] || exec "$VENV/bin/python" docs/notebooks.py "${@:2}"
    rm -rf docs/api build/docs
    say "building the site: one to three minutes, most of it for the reference"
    TF_CPP_MIN_LOG_LEVEL=3 "$VENV/bin/python" -m sphinx -W --keep-going -b html -d build/docs-read docs build/docs
    say "the site: build/docs/index.html"
}

# options [ARGUMENT...]: ends the script if these are no options of pytest. no_more: if there is any argument.
options() { [[ ${1:--} = -* ]] || die "no tests '$1': core, torch, or nothing for all, and then options of pytest, such as -k NAME"; }
no_more() { [ $# -eq 0 ] || die "$command takes no arguments, not '$1'"; }

command=${1:-help}
[ $# -gt 0 ] && shift
case $command in
    demo) demo "$@" ;;
    test)
        case ${1:-} in
            core) options "${@:2}"; test_folders test-core "tests/core" "${@:2}" ;;
            torch) options "${@:2}"; test_folders test-torch "tests/core tests/pytorch" "${@:2}" ;;
            *) options "$@"; test_all "$@" ;;
        esac
        ;;
    test-full) no_more "$@"; test_full ;;
    docs) docs "$@" ;;
    lib) no_more "$@"; libmode ;;
    install)
        [ "${1:-}" = --prefix ] && [ -n "${2:-}" ] && [ $# -eq 2 ] || die "usage: ./build.sh install --prefix DIR"
        build install "$2"
        ;;
    studies | bench) tool "$command" "$@" ;;
    audit) no_more "$@"; tool audit ;;
    mutants) for part in core python; do tool mutants $part "$@"; done ;;
    wheel) tool distribution wheel "$@" ;;
    sdist) no_more "$@"; tool distribution sdist ;;
    clean) no_more "$@"; rm -rf .venv build dist demo docs/api python/libmode/include python/libmode/lib python/*.egg-info ;;
    help | -h | --help) no_more "$@"; cat tools/usage.txt ;;
    *) cat tools/usage.txt >&2; die "no command '$command'" ;;
esac
