"""What the loss makes of its events: what changes nothing, and what adds up. A docstring gives the reason."""

import forms
import libmode
import numpy as np
import pytest
from forms import calls, moved, outcome, seeds
from hypothesis import given, reject, settings
from hypothesis import strategies as st

few = settings(max_examples=50)


def usable(call):
    """The outcome; draws again where a bin of a part has canceled."""
    try:
        return outcome(call)
    except libmode.BatchError:
        reject()


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


def off_the_masses(value):
    """Limits of which the inner ones are moved to where no mass is, for one variable or each of several."""
    if value and isinstance(value[0], list):
        return [off_the_masses(own) for own in value]
    return [value[0], *(edge + 0.25 / forms.TICKS for edge in value[1:-1]), value[-1]]


def masses_reflected(call, rng):
    """Masses -m, with their limits, change nothing: P_l(-x) is P_l(x) or -P_l(x), and bounds look at absolute values.

    With given edges on which no mass lies, and values. Not: a mass on an edge belongs to the bin above, and ranks that are
    rounded down, or bins that are merged, see which end is the lower one.
    """
    if "edges" in call.options:
        call = call.given(edges=off_the_masses(call.options["edges"]))
    return outcome(in_units(call, [(0, -1), (0, -1)])), outcome(call)


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


def scores_reversed(call, rng):
    """Scores -s, with their range, have the same loss and the opposite gradient; `slope_of` changes its two values.

    F_b becomes 1 - F_b, and a constant costs nothing. With projection moments: in quadrature a constant has moments of its
    own from order 2 on. Not the curvature, whose strips of scores are cut from the lowest score on.
    """
    ends = call.options["score_range"]
    changed = {"score": -call.events["score"], "score_range": None if ends is None else (-ends[1], -ends[0])}
    if "slope_of" in call.options:
        changed["slope_of"] = {"rejected": "selected", "selected": "rejected"}[call.options["slope_of"]]
    want = outcome(call)
    return outcome(call.given(**changed))._replace(hess=want.hess), want._replace(grad=-want.grad)


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
    want = usable(call)
    return outcome(call.given(category=np.full(len(call.weight), rng.integers(-(2**63), 2**63 - 1)))), want


def added_up(found, parts):
    """An outcome, and the sums over parts: calls with their events' places and a factor."""
    n = len(found.grad)
    loss, bias, grad, hess = 0.0, 0.0, np.zeros(n), np.zeros(n)
    for part, place, factor in parts:
        own = outcome(part)
        loss, bias = loss + factor * own.loss, bias + factor * own.bias
        grad[place] += factor * own.grad
        hess[place] += factor * own.hess
    return found, forms.Outcome(loss, bias, found.effective, grad, hess)


def several_labels(call, rng):
    """The loss of several background labels is the sum of their losses, each of its events alone: by definition."""
    label = rng.integers(0, 3, len(call.weight))
    rows = {value: np.flatnonzero(label == value) for value in (0, 2)}
    found = usable(call.given(label=label, background_label=(2, 0)))
    return added_up(found, [(call.rows(place), place, 1.0) for place in rows.values()])


def several_categories(call, rng):
    """The loss of categories is the mean of their losses, each of its events alone, with their weights as shares."""
    category = rng.integers(-1, 2, len(call.weight)) * 2**40
    found, parts = usable(call.given(category=category)), []
    for value in np.unique(category):
        place = np.flatnonzero(category == value)
        parts.append((call.rows(place), place, call.weight[place].sum() / call.weight.sum()))
    return added_up(found, parts)


def several_variables(call, rng):
    """The loss of several variables, one by one, is the mean of those of each alone, of the events that have it.

    Not the curvature, whose strips of scores have the events that lack a variable too.
    """
    found, parts = outcome(call), []
    for k, column in enumerate(call.events["mass"].T):
        own = {name: call.options[name][k] for name in ("bins", "mass_range", "edges") if name in call.options}
        parts.append((call.given(mass=column, **own), np.arange(len(column)), 0.5))
    found, want = added_up(found, parts)
    return found, want._replace(hess=found.hess)


WITH_EDGES = ["edges", "values", "variables with edges", "cells of a grid"]
#: Each with the tolerance and the floor of forms.assert_same, and the calls for which it holds.
SAME = {
    permuted: (1e-11, 1e-13, calls()),
    weights_times_a_factor: (1e-10, 1e-12, calls()),
    masses_in_other_units: (1e-9, 1e-12, calls()),
    masses_reflected: (1e-9, 1e-12, calls(forms=WITH_EDGES)),
    events_outside_the_range: (1e-10, 1e-12, calls(forms=["quantile", "uniform", "edges", "splines"], parts=False)),
    scores_shifted_and_scaled: (1e-9, 1e-12, calls()),
    scores_reversed: (1e-9, 1e-12, calls(moments="projection")),
    events_of_other_labels: (0, 0, calls()),
    one_category: (0, 0, calls()),
    several_labels: (1e-10, 1e-12, calls(parts=False)),
    several_categories: (1e-10, 1e-12, calls(parts=False)),
    several_variables: (1e-10, 1e-12, calls(forms=["variables", "variables with edges"], parts=False)),
}


@pytest.mark.parametrize("change", SAME, ids=lambda change: change.__name__)
@few
@given(st.data(), seeds)
def test_the_outcome_is_the_same(change, data, rng):
    tolerance, floor, strategy = SAME[change]
    forms.assert_same(*change(data.draw(strategy), rng), tolerance, floor)


# ---------------------------------------------------------------------- weights


@few
@given(calls(forms=forms.GIVEN, score_range=(0, 1)), seeds)
def test_events_of_weight_0_count_nothing(call, rng):
    """They add 0 to every sum; but quantile bins, and the ends of `score_range=None`, count them."""
    n = len(call.weight)
    more = rng.choice(n, n // 3)
    wider = call.rows(np.append(np.arange(n), more))
    wider = wider.given(
        score=np.append(call.events["score"], rng.random(len(more))), weight=np.append(call.weight, 0 * more)
    )
    found, alone = wider(libmode.mode_evaluate), call(libmode.mode_evaluate)
    assert found[:2] == pytest.approx(alone[:2], rel=1e-10, abs=1e-13)
    assert (found.grad[n:] == 0).all()


def split(call, parts):
    """The call with event i in the place of so many events, whose shares of its weight are parts[i]; and whose they are."""
    of = np.repeat(np.arange(len(parts)), [len(shares) for shares in parts])
    many = call.rows(of)
    return many.given(weight=np.concatenate(parts) * call.weight[of]), of


PARTS = [(1.0,), (0.5, 0.5), (0.25, 0.75), (0.25, 0.25, 0.5)]


@few
@given(calls(forms=forms.GIVEN, unbiased=False), seeds)
def test_an_event_may_be_split(call, rng):
    """The plain loss knows events only through the sums of their weights up to a score."""
    choices = [*PARTS, (1.5, -0.5), (1.0, 1.0, -1.0)]
    parts = [choices[k] for k in rng.integers(0, len(choices), len(call.weight))]
    assert split(call, parts)[0]() == pytest.approx(call(), rel=1e-10, abs=1e-13)


@few
@given(calls(forms=forms.GIVEN, unbiased=False, max_slope=None, monotonic=False, moments="projection"), seeds)
def test_the_gradient_of_an_event_is_the_sum_of_those_of_its_parts(call, rng):
    """To move all of its parts is to move the event, where J is quadratic in the F_b."""
    parts = [PARTS[k] for k in rng.integers(0, len(PARTS), len(call.weight))]
    many, of = split(call, parts)
    grad = call(libmode.mode_loss_and_grad)[1]
    summed = np.bincount(of, many(libmode.mode_loss_and_grad)[1])
    np.testing.assert_allclose(summed, grad, rtol=0, atol=1e-10 * np.abs(grad).max() + 1e-13)


@few
@given(calls(forms=forms.GIVEN, weights=["none"], unbiased=True, max_slope=None, monotonic=False))
def test_two_halves_of_each_event_halve_the_bias(call):
    """The bias is a sum of F_b (1 - F_b) / (n_b - 1): n - 1 of a bin becomes 2n - 1, a factor from 1/3 to 1/2."""
    bias = call(libmode.mode_evaluate).bias
    halved = split(call, [(0.5, 0.5)] * len(call.weight))[0](libmode.mode_evaluate).bias
    assert bias / 3 * (1 - 1e-9) <= halved <= bias / 2 * (1 + 1e-9)


@few
@given(calls(score_range=(0, 1)), seeds)
def test_the_gradient_depends_on_the_order_of_the_scores_alone(call, rng):
    """J depends on which events are below."""
    distinct, rank = np.unique(call.events["score"], return_inverse=True)
    other = np.sort(rng.random(len(distinct)))
    other[rng.choice([0, -1])] = rng.choice([0, 1])
    grad = call(libmode.mode_loss_and_grad)[1]
    found = call.given(score=np.sort(other)[rank])(libmode.mode_loss_and_grad)[1]
    np.testing.assert_allclose(found, grad, rtol=0, atol=1e-10 * np.abs(grad).max() + 1e-13)
