"""libmode.metrics.dependence: its probabilities against toys, permutations and distributions known in closed form."""

import libmode
import numpy as np
import pytest
from libmode import metrics
from libmode.metrics._chi_squared import tail

WEIGHTS = {
    "none": lambda rng, n: None,
    "positive": lambda rng, n: rng.uniform(0.2, 2, n),
    "10 % negative": lambda rng, n: rng.choice([1.0, -1.0], n, p=[0.9, 0.1]),
}


def falling(rng, n):
    """Masses of an exponential spectrum, of which a twentieth is cut off."""
    return 50 - 60 * np.log(1 - 0.95 * rng.random(n))


def response(rng, mass, order):
    """Scores of which every fraction up to s is a polynomial of this degree in mass, and of no lower one.

    Of two distributions the one or the other, with a probability that is the polynomial.
    """
    t = (mass - 50) / 180
    chance = {0: np.full_like(t, 0.5), 1: 0.05 + 0.9 * t, 2: 0.95 - 3.6 * t * (1 - t)}[order]
    return np.where(rng.random(len(t)) < chance, rng.beta(2, 6, len(t)), rng.beta(5, 2, len(t)))


def toys(seed, count, n, order, weights="none", **options):
    """What the test says in samples in which the hypothesis is true."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        mass = falling(rng, n)
        weight = WEIGHTS[weights](rng, n)
        found.append(metrics.dependence(response(rng, mass, order), None, mass, weight=weight, order=order, **options))
    return found


def assert_uniform(found):
    """Of all cuts, Kolmogorov and Smirnov's distance, above this in 1 % of the cases; and what rejections rest on."""
    p, n = np.sort([one.p_all_cuts for one in found]), len(found)
    steps = np.arange(n + 1) / n
    distance = max(np.max(p - steps[:-1]), np.max(steps[1:] - p))
    assert distance * np.sqrt(n) < 1.63
    for level in (0.1, 0.01):
        for own in (p, np.array([one.p_value for one in found])):
            assert abs(np.sum(own < level) - n * level) < 3.5 * np.sqrt(n * level) + 1


# ----------------------------------------------------------- the hypothesis is true


@pytest.mark.parametrize("order, weights", [(0, "none"), (1, "none"), (2, "10 % negative")])
def test_p_values_are_uniform(order, weights):
    found = toys(1, 1000, 500, order, weights, bins=8)
    assert_uniform(found)
    ratio = np.array([one.value / one.expectation for one in found])
    assert abs(ratio.mean() - 1) < 4 * ratio.std() / np.sqrt(len(ratio))


@pytest.mark.parametrize(
    "heavy, factor, bins",
    [
        (lambda rng, mass, score: (mass > 125) & (rng.random(len(mass)) < 0.05), 20, 8),
        (lambda rng, mass, score: (score > 0.7) & (rng.random(len(mass)) < 0.2), 20, 8),
        # Of 32 bins some have no heavy event: then half of the toys had p < 0.01.
        (lambda rng, mass, score: score > 0.8, 100, None),
        (lambda rng, mass, score: score < 0.1, 100, None),
    ],
    ids=["mass", "score", "high", "low"],
)
def test_p_values_are_right_where_few_events_have_most_of_the_weight(heavy, factor, bins):
    rng, found = np.random.default_rng(13), []
    for _ in range(300):
        mass = falling(rng, 2000)
        score = response(rng, mass, 0)
        weight = np.where(heavy(rng, mass, score), factor, 1.0)
        found.append(metrics.dependence(score, None, mass, weight=weight, bins=bins, order=0))
    assert_uniform(found)


@pytest.mark.parametrize("weighted", [False, True])
def test_small_probabilities_are_those_of_permutations(weighted):
    """At order 0 any event may have had any score: here as probable as it is, without a formula."""
    rng = np.random.default_rng(6)
    mass = falling(rng, 800)
    weight = WEIGHTS["10 % negative"](rng, 800) if weighted else None
    score = np.clip(response(rng, mass, 0) + 0.0013 * mass, 0, 1)
    found = metrics.dependence(score, None, mass, weight=weight, bins=16, order=0)
    options = {"edges": libmode.mode_edges(mass, bins=16), "unbiased": False}
    losses = [
        libmode.mode_loss(rng.permutation(score), mass, weight=weight, **({"order": 0} | options))
        for _ in range(20_000)
    ]
    above = np.sum(np.array(losses) >= found.value)
    assert 40 < above < 1000, "this sample does not say much"
    assert found.p_all_cuts == pytest.approx(above / 20_000, rel=4 / np.sqrt(above) + 0.15)


# ------------------------------------------------------------- the tightest cuts


def sculpted(seed, n=10_000, where=90.0, count=10):
    """Scores that know nothing of the mass, but for those of the highest events, which all lie in one narrow window."""
    rng = np.random.default_rng(seed)
    mass, score = falling(rng, n), 0.9 * rng.random(n)
    score[np.argsort(np.abs(mass - where))[:count]] = 0.953
    return score, mass


@pytest.mark.parametrize("where", [51, 90])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_a_thousandth_of_the_events_is_seen(order, where):
    for seed in range(3):
        score, mass = sculpted(seed, where=where)
        found = metrics.dependence(score, None, mass, order=order)
        assert found.p_all_cuts > 0.01, "the events are so few that all cuts together do not see them"
        assert found.p_value < 2e-3
        assert found.cut.events < 100 and found.cut.residual > 2 * found.cut.expected


def test_the_numbers_of_the_cut_by_counting():
    """Residual and value from statistics alone, in 32 bins of equal numbers of events, at order 0."""
    score, mass = sculpted(1)
    found = metrics.dependence(score, None, mass, order=0)
    edges = libmode.mode_edges(mass, bins=found.bins)
    selected = score >= found.cut.threshold
    rate = np.histogram(mass[selected], edges)[0] / np.histogram(mass, edges)[0]
    assert found.cut.efficiency == pytest.approx(rate.mean(), rel=1e-9)
    assert found.cut.events == pytest.approx(selected.sum(), rel=0.01)
    assert found.cut.residual == pytest.approx(rate.std() / rate.mean(), rel=1e-9)
    by_chance = np.sqrt(rate.mean() / (10_000 / 32) * 31 / 32) / rate.mean()
    assert found.cut.expected == pytest.approx(by_chance, rel=0.02)
    assert np.log2(selected.mean()) == pytest.approx(np.round(np.log2(selected.mean())), abs=0.05)


@pytest.mark.parametrize("weights", ["none", "10 % negative"])
def test_the_dependence_of_a_histogram_is_that_of_its_events(weights):
    """Without weights of either sign exactly, with them nearly: only their squares are kept."""
    score, mass = sculpted(2)
    weight = np.ones(10_000) if weights == "none" else WEIGHTS[weights](np.random.default_rng(1), 10_000)
    axes = [libmode.mode_edges(mass, bins=16), np.linspace(0, 1, 201)]
    cells = [np.histogram2d(mass, score, axes, weights=weight**k)[0] for k in (1, 2)]
    want = metrics.dependence((np.floor(200 * score) + 0.5) / 200, None, mass, weight=weight, bins=16, order=0)
    found = metrics.dependence((*cells, *axes), order=0)
    assert (found.value, found.events, found.bins) == pytest.approx((want.value, want.events, 16), rel=1e-10)
    assert found.expectation == pytest.approx(want.expectation, rel=1e-10 if weights == "none" else 5e-3)
    assert found.p_all_cuts == pytest.approx(want.p_all_cuts, rel=1e-6 if weights == "none" else 0.1)
    assert found.p_one_cut == pytest.approx(want.p_one_cut, rel=0.05)
    assert found.cut.threshold in axes[1] and found.cut.threshold == pytest.approx(want.cut.threshold - 0.0025)
    for name in ("efficiency", "residual", "expected"):
        assert getattr(found.cut, name) == pytest.approx(getattr(want.cut, name), rel=0.05)


@pytest.mark.parametrize("order, weights", [(0, "none"), (1, "35 % negative"), (2, "exponential")])
def test_p_values_of_the_tightest_cuts_are_as_frequent_as_they_say(order, weights):
    rng = np.random.default_rng(21 + order)
    draw = WEIGHTS | {
        "35 % negative": lambda rng, n: rng.choice([1.0, -1.0], n, p=[0.65, 0.35]),
        "exponential": lambda rng, n: rng.exponential(1, n),
    }
    found = []
    for _ in range(300):
        mass = falling(rng, 1000)
        weight = draw[weights](rng, 1000)
        found.append(metrics.dependence(response(rng, mass, order), None, mass, weight=weight, order=order).p_one_cut)
    for level in (0.05, 0.01):
        expected = 300 * level
        assert np.sum(np.array(found) < level) < expected + 3 * np.sqrt(expected)
    assert np.mean(np.array(found) < 0.5) == pytest.approx(0.5, abs=0.1)


def test_without_several_cuts_there_is_one_test():
    """Of two distinct scores, and of less than 16 events."""
    rng = np.random.default_rng(3)
    mass = falling(rng, 1000)
    for score, own in ((rng.random(1000) < 0.1, mass), (rng.random(14), mass[:14])):
        found = metrics.dependence(score, None, own, bins=4, order=0)
        assert (found.cut, found.p_one_cut) == (None, 1) and found.p_value == found.p_all_cuts


# ------------------------------------------------------------------- the tail


@pytest.mark.parametrize("small, count", [(0, 0), (0.01, 50), (1e-4, 3000), (1e-5, 20_000)])
def test_the_tail_of_pairs_of_scales_is_a_sum_of_exponentials(small, count):
    """Two squares of the same variance add up to an exponential variable; partial fractions do the rest.

    Many more, all small, are as good as a constant, up to their spread.
    """
    pairs = np.array([1.0, 0.6, 0.3, 0.25, 0.1])
    scales = np.concatenate([np.repeat(pairs, 2), np.full(count, small)])
    for x in (0.1, 0.5, 2, 4.5, 10, 100, 400):
        exact = 0
        for one in pairs:
            others = pairs[pairs != one]
            # The mean of exp(z / (2 one)) over the small ones, z their sum.
            rest = np.exp(-x / (2 * one) - count / 2 * np.log1p(-small / one) - count * small / (2 * one))
            exact += np.prod(one / (one - others)) * rest
        if x > 8 * small * np.sqrt(2 * count):  # else the small ones alone may be above x
            assert tail(x + count * small, scales) == pytest.approx(exact, rel=0.05 if exact > 0.01 else 0.12)


# ---------------------------------------------------- what it is made of, and power


@pytest.mark.parametrize("order", [0, 1, 3])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_value_and_expectation_are_those_of_the_loss(order, weights):
    rng = np.random.default_rng(8)
    mass = falling(rng, 3000)
    weight = WEIGHTS[weights](rng, 3000)
    score = response(rng, mass, 1)
    options = {"order": order, "bins": 11, "mass_range": (55, 200)}
    found = metrics.dependence(score, None, mass, weight=weight, **options)
    loss = libmode.mode_evaluate(score, mass, weight=weight, unbiased=False, **options)
    assert (found.value, found.expectation, found.events) == pytest.approx(
        (loss.loss, loss.bias, loss.events), rel=1e-10
    )
    assert found.bins == 11


def test_a_small_dependence_is_found_in_many_events():
    rng = np.random.default_rng(9)
    mass = falling(rng, 300_000)
    score = response(rng, mass, 2)
    p = [metrics.dependence(score, None, mass, order=order).p_value for order in (0, 1, 2)]
    assert p[0] < 1e-100
    assert p[1] < 1e-100
    assert p[2] > 1e-3
    score = response(rng, mass, 0) * 0.9
    assert metrics.dependence(score, None, mass, order=0).p_value > 1e-3
    bump = 0.02 * np.exp(-0.5 * ((mass - 80) / 5) ** 2)  # a fiftieth of the range, in a fifth of the events
    for order in (0, 1, 2):
        assert metrics.dependence(score + bump, None, mass, order=order).p_value < 1e-6


def test_nothing_depends_on_order_units_or_type():
    rng = np.random.default_rng(10)
    mass = falling(rng, 2000).astype(np.float32)
    score = rng.random(2000).astype(np.float32)
    weight = WEIGHTS["10 % negative"](rng, 2000)
    found = metrics.dependence(score, None, mass, weight=weight, order=1)
    mixed = rng.permutation(2000)
    for other in (
        metrics.dependence(score[mixed], None, mass[mixed] * np.float32(1024), weight=weight[mixed] * 1e200, order=1),
        metrics.dependence(list(score), None, mass[:, None].astype(float), weight=list(weight * 1e-200), order=1),
        metrics.dependence(score.astype(float) * 1e250 - 3e249, None, mass, weight=weight, order=1, score_range=None),
    ):
        assert other.p_value == pytest.approx(found.p_value, rel=1e-6)
        assert other.value / other.expectation == pytest.approx(found.value / found.expectation, rel=1e-6)
        assert (other.events, other.bins) == (pytest.approx(found.events), found.bins)


def test_events_outside_the_range_and_without_weight_do_not_matter():
    rng = np.random.default_rng(11)
    mass, score = rng.uniform(0, 3, 3000), rng.random(3000)
    inside = (mass >= 1) & (mass <= 2)
    found = metrics.dependence(np.where(inside, score, 1), None, mass, mass_range=(1, 2), bins=9, order=0)
    assert found == metrics.dependence(score[inside], None, mass[inside], mass_range=(1, 2), bins=9, order=0)
    # Of those that count, all have one score.
    lost = metrics.dependence(
        np.where(mass > 1, score, 0.5),
        None,
        mass,
        weight=(mass <= 1).astype(float),
        order=0,
        bins=2,
        mass_range=(0, 1.1),
    )
    assert (lost.value, lost.p_value) == (pytest.approx(0, abs=1e-12), 1)


# ---------------------------------------------------------------- corners and errors


def test_scores_that_differ_between_bins_alone_are_next_to_impossible_without_dependence():
    mass = np.linspace(0, 1, 100)
    found = metrics.dependence(np.where(mass < 0.5, 0.2, 0.4), None, mass, bins=4, order=0)
    assert found.value == pytest.approx(0.2 / 4)  # half of the bins lie 1/2 above the mean in an interval of 0.2
    assert found.expectation == pytest.approx(0, abs=1e-12) and found.p_value < 1e-18


def test_a_bin_of_a_single_effective_event_is_an_error():
    """Its variance is 0 / 0: the expectation was NaN, with p = 0.59."""
    rng = np.random.default_rng(24)
    mass, score = rng.random((2, 400))
    weight = np.ones(400)
    weight[np.argmax(mass)] = 1e9
    with pytest.raises(ValueError, match=r"bin 7, \[.* has 1 effective events: expected at least 1\.05"):
        metrics.dependence(score, None, mass, weight=weight, order=0, bins=8)
