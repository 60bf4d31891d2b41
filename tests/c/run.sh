#!/usr/bin/env bash
# Builds and runs the C tests against python/libmode/libmode.so.
# usage: tests/c/run.sh VENV_DIR    (from the repository root, after ./build.sh lib)
set -euo pipefail
venv=${1:?usage: tests/c/run.sh VENV_DIR}
here=$(dirname "${BASH_SOURCE[0]}")
library=$PWD/python/libmode/libmode.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
checks=0

# The name that the linker finds and the one that the loader asks for.
ln -s "$library" "$work/libmode.so"
ln -s "$library" "$work/libmode.so.1"
link=(-L"$work" -lmode -Wl,-rpath,"$work" -lm -pthread)
strict=(-Wall -Wextra -Wpedantic -Werror -O1 -Iinclude)

# CC may be a command with arguments.
read -ra cc <<<"${CC:-cc}"

# count PROGRAM...: runs a test program, whose output is the number of its checks.
count() {
    local passed
    passed=$("$@")
    checks=$((checks + passed))
}

for test in golden api; do
    "${cc[@]}" -std=c99 "${strict[@]}" "$here/test_$test.c" -o "$work/test_$test" "${link[@]}"
done
"$venv/bin/python" "$here/golden_to_text.py" tests/golden/mode_loss.json >"$work/mode_loss.txt"
count "$work/test_golden" "$work/mode_loss.txt"
count "$work/test_api"
count "$venv/bin/python" "$here/check_exports.py" "$library" include/mode.h

# A C++ program needs a C++ compiler, which building libmode does not.
read -ra cxx <<<"${CXX:-c++}"
if command -v "${cxx[0]}" >/dev/null; then
    "${cxx[@]}" -std=c++11 "${strict[@]}" "$here/test_header.cpp" -o "$work/test_header" "${link[@]}"
    "$work/test_header"
    checks=$((checks + 1))
fi

echo "C: $checks checks passed"
