"""The numbers of ``libmode report`` are those of libmode.metrics, and its page shows them in the unit of the mass."""

import re
import tracemalloc

import numpy as np
import pytest
import report_toys
from libmode import metrics
from libmode.metrics._settings import Settings
from libmode.report import formats, judge, sample
from libmode.report.events import Events, Wanted
from numpy.testing import assert_allclose

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
    assert found["signal"] == passing["label"].sum() == len(passing["mass"]) - found["background"]
    assert found["tested"] == found["background"]
    assert [score["score"] for score in found["scores"]] == list(SCORES)
    assert found["max_dependence"] is None and found["passed"] is None
    assert [score["check"]["flat"] for score in found["scores"]][1] is False


@pytest.mark.parametrize("place", range(2))
def test_numbers_of_a_score(labeled, passing, place):
    found, score = labeled["scores"][place], passing[SCORES[place]]
    label, mass, weight = passing["label"], passing["mass"], passing["weight"]
    assert found["auc"] == pytest.approx(metrics.auc(score, label, weight=weight), rel=1e-12)
    want = metrics.check(score, label, mass, weight=weight, order=1, signal_efficiency=[0.8, 0.3])
    assert found["check"]["why"] == want.why and found["check"]["p_value"] == pytest.approx(want.p_value, rel=1e-9)
    for cut, of_check in zip(found["check"]["cuts"], want.cuts, strict=True):
        assert cut["flat"] is of_check.flat
        assert cut["spurious_signal"] == pytest.approx(of_check.spurious_signal, rel=1e-9)
        rejection = metrics.rejection(score, label, signal_efficiency=float(cut["name"]) / 100, weight=weight)
        assert 1 / cut["background_efficiency"] == pytest.approx(rejection, rel=1e-9)

    whole, thinned = metrics.roc(score, label, weight=weight), found["roc"]
    assert 500 < len(thinned["threshold"]) <= 1000
    assert thinned["threshold"][0] is None  # infinite, which JSON has not
    at = [0, *np.searchsorted(-whole.threshold, -np.array(thinned["threshold"][1:]))]
    for name in ("signal_efficiency", "false_positive_rate"):
        assert_allclose(thinned[name], getattr(whole, name)[at], rtol=1e-12)


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
    for cut, fraction in zip(judged["check"]["cuts"], (0.5, 0.1), strict=True):
        kept = {at: weight[score >= at].sum() / weight.sum() for at in np.unique(score)}
        want = max(at for at, share in kept.items() if share >= fraction)
        assert cut["threshold"] == pytest.approx(want, abs=1e-9)
        assert cut["background_efficiency"] == pytest.approx(kept[want])


def test_background_efficiencies_with_a_label(toy, file, tmp_path):
    options = [file, "--score", "carved", "--mass", "mass", "--label", "label", "--out", tmp_path]
    assert report_toys.report(*options, "--working-points", "background:0.1,0.02")[0] == 0
    background = toy["carved"][toy["label"] == 0]
    for cut, fraction in zip(report_toys.numbers(tmp_path)["scores"][0]["check"]["cuts"], (0.1, 0.02), strict=True):
        assert cut["threshold"] == np.sort(background)[::-1][int(np.ceil(fraction * len(background))) - 1]
    assert report_toys.report(*options, "--working-points", "threshold:0.7")[0] == 0
    assert report_toys.numbers(tmp_path)["scores"][0]["check"]["cuts"][0]["threshold"] == 0.7


def test_the_spectrum_before_the_cut_is_the_shape_by_default(file, tmp_path):
    found = {}
    for name, options in {
        "usual": (),
        "template": ("--background", "template"),
        "fit": ("--background", "polynomial"),
    }.items():
        named = [
            "--score",
            "carved",
            "--mass",
            "mass",
            "--label",
            "label",
            "--working-points",
            "0.5",
            "--out",
            tmp_path,
        ]
        assert report_toys.report(file, *named, "--signal-mass", 125, "--signal-width", 8, *options)[0] == 0
        (found[name],) = report_toys.numbers(tmp_path)["scores"][0]["check"]["cuts"]
    assert found["usual"]["spurious_signal"] == found["template"]["spurious_signal"] != found["fit"]["spurious_signal"]
    assert found["usual"]["signal_mass"] == 125 and found["usual"]["significance"] > 5


def test_a_log_mass_is_shown_in_the_unit_of_the_mass(toy, file, tmp_path):
    """On the page, in the text and in the numbers. The check itself is that of the logarithm."""
    named = ["--score", "carved", "--label", "label", "--working-points", "0.5", "--out", tmp_path]
    for written, factor in (("np.log(mass)", 1), (" log10(mass / 1000)", 1000)):
        status, printed = report_toys.report(
            file, *named, "--mass", written, "--mass-label", "m(jj) [GeV]", figures=True
        )
        assert status == 0
        (cut,) = report_toys.numbers(tmp_path)["scores"][0]["check"]["cuts"]
        edges = np.array(cut["efficiency"]["edges"]) * factor
        background = toy["mass"][toy["label"] == 0]
        assert_allclose(edges[[0, -1]], [background.min(), background.max()], rtol=1e-9)
        assert cut["signal_mass"] * factor == pytest.approx(np.median(toy["mass"][toy["label"] == 1]), rel=0.01)
        assert re.search(rf"at mass {cut['signal_mass']:.4g} at 50 %", printed)
    want = metrics.check(toy["carved"], toy["label"], np.log10(toy["mass"] / 1000), order=0)
    assert cut["spurious_signal"] == pytest.approx(want.cuts[0].spurious_signal, rel=1e-9)
    assert judge.in_unit("log(m_jj / 1000)")[0] == "m_jj / 1000" and judge.in_unit("log(a) + 1")[0] == "log(a) + 1"


def test_a_fit_that_fails_before_the_cut_is_said_beside_the_table(tmp_path):
    """A spectrum of lines, which no exponential describes; the score sculpts, so that the verdict is another."""
    rng = np.random.default_rng(5)
    mass = rng.choice([60.0, 80, 90, 120, 150, 190, 220], 60_000) + rng.normal(0, 1, 60_000)
    score = rng.random(60_000) + 0.5 * (abs(mass - 120) < 5)
    file = report_toys.write(tmp_path / "lines.parquet", {"mass": mass, "s": score})
    options = ["--score", "s", "--mass", "mass", "--background", "exponential", "--out", tmp_path]
    status, printed = report_toys.report(file, *options, figures=True)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert status == 0 and "s: not flat at order 0" in printed
    for text in (printed, page):
        assert (
            len(re.findall("not known: no exponential background of order 8 or less describes the events", text)) == 1
        )


def test_of_more_events_than_are_kept_a_part_is_drawn(toy, files, tmp_path, monkeypatch):
    for module, name, value in ((sample, "MOST", 1500), (formats, "CHUNK", 700)):
        monkeypatch.setattr(module, name, value)
    options = ["--score", "carved", "--mass", "mass", "--label", "label", "--order", 1, "--out", tmp_path]
    status, printed = report_toys.report(files["root"], *options, "--working-points", "0.5")
    assert status == 0, printed
    found, background = report_toys.numbers(tmp_path), toy["label"] == 0
    assert found["background"] == background.sum() and 1500 < found["tested"] < 3000
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert f"The checks use {found['tested']:,} of the {background.sum():,} background events, drawn at random" in page
    (cut,) = found["scores"][0]["check"]["cuts"]
    edges = cut["efficiency"]["edges"]
    assert edges[0] == toy["mass"][background].min() and edges[-1] == toy["mass"][background].max()
    exact = metrics.rejection(toy["carved"], toy["label"], signal_efficiency=0.5)
    assert 1 / cut["background_efficiency"] == pytest.approx(exact, rel=0.25)


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
        wanted, looked = Wanted(("s",), "m", label="l"), sample.look(chunks(count), True)
        settings = Settings.checked(order=0, mass_range=looked.mass_range)
        found = judge.numbers(wanted, looked, settings, list(judge.judge(wanted, looked, settings)))
        assert found["entries"] == 10_000 * count and 20_000 < found["tested"] <= 40_000
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    assert peak(80) < 1.1 * peak(20)
