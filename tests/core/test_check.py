"""libmode.metrics.check: its verdict against toys whose truth is known, its numbers against sums written out."""

import json
import math
import re
from functools import partial

import libmode
import numpy as np
import pandas as pd
import pytest
from libmode import metrics
from libmode.metrics._judge import Judge
from libmode.metrics._sample import Settings

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
        "lognormal": lambda: np.exp(1.5 * rng.normal(size=n + signal)),
    }[weights]()
    label = np.repeat([0, 1], [n, signal])
    return np.round(score) if weights == "ties" else score, label, mass, weight


def error_of_search(mass, efficiency, at, width, order):
    """The error of a fit of signal, and polynomial times the spectrum: the root of the inverse Fisher information."""
    edges = np.arange(mass.min() - width / 6, mass.max() + width / 2, width / 3)
    middle, own = (edges[1:] + edges[:-1]) / 2, np.histogram(mass, edges)[0]
    shape = np.exp(-0.5 * ((middle - at) / width) ** 2)
    shape /= shape.sum()
    x = 2 * (middle - middle[0]) / (middle[-1] - middle[0]) - 1
    columns = np.column_stack([own * x**k for k in range(order + 1)] + [shape])[own > 0]
    information = columns.T @ (columns / (efficiency * own[own > 0])[:, None])
    return math.sqrt(np.linalg.inv(information)[-1, -1])


def select_more(rng, mass, passed, errors, efficiency, at=MASS, width=WIDTH, order=0):
    """Selects so many errors of a search more, near a mass."""
    count = round(errors * error_of_search(mass, efficiency, at, width, order))
    free = np.flatnonzero(~passed)
    free = free[np.argsort(mass[free])]
    for wanted in rng.normal(at, width, count):  # the nearest event that is not selected yet
        k = min(int(np.searchsorted(mass[free], wanted)), len(free) - 1)
        k -= k > 0 and wanted - mass[free[k - 1]] < mass[free[k]] - wanted
        passed[free[k]] = True
        free = np.delete(free, k)


def with_bump(rng, errors, background=40_000, efficiency=0.05, order=0, **kind):
    """Of events that pass a cut at random, so many errors of a search more near the mass of the signal."""
    score, label, mass, weight = events(rng, background, **kind)
    passed = rng.random(background) < efficiency
    select_more(rng, mass[:background], passed, errors, efficiency, order=order)
    score[:background], score[background:] = passed, 1.0
    return score, label, mass, weight


# ---------------------------------------------------------------- toys of known truth, by seeds

#: Background, signal, what else check is given, and where the bump is: mass and width, of background inside.
SITUATIONS = {
    "at the signal": ("falling", "125", {}, 125, 10),
    "on the tail, signal elsewhere": ("falling", "125", {}, 250, 10),
    "at a twentieth of the signal": ("falling", "5 % at 200", {}, 200, 10),
    "wrong pairings": ("falling", "wrong pairings", {}, 125, 2),
    "no signal, tail": ("falling", None, {}, 320, 10),
    "no signal, narrow": ("uniform", None, {}, 150, 3.3),
    "no signal, a hundredth": ("uniform", None, {}, 131.3, 2),
    "the end of the range": ("uniform", "125", {"order": 1}, 245, 4),
    "the first of two masses": ("two", "125", {}, 180, 8),
}


def toy(rng, name, errors, n=20_000, efficiency=0.1, **more):
    """A check of n events that pass at random, and of so many errors of a search more around the mass."""
    spectrum, kind, options, at, width = SITUATIONS[name]
    mass = rng.uniform(50, 250, n) if spectrum != "falling" else 50 + rng.exponential(60, n)
    passed = rng.random(n) < efficiency
    select_more(rng, mass, passed, errors, efficiency, at, width, options.get("order", 0))
    signal = {
        None: lambda m: rng.normal(size=0),
        "125": lambda m: rng.normal(125, 10, m),
        "5 % at 200": lambda m: np.where(rng.random(m) < 0.05, rng.normal(200, 10, m), rng.normal(125, 10, m)),
        "wrong pairings": lambda m: np.where(rng.random(m) < 0.4, 50 + rng.exponential(60, m), rng.normal(125, 2, m)),
    }[kind](4_000)
    score = np.concatenate([passed + rng.random(n) / 2, 1 + rng.random(len(signal)) / 2])
    label = np.repeat([0, 1], [n, len(signal)]) if kind else None
    mass = np.append(mass, signal)
    if spectrum == "two":
        mass = np.column_stack([mass, rng.exponential(1, len(mass))])
    return metrics.check(score, label, mass, **{"order": 0, "threshold": 1.0} | options | more)


@pytest.mark.parametrize("name", SITUATIONS)
def test_a_bump_is_seen_at_any_mass(name):
    """Of toys with a bump of 7 errors none is flat, of 30 with 5 errors at most two."""
    rng = np.random.default_rng(1)
    assert not any(toy(rng, name, 7).flat for _ in range(15))
    assert sum(toy(rng, name, 5).flat is True for _ in range(30)) <= 2
    larger = [toy(rng, name, 9) for _ in range(3)]
    assert all(found.flat is False for found in larger)
    at, width = SITUATIONS[name][-2:]
    assert all(abs(found.cuts[0].mass - at) < 3 * width for found in larger)


@pytest.mark.full
@pytest.mark.parametrize("name", SITUATIONS)
def test_the_rates_of_verdicts_on_bumps_and_flat_toys(name):
    """Of bumps of 5 errors one in 15 may be flat, of 7 errors none; of flat toys 1 % are False, and few not known."""
    rng = np.random.default_rng(7)
    found = {errors: [toy(rng, name, errors).flat for _ in range(200)] for errors in (0, 5, 7)}
    assert found[5].count(True) <= 200 / 15 and found[7].count(True) == 0
    assert found[0].count(False) <= 6  # more have a chance of .5 %
    many = SITUATIONS[name][1] in (None, "wrong pairings") or SITUATIONS[name][0] == "two"  # widths in the range
    assert found[0].count(None) <= (50 if many else 20)


FLAT = [{}, {"spectrum": "steep"}, {"spectrum": "rounded"}, {"spectrum": "few"}]
FLAT += [{"weights": name} for name in ("both signs", "rising", "heavy", "by mass", "ties", "lognormal")]


@pytest.mark.parametrize("kind", FLAT, ids=str)
def test_flat_responses_are_flat(kind):
    """At most 1 % may be False: of 50, four or more have a chance of .2 %. At most 10 % may be not known."""
    rng, found = np.random.default_rng(3), []
    for _ in range(50):
        score, label, mass, weight = events(rng, 8_000, 2_000, **kind)
        point = {"signal_efficiency": 0.5 if kind.get("weights") != "heavy" else 0.9}  # 200 effective events and more
        found.append(metrics.check(score, label, mass, weight=weight, order=0, **point).flat)
    assert found.count(False) < 4 and found.count(None) <= 10


@pytest.mark.full
@pytest.mark.parametrize("kind", FLAT, ids=str)
def test_the_rates_of_verdicts_with_weights_and_few_masses(kind):
    rng, found = np.random.default_rng(8), []
    for _ in range(400):
        score, label, mass, weight = events(rng, 20_000, 4_000, **kind)
        found.append(metrics.check(score, label, mass, weight=weight, order=0).flat)
    assert found.count(False) <= 10 and found.count(None) <= 48


def test_the_p_values_are_uniform():
    """That at all cuts, and of a template: Kolmogorov and Smirnov's distance, above this in 1 % of the cases."""
    rng, found = np.random.default_rng(4), []
    for _ in range(100):
        score, label, mass, _ = events(rng, 6_000, 1_200)
        one = metrics.check(score, label, mass, order=1, signal_efficiency=0.8)
        _, _, signal, error = one.cuts[0].scan[9]
        found.append([one.p_all_cuts, math.erfc(abs(signal / error) / math.sqrt(2))])
    for p in np.sort(found, axis=0).T:
        steps = np.arange(101) / 100
        assert max(np.max(p - steps[:-1]), np.max(steps[1:] - p)) * math.sqrt(100) < 1.63


def test_the_spurious_signal_is_what_was_added():
    """The pulls of the fit around the number of events that were added have mean 0 and width 1."""
    rng, pulls, heights = np.random.default_rng(6), [], []
    for _ in range(60):
        mass = 50 + rng.exponential(60, 20_000)
        passed = rng.random(20_000) < 0.05 + 0.0004 * (mass - 50)
        extra = rng.normal(MASS, WIDTH, 60)
        mass, score = np.append(mass, extra), np.append(passed * 1.0, np.ones(60))
        options = {"order": 1, "threshold": 0.5, "signal_mass": MASS, "signal_width": WIDTH}
        cut = metrics.check(score, None, mass, **options).cuts[0]
        k = int(np.argmin(np.abs(cut.scan[:, 0] - MASS)))
        under = np.sum(np.exp(-0.5 * ((mass - MASS) / WIDTH) ** 2) * np.where(score, 1, 0)) * math.sqrt(2)
        pulls.append(cut.scan[k, 2] / cut.scan[k, 3] - 60 / math.sqrt(under * 0.93))
        heights.append(cut.bump)
    assert abs(np.mean(pulls)) < 0.5 and np.std(pulls) == pytest.approx(1, abs=0.25)
    assert 0.3 < np.mean(heights) < 1.5


# ---------------------------------------------------------------- properties of the rule

RANK = {False: 0, None: 1, True: 2}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("options", [{}, {"search_events": 2_000}, {"search_events": 80_000}], ids=str)
def test_a_larger_bump_never_makes_the_verdict_better(seed, options):
    rng = np.random.default_rng(seed)
    mass = 50 + rng.exponential(60, 20_000)
    near = rng.permutation(np.flatnonzero(np.abs(mass - 140) < 8))
    passed, found = rng.random(20_000) < 0.1, []
    for count in range(0, 320, 20):
        found.append(metrics.check(np.where(np.isin(np.arange(20_000), near[:count]) | passed, 1.0, 0.0), None, mass,
                                   order=0, threshold=0.5, **options).flat)  # fmt: skip
    ranks = [RANK[flat] for flat in found]
    assert ranks == sorted(ranks, reverse=True) and found[-1] is False


def test_a_cut_and_a_check_do_not_contradict_each_other():
    rng = np.random.default_rng(3)
    for errors in (0, 4, 8):
        found = toy(rng, "at the signal", errors, threshold=[1.0, 0.3], category=rng.integers(0, 3, 24_000))
        cuts = [*found.cuts, *(cut for own in found.categories.values() for cut in own.cuts)]
        assert min(RANK[cut.flat] for cut in cuts) >= RANK[found.flat]
        assert found.flat is not False or any(cut.flat is False for cut in cuts) or found.p_all_cuts < 1e-3
        assert found.p_value <= min(cut.p_value for cut in cuts)


@pytest.mark.parametrize("errors", [0, 4, 8])
@pytest.mark.parametrize("signal", [True, False])
def test_units_factors_and_halves_change_nothing(errors, signal):
    rng = np.random.default_rng(7)
    score, label, mass, _ = with_bump(rng, errors, 12_000)
    score = score + rng.random(len(score)) / 2
    label = label if signal else None
    if not signal:
        score, mass = score[:12_000], mass[:12_000]
    options = {"order": 1, "threshold": 1.0}
    weight = rng.choice([1.0, 3.0], len(score))

    def numbers(mass=mass, weight=weight, score=score, label=label, unit=1.0):
        found = metrics.check(score, label, mass, weight=weight, **options)
        values = found.to_dict()
        return found.flat, [(values[name] or 0) / (unit if name in ("mass", "width") else 1) for name in
                            ("p_value", "p_all_cuts", "events", "spurious_signal", "spurious_error", "upper", "mass", "width",
                             "height", "residual", "chi2", "sensitivity")]  # fmt: skip

    flat, want = numbers()
    for other in (
        numbers(mass=1_000 * mass, unit=1_000), numbers(mass=mass / 3.7, unit=1 / 3.7), numbers(weight=1e120 * weight),
        numbers(weight=1e-3 * weight),
        numbers(np.append(mass, mass), np.append(weight, weight) / 2, np.append(score, score),
                None if label is None else np.append(label, label)),
    ):  # fmt: skip
        assert other[0] is flat
        np.testing.assert_allclose(other[1], want, rtol=1e-6, atol=1e-9)


def test_events_written_five_times_count_once():
    rng = np.random.default_rng(8)
    score, label, mass, _ = events(rng, 4_000, 1_000)
    once = metrics.check(score, label, mass, order=0)
    five = metrics.check(*(np.tile(each, 5) for each in (score, label, mass)), order=0)
    assert five.flat is once.flat and five.p_value == pytest.approx(once.p_value, rel=1e-6)
    assert "16,000 of 20,000 background events repeat another one" in str(five)
    for kind in ({"weights": "ties"}, {"spectrum": "few"}, {"spectrum": "rounded"}):  # these are other events
        score, label, mass, _ = events(rng, 4_000, 1_000, **kind)
        assert metrics.check(score, label, mass, order=0).events == 4_000


def test_a_training_leaves_what_it_cannot_teach():
    """A bump of five errors is what a training with a fifth of the events leaves, and is not called sculpting."""
    rng = np.random.default_rng(10)
    score, label, mass, _ = with_bump(rng, 6)
    found, taught = (metrics.check(score, label, mass, order=0, threshold=0.5, training_events=n) for n in (1e9, 8_000))
    assert found.flat is False and taught.flat is None
    scale = math.sqrt(1 + 40_000 / 8_000)
    assert taught.cuts[0].spurious_error == pytest.approx(scale * found.cuts[0].spurious_error, rel=0.02)
    assert taught.p_all_cuts > found.p_all_cuts
    slope = {"order": 1, "threshold": 0.5, "max_slope": 0.1}
    assert metrics.check(score, label, mass, training_events=100, **slope).flat is None
    assert "a training with 8,000 events leaves 2.2 errors by chance" in str(taught)


def test_a_search_with_few_events_does_not_mind_a_small_bump():
    rng = np.random.default_rng(9)
    score, label, mass, _ = with_bump(rng, 6, 400_000)
    assert metrics.check(score, label, mass, order=0, threshold=0.5).flat is False
    small = metrics.check(score, label, mass, order=0, threshold=0.5, search_events=4_000)
    assert small.flat is True and small.cuts[0].upper < 1
    half = toy(rng, "at the signal", 14, search_events=1_000)  # a bump of 90 % is not flat, however small the search
    assert half.flat is not True


# ---------------------------------------------------------------- what is not known


def test_of_too_few_events_nothing_is_known():
    rng = np.random.default_rng(8)
    for n in (100, 400):
        several = [metrics.check(*events(rng, n, n)[:3], order=0) for _ in range(20)]
        assert sum(found.flat is None for found in several) >= 18 and not any(found.flat for found in several)
        unknown = next(found for found in several if found.flat is None)
        assert re.search("effective selected events lie under the template at mass|the masses fill", unknown.why)
        with pytest.raises(AssertionError, match="not known at order 0: "):
            unknown.raise_if_not_flat()


def test_the_number_of_events_that_is_asked_for_tells():
    rng, cut = np.random.default_rng(30), {"order": 0, "background_efficiency": 0.1, "mass_range": (50, 250)}
    cut |= {"signal_width": 10.0, "signal_mass": 120.0}

    def judged(n, **more):
        return [metrics.check(rng.random(n), None, rng.uniform(50, 250, n), **cut, **more) for _ in range(12)]

    few = judged(5_000, search_events=20_000)
    assert all(one.flat is None for one in few)
    needed = np.median([one.cuts[0].needed for one in few])
    assert few[0].why.endswith("background events before the cut would tell, of which it has 5,000")
    assert 10_000 < needed < 40_000
    assert sum(one.flat is True for one in judged(int(1.5 * needed), search_events=20_000)) >= 8
    assert metrics.events_needed(0.1, 0.2) == pytest.approx(8 / (0.1 * 0.2**2))
    assert metrics.events_needed(0.1, 0.2, share=0.01) == pytest.approx(100 / (0.1 * 0.2**2))
    with pytest.raises(ValueError, match="bump = 0: must be positive"):
        metrics.events_needed(0.1, 0)


@pytest.mark.parametrize("n", [100_000, 300_000])
def test_no_number_of_events_tells_what_a_small_training_leaves(n):
    rng, cuts = np.random.default_rng(32), {"background_efficiency": (0.02, 0.1), "mass_range": (60, 300)}
    found = metrics.check(
        rng.random(n), None, np.minimum(60 + rng.exponential(60, n), 300), order=1, signal_mass=125, signal_width=8,
        search_events=60_000, training_events=28_000, **cuts,
    )  # fmt: skip
    assert found.why.startswith("not known at order 1: a bump of ") and "at mass 2" in found.why
    assert found.why.endswith("; no number of them would tell, but a larger training")
    said = r"a bump at mass 125 is at most (\d+) % at 2 % background efficiency, (\d+) % at 10 % background efficiency"
    first, second = map(int, re.search(said, str(found)).groups())
    assert first > second


# ---------------------------------------------------------------- what else is judged


def test_one_of_several_categories_is_named():
    rng = np.random.default_rng(11)
    flat, bump = events(rng, 40_000, 4_000), with_bump(rng, 9)
    passed = np.where(flat[1] == 0, rng.random(len(flat[0])) < 0.05, 1.0)
    score, label, mass = np.append(passed, bump[0]), np.append(flat[1], bump[1]), np.append(flat[2], bump[2])
    category = np.repeat(["b-tag", "no tag"], [len(passed), len(bump[0])])
    found = metrics.check(score, label, mass, order=0, threshold=0.5, category=category, flat_below=4.9)
    assert found.flat is False and found.to_dict()["category_no tag_flat"] is False
    assert found.categories["b-tag"].flat is True and found.categories["no tag"].flat is False
    assert len(str(found).splitlines()) <= 12 and found.categories["no tag"].flat_below == 4.9


def test_two_masses():
    rng = np.random.default_rng(12)
    mass = rng.uniform(0, 1, (40_000, 2))
    score = rng.random(40_000)
    cut = {"order": 1, "background_efficiency": 0.2, "bins": 8}
    assert metrics.check(score, None, mass, **cut).flat is True
    inside = metrics.check(score, None, mass, mass_range=[(0.1, 0.9), None], **cut).events
    assert inside == np.sum((mass[:, 0] > 0.1) & (mass[:, 0] < 0.9))
    corner = score + 0.2 * ((mass > 0.75).sum(axis=1) == 2)
    assert metrics.check(corner, None, mass, **cut).flat is False
    second = score + 0.2 * np.exp(-0.5 * ((mass[:, 1] - 0.4) / 0.02) ** 2)
    found = metrics.check(second, None, mass, **cut)
    assert found.flat is False and found.cuts[0].at.startswith("mass[:, 1] 0.4")
    with pytest.raises(ValueError, match="plot: at 20 % background efficiency there is no spectrum of one mass"):
        found.plot()


def test_bounds_are_judged_beside_bumps():
    rng = np.random.default_rng(14)
    x = rng.uniform(-1, 1, 100_000)
    line = (rng.random(100_000) < 0.2 * (1 + 0.5 * x)) * 1.0
    steep, fine = (metrics.check(line, None, x, order=1, threshold=0.5, max_slope=most) for most in np.r_[0.3, 0.6])
    assert steep.flat is False and fine.flat is True
    assert steep.cuts[0].slope == pytest.approx(0.5, abs=4 * steep.cuts[0].slope_error)
    assert "a slope of 0.5" in steep.why and "above max_slope = 0.3" in steep.why
    bump = np.where(rng.random(100_000) < 0.3 * np.exp(-0.5 * ((x - 0.3) / 0.05) ** 2), 1.0, line)
    assert "a spurious signal of +" in metrics.check(bump, None, x, order=1, threshold=0.5, max_slope=0.6).why
    parabola = (rng.random(100_000) < 0.2 * (1 + 0.5 * x**2)) * 1.0
    assert metrics.check(parabola, None, x, order=2, threshold=0.5).flat is True
    assert metrics.check(parabola, None, x, order=2, threshold=0.5, monotonic=True).flat is False
    assert metrics.check(line, None, x, order=2, threshold=0.5, monotonic=True).flat is True


def test_a_slow_dependence_that_no_template_has():
    """A parabola at order 1, seen at the cut, and a response that changes at other cuts alone."""
    rng = np.random.default_rng(26)
    x = rng.uniform(-1, 1, 40_000)
    found = metrics.check((rng.random(40_000) < 0.1 * (1 + 0.4 * x**2)) * 1.0, None, x, order=1, threshold=0.5)
    assert found.flat is False
    assert found.why.endswith("; take order 2 if your fit absorbs it, or a narrower range of mass")
    score = rng.random(40_000)
    loose = np.where(score < 0.9, 0.9 * (score / 0.9) ** np.exp(0.7 * x), score)
    found = metrics.check(loose, None, x, order=0, background_efficiency=0.1)
    assert found.flat is False and "the response over all cuts" in found.why


# ---------------------------------------------------------------- words and numbers


@pytest.mark.parametrize("errors", [0, 4, 9])
def test_the_text_has_twelve_lines_and_no_contradiction(errors):
    found = toy(np.random.default_rng(31), "at the signal", errors, threshold=[1.0, 0.3, 0.2])
    lines = str(found).splitlines()
    assert 6 <= len(lines) <= 12 and "nan" not in str(found) and max(map(len, lines)) < 240
    assert lines[0] == found.why and bool(found) is (found.flat is True)
    start = {True: "flat at order 0 (global p", False: "not flat at order 0 (global p", None: "not known at order 0: "}
    assert found.why.startswith(start[found.flat])
    if found.flat is False:
        assert "errors at mass 12" in found.why and "% of the background" in found.why
    assert "\ntemplates at mass 50" in str(found)
    values = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert values["why"] == found.why and values["flat"] is found.flat
    assert found.rank == pytest.approx(RANK[found.flat], abs=1) and found.rank >= RANK[found.flat]


def test_the_sensitivity_falls_with_the_residual():
    score, label, mass, _ = with_bump(np.random.default_rng(20), 20)
    score = score + np.random.default_rng(21).random(len(score))
    cut = metrics.check(score, label, mass, order=1, search_events=20_000, bins=12).cuts[0]
    edges = libmode.mode_edges(mass, label=label, bins=12)
    of_signal = np.histogram(mass[label == 1], edges)[0]
    passed = (label == 0) & (score >= cut.threshold)
    rates = np.histogram(mass[passed], edges)[0] / np.histogram(mass[label == 0], edges)[0]
    rate = np.sum(of_signal * rates) / np.sum(of_signal)
    extra = max(cut.residual**2 - cut.expected**2, 0)
    want = np.mean(score[label == 1] >= cut.threshold) / np.sqrt(rate * (1 + extra * rate * 20_000 / 12))
    assert cut.sensitivity == pytest.approx(want, rel=0.02)


def test_the_numbers_of_a_log_are_floats():
    rng = np.random.default_rng(23)
    score, label, mass, _ = events(rng)
    check, numbers = Judge(Settings(order=0), label, mass).log(score)
    assert check.flat is True and numbers["flat"] == 1.0
    assert all(type(value) is float for value in numbers.values())
    assert numbers["auc"] == metrics.auc(score, label) and math.isnan(numbers["needed"])
    with pytest.raises(TypeError, match="unexpected keyword argument 'efficiency'"):
        Settings(order=0, efficiency=0.5)


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({}, TypeError, "order is missing"),
        ({"order": 0, "signal_efficiency": 0.5, "threshold": 0.5}, TypeError, "signal_efficiency and threshold"),
        ({"order": 0, "signal_efficiency": [0.5, 1.5]}, ValueError, r"signal_efficiency\[1\] = 1.5: must be"),
        ({"order": 0, "search_events": 0}, ValueError, "search_events = 0"),
        ({"order": 0, "training_events": -1}, ValueError, "training_events = -1"),
        ({"order": 0, "signal_mass": 9_999}, ValueError, "signal_mass = 9999.0: must be from "),
        ({"order": 0, "signal_width": 1e-9}, ValueError, "signal_width = 1e-09: must be from 0"),
        ({"order": 0, "mass_range": (100, 50)}, ValueError, r"mass_range = \[100, 50\] must have its lower end below"),
        ({"order": 0, "mass_range": [(50, 100)] * 2}, ValueError, "mass_range = .*: expected 1 pairs"),
        ({"order": np.int64(17)}, ValueError, "order = 17 must be between 0 and 16"),
        ({"order": 0, "max_slope": 1}, ValueError, "max_slope = 1 needs order >= 1, and order is 0"),
        ({"order": 1, "monotonic": True}, ValueError, "monotonic = true needs order >= 2, and order is 1"),
        ({"order": 0, "missing": "drop"}, ValueError, "missing = drop must be one of error, ignore"),
        ({"order": 0, "weight": np.zeros(2_500)}, ValueError, "weight sums to 0 over the"),
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
    for call in (partial(metrics.check, score, kinds, mass, order=0), partial(libmode.planing_weights, kinds, mass)):
        with pytest.raises(ValueError, match="^background_label = 'W': expected one of label's '.*qcd'"):
            call(background_label=["W"])
    for missing in (None, np.nan, pd.NA) if dtype is object else ():
        kinds[5] = missing
        with pytest.raises(ValueError, match=f"^label.5. = {missing}: leave events without a label out"):
            metrics.check(score, kinds, mass, order=0, background_label="qcd")


def test_a_response_that_falls_to_zero_is_flat():
    """Where a polynomial reached 0 or 1 the errors were 0: 14 of 40 linear responses were "not flat", p down to 1e-50."""
    found = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        # Together a flat spectrum.
        falls, rises = 1 - 2 * np.sqrt(rng.random(3_000)), 2 * np.sqrt(rng.random(3_000)) - 1
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
    options = {"order": order, "search_events": 100_000, "signal_efficiency": [0.8, 0.5, 0.2]}
    flat, bump = (metrics.check(one, label, mass, **options).sensitivity for one in (logit, logit + 3 * peak - 3))
    assert metrics.auc(logit + 3 * peak - 3, label) > metrics.auc(logit, label) + 0.005
    assert bump < 0.8 * flat


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


def test_float32_masses_on_a_limit_count():
    """0.8 in float32 is above 0.8, and 0.1 is too: the loss rounds limits to the type of the masses."""
    mass = np.repeat(np.linspace(0.1, 0.8, 8), 1_000).astype(np.float32)
    score = np.random.default_rng(23).random(8_000)
    where = {"mass_range": (0.1, 0.8), "background_efficiency": 0.5}
    assert metrics.check(score, None, mass, order=0, **where).events == 8_000
    rates = metrics.efficiency(score, None, mass, **where)
    assert rates.background.sum() == 8_000
    edges = np.linspace(0.1, 0.8, 8)
    rates = metrics.efficiency(score, None, mass, bins=edges, threshold=0.5)
    assert rates.background.tolist() == [1_000] * 6 + [2_000]
