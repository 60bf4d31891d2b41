"""The MoDe loss from PyROOT, with std::vector and with NumPy arrays from RDataFrame.AsNumpy.

    python mode_pyroot.py events.root

The tree "events" has the branches score, mass and weight (float) and label (int, 0
for the background). Needs LIBMODE, as the macros do: export LIBMODE=$(libmode-config --prefix).
Python programs that need no C++ have it shorter: libmode.mode_loss_and_grad takes AsNumpy's arrays.
"""

import os
import sys
from typing import Any

import cppyy
import numpy as np
import ROOT

if len(sys.argv) != 2:
    sys.exit("usage: python mode_pyroot.py events.root")
prefix = os.environ.get("LIBMODE", "")
if not os.path.exists(f"{prefix}/include/mode.h") or ROOT.gSystem.Load(f"{prefix}/lib/libmode.so") < 0:
    sys.exit(f"no libmode in LIBMODE = {prefix!r}: export LIBMODE=$(libmode-config --prefix)")
ROOT.gInterpreter.Declare(f'#include "{prefix}/include/mode.h"')

options = ROOT.mode_options()
ROOT.mode_options_init(options, cppyy.sizeof(ROOT.mode_options))
options.order = 1


ROOT.gInterpreter.Declare("""
double loss_and_grad(const mode_options &options, size_t n, const float *score, const int *label, const float *mass,
                     const float *weight, float *grad) {
    double loss;
    if (mode_loss_f32(&options, n, score, label, mass, weight, &loss, grad))
        throw std::runtime_error(mode_last_error());
    return loss;
}
""")


def loss_and_grad(n: int, *arrays: Any) -> float:
    """The loss of n events: arrays are score, label, mass, weight and gradient, NumPy's or data() of std::vector."""
    return float(ROOT.loss_and_grad(options, n, *arrays))


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
