#!/usr/bin/env bash
# Builds and runs the C and C++ tests against a libmode that ./build.sh install puts into a directory.
# usage: tests/c/run.sh VENV_DIR [--renew-abi]   (from the repository root)
#
# --renew-abi writes tests/c/abi.txt anew, after a change of the binary interface
# that was meant. CC and CXX may be commands with arguments; CXX is by default the
# one that belongs to CC. For sanitize.sh: TEST_FLAGS go to both compilers, and
# TEST_RUNNER goes before each program. FUZZ_EXECUTIONS and SIGNAL_CALLS say how
# long fuzz.c and test_signals.c run.
set -euo pipefail
usage="usage: tests/c/run.sh VENV_DIR [--renew-abi]"
python=${1:?$usage}/bin/python renew=${2:-}
case $renew in '' | --renew-abi) ;; *) echo "$usage" >&2; exit 1 ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
checks=0

CC=${CC:-cc}
CXX=${CXX:-$(sed -E 's/gcc(-[0-9.]+)?( |$)/g++\1\2/; t; s/clang(-[0-9.]+)?( |$)/clang++\1\2/; t; s/cc( |$)/c++\1/' <<<"$CC")}
read -ra cc <<<"$CC"
read -ra cxx <<<"$CXX"
read -ra flags <<<"${TEST_FLAGS:-}"
read -ra runner <<<"${TEST_RUNNER:-}"
if ! command -v "${cxx[0]}" >/dev/null; then
    echo "tests/c/run.sh: no C++ compiler '$CXX' here: install it beside CC='$CC', or set CXX" >&2
    exit 1
fi

./build.sh install --prefix "$work"

abi=("$work/lib/libmode.so" include/mode.h tests/c/abi.txt "${cc[@]}")
if [ -n "$renew" ]; then
    "$python" tests/c/check_abi.py --renew "${abi[@]}"
    exit
fi

link=(-L"$work/lib" -lmode -Wl,-rpath,"$work/lib" -lm -pthread)
strict=(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -I"$work/include")

# count PROGRAM...: runs a test program, whose output is the number of its checks.
count() {
    local passed
    passed=$("$@")
    checks=$((checks + passed))
}

# run_c, run_cpp OPTIONS SOURCE ARGUMENT...: builds a test program and runs it.
run_c() {
    "${cc[@]}" $1 "${strict[@]}" "${flags[@]}" "tests/c/$2" -o "$work/test" "${link[@]}"
    count "${runner[@]}" "$work/test" "${@:3}"
}
run_cpp() {
    "${cxx[@]}" $1 "${strict[@]}" "${flags[@]}" "tests/cpp/$2" -o "$work/test" "${link[@]}"
    count "${runner[@]}" "$work/test" "${@:3}"
}

# The headers alone, in the standards that the tests below leave out.
echo '#include <mode.h>' >"$work/header.c"
echo '#include <mode.hpp>' >"$work/header.cpp"
"${cc[@]}" -std=c11 "${strict[@]}" -c "$work/header.c" -o "$work/header.o"
for standard in c++14 c++17; do
    "${cxx[@]}" -std=$standard "${strict[@]}" -c "$work/header.cpp" -o "$work/header.o"
done
checks=$((checks + 3))

export PYTHONPATH=tests/helpers${PYTHONPATH:+:$PYTHONPATH}
"$python" tests/c/write_cases.py "$work/golden.h" tests/golden/{mode_loss,variables}.json
"$python" tests/c/write_cases.py "$work/error_cases.h"
count "$python" tests/c/check_abi.py "${abi[@]}"
run_c "-std=c99 -O1 -I$work" test_golden.c
run_c '-std=c99 -O1' test_api.c
run_c '-std=c99 -O1' test_signals.c "${SIGNAL_CALLS:-400}"
run_c "-std=c99 -O1 -I$work" test_error_table.c
run_c '-std=c99 -O1' fuzz.c "${FUZZ_EXECUTIONS:-200000}"
run_cpp "-std=c++11 -O1 -I$work" test_golden.cpp
run_cpp '-std=c++11 -O1' test_api.cpp
run_cpp -std=c++20 test_api.cpp
run_cpp '-std=c++11 -fno-exceptions' test_api.cpp

# As users' builds find the library: in C by pkg-config, in C++ by CMake, from the virtual environment.
export PATH=${python%/*}:$PATH PKG_CONFIG_PATH=$work/lib/pkgconfig
"${cc[@]}" -std=c99 -I"$work" $(pkg-config --cflags libmode) "${flags[@]}" tests/c/test_golden.c -o "$work/test" \
    $(pkg-config --libs libmode) -Wl,-rpath,"$work/lib" -lm
count "${runner[@]}" "$work/test"
CC='' CXX="$CXX" cmake -G Ninja -S tests/cpp -B "$work/cmake" -D CMAKE_PREFIX_PATH="$work" \
    -D CMAKE_CXX_FLAGS="-I$work ${TEST_FLAGS:-}" >"$work/log" && cmake --build "$work/cmake" >>"$work/log" || { cat "$work/log"; exit 1; }
count "${runner[@]}" "$work/cmake/golden"

echo "C and C++: $checks checks passed"
