"""Every form of a call: its loss and gradient by the definition, whose events it reads, and what costs nothing.

A docstring gives the reason.
"""

import forms
import libmode
import numpy as np
import pytest
from definition import loss_of
from forms import Call, calls, seeds
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from numpy.polynomial.legendre import legval
from reference import MP

few = settings(max_examples=50)

# ----------------------------------------------------------- the loss and its gradient


def record_of(call):
    """The call as a record of tests/golden, which the definition takes."""
    options = {"moments": "projection", "unbiased": True, "binning": "quantile"} | call.options
    if "edges" in options:
        options["binning"] = "edges"
    if isinstance(options.get("bins"), tuple):
        options["bins"] = list(options["bins"])
    events = {name: array.tolist() for name, array in call.events.items()}
    return {"weight": None, "label": None, "options": options} | events


@given(calls(forms=[form for form in forms.FORMS if form != "bins by default"], scores=["tied"]))
def test_the_loss_of_every_form_is_the_one_of_the_definition(call):
    with MP.workdps(60):
        want = float(loss_of(record_of(call)))
    assert call() == pytest.approx(want, rel=1e-10, abs=1e-13)


def differentiable(score, options):
    """The events whose gradient is a mean of derivatives, (n,): those apart, and all without bounds."""
    bounded = options.get("max_slope") is not None or options.get("monotonic", False)
    _, place, counts = np.unique(score, return_inverse=True, return_counts=True)
    return (counts[place] == 1) | (not bounded)


@few
@given(calls(), seeds)
def test_the_gradient_of_every_form_agrees_with_central_differences(call, rng):
    """Between the scores at which events meet the loss is linear in each score; at ties it is the mean of both sides."""
    score = call.events["score"]
    loss, grad = call(libmode.mode_loss_and_grad)
    step = 1 / 2**15  # the smallest gap is eight times as wide
    inside = np.flatnonzero((score > 0) & (score < 1) & differentiable(score, call.options))
    chosen = rng.choice(inside, min(len(inside), 12), replace=False)
    found = []
    for i in chosen:
        moved = [score.copy(), score.copy()]
        moved[0][i] += step
        moved[1][i] -= step
        found.append((call.given(score=moved[0])() - call.given(score=moved[1])()) / (2 * step))
    np.testing.assert_allclose(grad[chosen], found, rtol=0, atol=1e-7 * np.abs(grad).max() + 1e-9 * max(1, abs(loss)))


@few
@given(calls(), seeds)
def test_events_of_other_labels_are_never_looked_at(call, rng):
    """To the last bit, whatever their score, mass, weight and category."""
    n = len(call.weight)
    if "label" not in call.events:
        call = call.given(label=np.zeros(n))
    call = call.given(label=call.events["label"].astype(float))
    at, bad = rng.integers(0, n + 1), np.array([np.nan, np.inf, -np.inf, 7.0])
    bad_masses = bad if call.events["mass"].ndim == 1 else bad[:, None]
    of = {"mass": bad_masses, "label": [9, -1, 0.5, 2.0**40], "category": [5, 6, 0, 1]}
    more = {name: np.insert(array, at, of.get(name, bad), axis=0) for name, array in call.events.items()}
    want, found = (one(libmode.mode_evaluate, hess=True) for one in (call, Call(more, call.options)))
    np.testing.assert_equal(found[:3], want[:3])  # a bias that is not known is NaN
    for own, expected in zip(found[3:], want[3:], strict=True):
        np.testing.assert_array_equal(own, np.insert(expected, at, [0] * 4))


# ------------------------------------------------------------------- what costs nothing

KINDS = {
    "edges": {"edges": [0, 0.05, 0.1, 0.3, 0.35, 0.6, 0.8, 1]},
    "quantile": {"bins": 9},
    "uniform": {"binning": "uniform", "bins": 6},
    "values": {"binning": "values"},
    "joint": {"joint": True, "binning": "uniform", "bins": (4, 4)},
    "joint, quantile": {"joint": True, "bins": (4, 4)},
}


def allowed(kind, order, mass):
    """The functions of the mass, in [0, 1], that cost nothing: a row for each."""
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
    return Call(events, KINDS[kind] | {"order": order, "unbiased": False})


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
    assert call.given(order=1)() > 1e-6


FINE = np.linspace(-1, 1, 2001)


@settings(max_examples=100)
@given(calls(forms=["quantile", "uniform", "edges"], parts=False, monotonic=True, order=2), st.integers(2, 16))
def test_a_monotonic_response_has_no_extremum_inside(call, order):
    """|P_l'| is at most l (l + 1)/2 on [-1, 1], and |c~_l| at most |c~_1| over that and over order - 1."""
    if "edges" in call.options:
        order = min(order, 5)
    else:  # quantile bins, of which none is empty
        call = call.given(binning=None, bins=order + 3)
    if order > 8:  # of so few events the polynomials nearly coincide in a fit
        call = call.given(moments="quadrature")
    try:
        bounded = call.given(order=order)(libmode.mode_moments, at=np.unique(call.events["score"])).bounded
    except libmode.BatchError:  # a bin has canceled
        reject()
    steps = np.diff(legval(FINE, bounded.T), axis=1)
    sign = np.sign(bounded[:, 1:2])
    assert (steps * sign >= -1e-15 * np.abs(bounded).sum(axis=1, keepdims=True)).all()
    assert (np.abs(steps).max(axis=1, where=sign == 0, initial=0) == 0).all()
