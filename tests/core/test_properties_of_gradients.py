"""The gradient: what it is and what it adds up to. A docstring gives the reason; the strategy has the options."""

import golden
import libmode
import numpy as np
import pytest
from forms import calls, seeds
from hypothesis import given, settings

few = settings(max_examples=50)


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


FLAT_ENDS = {"moments": "projection"}


@few
@given(calls(scores=["apart"], **FLAT_ENDS))
def test_the_gradient_adds_up_to_zero(call):
    """A common shift moves the steps of J, which is 0 below the lowest score and above the highest, where every F_b is 1."""
    grad = call(libmode.mode_loss_and_grad)[1]
    assert abs(grad.sum()) < 1e-11 * np.abs(grad).sum() + 1e-13


@few
@given(
    calls(
        forms=["quantile", "uniform", "edges"], moments="quadrature", scores=["apart"], parts=False, score_range=(0, 1)
    )
)
def test_with_quadrature_the_gradient_adds_up_to_what_a_constant_costs(call):
    """From order 2 on the constant 1 has moments in quadrature that are not (1, 0, ..., 0)."""
    found = call(libmode.mode_moments, at=[1.0])
    x = 2 * (found.edges - found.edges[0]) / (found.edges[-1] - found.edges[0]) - 1
    fit = np.polynomial.legendre.legval((x[1:] + x[:-1]) / 2, found.bounded[0])
    top = ((1 - fit) ** 2).sum()
    if call.options["order"] >= 1:
        top += call.options["slope_penalty"] * found.moments[0, 1] ** 2
    grad = call(libmode.mode_loss_and_grad)[1]
    scale = len(fit) if call.options["reduction"] == "mean" else 1
    assert grad.sum() == pytest.approx(-top / scale, abs=1e-11 * np.abs(grad).sum() + 1e-12)


@few
@given(calls(scores=["apart"], **FLAT_ENDS))
def test_the_loss_is_the_sum_of_the_scores_times_their_gradients(call):
    """The loss is of degree 1 in the scores: scores k s, with their range, have k times the loss (Euler)."""
    loss, grad = call(libmode.mode_loss_and_grad)
    score = call.events["score"]
    assert loss == pytest.approx(score @ grad, abs=1e-11 * np.abs(score * grad).sum() + 1e-13)


@few
@given(calls(score_range=(0, 1)))
def test_the_gradient_does_not_depend_on_the_ends_of_the_range(call):
    """An element is a difference of J at its score, and J is taken as going on outside."""
    score = call.events["score"].copy()
    score[score == score.min()], score[score == score.max()] = 0, 1
    inside, wider = (
        call.given(score=score, score_range=ends)(libmode.mode_loss_and_grad)[1] for ends in ((0, 1), (-1, 3))
    )
    golden.assert_close(inside, wider, 1e-10, 1e-12)
