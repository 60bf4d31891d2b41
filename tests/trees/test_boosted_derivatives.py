"""The objectives' derivatives against differences of the loss that they are said to be of."""

import libmode
import numpy as np
import pytest
from boosted import LIBRARIES
from libmode.xgboost import objective as objective_of
from numpy.testing import assert_allclose

STRENGTH = 40.0


def odds(prob):
    """W of docs/training.md."""
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

    def data(self, library="xgboost", **more):
        return LIBRARIES[library].data(self.margin[:, None], self.target, **more)

    def derivatives(self, margin=None, **given):
        """Of XGBoost's objective."""
        margin = self.margin if margin is None else margin
        return objective_of(self.mass, **({"order": 1} | given))(margin, self.data())

    def value(self, margin, transform, arguments, options):
        """The function whose derivatives the objective shall have."""
        weight = arguments.get("weight", np.ones(len(margin)))
        prob = 1 / (1 + np.exp(-margin))
        entropy = np.where(self.target == 1, np.log1p(np.exp(-margin)), np.log1p(np.exp(margin)))
        score = odds(prob) if transform else prob
        options = dict(options)
        if options.pop("background_only", True):
            arguments = {"label": self.target, **arguments}
        loss = libmode.mode_loss(score, self.mass, **arguments, **options)
        return np.sum(weight * entropy) + STRENGTH * np.sum(weight) * loss


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


@pytest.mark.parametrize("transform", ["odds", None])
@pytest.mark.parametrize("name", CASES)
def test_the_gradient_is_that_of_cross_entropy_and_mode(name, transform):
    sample, arguments, options = case_of(name)
    given = {"loss_weight": STRENGTH, "score_transform": transform, **arguments, **options}
    grad, hess = sample.derivatives(**given)
    of_lightgbm = LIBRARIES["lightgbm"].objective(sample.mass, **given)(sample.margin, sample.data("lightgbm"))
    assert_allclose(of_lightgbm, (grad, hess), rtol=1e-12)
    step = 1e-6
    for i in sample.rng.choice(len(grad), 60, replace=False):
        up, down = sample.margin.copy(), sample.margin.copy()
        up[i] += step
        down[i] -= step
        change = np.subtract(*(sample.value(margin, transform, arguments, options) for margin in (up, down)))
        assert grad[i] == pytest.approx(change / (2 * step), rel=1e-5, abs=1e-6)
    assert (hess > 0).all()


@pytest.mark.parametrize("shift", [-26, -20, 12, 20])
def test_margins_where_single_precision_has_no_scores_are_ranked(shift):
    """Scores in single precision had no digits below a margin of -15, and were ties above 16."""
    sample = Sample(4_000, 5)
    margin = (sample.margin + shift).astype(np.float32)
    objective = objective_of(sample.mass, order=1, loss_weight=1e30)
    grad, _ = objective(margin, sample.data())
    exact, background = margin.astype(float), sample.target == 0
    prob = 1 / (1 + np.exp(-exact))
    mode = libmode.mode_evaluate(odds(prob)[background], sample.mass[background, 0], order=1)
    assert objective.loss == pytest.approx(mode.loss, rel=1e-9)
    slope = 0.39 / (1.3 - prob) ** 2 * prob / (1 + np.exp(exact))  # d score/d margin
    want = 1e30 * len(exact) * mode.grad * slope[background]
    assert_allclose(grad[background], want, atol=1e-6 * abs(want).max())


def directions(sample, count):
    """Smooth moves of margins: of each bin of mass its own, a wave of the margin."""
    edges = np.quantile(sample.mass[:, 0], np.linspace(0, 1, 9)[1:-1])
    place = np.searchsorted(edges, sample.mass[:, 0])
    for _ in range(count):
        size, phase = sample.rng.normal(size=8), sample.rng.uniform(0, 2 * np.pi, 8)
        yield size[place] * np.cos(sample.rng.uniform(0, 1.5) * sample.margin + phase[place])


@pytest.mark.parametrize("transform", ["odds", None])
@pytest.mark.parametrize("name", ["plain", "of weights of both signs", "of two backgrounds"])
def test_the_hessian_is_at_least_the_second_difference_of_collective_moves(name, transform):
    sample, arguments, options = case_of(name, events=20_000)
    _, hess = sample.derivatives(loss_weight=STRENGTH, score_transform=transform, **arguments, **options)
    weight = np.abs(arguments.get("weight", np.ones(len(hess))))
    prob = 1 / (1 + np.exp(-sample.margin))
    of_entropy = weight * prob * (1 - prob)
    seen, step = [], 0.1
    for move in directions(sample, 30):
        values = [sample.value(sample.margin + k * step * move, transform, arguments, options) for k in (-1, 0, 1)]
        second = (values[0] - 2 * values[1] + values[2]) / step**2
        assert second <= np.sum(hess * move**2)
        seen.append(second / np.sum(of_entropy * move**2))
    # The Hessian of cross entropy alone would be none, and the bound is not one at any price.
    assert max(seen) > 1.5


@pytest.mark.parametrize("loss_weight", [STRENGTH, None])
def test_margins_far_out_have_derivatives_that_are_finite_and_positive(loss_weight):
    sample = Sample(2_000, 5)
    for factor in (0, 1e-30, 30, 1e4):
        for dtype in (np.float32, np.float64):
            margin = (factor * sample.margin).astype(dtype)
            grad, hess = sample.derivatives(margin, loss_weight=loss_weight, weight=sample.weight)
            assert np.isfinite(grad).all() and np.isfinite(hess).all() and (hess > 0).all()


class TestMultipliers:
    """Without a loss_weight, by what the docstring of objective says."""

    sample = Sample(5_000, 11)
    data = sample.data()

    def objective(self, **options):
        return objective_of(self.sample.mass, weight=self.sample.weight, **({"order": 1} | options))

    def push(self, objective, margin=None):
        """What is added to the gradient of cross entropy."""
        margin = self.sample.margin if margin is None else margin
        grad, _ = objective(margin, self.data)
        return grad - self.sample.weight * (1 / (1 + np.exp(-margin)) - self.sample.target)

    def test_the_push_is_along_the_gradient_of_mode(self):
        fixed, found = self.push(self.objective(loss_weight=1.0)), self.push(self.objective())
        scale = found @ fixed / (fixed @ fixed)
        assert scale > 0
        assert_allclose(found, scale * fixed, rtol=1e-9, atol=1e-12)

    def test_what_is_seen_adds_up_to_nine_times_in_500_rounds(self):
        objective = self.objective()
        objective(self.sample.margin - 1, self.data)
        pushes = [self.push(objective) for _ in range(500)]
        first = self.push(self.objective()) / (1 + 9 / 150 / np.log1p(500 / 150))  # what is seen, without what is added
        added = np.cumsum(9 / 150 / np.log1p(500 / 150) / (1 + np.arange(2, 501) / 150))
        for k in (1, 17, 40, 499):
            assert_allclose(pushes[k] - pushes[0], added[k - 1] * first, rtol=1e-9, atol=1e-12)
        assert added[-1] == pytest.approx(9, abs=0.3)

    def test_a_factor_of_all_weights_is_one_of_both_derivatives(self):
        one, seven = (self.sample.derivatives(weight=k * self.sample.weight) for k in (1, 7))
        assert_allclose(np.multiply(7, one), seven, rtol=1e-9, atol=1e-12)

    def test_within_the_tolerance_it_stays_as_it_is(self):
        rng = np.random.default_rng(0)
        flat = rng.normal(size=5_000)  # knows nothing of the mass
        for margin, grows in ((flat, False), (flat - self.sample.mass[:, 0], True)):
            objective = self.objective(tolerance=1_000, order=0)
            objective(margin - 1, self.data)
            first, *_, last = (self.push(objective, margin) for _ in range(10))
            assert (np.abs(last - first).max() > 0.1 * np.abs(first).max()) == grows
