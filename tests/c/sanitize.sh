#!/usr/bin/env bash
# The C and C++ tests again, where errors of memory, undefined behaviour and leaks show.
# usage: tests/c/sanitize.sh VENV_DIR    (from the repository root)
#
#   sanitizers       address, undefined and leak, in the tests and in the library's Go and C
#   valgrind errors  with a library that tells valgrind of goroutine stacks and Go's memory
#   valgrind leaks   with the library as it is shipped
#
# Each must first find the errors of defects.c. Takes some minutes. Needs gcc, g++ with
# their sanitizers, and valgrind.
set -euo pipefail
venv=${1:?usage: tests/c/sanitize.sh VENV_DIR}
export CC=${CC:-gcc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
found=99    # exit status for an error found

die() { printf 'tests/c/sanitize.sh: %s\n' "$*" >&2; exit 1; }
command -v valgrind >/dev/null || die "needs valgrind: install it (apt-get install valgrind, dnf install valgrind)"
sanitizers="-g -fsanitize=address,undefined -fno-sanitize-recover=all"
echo 'int main(void) { return 0; }' >"$work/empty.c"
$CC $sanitizers "$work/empty.c" -o "$work/empty" 2>/dev/null ||
    die "needs a C compiler with sanitizers, which CC='$CC' is not: install gcc and g++ (on Fedora also libasan libubsan)"

# library NAME: builds a library from the same source, with options for Go in GOFLAGS.
library() {
    mkdir "$work/$1"
    ./build.sh lib "$work/$1/libmode.so"
    ln -s libmode.so "$work/$1/libmode.so.1"
}

# finds DEFECT...: fails unless each of these is found with the settings of the tests.
finds() {
    local lib=${TEST_LIBRARY%/*} status defect
    $CC -std=c99 $TEST_FLAGS -Iinclude tests/c/defects.c -o "$work/defects" -L"$lib" -lmode -Wl,-rpath,"$lib"
    for defect in none "$@"; do
        status=0
        $TEST_RUNNER "$work/defects" "$defect" >"$work/report" 2>&1 || status=$?
        if [ "$defect" = none ]; then
            [ $status -eq 0 ] || { cat "$work/report" >&2; die "found a defect where there is none"; }
        else
            [ $status -eq $found ] || { cat "$work/report" >&2; die "did not find the defect '$defect': status $status"; }
        fi
    done
}

say() { printf '%s\n' "-- $*"; }

say "address, undefined and leak sanitizer"
GOFLAGS=-asan CGO_CFLAGS="-O1 $sanitizers" CGO_LDFLAGS="-fsanitize=undefined" library sanitized
export TEST_LIBRARY=$work/sanitized/libmode.so TEST_FLAGS=$sanitizers TEST_RUNNER=
export ASAN_OPTIONS=exitcode=$found:detect_leaks=1
finds read write leak
tests/c/run.sh "$venv"

# A signal that interrupts a goroutine leaves its stack marked as freed.
export GODEBUG=asyncpreemptoff=1
memcheck="valgrind -q --error-exitcode=$found"

say "valgrind, errors"
GOFLAGS=-tags=valgrind library marked
export TEST_LIBRARY=$work/marked/libmode.so TEST_FLAGS=-g TEST_RUNNER="$memcheck --leak-check=no"
finds read write
tests/c/run.sh "$venv"

say "valgrind, leaks"
library shipped
export TEST_LIBRARY=$work/shipped/libmode.so
export TEST_RUNNER="$memcheck --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite --undef-value-errors=no --suppressions=tests/c/valgrind.supp"
finds leak
tests/c/run.sh "$venv"
