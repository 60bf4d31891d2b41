"""Every form of a call: its loss and gradient by the definition, what changes nothing, and what costs nothing.

A docstring gives the reason.
"""

import forms
import libmode
import numpy as np
import pytest
from basis import bsplines
from definition import loss_of
from forms import Call, calls, moved, outcome, seeds
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


# ------------------------- what changes nothing: the outcome of a changed call, and what it must be


def permuted(call, rng):
    """The order of the events does not matter: the loss is made of sums, and of the order of scores and masses."""
    order = rng.permutation(len(call.weight))
    return outcome(call.rows(order)), outcome(call).rows(order)


def weights_times_a_factor(call, rng):
    """A positive factor of all weights does not matter: they enter as w_i / W_b, T_b / W_b^2 and shares of categories."""
    return outcome(call.given(weight=10.0 ** rng.uniform(-250, 250) * call.weight)), outcome(call)


def in_units(call, maps):
    """The call with masses a + b m, and limits alike; (a, b) for each variable."""
    mass, options = call.events["mass"], call.options
    a, b = np.array(maps[: 1 if mass.ndim == 1 else mass.shape[1]]).T
    changed = {
        name: moved(options[name], list(zip(a, b, strict=True))) for name in forms.IN_UNITS_OF_MASS if name in options
    }
    return call.given(mass=a + b * mass, **changed)


UNITS = [(-3.0, 0.25), (64.0, 8.0), (0.0, 256.0), (0.0, 2.0**-1040), (0.0, 2.0**1000)]


def masses_in_other_units(call, rng):
    """Unit and origin of the masses do not matter, limits alike: they are mapped to [-1, 1], and bins have their unit."""
    return outcome(in_units(call, rng.choice(UNITS, 2))), outcome(call)


def events_outside_the_range(call, rng):
    """Events outside `mass_range`, or the given edges, change nothing, and have gradient 0: they take no part."""
    edges = call.options.get("edges") or call.options.get("mass_range") or (0.5, 3.0)
    far = np.where(np.arange(30) % 2, edges[0] - 0.5 - rng.exponential(), edges[-1] + 0.5 + rng.exponential())
    if "edges" not in call.options:
        call = call.given(mass_range=(edges[0], edges[-1]))
    call = call.rows(np.flatnonzero((call.events["mass"] >= edges[0]) & (call.events["mass"] <= edges[-1])))
    n = len(call.weight)
    wider = call.rows(np.append(np.arange(n), np.arange(30) % n))
    found = outcome(wider.given(mass=np.append(call.events["mass"], far)))
    assert (found.grad[n:] == 0).all() and (found.hess[n:] == 0).all()
    return found.rows(np.arange(n)), outcome(call)


def scores_shifted_and_scaled(call, rng):
    """Scores a + b s and their range have b times the loss: an integral over them of what depends on their order alone."""
    shift, factor = rng.choice([(-8.0, 0.25), (0.5, 1.0), (1024.0, 512.0), (0.0, 2.0**-900), (0.0, 2.0**900)])
    ends = call.options["score_range"]
    ends = None if ends is None else tuple(shift + factor * end for end in ends)
    found = outcome(call.given(score=shift + factor * call.events["score"], score_range=ends))
    found = found._replace(loss=found.loss / factor, bias=found.bias / factor, hess=found.hess * factor)
    return found, outcome(call)


def events_of_other_labels(call, rng):
    """Events of other labels are never looked at: to the last bit, whatever their score, mass, weight and category."""
    n = len(call.weight)
    if "label" not in call.events:
        call = call.given(label=np.zeros(n))
    at, bad = rng.integers(0, n + 1), np.array([np.nan, np.inf, -np.inf, 7.0])
    bad_masses = bad if call.events["mass"].ndim == 1 else bad[:, None]
    of = {"mass": bad_masses, "label": [9, -1, 0.5, np.nan], "category": [5, 6, 0, 1]}
    call = call.given(label=call.events["label"].astype(float))
    more = {name: np.insert(array, at, of.get(name, bad), axis=0) for name, array in call.events.items()}
    found = outcome(forms.Call(more, call.options))
    assert (found.grad[at : at + 4] == 0).all() and (found.hess[at : at + 4] == 0).all()
    return found.rows(np.delete(np.arange(n + 4), range(at, at + 4))), outcome(call)


def one_category(call, rng):
    """One category, whatever its number, is as none, to the last bit: its share is 1, and its bins are those of all."""
    call = call.given(category=None) if "category" in call.events else call
    try:
        want = outcome(call)
    except libmode.BatchError:  # a bin of all has canceled
        reject()
    return outcome(call.given(category=np.full(len(call.weight), rng.integers(-(2**63), 2**63 - 1)))), want


#: Each with the tolerance and the floor of forms.assert_same, and the calls for which it holds.
SAME = {
    permuted: (1e-11, 1e-13, calls()),
    weights_times_a_factor: (1e-10, 1e-12, calls()),
    masses_in_other_units: (1e-9, 1e-12, calls()),
    events_outside_the_range: (1e-10, 1e-12, calls(forms=["quantile", "uniform", "edges", "splines"], parts=False)),
    scores_shifted_and_scaled: (1e-9, 1e-12, calls()),
    events_of_other_labels: (0, 0, calls()),
    one_category: (0, 0, calls()),
}


@pytest.mark.parametrize("change", SAME, ids=lambda change: change.__name__)
@few
@given(st.data(), seeds)
def test_the_outcome_is_the_same(change, data, rng):
    tolerance, floor, strategy = SAME[change]
    forms.assert_same(*change(data.draw(strategy), rng), tolerance, floor)


# ------------------------------------------------------------------- what costs nothing

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
