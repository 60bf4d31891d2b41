"""An option that is given with its default is the option that is left out: the functions of JAX."""

import jax
import numpy as np
import pytest
from defaults import DEFAULTS, of_signature
from libmode.jax import State, mode_constraint, mode_loss

RNG = np.random.default_rng(1)
LABEL = RNG.integers(0, 2, 2_000)
MASS = (RNG.random(2_000) * 250 + 50).astype(np.float32)
SCORE = (1 / (1 + np.exp(MASS / 200 - LABEL - RNG.normal(size=2_000)))).astype(np.float32)


def assert_same(function, **default):
    found, want = (
        jax.value_and_grad(lambda score, more=more: function(score, **more))(SCORE) for more in (default, {})
    )
    np.testing.assert_array_equal(found[0], want[0])
    np.testing.assert_array_equal(found[1], want[1])
    assert np.abs(want[1]).max() > 0


OF_LOSSES = [
    (loss, name, default)
    for loss in DEFAULTS
    for name, default in {**DEFAULTS[loss], **of_signature(mode_loss)}.items()
    if name != "loss" or loss == "mode"
]


@pytest.mark.parametrize("loss, name, default", OF_LOSSES)
def test_of_losses(loss, name, default):
    given = {"label": LABEL} | ({"order": 1} if loss == "mode" else {"loss": loss})
    given.pop(name, None)
    assert_same(lambda score, **more: mode_loss(score, MASS, **given, **more), **{name: default})


OF_CONSTRAINTS = {**DEFAULTS["mode"], **of_signature(mode_constraint)}.items()


@pytest.mark.parametrize("name, default", [row for row in OF_CONSTRAINTS if row[0] != "state"])
def test_of_constraints(name, default):
    def of(score, **more):
        same, state = mode_constraint(score, LABEL, MASS, order=1, state=State.start(), **more)
        return (same**2).sum()

    assert_same(of, **{name: default})
