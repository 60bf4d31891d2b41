#!/usr/bin/env bash
# Runs the Python tests with the lowest NumPy, torch, SciPy and PyArrow that pyproject.toml allows and
# that install on this Python, in an environment of their own. (PyArrow does not say which NumPy it needs.)
# usage: tests/install/lowest.sh    (from the repository root, after ./build.sh lib)
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"${PYTHON:-python3}" -m venv "$work/venv"
python=$work/venv/bin/python
lowest() { "$python" packaging/extras.py "$@" | grep '>=' | sed 's/>=/==/'; }
numpy=$(sed -n 's/^dependencies = \["numpy>=\(.*\)"\]$/numpy==\1/p' pyproject.toml)
"$python" -m pip install --quiet --disable-pip-version-check "$numpy" $(lowest torch) $(lowest posthoc report | grep '^scipy\|^pyarrow') \
    $("$python" packaging/extras.py test | grep -v '^torch\|^scipy\|^pyarrow' | grep -vxFf <("$python" packaging/extras.py frameworks trees recipes))
"$python" -m pip install --quiet --disable-pip-version-check --no-deps --editable .
"$python" -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r packaging/pinned/modeloss.txt
"$python" -c 'import numpy, scipy, sys, torch; print(f"Python {sys.version.split()[0]}, NumPy {numpy.__version__}, torch {torch.__version__}, "
  f"SciPy {scipy.__version__}")'
# torch.compile of 2.4 takes the classes, and breaks at the functions, whose owner is no module.
of_compiled=tests/pytorch/test_compiled.py::test_gradients_and_states_of_twenty_steps_are_those_of_eager_ones
# What old versions warn of is no error. The kernels of a GPU need a new Triton.
"$python" -m pytest -q -W default tests/core tests/pytorch tests/peers tests/studies \
    --deselect "$of_compiled[function-aot_eager]" --deselect "$of_compiled[correlation-aot_eager]" \
    --ignore tests/pytorch/test_on_device.py
