#!/usr/bin/env bash
# Builds and runs the C tests against a libmode that ./build.sh install puts into a directory.
# usage: tests/c/run.sh VENV_DIR    (from the repository root)
set -euo pipefail
venv=${1:?usage: tests/c/run.sh VENV_DIR}
here=$(dirname "${BASH_SOURCE[0]}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
checks=0

./build.sh install --prefix "$work"
link=(-L"$work/lib" -lmode -Wl,-rpath,"$work/lib" -lm -pthread)
strict=(-Wall -Wextra -Wpedantic -Werror -O1 -I"$work/include")

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
count "$venv/bin/python" "$here/check_exports.py" "$work/lib/libmode.so" include/mode.h

# A C++ program needs a C++ compiler, which building libmode does not.
read -ra cxx <<<"${CXX:-c++}"
if command -v "${cxx[0]}" >/dev/null; then
    "${cxx[@]}" -std=c++11 "${strict[@]}" "$here/test_header.cpp" -o "$work/test_header" "${link[@]}"
    "$work/test_header"
    checks=$((checks + 1))
fi

echo "C: $checks checks passed"
