"""The inequalities of docs/how-it-works.md, for each row of tests/helpers/numerics.py."""

import libmode
import numerics
import numpy as np
import pytest
from definition import gradient_of
from reference import MP

LONG = [name for name in numerics.ROWS if name.startswith("1,000,000 events,")]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.full] * (name in LONG)) for name in numerics.ROWS]
)
def test_errors_are_within_their_bounds(name):
    found, row = numerics.worst(name), numerics.ROWS[name]
    assert found.loss <= row.of_loss and found.gradient <= row.of_gradient, found


@pytest.mark.parametrize(
    "options", [{"order": 0}, {"order": 2}, {"order": 2, "max_slope": 0.3, "monotonic": True}], ids=str
)
def test_the_gradient_of_weights_over_300_decades(options):
    """In 700 digits: each derivative is right relative to the event's own step, and with bounds relative to all of F."""
    rng, n = np.random.default_rng(1), 48
    mass = np.tile(np.arange(6) + 0.5, 8) + 0.4 * rng.random(n)
    score, weight = rng.permutation(n) / 64 + 0.01, 10.0 ** rng.uniform(-300, 0, n)
    weight[[0, 6]] = 1e-300, 1  # in one bin
    edges = [0, 1, 2, 3, 4, 5, 7]
    options = options | {"moments": "projection", "unbiased": False, "binning": "edges", "edges": edges}
    with MP.workdps(700):
        exact = gradient_of({"score": score, "mass": mass, "weight": weight, "label": None, "options": options})
        total = np.bincount(np.searchsorted(edges, mass, side="right") - 1, weight)
        step = weight / total[np.searchsorted(edges, mass, side="right") - 1]
        assert 0 < step.min() < 1e-295
        _, grad = libmode.mode_loss_and_grad(score, mass, weight=weight, **options)
        off = [
            float(abs(MP.mpf(g) - g_exact) / (1 if "monotonic" in options else MP.mpf(e)))
            for g, g_exact, e in zip(grad.tolist(), exact, step, strict=True)
        ]
    assert max(off) * len(total) < 100 * numerics.U
