"""The push of the core against its definition."""

import ctypes

import numpy as np
import pytest
from libmode import _native, mode_evaluate
from libmode._arrays import address
from libmode._constraint import NUMBERS
from libmode._evaluate import direction
from libmode._events import Events
from libmode._options import check
from push import push as definition


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("variables", [1, 2, 3])
@pytest.mark.parametrize("what", ["plain", "signed weights", "ties", "absent masses"])
def test_push_is_the_one_of_the_definition(dtype, variables, what):
    rng = np.random.default_rng(variables)
    n = 900
    mass = rng.exponential(60, (n, variables)).astype(dtype)
    score = (1 / (1 + np.exp(-rng.normal(0, 1, n) - mass[:, 0] / 100))).astype(dtype)
    weight = np.ones(n, dtype)
    if what == "signed weights":
        weight = (rng.exponential(1, n) + 0.2).astype(dtype)
        weight[rng.random(n) < 0.05] *= -0.3
    if what == "ties":
        score, mass = np.round(score, 2), np.round(mass, -1)
    options = {"order": 1, "bins": 8, "missing": "ignore"}
    if what == "absent masses" and variables > 1:
        mass[rng.random((n, variables)) < 0.1] = np.nan
        mass[np.isnan(mass).all(axis=1), 0] = 50
    given = mass[:, 0] if variables == 1 else mass
    state = np.zeros(_native.state_size(1))
    steering = _native.ModeSteering(
        ctypes.sizeof(_native.ModeSteering), state=address(state), n_state=state.size, logits=True
    )
    found = direction(check("mode", options), steering, Events(score, given, weight), state)
    grad = mode_evaluate(score, given, weight=weight, **options).grad
    norm, of_definition, want = definition(grad.astype(float), score, mass, weight.astype(float), 4)
    assert state[1] == pytest.approx(norm, rel=1e-10)
    assert found.slope.tolist() == [1.0] * n
    scale = np.abs(of_definition).max()
    assert state.size == NUMBERS + 324 and not state[NUMBERS + of_definition.size :].any()
    residual = state[NUMBERS:][: of_definition.size].reshape(of_definition.shape) / (0.02 * np.sqrt(n / 1024))
    np.testing.assert_allclose(residual, of_definition, atol=1e-10 * scale)
    np.testing.assert_allclose(found.push, want, atol=(1e-10 if dtype == np.float64 else 1e-6) * np.abs(want).max())
