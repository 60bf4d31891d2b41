#!/usr/bin/env bash
# The C and C++ tests again, where errors of memory, undefined behavior and leaks show.
# usage: tests/c/sanitize.sh VENV_DIR    (from the repository root)
#
#   sanitizers       for addresses, undefined behavior and leaks, in the tests and in the library's C and Go
#   valgrind errors  with a library that tells valgrind of goroutine stacks and Go's memory
#   valgrind users   with the library and the suppressions as they are shipped, as docs/cpp.md says
#
# Each must first find the errors of defects.c. Takes some minutes. Needs gcc, g++ with
# their sanitizers, and valgrind.
set -euo pipefail
venv=${1:?usage: tests/c/sanitize.sh VENV_DIR}
export CC=${CC:-gcc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
found=99    # the exit status that says that an error was found

die() { printf 'tests/c/sanitize.sh: %s\n' "$*" >&2; exit 1; }
sanitizers="-g -fsanitize=address,undefined -fno-sanitize-recover=all"
echo 'int main(void) { return 0; }' >"$work/empty.c"
$CC $sanitizers "$work/empty.c" -o "$work/empty" 2>/dev/null ||
    die "CC='$CC' has no sanitizers: apt-get install gcc g++, or dnf install gcc-c++ libasan libubsan"
command -v valgrind >/dev/null || die "valgrind is missing: apt-get install valgrind, or dnf install valgrind"

# both NAME DEFECT...: finds these defects, and none in the tests.
both() {
    local prefix="$work/$1" defect status
    printf '%s\n' "-- $1"
    ./build.sh install --prefix "$prefix"
    $CC -std=c99 $TEST_FLAGS -I"$prefix/include" tests/c/defects.c -o "$work/defects" -L"$prefix/lib" -lmode -Wl,-rpath,"$prefix/lib"
    for defect in "${@:2}"; do
        status=0
        $TEST_RUNNER "$work/defects" "$defect" >"$work/report" 2>&1 || status=$?
        [ $status -eq $found ] || { cat "$work/report" >&2; die "$1: the defect '$defect' was not found (status $status)"; }
    done
    tests/c/run.sh "$venv"
}

export FUZZ_EXECUTIONS=200000 # of tests/c/fuzz.c
export TEST_FLAGS=$sanitizers TEST_RUNNER= ASAN_OPTIONS=detect_leaks=1:exitcode=$found
GOFLAGS=-asan CGO_CFLAGS="-O1 $sanitizers" CGO_LDFLAGS=-fsanitize=undefined both sanitizers read write leak

# A signal, such as the signal that preempts a goroutine, leaves its frame, as valgrind sees it, on freed memory.
export FUZZ_EXECUTIONS=5000 SIGNAL_CALLS=0 TEST_FLAGS=-g GODEBUG=asyncpreemptoff=1
memcheck="valgrind -q --error-exitcode=$found"
TEST_RUNNER="$memcheck --leak-check=no" GOFLAGS=-tags=valgrind both "valgrind errors" read write

users="--leak-check=full --undef-value-errors=no --suppressions=packaging/libmode.supp"
SIGNAL_CALLS=6 TEST_RUNNER="$memcheck $users" both "valgrind users" leak
