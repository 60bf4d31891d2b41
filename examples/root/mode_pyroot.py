"""The MoDe loss from PyROOT, with std::vector and with NumPy arrays from RDataFrame.AsNumpy.

    python mode_pyroot.py events.root

The tree "events" has the branches score, mass and weight (float) and label (int, 0
for the background). Needs LIBMODE, as the macros do: export LIBMODE=$(libmode-config --prefix).
Python programs that need no C++ have it shorter: libmode.mode_loss_and_grad takes AsNumpy's arrays.
"""

import os
import sys
from typing import Any

import numpy as np
import ROOT

if len(sys.argv) != 2:
    sys.exit("usage: python mode_pyroot.py events.root")
prefix = os.environ.get("LIBMODE", "")
if not os.path.exists(f"{prefix}/include/mode.hpp") or ROOT.gSystem.Load(f"{prefix}/lib/libmode.so") < 0:
    sys.exit(f"no libmode in LIBMODE = {prefix!r}: export LIBMODE=$(libmode-config --prefix)")
ROOT.gInterpreter.AddIncludePath(f"{prefix}/include")
ROOT.gInterpreter.Declare("""
#include <mode.hpp>

double loss_and_grad(size_t n, const float *score, const int *label, const float *mass, const float *weight,
                     float *grad) {
    static const mode::handle m("order=1");
    return mode::loss(m, mode::events<float>({score, n}, {label, n}, {mass, n}, {weight, n}), {grad, n});
}
""")


def loss_and_grad(n: int, *arrays: Any) -> float:
    """The loss of n events: arrays are score, label, mass, weight and gradient, NumPy's or data() of std::vector."""
    return float(ROOT.loss_and_grad(n, *arrays))


frame = ROOT.RDataFrame("events", sys.argv[1])

columns = {"score": "float", "label": "int", "mass": "float", "weight": "float"}
taken = {name: frame.Take[kind](name) for name, kind in columns.items()}
vectors = [taken[name].GetValue() for name in columns]
n = vectors[0].size()
grad_vector = ROOT.std.vector["float"](n)
print(f"std::vector  loss {loss_and_grad(n, *(vector.data() for vector in vectors), grad_vector.data()):.17g}")

taken = frame.AsNumpy(list(columns))
arrays = [np.asarray(taken[name]) for name in columns]
grad_array = np.empty(n, np.float32)
print(f"NumPy        loss {loss_and_grad(n, *arrays, grad_array):.17g}")
print(f"gradients equal: {np.array_equal(np.asarray(grad_vector), grad_array)}")
