"""Efficiency and residual maps over two masses, beside their definitions written out, and toys."""

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
from libmode import metrics

EDGES = (np.array([-1, -0.4, 0.1, 1]), np.array([0, 1, 3, 4, 5.0]))
KINDS = ["unit", "positive", "signed"]


def events(kind="unit", n=1500, seed=0):
    """Scores that follow the first mass, masses of which some lie outside EDGES and none in one corner, weights."""
    rng = np.random.default_rng(seed)
    mass = np.column_stack([rng.uniform(-1.1, 1.1, n), rng.uniform(-0.3, 5.3, n)])
    mass = mass[(mass[:, 0] < 0.1) | (mass[:, 1] < 4)]
    n = len(mass)
    score = rng.random(n) ** np.exp(0.3 * mass[:, 0])
    weight = {
        "unit": None,
        "positive": rng.exponential(1, n),
        "signed": rng.choice([1.0, -1.0], n, p=[0.9, 0.1]),
    }[kind]
    return score, mass, weight


def cells(mass):
    """Index pairs and which events each cell of EDGES has."""
    for i, (low1, high1) in enumerate(zip(EDGES[0][:-1], EDGES[0][1:], strict=True)):
        for j, (low2, high2) in enumerate(zip(EDGES[1][:-1], EDGES[1][1:], strict=True)):
            yield (i, j), (low1 <= mass[:, 0]) & (mass[:, 0] < high1) & (low2 <= mass[:, 1]) & (mass[:, 1] < high2)


# ---------------------------------------------------------- efficiency


@pytest.mark.parametrize("kind", KINDS)
def test_efficiency_and_its_error_by_hand(kind):
    score, mass, weight = events(kind)
    found = metrics.efficiency_map(score, mass, 0.4, bins=EDGES, weight=weight)
    weight = np.ones(len(score)) if weight is None else weight
    for cell, here in cells(mass):
        w, p = weight[here], score[here] >= 0.4
        assert found.total[cell] == pytest.approx(w.sum(), abs=1e-12)
        if not here.any():
            assert cell == (2, 3)
            continue
        value, n = np.sum(w * p) / np.sum(w), np.sum(w) ** 2 / np.sum(w**2)
        variance = np.sum(w**2 * (p - value) ** 2) / np.sum(w) ** 2
        assert found.efficiency[cell] == pytest.approx(value, rel=1e-12)
        assert found.error[cell] == pytest.approx(sqrt(variance + 1 / (4 * n**2)) / (1 + 1 / n), rel=1e-12)
    for given, edges in zip(EDGES, found.edges, strict=True):
        np.testing.assert_array_equal(given, edges)


def test_cells_without_an_efficiency_are_nan_without_a_warning():
    mass = [[0, 0], [0, 0], [0, 1], [1, 0]]
    found = metrics.efficiency_map([0, 1, 1, 1], mass, 1, bins=2, weight=[1, 1, 1, -1])
    np.testing.assert_array_equal(found.efficiency, [[0.5, 1], [np.nan, np.nan]])
    np.testing.assert_array_equal(np.isnan(found.error), np.isnan(found.efficiency))
    np.testing.assert_array_equal(found.total, [[2, 1], [-1, 0]])  # of negative weight; of no event


@pytest.mark.parametrize("n", [1, 5, 40])
@pytest.mark.parametrize("passed", [0, 1, "all"])
def test_the_error_is_half_of_wilsons_interval(n, passed):
    """Its ends solve (k / n - p)^2 = p (1 - p) / n."""
    k = n if passed == "all" else passed
    found = metrics.efficiency_map(np.arange(n) < k, np.zeros((n, 2)), 1, bins=([-1, 1], [-1, 1]))
    a, b, c = 1 + Fraction(1, n), -2 * Fraction(k, n) - Fraction(1, n), Fraction(k, n) ** 2
    ends = [(-b + sign * sqrt(b * b - 4 * a * c)) / (2 * a) for sign in (-1, 1)]
    assert found.error[0, 0] == pytest.approx((ends[1] - ends[0]) / 2, rel=1e-12)
    assert found.efficiency[0, 0] == k / n


@pytest.mark.parametrize("kind", ["unit", "with the score"])
def test_the_error_is_the_spread_of_the_efficiency(kind):
    rng = np.random.default_rng(1)
    toys = []
    for _ in range(400):
        score, mass = rng.random(2000), rng.uniform(-1, 1, (2000, 2))
        weight = None if kind == "unit" else np.where(score > 0.8, 3.0, 1.0)
        toys.append(metrics.efficiency_map(score, mass, 0.7, bins=3, weight=weight))
    spread = np.std([toy.efficiency for toy in toys], axis=0)
    # Each of 9 spreads has a relative width of 1 / sqrt(800).
    np.testing.assert_allclose(np.mean([toy.error for toy in toys], axis=0), spread, rtol=4 / sqrt(800))


# ------------------------------------------------------------ residuals


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_residuals_by_hand(kind, order):
    """The normal equations, with powers of the masses as they are in place of Legendre polynomials."""
    score, mass, weight = events(kind)
    found = metrics.residual_map(score, mass, 0.4, order=order, bins=EDGES, weight=weight)
    weight = np.ones(len(score)) if weight is None else weight
    known = [(cell, here) for cell, here in cells(mass) if here.any()]
    powers = [(a, b) for a in range(order + 1) for b in range(order + 1 - a)]
    total = np.array([weight[here].sum() for _, here in known])
    squares = np.array([np.sum(weight[here] ** 2) for _, here in known])
    e = np.array([weight[here] @ (score[here] >= 0.4) for _, here in known]) / total
    p = np.array([[weight[here] @ (mass[here, 0] ** a * mass[here, 1] ** b) for a, b in powers] for _, here in known])
    p /= total[:, None]
    hat = p @ np.linalg.solve(p.T @ (total[:, None] * p), p.T * total)
    fit = hat @ e
    around = sum(
        np.sum((weight[here] * ((score[here] >= 0.4) - f)) ** 2) for (_, here), f in zip(known, fit, strict=True)
    )
    variance = around / np.sum(squares * fit * (1 - fit)) * fit * (1 - fit) * squares / total**2
    rest = np.eye(len(known)) - hat
    expected = np.sqrt(np.diag(rest @ np.diag(variance) @ rest.T))
    index = tuple(np.array([cell for cell, _ in known]).T)
    np.testing.assert_allclose(found.residual[index], e - fit, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.expected[index], expected, rtol=1e-9)
    assert np.isnan(found.residual[2, 3]) and np.isnan(found.expected[2, 3])
    assert found.ndof == len(known) - len(powers)
    if order == 0:
        assert fit[0] == pytest.approx(np.sum(total * e) / total.sum(), rel=1e-12)
        assert kind != "unit" or around == pytest.approx(np.sum(squares * fit * (1 - fit)), rel=1e-12)


# What the response depends on, and the weights: pulls are normal whatever they are.
TOYS = {
    "constant": (0, 4000, None),
    "few events": (0, 600, None),
    "quadratic": (2, 4000, None),
    "weights": (2, 4000, lambda rng, selected: rng.exponential(1, len(selected))),
    "negative weights": (0, 4000, lambda rng, selected: rng.choice([1.0, -1.0], len(selected), p=[0.9, 0.1])),
    "weights by score": (0, 4000, lambda rng, selected: np.where(selected, 1.5, 0.7)),
}


@pytest.mark.parametrize("toy", TOYS)
def test_pulls_are_normal_where_the_efficiency_is_a_polynomial(toy):
    """In a triangle, so that cells are empty and others filled in part; without a polynomial, they would differ."""
    order, n, weigh = TOYS[toy]
    rng = np.random.default_rng(2)
    pulls, rms, ndof = [], [], []
    for _ in range(150):
        mass = rng.uniform(-1, 1, (n, 2))
        mass = mass[mass.sum(axis=1) < 0.5]
        x, y = mass.T
        response = 0.3 + (0.15 * x * y - 0.1 * x**2 + 0.1 * y if order else 0)
        selected = rng.random(len(x)) < response
        found = metrics.residual_map(
            selected, mass, 1, order=order, bins=8, weight=weigh(rng, selected) if weigh else None
        )
        pulls.append(found.pull)
        rms.append(found.rms_pull)
        ndof.append(found.ndof)
    pulls = np.array(pulls)
    assert np.isnan(pulls[:, 7, 7]).all()
    pulls = pulls[np.isfinite(pulls)]
    assert len(pulls) > 150 * 40
    skewed = toy in ("few events", "weights by score", "negative weights")  # a few events are not normal
    assert np.mean(pulls) == pytest.approx(0, abs=0.15 if toy == "weights by score" else 0.03)
    assert np.sqrt(np.mean(pulls**2)) == pytest.approx(1, abs=0.06 if skewed else 0.025)
    assert np.mean(np.abs(pulls) < 1) == pytest.approx(0.683, abs=0.03 if skewed else 0.015)
    assert np.mean(np.abs(pulls) < 2) == pytest.approx(0.954, abs=0.015)
    if not skewed:
        assert np.std(rms) == pytest.approx(1 / sqrt(2 * np.mean(ndof)), rel=0.25)


def test_what_is_no_polynomial_of_the_order_stands_out():
    rng = np.random.default_rng(3)
    mass = rng.uniform(-1, 1, (50_000, 2))
    selected = rng.random(50_000) < 0.3 + 0.2 * mass[:, 0] * mass[:, 1]
    by_order = [metrics.residual_map(selected, mass, 1, order=order).rms_pull for order in (0, 1, 2)]
    assert min(by_order[:2]) > 3
    assert by_order[2] == pytest.approx(1, abs=4 / sqrt(2 * 94))


def test_a_cell_that_the_fit_follows_has_no_pull():
    """With a cell of its own for each term but one: a straight line in x through 2 columns, y alone is free."""
    mass = np.array([[0, 0], [0, 0], [1, 0], [1, 0], [1, 0], [1, 1], [1, 1], [1, 1], [1, 2.0], [1, 2], [1, 2]])
    found = metrics.residual_map([0, 1, 0, 1, 1, 0, 0, 1, 1, 0, 1], mass, 1, order=1, bins=(2, 3))
    assert found.ndof == 1
    assert found.expected[0, 0] == 0 and np.isnan(found.pull[0, 0])
    assert (found.expected[1] > 0).all() and found.rms_pull == pytest.approx(np.sqrt(np.mean(found.pull[1] ** 2)))


# --------------------------------------------------------------- errors

SCORE, MASS = np.arange(10) / 10, np.column_stack([np.arange(10.0), np.arange(10.0) ** 2])


def put(array, place, value):
    array = np.array(array, dtype=float)
    array[place] = value
    return array


BAD = [
    (lambda: metrics.efficiency_map(SCORE, MASS[:, 0], 0.5), ValueError, r"mass has shape \(10,\): expected \(n, 2\)"),
    (lambda: metrics.efficiency_map(SCORE, MASS[:, [0, 1, 1]], 0.5), ValueError, r"mass has shape \(10, 3\): expected \(n, 2\)"),
    (lambda: metrics.efficiency_map(SCORE, MASS[:9], 0.5), ValueError, "mass has length 9, but score has length 10"),
    (lambda: metrics.efficiency_map(SCORE, put(MASS, (3, 1), np.nan), 0.5), ValueError, r"mass\[3, 1\] = nan: expected a finite"),
    (lambda: metrics.efficiency_map(put(SCORE, 2, np.inf), MASS, 0.5), ValueError, r"score\[2\] = inf"),
    (lambda: metrics.efficiency_map([], np.zeros((0, 2)), 0.5), ValueError, "score is empty"),
    (lambda: metrics.efficiency_map(SCORE, None, 0.5), TypeError, "mass is None"),
    (lambda: metrics.efficiency_map(SCORE, MASS, "half"), TypeError, "cut = 'half': expected a number"),
    (lambda: metrics.efficiency_map(SCORE, MASS, 0.5, bins=0), ValueError, r"bins\[0\] = 0: expected at least 1"),
    (lambda: metrics.efficiency_map(SCORE, MASS, 0.5, bins=(3, 2.5)), TypeError, r"bins\[1\] = 2.5: expected an integer"),
    (lambda: metrics.efficiency_map(SCORE, MASS, 0.5, bins=[0, 1, 2]), ValueError, "bins has length 3: expected an integer, or 2 entries"),
    (lambda: metrics.efficiency_map(SCORE, MASS, 0.5, bins=(3, [0, 2, 1])), ValueError, r"bins\[1\]\[2\] = 1 after 2: expected edges that incr"),
    (lambda: metrics.efficiency_map(SCORE, MASS, 0.5, bins=([50, 60], 3)), ValueError, r"mass\[:, 0\] has no event inside bins\[0\], 50 to 60"),
    (lambda: metrics.efficiency_map(SCORE, MASS, 0.5, bins=([0, 1], [50, 90])), ValueError, "mass has no event inside bins: none is inside those of all"),
    (lambda: metrics.efficiency_map(SCORE, MASS * [0, 1], 0.5), ValueError, r"bins\[0\] = 10 between .* every mass\[:, 0\] is 0"),
    (lambda: metrics.efficiency_map(SCORE, MASS, 0.5, weight=-SCORE), ValueError, "weight has a positive sum in no cell"),
    (lambda: metrics.residual_map(SCORE, MASS, 0.5, order=-1), ValueError, "order = -1: expected at least 0"),
    (lambda: metrics.residual_map(SCORE, MASS, 0.5, order=1.0), TypeError, "order = 1.0: expected an integer"),
    (lambda: metrics.residual_map(SCORE, MASS, 5), ValueError, "cut = 5 selects the fraction 0 of the weight: expected a part"),
    (lambda: metrics.residual_map(SCORE, MASS, -5), ValueError, "cut = -5 selects the fraction 1 of the weight"),
    (lambda: metrics.residual_map(SCORE, MASS, 0.5, order=3, bins=2), ValueError, "order = 3 has 3 independent terms for 3 cells with events"),
    (lambda: metrics.cvm_flatness(SCORE, MASS[:, :0], 2), ValueError, r"mass has shape \(10, 0\): expected \(n,\) or \(n, d\)"),
    (lambda: metrics.cvm_flatness(SCORE, MASS, 2, weight=put(np.ones(10), 9, -9)), ValueError, r"in cell \(1, 1\), \[4.5, 9\] x \[40.5, 81\]"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "message"), BAD, ids=[message for _, _, message in BAD])
def test_bad_input_is_named(call, kind, message):
    with pytest.raises(kind, match=message):
        call()
