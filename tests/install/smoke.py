"""What an installed libmode must do with any Python: the golden cases, and no path to anything else.

Needs NumPy only: it also runs where pytest is not, and under emulators.
"""

import platform
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "helpers"))

import golden
import numpy as np

start = time.perf_counter()
import libmode

imported = time.perf_counter()
libmode.mode_loss([0.1, 0.2, 0.3, 0.4], [1, 2, 3, 4], bins=2, order=0)
called = time.perf_counter()

assert "site" in libmode.__file__, libmode.__file__  # the installed one, not the source tree's
assert not {"torch", "keras", "tensorflow", "jax"} & set(sys.modules)
CASES = golden.CASES + golden.VARIABLES
for case in CASES:
    for dtype, tolerance in ((np.float64, 1e-9), (np.float32, 1e-5)):
        loss, grad = libmode.mode_loss_and_grad(**case.events(dtype), **case.options)
        golden.assert_close(loss, case.loss, tolerance)
        golden.assert_close(grad, case.grad, tolerance)

print(
    f"libmode {libmode.__version__}, Python {platform.python_version()} {platform.machine()}, NumPy {np.__version__}: "
    f"{len(CASES)} golden cases; import {1e3 * (imported - start):.0f} ms after NumPy's, "
    f"first call {1e3 * (called - imported):.0f} ms"
)
