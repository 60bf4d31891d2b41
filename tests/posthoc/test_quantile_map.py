"""QuantileMap: flat, or a polynomial, in events that it has not seen; the rest by other routes."""

import json
import pickle
import warnings

import libmode
import numpy as np
import pytest
from libmode import metrics
from libmode.posthoc import QuantileMap
from scipy import stats
from sklearn.base import clone

EDGES = np.linspace(-1, 1, 21)


def sample(n, seed):
    """Background whose scores peak where a resonance is, on top of a slope."""
    rng = np.random.default_rng(seed)
    mass = rng.uniform(-1, 1, n)
    near = np.exp(-0.5 * ((mass - 0.2) / 0.1) ** 2)
    logit = rng.normal(0, 1.5, n) + 2.5 * near * (rng.random(n) < 0.7) - 1 + 0.5 * mass
    return 1 / (1 + np.exp(-logit)), mass


def residual(z, mass, efficiency, order, weight=None, edges=EDGES):
    """Over what as many events have by chance."""
    found = metrics.flatness(mass, z >= np.quantile(z, 1 - efficiency), edges, degree=order, weight=weight)
    return found.rms / found.expected


@pytest.fixture(scope="module")
def training():
    return sample(400_000, 1)


@pytest.fixture(scope="module")
def other():
    return sample(100_000, 2)


@pytest.mark.parametrize("order", [None, 0, 1, 2])
def test_the_response_is_a_polynomial_of_that_order_at_every_cut(training, order):
    """Scores that QuantileMap of order k has mapped pass any cut with a fraction that is a polynomial of degree k in mass.

    Reason: the map is made so, of the fitted quantiles of the scores at each mass; of order 0 the fraction is flat.
    Holds: for order 0 to 2 and None on events that it has not seen, at signal efficiencies of 80 to 1 %: the mean
    square of the residual is that of chance, and at most a quarter more from the chance of the fit to 400,000 events.
    """
    fitted = QuantileMap(order).fit(*training)
    samples = [sample(100_000, seed) for seed in range(10, 14)]
    for efficiency in (0.8, 0.5, 0.2, 0.05, 0.01):
        before = [residual(score, mass, efficiency, order or 0) for score, mass in samples]
        after = [residual(fitted.transform(score, mass), mass, efficiency, order or 0) for score, mass in samples]
        assert min(before) > 6
        assert np.mean(np.square(after)) < 1.25 + 4 * np.sqrt(2 / (4 * 19))


@pytest.mark.parametrize("order", [0, 1, 2])
def test_mapped_scores_have_a_loss_within_chance(training, other, order):
    """Scores that QuantileMap of order k has mapped have a MoDe loss of order k below what chance adds to it.

    Reason: the loss integrates over all cuts what the property before says of each.
    Holds: for order 0 to 2, on events that it has not seen, a quarter as many as it was fitted to; the loss is
    `unbiased`, and what it subtracts is what chance adds.
    """
    fitted = QuantileMap(order).fit(*training)
    before, after = (
        libmode.mode_evaluate(score, other[1], order=order, score_range=None)
        for score in (other[0], fitted.transform(*other))
    )
    assert before.loss > 100 * before.bias
    assert abs(after.loss) < after.bias


def test_order_none_is_uniform_whatever_the_mass(training, other):
    z = QuantileMap(None).fit(*training).transform(*other)
    assert z.min() >= 0 and z.max() <= 1
    for low in EDGES[:-1:4]:
        here = z[(other[1] >= low) & (other[1] < low + 0.1)]
        assert stats.kstest(here, "uniform").pvalue > 1e-4


def test_a_linear_dependence_stays_with_order_one():
    """Scores whose distribution is linear in the mass at every cut come back as they were."""
    rng = np.random.default_rng(3)
    mass = rng.uniform(50, 250, 300_000)
    u = (mass - 50) / 200
    score = np.where(rng.random(len(u)) < u, rng.beta(2, 4, len(u)), rng.beta(4, 2, len(u)))
    moved = QuantileMap(1).fit(score, mass).transform(score, mass) - score
    assert np.quantile(np.abs(moved), 0.999) < 0.03 and np.sqrt(np.mean(moved**2)) < 0.006
    far = QuantileMap(0).fit(score, mass).transform(score, mass) - score
    assert np.sqrt(np.mean(far**2)) > 0.05


@pytest.mark.parametrize("order", [None, 0, 1, 3])
def test_it_is_monotone_in_the_score_and_smooth_in_the_mass(training, order):
    fitted = QuantileMap(order).fit(*training)
    scores, masses = np.linspace(-0.1, 1.1, 2001), np.linspace(-1.2, 1.2, 13)
    for mass in masses:
        assert (np.diff(fitted.transform(scores, np.full(len(scores), mass))) >= -1e-12).all()
    fine = np.linspace(-1, 1, 20_001)
    for score in (0.2, 0.5, 0.9):
        steps = np.abs(np.diff(fitted.transform(np.full(len(fine), score), fine)))
        assert steps.max() < 20 * np.median(steps) + 1e-3  # no step at an edge of anything


def test_beyond_the_fit():
    score, mass = sample(20_000, 4)
    fitted = QuantileMap(0).fit(score, mass)
    low, high = score.min(), score.max()
    above = fitted.transform([high, high + 1, high + 2], [0.3, 0.3, 0.3])
    np.testing.assert_allclose(above, [high, high + 1, high + 2])
    below = fitted.transform([low - 3, low - 1], [0.3, 0.3])
    assert below[1] - below[0] == pytest.approx(2)
    outside = fitted.transform([0.4, 0.4], [mass.max() + 5, mass.max()])
    assert outside[0] == outside[1]
    uniform = QuantileMap(None).fit(score, mass).transform([low - 1, high + 1], [0.3, 0.3])
    assert uniform == pytest.approx([0, 1], abs=1e-12)


def test_weights_of_both_signs(training, other):
    """A weight stands for as many events, and a negative one takes away what was put in."""
    score, mass = training
    extra_score, extra_mass = sample(100_000, 5)
    rng = np.random.default_rng(6)
    wrong = rng.random(len(extra_mass)) < 0.5 + 0.4 * extra_mass  # what is added and taken away depends on the mass
    scores = np.concatenate([score, extra_score[wrong], extra_score[wrong]])
    masses = np.concatenate([mass, extra_mass[wrong], extra_mass[wrong]])
    weights = np.concatenate([np.ones(len(score)), np.ones(wrong.sum()), -np.ones(wrong.sum())])
    signed = QuantileMap(0, intervals=20).fit(scores, masses, sample_weight=weights).transform(*other)
    plain = QuantileMap(0, intervals=20).fit(score, mass).transform(*other)
    assert np.quantile(np.abs(signed - plain), 0.999) < 0.02
    half = rng.random(len(score)) < 0.3 + 0.5 * (mass > 0)
    factor = 1 / (0.3 + 0.5 * (mass[half] > 0))
    thinned = QuantileMap(0).fit(score[half], mass[half], sample_weight=factor).transform(*other)
    assert np.sqrt(np.mean((thinned - plain) ** 2)) < 0.01


@pytest.mark.parametrize("variables", [1, 2])
@pytest.mark.parametrize("kind", ["equal", "of both signs", "whole numbers"])
def test_a_factor_of_all_weights_changes_nothing(kind, variables):
    """Samples that are normalized to a luminosity are as flat as those that are not."""
    rng = np.random.default_rng(11)
    mass = 50 + rng.exponential(60, (10_000, variables))
    score = rng.random(10_000) ** (mass[:, 0] / 100)
    weight = {
        "equal": np.ones(10_000),
        "of both signs": rng.normal(1, 0.8, 10_000),
        "whole numbers": rng.integers(1, 4, 10_000).astype(float),
    }[kind]
    want = QuantileMap(0).fit(score, mass, sample_weight=weight).transform(score, mass)
    for factor in (1e-3, 1e-5, 1e-7, 1e7, 1e-300, 1e300):
        found = QuantileMap(0).fit(score, mass, sample_weight=factor * weight).transform(score, mass)
        np.testing.assert_allclose(found, want, rtol=0, atol=1e-12)
    if kind == "equal":
        plain = QuantileMap(0).fit(score, mass).transform(score, mass)
        np.testing.assert_allclose(want, plain, rtol=0, atol=1e-12)


def test_two_and_three_variables():
    rng = np.random.default_rng(7)

    def events(n, rng):
        a, b = rng.uniform(-1, 1, n), rng.exponential(1, n)
        return 1 / (1 + np.exp(-(rng.normal(0, 1, n) + np.sin(3 * a) + np.log(1 + b)))), np.column_stack([a, b])

    score, mass = events(200_000, rng)
    test_score, test_mass = events(50_000, rng)
    fitted = QuantileMap(0).fit(score, mass)
    z = fitted.transform(test_score, test_mass)
    of_b = np.quantile(mass[:, 1], np.linspace(0, 1, 11))
    of_b[[0, -1]] = 0, 100
    for efficiency in (0.8, 0.2):
        for k, edges in enumerate((EDGES, of_b)):
            assert residual(test_score, test_mass[:, k], efficiency, 0, edges=edges) > 4
            assert residual(z, test_mass[:, k], efficiency, 0, edges=edges) < 2
    third = np.column_stack([mass, rng.normal(size=len(mass))])[:50_000]
    mapped = QuantileMap(None).fit(score[:50_000], third).transform(score[:50_000], third)
    assert stats.kstest(mapped, "uniform").statistic < 0.03


def test_a_second_map_of_three_variables_takes_away_what_the_first_left():
    rng = np.random.default_rng(5)

    def events(n):
        masses = np.column_stack([rng.uniform(-1, 1, n), rng.exponential(1, n), rng.normal(size=n)])
        a, b, c = masses.T
        return rng.normal(0, 1, n) + np.sin(3 * a) + np.log(1 + b) + 0.5 * c * np.cos(2 * a) + 0.3 * c * c, masses

    (score, mass), (test_score, test_mass) = events(60_000), events(60_000)
    first = QuantileMap(0).fit(score, mass)
    second = QuantileMap(0).fit(first.transform(score, mass), mass)
    once = first.transform(test_score, test_mass)
    twice = second.transform(once, test_mass)
    found = []
    for column in test_mass.T:
        edges = np.quantile(column, np.linspace(0, 1, 11))
        edges[-1] += 1e-9
        for efficiency in (0.5, 0.1):
            found.append([residual(z, column, efficiency, 0, edges=edges) for z in (test_score, once, twice)])
    before, left, least = np.array(found).T
    assert before.min() > 8 and left.max() > 2.5
    assert least.max() < 2.5 and np.mean(least) < min(1.8, 0.7 * np.mean(left))  # by chance 1.4, fitted to as many


def test_text_pickle_and_clone(training, other, tmp_path):
    fitted = QuantileMap(1, intervals=7, mass_range=(-0.9, 0.9)).fit(*training)
    want = fitted.transform(*other)
    again = QuantileMap.from_json(fitted.to_json())
    assert (again.transform(*other) == want).all() and again.get_params() == fitted.get_params() | {
        "mass_range": [-0.9, 0.9]
    }
    fitted.save(tmp_path / "map.json")
    assert (QuantileMap.load(tmp_path / "map.json").transform(*other) == want).all()
    assert (pickle.loads(pickle.dumps(fitted)).transform(*other) == want).all()
    assert clone(fitted).get_params() == fitted.get_params()
    assert repr(QuantileMap(2)) == "QuantileMap(order=2)"


def test_the_file_has_the_order_of_the_fit():
    score, mass = sample(1000, 13)
    fitted = QuantileMap(np.int64(1), intervals=np.int64(3), mass_range=np.array([-0.9, 0.9])).fit(score, mass)
    again = QuantileMap.from_json(fitted.set_params(order=None).to_json())
    assert again.order == 1 and again.intervals == 3
    assert (again.transform(score, mass) == fitted.transform(score, mass)).all()


@pytest.fixture(scope="module")
def files():
    """The fields of files of one and of two variables."""
    score, mass = sample(1000, 14)
    found = []
    for fitted in (
        QuantileMap(1, intervals=2, mass_range=(-0.9, 0.9)).fit(score, mass),
        QuantileMap(None, intervals=2).fit(score, np.column_stack([mass, mass[::-1]])),
    ):
        found.append(json.loads(fitted.to_json()))
    return found


DEEP = "[" * 100_000

# Of which file, its fields that are changed, and the sentence.
NO_FILES = {
    "code in order": (
        0,
        {"order": "1\n#include <evil>"},
        r"order = '1\\n#include <evil>', but the targets are of order 1",
    ),
    "another order": (0, {"order": 2}, "order = 2, but the targets are of order 1"),
    "order of two variables": (1, {"order": 1}, "order = 1, but the targets are of order None"),
    "order without targets": (0, {"targets": None}, "order = 1, but the targets are of order None"),
    "version": (0, {"version": 2}, "version = 2 of a QuantileMap: this libmode reads 1"),
    "other ranges": (
        0,
        {"ranges": [[0, 1]]},
        r"ranges = \[\[0, 1\]\]: must be the ends of the knots, \[\(-0.9, 0.9\)\]",
    ),
    "ranges of two": (0, {"ranges": [[0, 1]] * 2}, r"ranges has shape \(2, 2\): must be \(1, 2\)"),
    "one level": (0, {"levels": [0.5]}, r"levels = \[0.5\]: must be two numbers or more"),
    "levels of text": (0, {"levels": "; exit(1)"}, r"levels = '; exit\(1\)': must be lists of numbers"),
    "levels of lists": (0, {"levels": [[0], [1]]}, r"levels has shape \(2, 1\): must be \(-1,\)"),
    "NaN": (0, {"levels": [0, np.nan]}, r"levels\[1\] = nan: must be finite"),
    "huge": (0, {"levels": [0, 10**400]}, "levels = .*: must be lists of numbers"),
    "equal levels": (0, {"levels": [0, 1, 1]}, r"levels\[2\] = 1: must increase"),
    "far levels": (0, {"levels": [-1e308, 1e308]}, "of finite length"),
    "fewer levels": (0, {"levels": [0, 1]}, r"targets has shape .*: must be \(2, -1\)"),
    "knots of four": (0, {"knots": [[0, 1]] * 4}, "knots = .*: must be a list for each of 1 to 3 variables"),
    "unsorted knots": (0, {"knots": [[-0.9, 0.95, 0.9]]}, r"knots\[0\]\[2\] = 0.9: must increase"),
    "more knots": (0, {"knots": [[-0.9, 0, 0.1, 0.9]]}, r"coefficients has shape \(\d+, 5\): must be \(\d+, 6\)"),
    "ragged knots": (1, {"knots": [[[0], 1]] * 2}, r"knots\[0\] = .*: must be lists of numbers"),
    "no list": (0, {"targets": {"0": 1}}, r"targets = \{'0': 1\}: must be lists of numbers"),
}


@pytest.mark.parametrize("name", NO_FILES)
def test_a_file_is_checked_in_full(files, name):
    which, changes, message = NO_FILES[name]
    with pytest.raises(ValueError, match=message):
        QuantileMap.from_json(json.dumps(files[which] | changes))


@pytest.mark.parametrize(
    "which, place, value, message",
    [
        (0, (3, 1), 1.5, r"coefficients\[3\]\[1\] = 1.5: must be from 0 to 1"),
        (1, (3, 1), -1e308, r"coefficients\[3\]\[1\] = -1e\+308: must be from -1e\+100 to 1e\+100"),
        (0, (-1, 1), 0, r"coefficients\[\d+\]\[1\] = 0: must not decrease with the level"),
        (0, (2, 2), None, r"coefficients\[2\]\[2\] = nan: must be finite"),
    ],
)
def test_numbers_of_a_distribution_are_checked(files, which, place, value, message):
    rows = [list(row) for row in files[which]["coefficients"]]
    rows[place[0]][place[1]] = value
    with pytest.raises(ValueError, match=message):
        QuantileMap.from_json(json.dumps(files[which] | {"coefficients": rows}))


def test_text_that_is_no_file(files):
    for name in files[0].keys() - {"libmode", "version"}:
        with pytest.raises(ValueError, match=f"^{name} is missing in the file"):
            QuantileMap.from_json(json.dumps({other: value for other, value in files[0].items() if other != name}))
    digits = json.dumps(files[0]).replace('"order": 1', f'"order": {"1" * 5000}')
    for text in (DEEP, digits, "nonsense"):
        with pytest.raises(ValueError, match="the text is not JSON"):
            QuantileMap.from_json(text)
    for text in ("[1]", "{}"):
        with pytest.raises(ValueError, match="is not a QuantileMap"):
            QuantileMap.from_json(text)


def test_files_of_all_kinds_are_read_again():
    rng = np.random.default_rng(15)
    mass = rng.normal(size=(2000, 3))
    score = rng.normal(size=2000) + mass[:, 0]
    for variables, order, mass_range in (
        (1, None, None),
        (1, 16, (-2, 2)),
        (1, 0, [[-2, 2]]),
        (2, 0, [(-2, 2), (-1, 1)]),
        (2, None, [-2, 2, -1, 1]),
        (3, 0, None),
    ):
        fitted = QuantileMap(order, mass_range=mass_range).fit(score, mass[:, :variables])
        again = QuantileMap.from_json(fitted.to_json())
        assert again.to_json() == fitted.to_json()
        assert (again.transform(score, mass[:, :variables]) == fitted.transform(score, mass[:, :variables])).all()


BAD = {
    "order": ({"order": -1}, {}, "order = -1: must be an integer from 0 to 16, or None"),
    "intervals": ({"intervals": 0}, {}, "intervals = 0"),
    "range": ({"mass_range": (1, 0)}, {}, r"mass_range = \(1, 0\): must be two finite numbers"),
    "NaN score": ({}, {"score": (5, np.nan)}, r"score\[5\] = nan: must be finite"),
    "inf mass": ({}, {"mass": (7, np.inf)}, r"mass\[7\] = inf: must be finite"),
    "NaN weight": ({}, {"sample_weight": (3, np.nan)}, r"sample_weight\[3\] = nan"),
    "outside": ({"mass_range": (5, 6)}, {}, "0 events inside mass_range: at least 100 are needed"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    options, changes, message = BAD[name]
    score, mass = sample(1000, 8)
    given = {"score": score, "mass": mass, "sample_weight": np.ones(1000)}
    for array, (place, value) in changes.items():
        given[array][place] = value
    with pytest.raises(ValueError, match=message):
        QuantileMap(**options).fit(**given)


def test_more_bad_input():
    score, mass = sample(1000, 9)
    for given, message in (
        ((score[:5], mass), "mass has length 1000, but score has length 5"),
        ((np.full(1000, 0.5), mass), "all scores are 0.5"),
        ((score, np.full(1000, 3.0)), "all masses are 3"),
    ):
        with pytest.raises(ValueError, match=message):
            QuantileMap().fit(*given)
    with pytest.raises(ValueError, match="the weights sum to -1000"):
        QuantileMap().fit(score, mass, sample_weight=-np.ones(1000))
    with pytest.raises(ValueError, match="several variables need order 0 or None"):
        QuantileMap(1).fit(score, np.column_stack([mass, mass**2]))
    fitted = QuantileMap().fit(score, mass)
    with pytest.raises(ValueError, match="mass has 2 variables, but the map was fitted with 1"):
        fitted.transform(score, np.column_stack([mass, mass]))
    with pytest.raises(ValueError, match=r"score\[0\] = nan"):
        fitted.transform([np.nan], [0.1])
    with pytest.raises(Exception, match="not fitted"):
        QuantileMap().transform(score, mass)


def test_equal_scores_and_few_events():
    """A classifier with four values: no crash and no NaN."""
    rng = np.random.default_rng(10)
    score, mass = rng.integers(0, 4, 5000) / 4, rng.exponential(1, 5000)
    assert np.isfinite(QuantileMap(0).fit(score, mass).transform(score, mass)).all()
    few = QuantileMap(2).fit(score[:100] + 0.01 * mass[:100], mass[:100])
    assert np.isfinite(few.transform(score, mass)).all()


def test_a_few_far_masses_are_said():
    rng = np.random.default_rng(1)
    mass = rng.exponential(60, 2_000)
    mass[::100] = -999
    with pytest.warns(UserWarning, match="mass is -999 for 20 of 2000 events .* and give mass_range"):
        QuantileMap().fit(rng.random(2_000), mass)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        QuantileMap(mass_range=(0, 600)).fit(rng.random(2_000), mass)
