"""libmode.metrics.check: its verdict against toys whose truth is known, its numbers against sums written out."""

import math
from functools import partial

import libmode
import numpy as np
import pandas as pd
import pytest
from libmode import metrics
from libmode.metrics._judge import Judge
from libmode.metrics._settings import Settings

WIDTH, MASS = 8.0, 120.0


def events(rng, background=20_000, signal=4_000, spectrum="falling", weights="none"):
    """Scores that do not depend on the mass, labels, masses and weights."""
    n = background
    mass = {
        "falling": lambda: 50 + rng.exponential(60, n),
        "steep": lambda: 60 * (1 - rng.random(n)) ** (-1 / 5),
        "rounded": lambda: np.round((50 + rng.exponential(60, n)) / 5) * 5,
        "few": lambda: rng.choice([60.0, 80, 100, 120, 140, 180], n, p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.1]),
    }[spectrum]()
    score = np.append(rng.normal(size=n), rng.normal(1.5, 1, signal))
    mass = np.append(mass, rng.normal(MASS, WIDTH, signal))
    weight = {
        "none": lambda: None,
        "both signs": lambda: np.append(rng.choice([1.0, -1.0], n, p=[0.85, 0.15]), np.ones(signal)),
        "rising": lambda: np.exp(score / 2),
        "heavy": lambda: np.where(score > 2, 10.0, 1.0),
        "by mass": lambda: np.exp((mass - 100) / 120),
        "ties": lambda: None,
    }[weights]()
    label = np.repeat([0, 1], [n, signal])
    return np.round(score) if weights == "ties" else score, label, mass, weight


def with_bump(rng, errors, background=40_000, efficiency=0.05, order=0, **kind):
    """Of events that pass a cut at random, so many errors of a search more near the mass.

    The error is the root of the inverse Fisher information of a fit of signal, and polynomial times the spectrum.
    """
    score, label, mass, weight = events(rng, background, **kind)
    is_background = label == 0
    passed = rng.random(len(score)) < efficiency
    low, high = mass[is_background].min(), mass[is_background].max()
    edges = np.arange(low - 1.25, high + 3, 2.5)
    middle, own = (edges[1:] + edges[:-1]) / 2, np.histogram(mass[is_background], edges)[0]
    shape = np.exp(-0.5 * ((middle - MASS) / WIDTH) ** 2)
    used = own > 0
    shape /= shape[used].sum()
    columns = np.column_stack([own * middle**k for k in range(order + 1)] + [shape])[used]
    information = columns.T @ (columns / (efficiency * own[used])[:, None])
    count = errors * math.sqrt(np.linalg.inv(information)[-1, -1])
    near = np.exp(-0.5 * ((mass - MASS) / WIDTH) ** 2)
    density = own[np.clip(np.searchsorted(edges, mass, "right") - 1, 0, len(own) - 1)]
    others = np.flatnonzero(is_background & ~passed & (density > 0))
    chance = near[others] / density[others]
    passed[rng.choice(others, round(count), replace=False, p=chance / chance.sum())] = True
    return np.where(passed & is_background | ~is_background, 1.0, 0.0), label, mass, weight


@pytest.mark.parametrize(
    "kind",
    [{}, {"spectrum": "steep"}, {"spectrum": "rounded"}, {"spectrum": "few"}]
    + [{"weights": name} for name in ("both signs", "rising", "heavy", "by mass", "ties")],
    ids=str,
)
def test_flat_responses_are_not_called_sculpted(kind):
    """At most 1 % of flat toys may be: of 150, six or more have a chance of 0.4 %."""
    rng = np.random.default_rng(3)
    false = 0
    for _ in range(150):
        score, label, mass, weight = events(rng, 6_000, 1_500, **kind)
        false += metrics.check(score, label, mass, weight=weight, order=0).flat is False
    assert false < 6


def test_the_p_values_are_uniform():
    """Of each of the three tests: Kolmogorov and Smirnov's distance, above this in 1 % of the cases."""
    rng, found = np.random.default_rng(4), []
    for _ in range(300):
        score, label, mass, _ = events(rng, 10_000, 2_000)
        one = metrics.check(score, label, mass, order=1, signal_efficiency=0.8)
        found.append([one.p_all_cuts, one.cuts[0].p_cut, one.cuts[0].p_spurious])
    for p in np.sort(found, axis=0).T:
        steps = np.arange(301) / 300
        assert max(np.max(p - steps[:-1]), np.max(steps[1:] - p)) * math.sqrt(300) < 1.63


@pytest.mark.parametrize("kind", [{}, {"spectrum": "steep"}, {"spectrum": "rounded"}], ids=str)
@pytest.mark.parametrize("order", [0, 1])
def test_a_bump_of_five_errors_is_seen(kind, order):
    rng, found = np.random.default_rng(5), []
    for _ in range(80):
        score, label, mass, weight = with_bump(rng, 5.5, order=order, **kind)
        found.append(metrics.check(score, label, mass, weight=weight, order=order, threshold=0.5))
    assert sum(one.flat is False for one in found) >= 64
    assert np.mean([one.cuts[0].significance for one in found]) == pytest.approx(5.3, abs=0.9)
    assert np.median([one.cuts[0].signal_mass for one in found]) == pytest.approx(MASS, abs=1)


@pytest.mark.parametrize(("masses", "filled"), [(1, "1 bin"), (2, "0 bins")])
def test_five_events_say_nothing(masses, filled):
    mass = np.random.default_rng(5).exponential(60, (5, masses))
    found = metrics.check(np.arange(5.0), None, mass, order=1, background_efficiency=0.4)
    assert found.flat is None and found.why.startswith(f"not known: the masses fill {filled} of 10 effective events")


def test_the_unit_of_mass_changes_nothing():
    """Without signal the masses of the scan are 16 widths from end to end, and rounding made 8 or 9 of them."""
    rng, found = np.random.default_rng(1), []
    mass, score = rng.exponential(60, 10_000) + 20, rng.random(10_000)
    for unit in (1, 0.1, 3.7, 1000):
        every = {"order": 1, "background_efficiency": 0.1, "mass_range": (20 * unit, 120 * unit)}
        found.append(metrics.check(score, None, mass * unit, **every).cuts[0].p_spurious)
    np.testing.assert_allclose(found, found[0], rtol=1e-6)


def test_the_spurious_signal_is_what_was_added():
    """The pulls of the fit around the number of events that were added have mean 0 and width 1."""
    rng, pulls = np.random.default_rng(6), []
    for _ in range(150):
        mass = 50 + rng.exponential(60, 20_000)
        passed = rng.random(20_000) < 0.05 + 0.0004 * (mass - 50)
        extra = rng.normal(MASS, WIDTH, 60)
        mass = np.append(mass, extra)
        score = np.append(passed * 1.0, np.ones(60))
        options = {"order": 1, "threshold": 0.5, "signal_mass": MASS, "signal_width": WIDTH}
        cut = metrics.check(score, None, mass, **options).cuts[0]
        pulls.append((cut.spurious_signal - 60) / cut.spurious_error)
    assert abs(np.mean(pulls)) < 0.35 and np.std(pulls) == pytest.approx(1, abs=0.2)


def test_the_numbers_of_a_cut_by_counting():
    rng = np.random.default_rng(7)
    mass, score = rng.uniform(0, 200, 30_000), rng.random(30_000)
    cut = metrics.check(score, None, mass, order=0, threshold=0.8).cuts[0]
    by_mass = np.array_split((score >= 0.8)[np.argsort(mass)], 20)
    rate, n = np.array([[np.mean(one), len(one)] for one in by_mass]).T
    assert cut.background_efficiency == pytest.approx(np.mean(score >= 0.8), rel=1e-12)
    assert cut.residual == pytest.approx(np.std(rate) / rate.mean(), rel=1e-3)
    expected = np.sqrt(np.mean(rate * (1 - rate) / n) * 19 / 20) / rate.mean()
    assert cut.expected == pytest.approx(expected, rel=1e-3)
    p = np.mean(score >= 0.8)
    assert cut.chi2 == pytest.approx(np.sum((rate - p) ** 2 * n / p / (1 - p)), rel=2e-3)
    assert cut.ndof == 19 and cut.selected == np.sum(score >= 0.8)


def test_of_too_few_events_nothing_is_known():
    rng = np.random.default_rng(8)
    for n in (100, 700):
        several = [metrics.check(*events(rng, n, n)[:3], order=0) for _ in range(20)]
        unknown = [found for found in several if found.flat is None]
        assert len(unknown) >= 18 and not any(found.flat for found in several)
        assert all(found.why.startswith("not known: ") for found in unknown)
        with pytest.raises(AssertionError, match="not known: "):
            unknown[0].raise_if_not_flat()
    # Nor can a sample with a thousandth of the events of the search.
    several = [metrics.check(*events(rng, 20_000)[:3], order=0, tolerance=2e7).flat for _ in range(5)]
    assert several.count(None) >= 4 and True not in several


def test_a_cut_without_background_shows_no_numbers():
    rng, label = np.random.default_rng(1), np.arange(3000) % 2
    found = metrics.check(label + rng.random(3000), label, rng.random(3000), order=2, max_slope=0.5, monotonic=True)
    assert np.isnan(found.cuts[0].p_cut) and "1e-300" not in str(found) and "nan" not in str(found)


def test_the_number_of_events_that_is_needed_is_enough():
    """Of background at a cut of 1 %: with the events that the verdict asks for four of five are flat, with half none is."""
    rng, cut = np.random.default_rng(30), {"order": 0, "background_efficiency": 0.01, "mass_range": (50, 250)}

    def judged(n):
        return [metrics.check(rng.random(n), None, rng.uniform(50, 250, n), **cut) for _ in range(12)]

    few = judged(10_000)
    needed = np.median([one.cuts[0].needed for one in few])
    assert few[0].why.endswith("effective background events, of which it has 10,000") and needed > 20_000
    assert sum(one.flat is True for one in judged(int(needed))) >= 7
    assert sum(one.flat is None and one.cuts[0].needed > 0 for one in judged(int(needed / 2))) >= 11


def test_the_headline_has_one_p_value_of_all_tests_and_no_contradiction():
    rng = np.random.default_rng(31)
    mass = rng.uniform(50, 250, 20_000)
    bump = np.exp(-0.5 * ((mass - MASS) / WIDTH) ** 2)
    points = {"order": 0, "background_efficiency": [0.5, 0.002], "signal_mass": MASS, "signal_width": WIDTH}
    for height, flat in ((0.0, None), (0.25, False)):
        score = rng.random(20_000) + (rng.random(20_000) < 0.5 * (1 + height * bump))
        found = metrics.check(score, None, mass, **points)
        local = [found.p_all_cuts, *(p for cut in found.cuts for p in (cut.p_cut, cut.p_spurious))]
        assert found.p_value == pytest.approx(min(1, found.tests * np.nanmin(local)))
        assert found.flat is flat and found.cuts[1].unknown
        if flat is False:
            assert f"(global p = {found.p_value:.2g}): a bump of +" in found.why
            assert "not known" not in str(found) and str(found).count("p =") == 1


def test_a_search_with_few_events_does_not_mind_a_small_bump():
    rng = np.random.default_rng(9)
    score, label, mass, _ = with_bump(rng, 6, 400_000)
    assert metrics.check(score, label, mass, order=0, threshold=0.5).flat is False
    small = metrics.check(score, label, mass, order=0, threshold=0.5, tolerance=4_000)
    assert small.flat is True
    assert small.cuts[0].significance == pytest.approx(0.6, abs=0.2)  # sqrt(4,000 / 400,000) of six


def test_a_training_leaves_what_it_cannot_teach():
    rng = np.random.default_rng(10)
    score, label, mass, _ = with_bump(rng, 5)
    found, taught = (
        metrics.check(score, label, mass, order=0, threshold=0.5, training_events=n) for n in (1e9, 10_000)
    )
    assert found.cuts[0].p_spurious < 2e-3 < 0.02 < taught.cuts[0].p_spurious
    assert taught.taught == pytest.approx(math.sqrt(1 + 40_000 / 10_000), rel=1e-9)


def test_one_of_several_categories_is_named():
    rng = np.random.default_rng(11)
    flat, bump = events(rng, 40_000, 4_000), with_bump(rng, 9)
    passed = np.where(flat[1] == 0, rng.random(len(flat[0])) < 0.05, 1.0)
    score, label, mass = np.append(passed, bump[0]), np.append(flat[1], bump[1]), np.append(flat[2], bump[2])
    category = np.repeat(["b-tag", "no tag"], [len(passed), len(bump[0])])
    found = metrics.check(score, label, mass, order=0, threshold=0.5, category=category)
    assert found.flat is False
    assert found.categories["b-tag"].flat is not False and found.categories["no tag"].flat is False
    assert found.to_dict()["category_no tag_flat"] is False


def test_two_masses():
    rng = np.random.default_rng(12)
    mass = rng.uniform(0, 1, (40_000, 2))
    score = rng.random(40_000)
    cut = {"order": 1, "background_efficiency": 0.2, "bins": 8}
    assert metrics.check(score, None, mass, **cut).flat is True
    corner = score + 0.2 * ((mass > 0.75).sum(axis=1) == 2)
    found = metrics.check(corner, None, mass, **cut)
    assert found.flat is False and math.isnan(found.cuts[0].spurious_signal)


def test_a_line_that_reaches_0_and_a_new_maximum_are_said():
    rng = np.random.default_rng(13)
    mass = rng.uniform(50, 250, 50_000)
    rising = (rng.random(50_000) < (mass - 100) / 300) * 1.0
    found = metrics.check(rising, None, mass, order=1, threshold=0.5)
    assert found.cuts[0].zero_at == pytest.approx(80, abs=30)
    falling = 50 + rng.exponential(40, 80_000)
    peak = (rng.random(80_000) < 0.05 + 0.4 * np.exp(-0.5 * ((falling - 120) / 15) ** 2)) * 1.0
    assert metrics.check(peak, None, falling, order=0, threshold=0.5).cuts[0].maximum_at == pytest.approx(120, abs=12)
    assert metrics.check(rng.random(80_000), None, falling, order=0, threshold=0.5).cuts[0].maximum_at is None


def test_bounds():
    rng = np.random.default_rng(14)
    x = rng.uniform(-1, 1, 100_000)
    line = (rng.random(100_000) < 0.2 * (1 + 0.5 * x)) * 1.0
    steep, fine = (metrics.check(line, None, x, order=1, threshold=0.5, max_slope=most) for most in (0.3, 0.6))
    assert steep.flat is False and fine.flat is True
    assert steep.cuts[0].slope == pytest.approx(0.5, abs=4 * steep.cuts[0].slope_error)
    assert "the slope of the response at score >= 0.5 is 0.5" in steep.why and "above max_slope = 0.3" in steep.why
    assert "bump" not in steep.why and "%" not in steep.why
    parabola = (rng.random(100_000) < 0.2 * (1 + 0.5 * x**2)) * 1.0
    assert metrics.check(parabola, None, x, order=2, threshold=0.5).flat is True
    assert metrics.check(parabola, None, x, order=2, threshold=0.5, monotonic=True).flat is False
    assert metrics.check(line, None, x, order=2, threshold=0.5, monotonic=True).flat is True


def test_a_histogram_says_what_its_events_say():
    rng = np.random.default_rng(16)
    for strength, verdict in ((0.0, True), (0.5, False)):
        mass = 50 + 200 * rng.beta(1, 2, 60_000)
        score = rng.random(60_000) + strength * np.exp(-0.5 * ((mass - MASS) / WIDTH) ** 2)
        edges = np.linspace(50, 250, 201), np.linspace(0, 1.6, 321)
        where = {"order": 0, "threshold": 0.8, "signal_mass": MASS, "signal_width": WIDTH}
        histogram = np.histogram2d(mass, score, edges)
        binned, found = metrics.check(histogram, **where), metrics.check(score, None, mass, **where)
        assert binned.flat is found.flat is verdict
        ours, theirs = binned.cuts[0], found.cuts[0]
        assert ours.spurious_signal == pytest.approx(theirs.spurious_signal, abs=0.3 * theirs.spurious_error)
        assert ours.spurious_error == pytest.approx(theirs.spurious_error, rel=0.02)
        assert ours.residual == pytest.approx(theirs.residual, rel=0.2)


def test_a_histogram_whose_label_axis_has_no_signal():
    values = np.random.default_rng(26).poisson(50, (20, 30)).astype(float)
    histogram = np.stack([values, np.zeros_like(values)], axis=2), np.linspace(50, 250, 21), np.linspace(0, 1, 31)
    cut = metrics.check(histogram, order=0, background_efficiency=0.2).cuts[0]  # a warning would be an error
    assert math.isnan(cut.signal_efficiency) and cut.background_efficiency == pytest.approx(0.2, abs=0.04)


def test_what_cannot_be_drawn_is_named():
    rng = np.random.default_rng(27)
    found = metrics.check(rng.random(5_000), None, rng.random((5_000, 2)), order=0, background_efficiency=0.2, bins=4)
    with pytest.raises(ValueError, match="plot: at 20 % background efficiency there is no efficiency in bins of one"):
        found.plot()


def test_missing_masses_and_those_outside_count_for_the_working_point_alone():
    rng = np.random.default_rng(18)
    score, label, mass, _ = events(rng)
    gone = rng.random(len(mass)) < 0.1
    with pytest.raises(ValueError, match=rf"mass\[{np.argmax(gone)}\] = nan: expected a finite number"):
        metrics.check(score, label, np.where(gone, np.nan, mass), order=0)
    inside = (mass > 60) & (mass < 200) & ~gone
    found = metrics.check(score, label, np.where(gone, np.nan, mass), order=0, missing="ignore", mass_range=(60, 200))
    cut = metrics.threshold(score, label, signal_efficiency=0.5)
    assert found.cuts[0].threshold == cut
    assert found.cuts[0].selected == np.sum((score >= cut) & inside & (label == 0))


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({}, TypeError, "order is missing"),
        ({"order": 0, "signal_efficiency": 0.5, "threshold": 0.5}, TypeError, "signal_efficiency and threshold"),
        ({"order": 0, "signal_efficiency": [0.5, 1.5]}, ValueError, r"signal_efficiency\[1\] = 1.5: must be"),
        ({"order": 0, "background_efficiency": 0}, ValueError, "background_efficiency = 0"),
        ({"order": 0, "threshold": []}, ValueError, "threshold is empty"),
        ({"order": 0, "tolerance": 0}, ValueError, "tolerance = 0"),
        ({"order": 0, "training_events": -1}, ValueError, "training_events = -1"),
        ({"order": 0, "signal_mass": 9_999}, ValueError, "signal_mass = 9999: expected a mass of the background"),
        ({"order": 0, "signal_width": [1, 2]}, ValueError, "signal_width has 2 numbers, and signal_mass none"),
        ({"order": 0, "max_slope": 1}, ValueError, "max_slope = 1: expected an order of at least 1"),
        ({"order": 1, "monotonic": True}, ValueError, "monotonic = True: expected an order of at least 2"),
        ({"order": 0, "missing": "drop"}, ValueError, "missing = 'drop'"),
        ({"order": 0, "background": "line"}, ValueError, "background = 'line'"),
        ({"order": 0, "bins": 1}, ValueError, "bins = 1"),
    ],
)
def test_bad_arguments(options, error, said):
    score, label, mass, _ = events(np.random.default_rng(19), 2_000, 500)
    with pytest.raises(error, match=said):
        metrics.check(score, label, mass, **options)


@pytest.mark.parametrize("dtype", [str, object, bytes])
def test_strings_are_labels_as_numbers_are(dtype):
    score, label, mass, _ = events(np.random.default_rng(28), 4_000, 1_000)
    label[::3] *= 2
    strings = np.array(["qcd", "top", "signal"]).astype(dtype)
    kinds = strings[label]
    numbers, names = {"background_label": [0, 1]}, {"background_label": strings[:2].tolist()}
    want, found = (metrics.check(score, own, mass, order=0, **one) for own, one in ((label, numbers), (kinds, names)))
    assert repr(found.to_dict()) == repr(want.to_dict())
    weights = [libmode.planing_weights(own, mass, **one) for own, one in ((label, numbers), (kinds, names))]
    np.testing.assert_array_equal(*weights)
    for call in (
        lambda **one: metrics.check(score, kinds, mass, order=0, **one),
        lambda **one: libmode.planing_weights(kinds, mass, **one),
    ):
        with pytest.raises(ValueError, match="^background_label = 'W': expected one of label's '.*qcd'"):
            call(background_label=["W"])
        with pytest.raises(ValueError, match=r"^background_label = \[\]: expected one of label's '.*qcd'"):
            call(background_label=[])
    for names in (strings[:2], pd.Index(strings[:2]), [*strings[:2], *strings[:2]]):
        several = libmode.planing_weights(kinds, mass, background_label=names)
        np.testing.assert_array_equal(several, weights[0])
        found = metrics.check(score, kinds, mass, order=0, background_label=names)
        assert repr(found.to_dict()) == repr(want.to_dict())
    for missing in (None, np.nan, pd.NA) if dtype is object else ():
        kinds[5] = missing
        for call in (
            partial(metrics.check, order=0),
            lambda _, label, mass, **more: libmode.planing_weights(label, mass, **more),
        ):
            with pytest.raises(ValueError, match=f"^label.5. = {missing}: leave events without a label out"):
                call(score, kinds, mass, background_label="qcd")


def test_numbers_in_an_array_of_objects_are_labels():
    score, label, mass, _ = events(np.random.default_rng(28), 4_000, 1_000)
    for kinds in (label, label.astype(bool)):
        weights = libmode.planing_weights(kinds.astype(object), mass)
        np.testing.assert_array_equal(weights, libmode.planing_weights(label, mass))


def test_a_signal_efficiency_needs_signal():
    with pytest.raises(TypeError, match="label is missing, and signal_efficiency needs it"):
        metrics.check(np.arange(50.0), None, np.arange(50.0), order=0)


def test_a_response_that_falls_to_zero_is_flat():
    """Where a polynomial reached 0 or 1 the errors were 0: 14 of 40 linear responses were "not flat", p down to 1e-50."""
    found = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        falls, rises = (
            1 - 2 * np.sqrt(rng.random(3_000)),
            2 * np.sqrt(rng.random(3_000)) - 1,
        )  # together a flat spectrum
        mass, score = np.concatenate([falls, rises]), rng.normal(np.repeat([0.0, -4.0], 3_000))
        found.append(metrics.check(score, None, mass, order=1, background_efficiency=0.08).p_all_cuts)
    assert min(found) > 1e-3 and max(found) < 1 - 1e-6
    assert 0.3 < np.mean(found) < 0.7


@pytest.mark.parametrize("order", [0, 1])
def test_a_bump_of_background_at_the_signal_never_ranks_first(order):
    """A tight selection that leaves background under the signal alone, so little that its residual is mostly chance."""
    rng = np.random.default_rng(5)
    label = np.repeat([0, 1], [200_000, 20_000])
    mass = np.where(label == 1, rng.normal(125, 12, len(label)), 50 + rng.exponential(80, len(label)))
    logit = rng.normal(3.0 * label)
    peak = np.exp(-0.5 * ((mass - 125) / 12) ** 2)
    options = {"order": order, "tolerance": 100_000, "signal_efficiency": [0.8, 0.5, 0.2]}
    flat, bump = (metrics.check(one, label, mass, **options).sensitivity for one in (logit, logit + 3 * peak - 3))
    assert metrics.auc(logit + 3 * peak - 3, label) > metrics.auc(logit, label) + 0.005
    assert bump < 0.8 * flat


def test_the_sensitivity_by_itself():
    score, label, mass, _ = with_bump(np.random.default_rng(20), 20)
    score = score + np.random.default_rng(21).random(len(score))
    weight = np.where(label == 1, 0.5, 2.0)
    arguments = {"weight": weight, "order": 1, "tolerance": 20_000, "signal_efficiency": (0.7, 0.3), "bins": 12}
    alone = metrics.check(score, label, mass, **arguments).sensitivity
    # The best of both working points, each from rates that are counted, at the masses of the signal.
    significances, edges = [], libmode.mode_edges(mass, label=label, bins=12)
    of_signal = np.histogram(mass[label == 1], edges)[0]
    for wish in (0.7, 0.3):
        cut = metrics.threshold(score, label, signal_efficiency=wish)
        rates = np.histogram(mass[(label == 0) & (score >= cut)], edges)[0] / np.histogram(mass[label == 0], edges)[0]
        rate = np.sum(of_signal * rates) / np.sum(of_signal)
        found = metrics.flatness(score, label, mass, threshold=cut, bins=edges, order=1)
        extra = max(found.rms**2 - found.expected**2, 0)
        significances.append(np.mean(score[label == 1] >= cut) / np.sqrt(rate * (1 + extra * rate * 20_000 / 12)))
    assert alone == pytest.approx(max(significances), rel=1e-3)


def test_the_numbers_of_a_log_are_floats():
    rng = np.random.default_rng(22)
    score, label, mass, _ = events(rng)
    check, numbers = Judge(Settings.checked(order=0), label, mass).log(score)
    assert check.flat is True and numbers["flat"] == 1.0
    assert all(type(value) is float for value in numbers.values())
    assert numbers["auc"] == metrics.auc(score, label) and math.isnan(numbers["zero_at"])
    with pytest.raises(TypeError, match="check: unknown argument 'efficiency'"):
        Settings.checked(order=0, efficiency=0.5)


def test_float32_masses_on_a_limit_count():
    """0.8 in float32 is above 0.8, and 0.1 is too: the loss rounds limits to the type of the masses."""
    mass = np.repeat(np.linspace(0.1, 0.8, 8), 1_000).astype(np.float32)
    score = np.random.default_rng(23).random(8_000)
    where = {"mass_range": (0.1, 0.8), "background_efficiency": 0.5}
    assert metrics.check(score, None, mass, order=0, **where).events == 8_000
    rates = metrics.efficiency(score, None, mass, **where)
    assert rates.background.sum() == 8_000
    edges = np.linspace(0.1, 0.8, 8)
    np.testing.assert_array_equal(
        metrics.efficiency(score, None, mass, bins=edges, threshold=0.5).background, [1_000] * 6 + [2_000]
    )


def test_a_signal_outside_the_edges_is_an_error():
    """The verdict was "flat", and nothing had looked at the signal."""
    rng = np.random.default_rng(24)
    score, label, mass, _ = events(rng)
    sculpted, edges = score + 2 * np.exp(-(((mass - MASS) / WIDTH) ** 2)), [50, 60, 70, 80, 100]
    with pytest.raises(ValueError, match=r"signal_mass = 120: expected a mass of the background, 50\S* to 99"):
        metrics.check(sculpted, label, mass, order=0, bins=edges, signal_mass=MASS)
    cut = metrics.check(score, label, mass, order=0, bins=edges).cuts[0]  # looks where it can
    assert 50 < cut.signal_mass < 100
    inside = np.where(mass < 100, score + 2 * np.exp(-(((mass - 85) / 4) ** 2)), score)
    assert metrics.check(inside, label, mass, order=0, bins=np.linspace(50, 100, 26)).flat is False


@pytest.mark.parametrize("bump, flat", [(0.0, True), (0.3, False)])
def test_masses_of_two_values(bump, flat):
    """As of a protected attribute: a signal between the values has no events."""
    rng = np.random.default_rng(25)
    mass = rng.integers(0, 2, 20_000).astype(float)
    found = metrics.check(rng.normal(size=20_000) + bump * mass, None, mass, order=0, background_efficiency=0.3)
    assert found.flat is flat


@pytest.mark.parametrize("labeled", [False, True])
def test_a_bump_that_the_sample_cannot_exclude_is_not_called_flat(labeled):
    """Weights with a lognormal tail, and a cut that selects half more background near the signal: flat toys may be flat."""
    rng, flat = np.random.default_rng(23), {0.0: [], 0.5: []}
    for height, checks in flat.items():
        for _ in range(30):
            mass = 50 + rng.exponential(60, 8_777)
            passed = rng.random(8_777) < 0.5 + 0.5 * height * np.exp(-0.5 * ((mass - MASS) / WIDTH) ** 2)
            score, label = rng.random(8_777) + passed, np.zeros(8_777)
            weight = np.exp(1.5 * rng.normal(size=8_777))
            if labeled:
                score, label = np.append(score, 1 + rng.random(1_500)), np.append(label, np.ones(1_500))
                mass, weight = np.append(mass, rng.normal(MASS, WIDTH, 1_500)), np.append(weight, np.ones(1_500))
            checks.append(metrics.check(score, label, mass, weight=weight, order=0, background_efficiency=0.5))
        for cut in (cut for found in checks if found.flat for cut in found.cuts):
            error = cut.height * cut.spurious_error / cut.spurious_signal
            assert abs(cut.height) + 2 * error < 0.51 and abs(cut.spurious_signal) < 3 * cut.spurious_error
    assert sum(found.flat is True for found in flat[0.0]) >= 18 and not any(found.flat is False for found in flat[0.0])
    assert sum(found.flat is True for found in flat[0.5]) <= 1
