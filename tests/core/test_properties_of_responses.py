"""What costs and what does not: signs, zeros, and what more freedom or a bound does to the loss."""

import forms
import libmode
import numpy as np
import pytest
from basis import bsplines
from forms import Call, calls
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from numpy.polynomial.legendre import legval

few = settings(max_examples=50)
NO_BOUNDS = {"max_slope": None, "slope_penalty": 0.0, "monotonic": False}
#: The forms of which `order` is the only freedom.
POLYNOMIAL = tuple(form for form in forms.FORMS if form not in ("bins by default", "splines"))


def rounding(call):
    """What rounding may add to a loss: it grows with the F_b squared, which weights of both signs take beyond 1."""
    return 3e-12 * (np.abs(call.weight).sum() / call.weight.sum()) ** 2


# ------------------------------------------------------------------ sign, zeros


@given(calls(unbiased=False))
def test_the_plain_loss_is_not_negative(call):
    """J is a sum of squares."""
    assert call() > -rounding(call)


@given(st.integers(0, 16), st.data())
def test_the_plain_loss_is_not_negative_where_bins_are_hardly_more_than_coefficients(order, data):
    # Bins of very different widths: they are fitted, or refused.
    inner = data.draw(st.sets(st.integers(1, 255), min_size=order, max_size=order + 2))
    edges = np.array([0, *sorted(inner), 256]) / 256
    bins = len(edges) - 1
    offset = np.array(data.draw(st.lists(st.floats(0, 0.9), min_size=2 * bins, max_size=2 * bins)))
    mass = np.tile(edges[:-1], 2) + offset * np.tile(np.diff(edges), 2)
    score = np.array(data.draw(st.lists(st.integers(1, 9), min_size=2 * bins, max_size=2 * bins))) / 10
    try:
        loss = libmode.mode_loss(score, mass, edges=edges, order=order, moments="projection", unbiased=False)
    except ValueError as error:
        assert "nearly coincide" in str(error)
    else:
        assert loss > -1e-12


KNOTS = [0.3, 0.55]
KINDS = {
    "edges": {"edges": [0, 0.05, 0.1, 0.3, 0.35, 0.6, 0.8, 1]},
    "quantile": {"bins": 9},
    "uniform": {"binning": "uniform", "bins": 6},
    "values": {"binning": "values"},
    "splines": {"knots": KNOTS, "bins": 10},
    "joint": {"joint": True, "binning": "uniform", "bins": (4, 4)},
    "joint, quantile": {"joint": True, "bins": (4, 4)},
}


def allowed(kind, order, mass):
    """The functions of the mass, in [0, 1], that cost nothing: a row for each."""
    if kind == "splines":
        return bsplines(mass, KNOTS, order, (0, 1)).astype(float)
    if "joint" in kind:
        (x, y), degrees = 2 * mass.T - 1, np.ndindex(order + 1, order + 1)
        return np.array([x**a * y**b for a, b in degrees if a + b <= order])
    return np.array([(2 * mass - 1) ** a for a in range(order + 1)])


def response(kind, order, rng):
    """A call of a response that is a function of the mass which costs nothing, at each of a few scores."""
    mass = (np.arange(60) + rng.random(60)) / 60  # so that no bin is empty
    if "joint" in kind:
        mass = np.column_stack([mass, rng.random(60)])
    mass[0], mass[-1] = 0, 1
    rows = allowed(kind, order, mass)
    functions = rng.uniform(-1, 1, (rng.integers(1, 5), len(rows))) @ rows
    functions /= np.abs(functions).max()
    size = rng.choice([0.25, 1.0, 3.0], len(mass))
    steps = np.diff(np.vstack([0 * size, functions, 1 + 0 * size]), axis=0)
    events = {
        "score": np.repeat(np.arange(1, len(steps) + 1) / (len(steps) + 1), len(mass)),
        "mass": np.concatenate([mass] * len(steps)),
        "weight": (size * steps).ravel(),
    }
    degree = {"degree": order} if kind == "splines" else {"order": order}
    return Call(events, KINDS[kind] | degree | {"unbiased": False})


@settings(max_examples=200)
@given(st.sampled_from(list(KINDS)), st.integers(0, 3), forms.seeds)
def test_a_response_of_the_order_costs_nothing(kind, order, rng):
    """With projection moments the polynomials are averaged over the events of each bin as the response is.

    So the fit meets it, whatever the bins, the density inside them and the signs of the weights.
    """
    assert abs(response(kind, order, rng)()) < 1e-13


@pytest.mark.parametrize("kind", KINDS)
def test_a_response_of_a_higher_order_costs_something(kind):
    call = response(kind, 2, np.random.default_rng(4))
    lower = {"knots": [0.45]} if kind == "splines" else {"order": 1}
    assert call.given(**lower)() > 1e-6


# -------------------------------------------------------------------- freedom


@few
@given(calls(forms=POLYNOMIAL, unbiased=False, moments="projection", **NO_BOUNDS))
def test_a_higher_order_never_has_a_larger_loss(call):
    """The polynomials of the lower order are among those of the higher."""
    losses = [call.given(order=order)() for order in range(min(call.options["order"], 4) + 1)]
    assert np.diff(losses).max(initial=-1) <= rounding(call)


# ---------------------------------------------------------------------- bounds

BINNED = {"unbiased": False, "moments": "projection", "monotonic": False, "slope_penalty": 0.0}


@few
@given(calls(forms=["quantile", "uniform", "edges"], order=2, max_slope=None, **BINNED))
def test_a_tighter_bound_on_the_slope_never_has_a_smaller_loss(call):
    """t tanh(c_1/t) grows with t towards c_1, and J with the square of what is missing to the fit."""
    losses = [call.given(max_slope=slope)() for slope in (None, 100.0, 1.0, 0.3, 0.1, 1e-3, 1e-9)]
    assert np.diff(losses).min() >= -rounding(call)


@few
@given(calls(forms=["quantile", "uniform", "edges"], order=2, slope_penalty=0.0))
def test_a_larger_penalty_never_has_a_smaller_loss(call):
    """The loss is linear in `slope_penalty`, and so is the bias."""
    losses = np.array([call.given(slope_penalty=penalty)() for penalty in (0.0, 1.0, 2.0, 4.0)])
    if not call.options["unbiased"]:
        assert np.diff(losses).min() >= -rounding(call)
    assert losses[2:] - losses[0] == pytest.approx((losses[1] - losses[0]) * np.array([2, 4]), abs=rounding(call))


def moments_of(call):
    """What mode_moments finds at every score of the events."""
    return call(libmode.mode_moments, at=np.unique(call.events["score"]))


FINE = np.linspace(-1, 1, 2001)
SLOPES = {"forms": ["quantile", "uniform", "edges"], "parts": False}


@settings(max_examples=100)
@given(calls(monotonic=True, order=2, **SLOPES), st.integers(2, 16))
def test_a_monotonic_response_has_no_extremum_inside(call, order):
    """|P_l'| is at most l (l + 1)/2 on [-1, 1], and |c~_l| at most |c~_1| over that and over order - 1."""
    if "edges" in call.options:
        order = min(order, 5)
    else:  # quantile bins, of which none is empty
        call = call.given(binning=None, bins=order + 3)
    if order > 8:  # of so few events the polynomials nearly coincide in a fit
        call = call.given(moments="quadrature")
    try:
        bounded = moments_of(call.given(order=order)).bounded
    except libmode.BatchError:  # a bin has canceled
        reject()
    steps = np.diff(legval(FINE, bounded.T), axis=1)
    sign = np.sign(bounded[:, 1:2])
    assert (steps * sign >= -1e-15 * np.abs(bounded).sum(axis=1, keepdims=True)).all()
    assert (np.abs(steps).max(axis=1, where=sign == 0, initial=0) == 0).all()


@few
@given(calls(order=2, max_slope=0.1, **SLOPES), st.floats(1e-6, 1e3))
def test_max_slope_bounds_the_slope(call, bound):
    """With `max_slope` = a the slope c~_1 is t tanh(c_1/t), where t is a |c_0|, or a |1 - c_0| of the selected events."""
    found = moments_of(call.given(max_slope=bound))
    c_0, c_1, bounded = found.moments[:, 0], found.moments[:, 1], found.bounded[:, 1]
    limit = bound * np.abs(1 - c_0 if call.options["slope_of"] == "selected" else c_0)
    assert (np.abs(bounded) <= np.minimum(limit, np.abs(c_1)) * (1 + 1e-14)).all()
    assert (bounded * c_1 >= 0).all()
