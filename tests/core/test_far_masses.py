"""Masses that are far from most others: the loss and its gradient.

The definition, in 150 digits, sees columns of P that differ in their last digits alone where others see noise. A fit that
cannot keep its digits is an error.
"""

import libmode
import numpy as np
import pytest
from definition import gradient_of, loss_of
from reference import MP

EVENTS = 48
BINS = 12


def masses(kind, rng):
    """The masses of a spectrum, in no order."""
    name, *far = kind.split(" + ")
    own = {
        "exponential": lambda: rng.exponential(60, EVENTS),
        "whole": lambda: np.floor(rng.exponential(60, EVENTS)),
        "lognormal": lambda: rng.lognormal(0, 3, EVENTS),
        "clusters": lambda: rng.normal(np.repeat((0, 1e6), EVENTS // 2), 1),
    }[name]()
    own[: len(far)] = [float(value) for value in far]
    return rng.permutation(own)


def record_of(kind, weights, **options):
    """Events and options, as the definition takes them."""
    rng = np.random.default_rng(7)
    mass = masses(kind, rng)
    score = 1 / (1 + np.exp(rng.normal(size=EVENTS) - mass / (mass + np.median(mass))))
    weight = {
        "none": None,
        "positive": rng.exponential(size=EVENTS),
        "signs": np.where(np.argsort(np.argsort(mass)) % 4 == 1, -0.2, 1),
    }[weights]
    defaults = dict(order=0, bins=BINS, binning="quantile", moments="projection", unbiased=True)
    return dict(score=score, mass=mass, weight=weight, label=None, options=defaults | options)


def assert_exact(record, refused=False):
    score, mass, weight, _, options = record.values()
    if refused:
        with pytest.raises(ValueError, match="is so far from most others|whose mean masses nearly coincide"):
            libmode.mode_loss(score, mass, weight=weight, **options)
        return
    loss, grad = libmode.mode_loss_and_grad(score, mass, weight=weight, **options)
    with MP.workdps(150):
        wanted, gradient = float(loss_of(record)), gradient_of(record).astype(float)
    assert loss == pytest.approx(wanted, rel=1e-9, abs=1e-12)
    np.testing.assert_allclose(grad, gradient, rtol=0, atol=1e-9 * abs(gradient).max())


FAR = [
    "exponential + 1e9 + -1e5",
    "clusters",
    *(pytest.param(name, marks=pytest.mark.full) for name in ("whole + 1e6", "lognormal")),
]


@pytest.mark.parametrize("kind", FAR)
@pytest.mark.parametrize(("order", "weights"), [(2, "signs"), (4, "positive"), (8, "none")])
def test_the_loss_of_a_fit_keeps_its_digits(kind, order, weights):
    assert_exact(record_of(kind, weights, order=order), refused=order > 4 or order > 2 and kind != "lognormal")


@pytest.mark.parametrize("order", [2, 3, 4])
def test_masses_of_999_below_all_others_cost_no_digits(order):
    assert_exact(record_of("exponential + -999", "positive", order=order))


BOUNDS = {
    "max_slope": dict(order=3, max_slope=0.3),
    "of the selected": dict(order=1, max_slope=0.3, slope_of="selected"),
    "monotonic": dict(order=4, monotonic=True),
    "both, plain": dict(order=2, monotonic=True, max_slope=0.3, unbiased=False),
    "penalty": dict(order=3, slope_penalty=0.1),
}


@pytest.mark.parametrize("kind", ["exponential + 1e9 + -1e5", "clusters"])
@pytest.mark.parametrize("bounds", BOUNDS)
def test_bounded_moments_keep_their_digits(kind, bounds):
    options = BOUNDS[bounds]
    assert_exact(record_of(kind, "positive", **options), refused=options["order"] > (3 if kind == "clusters" else 2))


@pytest.mark.parametrize("kind", FAR)
def test_quadrature_inverts_nothing(kind):
    assert_exact(record_of(kind, "positive", order=4, moments="quadrature"))
