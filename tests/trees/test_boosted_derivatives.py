"""The derivatives of boosted trees against differences of the loss that they are said to be of."""

import libmode
import numpy as np
import pytest
from boosted import data
from libmode import mode_evaluate
from libmode.xgboost import objective
from numpy.testing import assert_allclose


def odds(prob):
    """W of docs/trees.md."""
    return 0.3 * prob / (1.3 - prob)


class Sample:
    """Events with all that an objective can have, and margins that depend on the mass."""

    def __init__(self, events, seed, variables=1):
        rng = np.random.default_rng(seed)
        self.rng = rng
        self.mass = rng.exponential(1.0, (events, variables))
        self.label = rng.choice([0, 1, 2], events)
        self.target = (self.label == 1).astype(float)
        self.weight = rng.normal(1.0, 0.6, events)
        self.category = rng.choice([3, 5], events)
        self.margin = 1.5 * rng.normal(size=events) + self.target - 0.5 * np.tanh(self.mass).sum(axis=1)
        self.data = data(self.margin[:, None], self.target)

    def derivatives(self, margin=None, **given):
        return objective(self.mass, **({"order": 1} | given))(self.margin if margin is None else margin, self.data)

    def loss(self, margin, arguments, options):
        """MoDe of the scores that an objective sees."""
        options = dict(options)
        if options.pop("background_only", True):
            arguments = {"label": self.target, **arguments}
        return libmode.mode_loss(odds(1 / (1 + np.exp(-margin))), self.mass, **arguments, **options)

    def pushed(self, margin, grad, weight=1.0):
        """What is added to the gradient of cross entropy."""
        return grad - weight * (1 / (1 + np.exp(-margin)) - self.target)


CASES = {
    "plain": ((), {"bins": 8, "order": 1}),
    "of weights of both signs": (("weight",), {"bins": 8, "order": 1}),
    "of one background of two": (("label", "weight"), {"bins": 6, "order": 1, "background_label": 2}),
    "of two backgrounds": (("label", "weight"), {"bins": 6, "order": 2, "background_label": [0, 2]}),
    "of categories": (("category", "weight"), {"bins": 5, "order": 1}),
    "of two variables": ((), {"bins": 8, "order": 1}),
    "biased, in a mass range": ((), {"bins": 8, "order": 1, "unbiased": False, "mass_range": (0.1, 2.0)}),
    "of bins by default": ((), {"order": 1}),
    "of signal and background": (("category", "weight"), {"bins": 6, "order": 1, "background_only": False}),
}


def case_of(name, events=400, seed=7):
    of_arrays, options = CASES[name]
    sample = Sample(events, seed, variables=2 if "two variables" in name else 1)
    return sample, {name: getattr(sample, name) for name in of_arrays}, options


@pytest.mark.parametrize("name", CASES)
def test_the_push_is_along_the_gradient_of_mode(name):
    sample, arguments, options = case_of(name)
    grad, hess = sample.derivatives(**arguments, **options)
    push = sample.pushed(sample.margin, grad, arguments.get("weight", 1.0))
    some, step = sample.rng.choice(len(grad), 60, replace=False), 1e-6
    change = []
    for i in some:
        moves = step * (np.arange(len(grad)) == i)
        up, down = (sample.loss(sample.margin + k * moves, arguments, options) for k in (1, -1))
        change.append((up - down) / (2 * step))
    scale = push[some] @ change / np.dot(change, change)
    assert scale > 0
    assert_allclose(push[some], np.multiply(scale, change), rtol=1e-5, atol=1e-6 * abs(push).max())
    assert (hess > 0).all()


@pytest.mark.parametrize("shift", [-26, -20, 12, 20])
def test_margins_where_single_precision_has_no_scores_are_ranked(shift):
    """Scores in single precision had no digits below a margin of -15, and were ties above 16."""
    sample = Sample(4_000, 5)
    margin = (sample.margin + shift).astype(np.float32)
    mode = objective(sample.mass, order=1)
    grad, _ = mode(margin, sample.data)
    exact, background = margin.astype(float), sample.target == 0
    prob = 1 / (1 + np.exp(-exact))
    want = mode_evaluate(odds(prob)[background], sample.mass[background, 0], order=1)
    assert mode.loss == pytest.approx(want.loss, rel=1e-9)
    slope = 0.39 / (1.3 - prob) ** 2 * prob / (1 + np.exp(exact))  # d score/d margin
    push, want = sample.pushed(exact, grad)[background], want.grad * slope[background]
    assert_allclose(push / abs(push).max(), want / abs(want).max(), atol=1e-6)


def directions(sample, count):
    """Smooth moves of margins: of each bin of mass its own, a wave of the margin."""
    edges = np.quantile(sample.mass[:, 0], np.linspace(0, 1, 9)[1:-1])
    place = np.searchsorted(edges, sample.mass[:, 0])
    for _ in range(count):
        size, phase = sample.rng.normal(size=8), sample.rng.uniform(0, 2 * np.pi, 8)
        yield size[place] * np.cos(sample.rng.uniform(0, 1.5) * sample.margin + phase[place])


@pytest.mark.parametrize("name", ["plain", "of weights of both signs", "of two backgrounds"])
def test_the_hessian_is_at_least_the_second_difference_of_collective_moves(name):
    """The part of MoDe, which is the loss times the factor mu of docs/trees.md."""
    sample, arguments, options = case_of(name, events=20_000)
    grad, hess = sample.derivatives(**arguments, **options)
    weight, prob = arguments.get("weight", np.ones(len(hess))), 1 / (1 + np.exp(-sample.margin))
    of_mode = hess - np.abs(weight) * prob * (1 - prob)
    push = sample.pushed(sample.margin, grad, weight)
    step, move = 1e-5, push / abs(push).max()
    up, down = (sample.loss(sample.margin + k * step * move, arguments, options) for k in (1, -1))
    mu = push @ move / ((up - down) / (2 * step)) / (20 * (1 + 9 / 150 / np.log1p(500 / 150)))
    seen, step = [], 0.1
    for move in directions(sample, 30):
        values = [sample.loss(sample.margin + k * step * move, arguments, options) for k in (-1, 0, 1)]
        second = mu * (values[0] - 2 * values[1] + values[2]) / step**2
        assert second <= np.sum(of_mode * move**2)
        seen.append(second / np.sum(of_mode * move**2))
    assert max(seen) > 0.1  # the bound is not one at any price


def test_what_is_seen_adds_up_to_nine_times_in_500_rounds():
    sample = Sample(5_000, 11)

    def push(mode, margin):
        return sample.pushed(margin, mode(margin, sample.data)[0], sample.weight)

    mode, other = (objective(sample.mass, weight=sample.weight, order=1) for _ in range(2))
    push(mode, sample.margin - 1)
    pushes = [push(mode, sample.margin) for _ in range(500)]
    first = push(other, sample.margin) / (1 + 9 / 150 / np.log1p(500 / 150))  # what is seen, without what is added
    added = np.cumsum(9 / 150 / np.log1p(500 / 150) / (1 + np.arange(2, 501) / 150))
    for k in (1, 17, 40, 499):
        assert_allclose(pushes[k] - pushes[0], added[k - 1] * first, rtol=1e-9, atol=1e-12)
    assert added[-1] == pytest.approx(9, abs=0.3)


def test_a_factor_of_all_weights_is_one_of_both_derivatives():
    sample = Sample(5_000, 11)
    one, seven = (sample.derivatives(weight=k * sample.weight) for k in (1, 7))
    assert_allclose(np.multiply(7, one), seven, rtol=1e-9, atol=1e-12)
