"""The law's two lines: multiplier times gradient, plus size times norm times push. A table, with plain numbers of Python."""

import math

import numpy as np

# The incoming gradient; push, multiplier and slope of each event; the size of the push.
TABLE = [
    ([3.0, -4.0, 0.0], [[1.0, 2.0, -1.0], [1.0, 0.5, 2.0], [1.0, 1.0, 1.0]], 0.5),
    ([1.0, 2.0, -2.0], [[0.0, 0.0, 0.0], [2.0, 3.0, 4.0], [0.2, 0.1, 0.3]], 1.0),
    ([0.5, 0.25, 1.0], [[-1.0, 4.0, 0.5], [1.0, 1.0, 1.0], [0.0, 0.0, 0.25]], 3.0),
    ([math.inf, 1.0, 0.0], [[1.0, 1.0, 1.0], [1.0, 2.0, 1.0], [1.0, 1.0, 1.0]], 2.0),  # a GradScaler overflows
]


def assert_law(outgoing):
    """``outgoing(incoming, rows, size)`` gives an array for arrays of float64."""
    for incoming, rows, size in TABLE:
        norm = math.sqrt(sum((g * slope) ** 2 for g, slope in zip(incoming, rows[2], strict=True)))
        scale = size * norm if math.isfinite(norm) else 0.0
        want = [m * g + scale * push for g, push, m in zip(incoming, *rows[:2], strict=True)]
        np.testing.assert_allclose(outgoing(np.array(incoming), np.array(rows), size), want, rtol=1e-6)
