"""What the loss makes of its events: what changes nothing, and what adds up.

A docstring gives a reason, the options under which the property holds, and those under which it does not.
"""

import forms
import libmode
import numpy as np
import pytest
from forms import assert_same, calls, moved, outcome, seeds
from hypothesis import given, reject, settings
from hypothesis import strategies as st

few = settings(max_examples=50)

# ------------------------------------------------------------- order and weights


@few
@given(calls(), seeds)
def test_the_order_of_the_events_does_not_matter(call, rng):
    """The order of the events does not matter: each keeps its own element of the gradient.

    Reason: the loss is made of sums over the events of a bin, and of the order of the scores and of the masses.
    Holds: with all options, up to the rounding of sums; to the last bit for any number of threads, in one order.
    """
    order = rng.permutation(len(call.weight))
    assert_same(outcome(call.rows(order)), outcome(call).rows(order), 1e-11, 1e-13)


@few
@given(calls(), st.floats(-250, 250))
def test_a_common_factor_of_the_weights_does_not_matter(call, power):
    """A positive factor, common to all weights, does not matter.

    Reason: weights enter as w_i / W_b, in the bias as T_b / W_b^2, and as the shares of categories: all of degree 0.
    Holds: with all options, for factors from 1e-250 to 1e250 and weights of either sign.
    """
    assert_same(outcome(call.given(weight=10.0**power * call.weight)), outcome(call))


@few
@given(calls(forms=forms.GIVEN, score_range=(0, 1)), seeds)
def test_events_of_weight_0_count_nothing(call, rng):
    """Events of weight 0 change nothing, and have gradient 0.

    Reason: they add 0 to every sum.
    Holds: with bins that do not depend on the number of events: `edges`, uniform bins of a `mass_range`, and
    `binning="values"` if no value has such events alone.
    Not: quantile bins are made of ranks, in which every event counts once; the ends of `score_range=None` are scores
    of events whatever their weights.
    """
    n = len(call.weight)
    more = rng.choice(n, n // 3)
    wider = call.rows(np.append(np.arange(n), more))
    wider = wider.given(
        score=np.append(call.events["score"], rng.random(len(more))), weight=np.append(call.weight, 0 * more)
    )
    found, alone = wider(libmode.mode_evaluate), call(libmode.mode_evaluate)
    assert found.loss == pytest.approx(alone.loss, rel=1e-10, abs=1e-13)
    assert found.bias == pytest.approx(alone.bias, rel=1e-10, abs=1e-13)
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
    """An event of weight 2 counts as two of weight 1; an event may be split in any way, into parts of negative weight too.

    Reason: the plain loss knows the events only through the sums of their weights up to a score.
    Holds: with `unbiased=False` and bins that do not depend on the number of events: `edges`, uniform bins of a
    `mass_range`, values.
    Not: with `unbiased`, two events tell more than one of twice the weight, see the next; quantile bins count events.
    """
    choices = [*PARTS, (1.5, -0.5), (1.0, 1.0, -1.0)]
    parts = [choices[k] for k in rng.integers(0, len(choices), len(call.weight))]
    assert split(call, parts)[0]() == pytest.approx(call(), rel=1e-10, abs=1e-13)


@few
@given(calls(forms=forms.GIVEN, unbiased=False, max_slope=None, monotonic=False, moments="projection"), seeds)
def test_the_gradient_of_an_event_is_the_sum_of_those_of_its_parts(call, rng):
    """The gradient of an event is the sum of those of the parts into which it is split.

    Reason: to move all of the parts is to move the event. At a tie each crosses the middle, and where J is quadratic
    in the F_b what they change adds up.
    Holds: where the loss may be split, without `max_slope` and `monotonic`, and with projection moments.
    Not: with a bound J is not quadratic, and what the parts change about the middle does not add up; with
    quadrature and `score_range=None` the highest score, which ends the integral, counts by the number of its events.
    """
    parts = [PARTS[k] for k in rng.integers(0, len(PARTS), len(call.weight))]
    many, of = split(call, parts)
    grad = call(libmode.mode_loss_and_grad)[1]
    summed = np.bincount(of, many(libmode.mode_loss_and_grad)[1])
    np.testing.assert_allclose(summed, grad, rtol=0, atol=1e-10 * np.abs(grad).max() + 1e-13)


@few
@given(calls(forms=forms.GIVEN, weights=["none"], unbiased=True, max_slope=None, monotonic=False))
def test_two_halves_of_each_event_halve_the_bias(call):
    """With all events in two halves, what `unbiased` subtracts is about half: they count as twice as many.

    Reason: the bias is a sum of variances of the F_b, which for n_b equal weights are F_b (1 - F_b) / (n_b - 1). The
    halves of an event are taken for two events, which by chance have the same score and mass.
    Holds: for equal weights, without `max_slope` and `monotonic`: n - 1 of a bin becomes 2n - 1, so the factor lies
    between 1/3 (two events) and 1/2.
    """
    bias = call(libmode.mode_evaluate).bias
    halved = split(call, [(0.5, 0.5)] * len(call.weight))[0](libmode.mode_evaluate).bias
    assert bias / 3 * (1 - 1e-9) <= halved <= bias / 2 * (1 + 1e-9)


# ----------------------------------------------------------------------- masses

#: Origins and units, of the size of what float64 holds among them.
UNITS = st.sampled_from([(-3.0, 0.25), (64.0, 8.0), (0.0, 256.0), (0.0, 2.0**-1040), (0.0, 2.0**1000)])


def in_other_units(call, maps):
    """The call with masses a + b m, and limits alike; (a, b) for each variable."""
    mass, options = call.events["mass"], call.options
    a, b = np.array(maps[: 1 if mass.ndim == 1 else mass.shape[1]]).T
    changed = {
        name: moved(options[name], list(zip(a, b, strict=True))) for name in forms.IN_UNITS_OF_MASS if name in options
    }
    return call.given(mass=a + b * mass, **changed)


@few
@given(calls(), UNITS, UNITS)
def test_unit_and_origin_of_the_mass_do_not_matter(call, first, second):
    """Masses in other units, or from another origin, with `mass_range`, `edges` and `knots` alike, have the same loss.

    Reason: masses are mapped from their range to [-1, 1] before they enter a polynomial, and bins are compared with
    them in their own unit.
    Holds: with all options, for each of several variables by itself. A mass that lies at an edge within its rounding
    may change its bin where the new unit rounds it.
    """
    assert_same(outcome(in_other_units(call, [first, second])), outcome(call), 1e-9)


def off_the_masses(value):
    """Limits of which the inner ones are moved to where no mass is, for one variable or each of several."""
    if value and isinstance(value[0], list):
        return [off_the_masses(own) for own in value]
    return [value[0], *(edge + 0.25 / forms.TICKS for edge in value[1:-1]), value[-1]]


@few
@given(calls(forms=["edges", "values", "variables with edges", "cells of a grid"]))
def test_the_mass_may_be_reflected(call):
    """The mass may be reflected: m to -m, with the limits.

    Reason: P_l(-x) is P_l(x) or -P_l(x), and the bounds look at absolute values.
    Holds: with given edges on which no mass lies, values; and with quantile bins of distinct masses where
    their number divides that of the events.
    Not: a mass on an edge belongs to the bin above; ranks that are rounded down, and bins that are merged from the
    lowest mass on, see which end is the lower one.
    """
    if "edges" in call.options:
        call = call.given(edges=off_the_masses(call.options["edges"]))
    assert_same(outcome(in_other_units(call, [(0, -1), (0, -1)])), outcome(call), 1e-9)


@few
@given(calls(forms=["quantile", "uniform", "edges", "splines"], parts=False), st.floats(0, 8))
def test_events_outside_the_mass_range_do_not_matter(call, mass):
    """Events outside `mass_range`, or the given edges, change nothing, and have gradient exactly 0.

    Reason: they take no part; a variable of several that lies outside its own range takes no part in its loss alone.
    Holds: with all options.
    Not: the shares of categories are made of all selected events, those outside among them.
    """
    n = len(call.weight)
    edges = call.options.get("edges") or call.options.get("mass_range") or (0.5, 3.0)
    far = np.where(np.arange(30) % 2, edges[0] - 0.5 - mass, edges[-1] + 0.5 + mass)
    if "edges" not in call.options:
        call = call.given(mass_range=(edges[0], edges[-1]))
    inside = (call.events["mass"] >= edges[0]) & (call.events["mass"] <= edges[-1])
    call = call.rows(np.flatnonzero(inside))
    n = len(call.weight)
    wider = call.rows(np.append(np.arange(n), np.arange(30) % n))
    found = outcome(wider.given(mass=np.append(call.events["mass"], far)))
    assert_same(found.rows(np.arange(n)), outcome(call))
    assert (found.grad[n:] == 0).all() and (found.hess[n:] == 0).all()


# ----------------------------------------------------------------------- scores


@few
@given(calls(), st.sampled_from([(-8.0, 0.25), (0.5, 1.0), (1024.0, 512.0), (0.0, 2.0**-900), (0.0, 2.0**900)]))
def test_scores_may_be_shifted_and_scaled(call, a_b):
    """Scores a + b s, with b > 0 and their range alike, have b times the loss, and the same gradient.

    Reason: the loss is an integral over the scores of what depends on their order alone.
    Holds: with all options; with `score_range=None`, whose ends are the lowest and the highest score, a shift alone
    changes nothing.
    """
    shift, factor = a_b
    ends = call.options["score_range"]
    ends = None if ends is None else tuple(shift + factor * end for end in ends)
    found = outcome(call.given(score=shift + factor * call.events["score"], score_range=ends))
    want = outcome(call)
    found = found._replace(loss=found.loss / factor, bias=found.bias / factor, hess=found.hess * factor)
    assert_same(found, want, 1e-9)


@few
@given(calls(score_range=(0, 1)), seeds)
def test_the_gradient_depends_on_the_order_of_the_scores_alone(call, rng):
    """The gradient depends on the order of the scores alone: any increasing map of them leaves it as it is.

    Reason: an element is the difference of J below and above its score, and J depends on which events are below.
    Holds: with all options, at scores that reach the ends of `score_range` too, where J is taken as going on outside.
    Not: the loss itself, and the curvature, depend on the scores.
    """
    distinct, rank = np.unique(call.events["score"], return_inverse=True)
    other = np.sort(rng.random(len(distinct)))
    other[rng.choice([0, -1])] = rng.choice([0, 1])
    moved = call.given(score=np.sort(other)[rank])
    grad = call(libmode.mode_loss_and_grad)[1]
    np.testing.assert_allclose(
        moved(libmode.mode_loss_and_grad)[1], grad, rtol=0, atol=1e-10 * np.abs(grad).max() + 1e-13
    )


@few
@given(calls(moments="projection"))
def test_reversed_scores_have_the_same_loss(call):
    """Scores -s, with their range, have the same loss and the opposite gradient; `slope_of` changes its two values.

    Reason: F_b becomes 1 - F_b. A constant costs nothing, so that residuals change their sign alone; the fraction
    below a score becomes that above it.
    Holds: with projection moments and all other options.
    Not: the quadrature of a constant has moments of its own from order 2 on, so that 1 - F_b has other residuals; the
    strips of scores in which the curvature is found are cut from the lowest score on.
    """
    other = {"rejected": "selected", "selected": "rejected"}
    ends = call.options["score_range"]
    changed = {"score": -call.events["score"], "score_range": None if ends is None else (-ends[1], -ends[0])}
    if "slope_of" in call.options:
        changed["slope_of"] = other[call.options["slope_of"]]
    want = outcome(call)
    assert_same(outcome(call.given(**changed)), want._replace(grad=-want.grad), 1e-9, hess=False)


# ----------------------------------------------- labels, categories, variables


@few
@given(calls(), st.data())
def test_events_of_other_labels_are_never_looked_at(call, data):
    """Events of other labels change nothing, to the last bit, whatever their score, mass, weight and category.

    Reason: they are never looked at; their gradient is exactly 0.
    Holds: with all options.
    """
    n = len(call.weight)
    if "label" not in call.events:
        call = call.given(label=np.zeros(n))
    at = data.draw(st.integers(0, n))
    bad = np.array([np.nan, np.inf, -np.inf, 7.0])
    bad_masses = bad if call.events["mass"].ndim == 1 else bad[:, None]
    of = {"mass": bad_masses, "label": [9, -1, 0.5, np.nan], "category": [5, 6, 0, 1]}
    call = call.given(label=call.events["label"].astype(float))
    more = {name: np.insert(array, at, of.get(name, bad), axis=0) for name, array in call.events.items()}
    found, want = outcome(forms.Call(more, call.options)), outcome(call)
    there = np.delete(np.arange(n + 4), range(at, at + 4))
    assert_same(found.rows(there), want, 0, 0)
    assert (found.grad[at : at + 4] == 0).all() and (found.hess[at : at + 4] == 0).all()


def assert_added_up(call, parts, hess=True):
    """That loss, bias, gradient and curvature are the sums of those of parts: calls with their events' places and a factor."""
    n = len(call.weight)
    loss, bias, grad, hesses = 0.0, 0.0, np.zeros(n), np.zeros(n)
    for part, place, factor in parts:
        own = outcome(part)
        loss, bias = loss + factor * own.loss, bias + factor * own.bias
        grad[place] += factor * own.grad
        hesses[place] += factor * own.hess
    found = outcome(call)
    assert_same(found, forms.Outcome(loss, bias, found.effective, grad, hesses), hess=hess)


@few
@given(calls(parts=False), seeds)
def test_the_loss_of_several_labels_is_the_sum_of_their_losses(call, rng):
    """The loss of several background labels is the sum of their losses, each of its events alone.

    Reason: that is its definition: each label has bins, moments and a bias of its own.
    Holds: with all options.
    """
    label = rng.integers(0, 3, len(call.weight))
    rows = {value: np.flatnonzero(label == value) for value in (0, 2)}
    both = call.given(label=label, background_label=(2, 0))
    usable(both)
    assert_added_up(both, [(call.rows(place), place, 1.0) for place in rows.values()])


@few
@given(calls(parts=False), seeds)
def test_the_loss_of_categories_is_the_mean_of_their_losses(call, rng):
    """The loss of several categories is the mean of their losses, each of its events alone, with their weights as shares.

    Reason: that is its definition.
    Holds: with all options, for integers of any value as categories.
    """
    category = rng.integers(-1, 2, len(call.weight)) * 2**40
    parts = []
    for value in np.unique(category):
        place = np.flatnonzero(category == value)
        parts.append((call.rows(place), place, call.weight[place].sum() / call.weight.sum()))
    several = call.given(category=category)
    usable(several)
    assert_added_up(several, parts)


def usable(call):
    """Draws again where a bin of a part has canceled."""
    try:
        outcome(call)
    except libmode.BatchError:
        reject()


@few
@given(calls(), st.integers(-(2**63), 2**63 - 1))
def test_one_category_is_none(call, value):
    """One category, whatever its number, is as none, to the last bit.

    Reason: its share is 1, and its bins are those of all events.
    Holds: with all options.
    """
    call = call.given(category=None) if "category" in call.events else call
    usable(call)
    assert_same(outcome(call.given(category=np.full(len(call.weight), value))), outcome(call), 0, 0)


@few
@given(calls(forms=["variables", "variables with edges"], parts=False))
def test_the_loss_of_several_variables_is_the_mean_of_their_losses(call):
    """The loss of several variables, one by one, is the mean of those of each alone, of the events that have it.

    Reason: that is its definition.
    Holds: with all options but `joint`; a variable of which no event has a value is left out.
    Not: the curvature, whose strips of scores have the events that lack a variable too.
    """
    parts = []
    for k, column in enumerate(call.events["mass"].T):
        own = {name: call.options[name][k] for name in ("bins", "mass_range", "edges") if name in call.options}
        parts.append((call.given(mass=column, **own), np.arange(len(column)), 0.5))
    assert_added_up(call, parts, hess=False)


# ------------------------------------------------------------ where it does not hold
