"""The numbers of ``libmode report`` are those of libmode.metrics."""

import tracemalloc

import numpy as np
import pytest
import report_toys
from libmode import metrics, mode_edges
from libmode.report import fill, formats, judge, sample, spurious
from libmode.report.events import Events, Wanted
from numpy.testing import assert_allclose

POINTS = (0.8, 0.3)
SCORES = ("flat", "carved")


@pytest.fixture(scope="module")
def labeled(files, tmp_path_factory):
    """The numbers of a report with everything."""
    folder = tmp_path_factory.mktemp("labeled")
    options = ["--score", "flat", "--score", "carved", "--mass", "mass", "--label", "label", "--weight", "weight"]
    options += ["--cut", "mass < 250", "--order", 1, "--working-points", "0.8,0.3", "--out", folder]
    status, printed = report_toys.report(files["root"], *options)
    assert status == 0, printed
    return report_toys.numbers(folder)


@pytest.fixture(scope="module")
def passing(toy):
    """The events of that report."""
    return {name: values[toy["mass"] < 250] for name, values in toy.items()}


def test_what_is_counted(labeled, passing, toy):
    found = labeled
    assert found["entries"] == len(toy["mass"])
    assert found["events"] == len(passing["mass"])
    assert found["signal"] == passing["label"].sum() == found["events"] - found["background"]
    assert found["tested"] == found["background"]
    assert [score["score"] for score in found["scores"]] == list(SCORES)
    assert [point["wanted"] for point in found["scores"][0]["working_points"]] == list(POINTS)
    assert found["max_dependence"] is None and found["passed"] is None
    flat = [[point["flat"] for point in score["working_points"]] for score in found["scores"]]
    assert flat[1] == [False] * 2 and False not in flat[0]


@pytest.mark.parametrize("place", range(2))
def test_numbers_of_a_score(labeled, passing, place):
    found, score = labeled["scores"][place], passing[SCORES[place]]
    label, weight = passing["label"], passing["weight"]
    assert found["auc"] == pytest.approx(metrics.auc(score, label, weight=weight), rel=1e-12)
    test = metrics.dependence(score, label, passing["mass"], weight=weight, order=1, score_range=None)
    assert found["dependence"]["cut"] == pytest.approx(vars(test.cut), rel=1e-9)
    assert found["dependence"] | {"cut": 0} == pytest.approx(vars(test) | {"cut": 0}, rel=1e-9)

    whole, thinned = metrics.roc(score, label, weight=weight), found["roc"]
    assert 500 < len(thinned["threshold"]) <= 1000
    assert thinned["threshold"][0] is None  # infinite, which JSON has not
    at = [0, *np.searchsorted(-whole.threshold, -np.array(thinned["threshold"][1:]))]
    for name in ("signal_efficiency", "false_positive_rate"):
        assert_allclose(thinned[name], getattr(whole, name)[at], rtol=1e-12)


@pytest.mark.parametrize("wanted", POINTS)
@pytest.mark.parametrize("place", range(2))
def test_numbers_of_a_working_point(labeled, passing, place, wanted):
    found = labeled["scores"][place]["working_points"][POINTS.index(wanted)]
    score, label, weight, mass = (passing[name] for name in (SCORES[place], "label", "weight", "mass"))
    threshold = metrics.threshold(score, label, signal_efficiency=wanted, weight=weight)
    rejection = metrics.rejection(score, label, signal_efficiency=wanted, weight=weight)
    assert found["threshold"] == threshold
    assert found["rejection"] == pytest.approx(rejection, rel=1e-12)
    assert found["background_efficiency"] == pytest.approx(1 / rejection, rel=1e-12)
    signal = weight[label == 1]
    kept = np.sum(signal[score[label == 1] >= threshold]) / np.sum(signal)
    assert found["signal_efficiency"] == pytest.approx(kept, rel=1e-12)

    background = label == 0
    assert labeled["edges"] == mode_edges(mass[background], bins=20).tolist()
    events = score, label, mass
    point = {"weight": weight, "signal_efficiency": wanted}
    efficiency, residual = metrics.efficiency(*events, **point), metrics.residual(*events, order=1, **point)
    for name, want in (("efficiency", efficiency), ("residual", residual)):
        assert_allclose(found[name]["value"], want.value, rtol=1e-9, atol=1e-12)
        assert_allclose(found[name]["error"], want.error, rtol=1e-9)
    flat = metrics.flatness(*events, order=1, **point)
    assert found["flatness"] == pytest.approx(vars(flat), rel=1e-9)
    assert found["inverse_jsd"] == pytest.approx(1 / metrics.jsd(*events, **point), rel=1e-9)
    assert found["inverse_jsd_ceiling"] == pytest.approx(1 / metrics.jsd(*events, blind=True, **point), rel=1e-9)
    (cut,) = metrics.check(*events, order=1, **point).cuts
    assert found["dependence"]["p_value"] == pytest.approx(cut.p_value, rel=1e-9) and found["flat"] is cut.flat
    assert found["template"]["spurious_signal"] == pytest.approx(cut.spurious_signal, rel=1e-9)
    assert found["unknown"] == {} or set(found["unknown"]) == {"spurious signal"}


def test_spurious_signal(labeled, passing):
    """Of the flat score at 80 %, with the fit that the report states; the other fits are allowed to be refused."""
    found = labeled
    fit, point = found["fit"], found["scores"][0]["working_points"][0]
    background = passing["label"] == 0
    signal, mass, weight = passing["mass"][~background], passing["mass"][background], passing["weight"][background]
    below, above = np.quantile(signal, [0.1585, 0.8415])
    assert fit["signal_width"] == pytest.approx((above - below) / 2)
    assert_allclose([fit["edges"][0], fit["edges"][-1]], np.quantile(mass, [0.025, 0.975]))
    selected = passing["flat"][background] >= point["threshold"]
    for which, scan in ((selected | True, fit["before"]), (selected, point["spurious_signal"])):
        options = {"signal_masses": scan["signal_mass"], "signal_width": fit["signal_width"], "bins": fit["edges"]}
        options |= {"order": fit["order"], "background_order": fit["background_order"]}
        want = metrics.spurious_signal(mass=mass, weight=weight, selected=which, **options)
        # Where the minimum is, rounding decides to a thousandth of the error.
        assert_allclose((np.array(scan["signal"]) - want.signal) / want.error, 0, atol=1e-3)
        assert_allclose(scan["error"], want.error, rtol=1e-3)
        at = np.abs(want.significance).argmax()
        quoted = {"signal_mass": want.signal_mass[at], "signal": want.signal[at], "error": want.error[at]}
        assert scan["quoted"] == pytest.approx(quoted, rel=2e-3)
        assert np.all(np.abs(want.significance) < 4)


@pytest.mark.parametrize("order", [0, 2])
def test_the_polynomial_of_the_fit_describes_the_background(tmp_path, order):
    """A spectrum of a known order, 1 + 0.8 P_3(x): it needs three, and no fifth is added for nothing."""
    rng = np.random.default_rng(5)
    x = rng.uniform(-1, 1, 100_000)
    x = x[rng.random(len(x)) * 1.8 < 1 + 0.8 * (5 * x**3 - 3 * x) / 2]
    file = report_toys.write(tmp_path / "x.parquet", {"mass": 100 + 50 * x, "s": rng.random(len(x))})
    options = ["--score", "s", "--mass", "mass", "--order", order, "--working-points", "0.5", "--out", tmp_path]
    assert report_toys.report(file, *options)[0] == 0
    assert report_toys.numbers(tmp_path)["fit"]["background_order"] == 3


def test_spectra_that_no_fit_describes_are_refused():
    rng = np.random.default_rng(5)
    mass = rng.uniform(50, 150, 100_000)
    lines = np.where(rng.random(len(mass)) < 0.5, mass, rng.normal(110, 0.5, len(mass)))
    scan = spurious.plan(lines, lines[:0], 0, spurious.Search())
    with pytest.raises(ValueError, match="no polynomial background of order 12 or less"):
        scan.of(np.histogram(lines, scan.edges), 0, None)
    with pytest.raises(ValueError, match="the signal has a width of 2"):
        spurious.plan(mass, rng.normal(100, 25, 1000), 0, spurious.Search())


def test_masses_without_events_are_left_out(passing):
    """A peak, and nothing above it."""
    signal = passing["label"] == 1
    scan = spurious.plan(passing["mass"][~signal], passing["mass"][signal], 0, spurious.Search())
    rng = np.random.default_rng(3)
    mass = np.r_[rng.normal(120, 8, 2000), rng.uniform(scan.edges[0], 150, 400)]
    found = scan.of(np.histogram(mass, scan.edges), 0, 3)
    known = ~np.isnan(found.signal)
    assert known[found.signal_mass < 140].all() and not known[found.signal_mass > 190].any()
    quoted = scan.numbers(found)["quoted"]
    assert quoted["signal"] / quoted["error"] == np.max(found.significance[known]) > 10
    assert abs(quoted["signal_mass"] - 120) < scan.signal_width
    assert scan._replace(quoted=found.signal_mass[-1]).numbers(found)["quoted"] is None
    with pytest.raises(ValueError, match="too few selected events"):
        scan.of(np.histogram(mass[:0], scan.edges), 0, 3)


@pytest.mark.parametrize("weighted", [False, True])
def test_without_a_label_the_working_points_are_of_background(toy, file, tmp_path, weighted):
    score = np.round(toy["flat"], 2)  # with ties
    options = ["--score", "round(flat * 100) / 100", "--mass", "mass"] + ["--weight", "weight"] * weighted
    assert report_toys.report(file, *options, "--working-points", "0.5,0.1", "--out", tmp_path)[0] == 0
    found = report_toys.numbers(tmp_path)
    weight = toy["weight"] if weighted else np.ones(len(score))
    assert found["signal"] is None and found["background"] == len(score)
    (judged,) = found["scores"]
    assert judged["auc"] is None and judged["roc"] is None
    for point in judged["working_points"]:
        kept = {cut: weight[score >= cut].sum() / weight.sum() for cut in np.unique(score)}
        want = max(cut for cut, fraction in kept.items() if fraction >= point["wanted"])
        assert point["threshold"] == pytest.approx(want, abs=1e-9)
        assert point["background_efficiency"] == pytest.approx(kept[want])
        assert point["rejection"] == pytest.approx(1 / kept[want])
        assert point["signal_efficiency"] is None


def test_more_events_than_are_kept_fill_histograms_in_a_second_pass(toy, files, tmp_path, monkeypatch):
    """All but the tests are those of all events, at thresholds that are cells of the sample's quantiles."""
    for module, name, value in ((sample, "MOST", 1500), (formats, "CHUNK", 700), (fill, "MOST_CELLS", 100)):
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(fill, "QUANTILES", 400)
    monkeypatch.setattr(fill, "IN_TAIL", 100)
    options = ["--score", "carved", "--mass", "mass", "--label", "label", "--weight", "weight", "--order", 1]
    status, printed = report_toys.report(files["root"], *options, "--working-points", "0.5", "--out", tmp_path)
    assert status == 0, printed
    found = report_toys.numbers(tmp_path)
    (point,) = found["scores"][0]["working_points"]
    background, weight = toy["label"] == 0, toy["weight"]
    assert (found["events"], found["background"]) == (20_000, background.sum())
    assert 1500 < found["tested"] < 3000
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert f"These tests use {found['tested']:,} of the {background.sum():,} background events, drawn at random" in page
    assert found["edges"][0] == toy["mass"][background].min() and found["edges"][-1] == toy["mass"][background].max()
    assert found["scores"][0]["auc"] == pytest.approx(metrics.auc(toy["carved"], toy["label"], weight=weight), abs=1e-4)

    exact = metrics.threshold(toy["carved"], toy["label"], signal_efficiency=0.5, weight=weight)
    assert 0 <= exact - point["threshold"] < 0.02
    selected, own = (toy["carved"] >= point["threshold"])[background], weight[background]
    assert point["background_efficiency"] == pytest.approx(own[selected].sum() / own.sum(), rel=1e-12)
    jsd = metrics.jsd(mass=toy["mass"][background], selected=selected, bins=found["edges"], weight=own)
    assert 1 / point["inverse_jsd"] == pytest.approx(jsd, rel=1e-9)


def test_memory_does_not_grow_with_the_files(monkeypatch):
    """Four times as many events have no more than a tenth more at the peak; the events themselves have 13 MB."""
    monkeypatch.setattr(sample, "MOST", 20_000)

    def chunks(count):
        rng = np.random.default_rng(0)
        for _ in range(count):
            label = rng.random(10_000) < 0.3
            yield 10_000, Events(rng.random((10_000, 1)), rng.exponential(60, 10_000), np.ones(10_000), label)

    def peak(count):
        tracemalloc.start()
        looked = sample.look(chunks(count), True)
        judged = judge.Judge(Wanted(("s",), "m", label="l"), looked, 0, [0.5], spurious.Search())
        histograms = judged.histograms(events for _, events in chunks(count))
        found = judged.numbers(list(judged.scores(histograms)))
        assert found["events"] == 10_000 * count and 20_000 < found["tested"] <= 40_000
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    assert peak(80) < 1.1 * peak(20)
