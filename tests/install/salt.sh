#!/usr/bin/env bash
# Trains by salt's own command, in an environment of its own: salt pins torch, Lightning and ONNX (3 GB to download).
# usage: tests/install/salt.sh    (from the repository root, after ./build.sh lib)
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"${PYTHON:-python3}" -m venv "$work/venv"
python=$work/venv/bin/python
"$python" -m pip install --quiet --disable-pip-version-check $("$python" packaging/extras.py salt | sed -n 's/^salt-ml>=/salt-ml==/p') pytest hypothesis
"$python" -m pip install --quiet --disable-pip-version-check --no-deps --editable .
OMP_NUM_THREADS=1 "$python" -m pytest -q tests/salt
