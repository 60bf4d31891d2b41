"""``libmode report --signal-mass --signal-masses --signal-width``: the spurious signal where a search looks."""

import re

import numpy as np
import pytest
import report_toys
from libmode import metrics
from libmode.report import judge, words

MASSES = [90, 125, 170]


def run(file, out, *options):
    """The numbers of a report."""
    named = ["--score", "carved", "--label", "label", "--mass", "mass", "--working-points", "0.5"]
    status, printed = report_toys.report(file, *named, "--out", out, *options)
    assert status == 0, printed
    return report_toys.numbers(out)


def test_the_signal_is_quoted_where_the_search_is(toy, file, tmp_path):
    found = run(file, tmp_path, "--signal-mass", 125, "--signal-width", 8)
    fit, point = found["fit"], found["scores"][0]["working_points"][0]
    assert (fit["quoted"], fit["signal_width"]) == (125, 8)
    scan = point["spurious_signal"]["signal_mass"]
    assert 125 in scan and len(scan) > 15
    background = toy["label"] == 0
    options = {"bins": fit["edges"], "signal_mass": 125, "signal_width": 8, "background_order": fit["background_order"]}
    events = toy["carved"][background], None, toy["mass"][background]
    want = metrics.signal_bias(*events, threshold=point["threshold"], order=0, **options)
    assert want.significance > 3
    quoted = point["spurious_signal"]["quoted"]
    assert quoted == pytest.approx({"signal_mass": 125, "signal": want.signal, "error": want.error}, rel=1e-6)
    assert "spurious signal at 125" in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("written, width", [("8", 8), ("11,6,8", [6, 8, 11])])
def test_the_masses_are_those_of_the_search(toy, file, tmp_path, written, width):
    """In any order, with one width or one for each."""
    found = run(file, tmp_path, "--signal-masses", "170,90,125", "--signal-width", written)
    fit, before = found["fit"], found["fit"]["before"]
    assert before["signal_mass"] == MASSES and fit["signal_width"] == width
    options = {"bins": fit["edges"], "signal_masses": MASSES, "signal_width": width, "order": 0}
    options["background_order"] = fit["background_order"]
    want = metrics.spurious_signal(mass=toy["mass"][toy["label"] == 0], **options)
    np.testing.assert_allclose(before["signal"], want.signal, rtol=1e-5)
    largest = MASSES[int(np.argmax(abs(want.significance)))]
    assert fit["quoted"] is None and before["quoted"]["signal_mass"] == largest


def test_the_background_has_the_shape_of_the_search(toy, file, tmp_path):
    fit = run(file, tmp_path, "--signal-mass", 125, "--signal-width", 8, "--background", "exponential")["fit"]
    options = {"bins": fit["edges"], "signal_masses": [125], "signal_width": 8, "order": 0, "background": "exponential"}
    want = metrics.spurious_signal(mass=toy["mass"][toy["label"] == 0], **options)
    assert fit["background"] == "exponential" and fit["background_order"] == want.background_order
    assert fit["before"]["quoted"]["signal"] == pytest.approx(want.signal[0], rel=1e-4)


def test_a_template_is_the_spectrum_before_the_selection(toy, file, tmp_path):
    found = run(file, tmp_path, "--signal-mass", 125, "--signal-width", 8, "--background", "template")
    fit, point = found["fit"], found["scores"][0]["working_points"][0]
    mass, passed = toy["mass"][toy["label"] == 0], (toy["carved"] >= point["threshold"])[toy["label"] == 0]
    template = np.histogram(mass, fit["edges"])[0]
    options = {"bins": fit["edges"], "signal_mass": 125, "signal_width": 8, "order": 0, "background": template}
    want = metrics.signal_bias(mass=mass[passed], **options)
    assert want.significance > 5
    quoted = point["spurious_signal"]["quoted"]
    assert quoted == pytest.approx({"signal_mass": 125, "signal": want.signal, "error": want.error}, rel=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_shapes_that_disagree_are_named(tmp_path, seed):
    """An exponential of higher order takes the bump of ``carved`` for background; ``flat`` has no bump."""
    wide = report_toys.write(tmp_path / "wide.parquet", report_toys.events(60_000, seed))
    named = ["--label", "label", "--mass", "mass", "--signal-mass", 125, "--out", tmp_path]
    for score in ("flat", "carved"):
        status, _ = report_toys.report(wide, "--score", score, *named, "--working-points", "0.5")
        found = report_toys.numbers(tmp_path)
        said = [text for text in found["warnings"] if "the shapes of background disagree on the signal at 125" in text]
        assert status == 0 and len(said) == (score == "carved"), found["warnings"]
        by_shape = found["scores"][0]["working_points"][0]["spurious_signal"]["by_shape"]
        assert {"polynomial", "template"} <= set(by_shape)
    template = by_shape["template"]
    assert f"{template['signal'] / template['error']:+.1f} (template)" in said[0]
    assert said[0].startswith("carved at 50 %: ")


def test_warnings_that_differ_in_numbers_alone_are_one():
    absorbs = "background = 'polynomial' of order {} absorbs most of a signal at {}: its error is {}"
    said = [("no cut: ", absorbs.format(9, 120.5, "1e+03")), ("bdt at 50 %: ", "the shapes disagree: -1 and +2")]
    said += [(f"dnn at {k} %: ", absorbs.format(9, 110 + k, -k)) for k in range(1, 18)]
    first, other = judge._joined(said)
    assert first.startswith("no cut: " + said[0][1] + " (and so for dnn at 1 %, ") and first.endswith(", dnn at 17 %)")
    assert other == "bdt at 50 %: the shapes disagree: -1 and +2"


def test_a_signal_in_the_tail_of_the_background_is_fitted(toy, file, tmp_path):
    """The fit reaches beyond the central 95 % of the background, to three widths around the signal."""
    mass = toy["mass"][toy["label"] == 0]
    low, high = np.quantile(mass, [0.025, 0.975])
    found = run(file, tmp_path, "--signal-mass", round(high + 2), "--signal-width", 5)["fit"]
    assert found["edges"][-1] == round(high + 2) + 15 and found["edges"][0] == pytest.approx(low)
    assert found["before"]["quoted"]["signal_mass"] == round(high + 2)


@pytest.fixture(scope="module")
def hypotheses(tmp_path_factory):
    """Signals at 90 and at 170, of widths of 4 and 9, under one label."""
    rng = np.random.default_rng(8)
    label = rng.random(30_000) < 0.3
    signal = np.where(rng.random(30_000) < 0.5, rng.normal(90, 4, 30_000), rng.normal(170, 9, 30_000))
    columns = {"mass": np.where(label, signal, 50 + 250 * rng.beta(1, 3, 30_000)), "label": label.astype(int)}
    columns["carved"] = rng.normal(label) + np.exp(-0.5 * ((columns["mass"] - 170) / 9) ** 2)
    return report_toys.write(tmp_path_factory.mktemp("two") / "two.parquet", columns)


def test_each_of_several_hypotheses_has_its_own_width_and_row(hypotheses, tmp_path):
    named = ["--score", "carved", "--label", "label", "--mass", "mass", "--working-points", "0.5", "--out", tmp_path]
    status, printed = report_toys.report(hypotheses, *named, "--signal-masses", "170,90")
    assert status == 0
    numbers = report_toys.numbers(tmp_path)
    assert numbers["fit"]["signal_width"] == pytest.approx([4, 9], rel=0.05)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    (point,) = numbers["scores"][0]["working_points"]
    for k, mass in enumerate(("90.0", "170")):
        width = words.short(numbers["fit"]["signal_width"][k])
        for at, found in (("no cut", numbers["fit"]["before"]), ("50 %", point["spurious_signal"])):
            signal = words.signal_and_error({name: found[name][k] for name in ("signal", "error")})
            assert re.search(rf"^(carved)? +{at} +{mass} +{width} +{re.escape(signal)}", printed, re.MULTILINE)
            assert f"<td>{at}</td><td>{mass}</td><td>{width}</td><td>{signal}</td>" in page
    quoted = point["spurious_signal"]["quoted"]
    assert quoted["signal_mass"] == 170 and words.signal_and_error(quoted) in printed


def test_the_terminal_says_why_there_is_no_spurious_signal(hypotheses, tmp_path):
    """All events of the label together are as wide as the background."""
    named = ["--score", "carved", "--label", "label", "--mass", "mass", "--working-points", "0.5", "--out", tmp_path]
    status, printed = report_toys.report(hypotheses, *named)
    assert status == 0
    assert "not known: spurious signal: the signal has a width of 4" in printed and "see --signal-width" in printed


@pytest.fixture(scope="module")
def peak(tmp_path_factory):
    """One signal at 125 of width 9, on a background with a turn-on at 75; the score avoids masses near 160."""
    rng = np.random.default_rng(9)
    background = 60 + rng.exponential(55, 200_000)
    background = background[rng.random(200_000) < 1 / (1 + np.exp((75 - background) / 3))]
    signal = rng.normal(125, 9, 10_000)
    mass, label = np.append(background, signal), np.repeat([0, 1], [len(background), len(signal)])
    score = rng.normal(label) - 0.6 * np.exp(-0.5 * ((mass - 160) / 9) ** 2)
    return report_toys.write(
        tmp_path_factory.mktemp("peak") / "peak.parquet", {"mass": mass, "label": label, "carved": score}
    )


def test_a_negative_spurious_signal_is_the_largest(peak, tmp_path):
    (one,) = run(peak, tmp_path, "--cut", "(mass > 90) & (mass < 250)")["scores"]
    quoted = one["working_points"][0]["spurious_signal"]["quoted"]
    assert abs(quoted["signal_mass"] - 160) < 9 and quoted["signal"] < -3 * quoted["error"]


def test_one_signal_has_one_width_at_all_masses(peak, tmp_path):
    found = run(peak, tmp_path, "--signal-masses", "100,125,150,200", "--cut", "mass > 90")
    assert found["fit"]["signal_width"] == pytest.approx(9, rel=0.05)
    assert not [text for text in found["warnings"] if "of its own" in text]
    found = run(peak, tmp_path, "--signal-masses", "118,125,132", "--cut", "mass > 90")
    assert "no peak of its own at 118, with the next mass 7 away" in found["warnings"][0]
    assert found["warnings"][0].endswith("Give --signal-width")


def test_a_fit_that_needs_a_high_order_warns(peak, tmp_path):
    found = run(peak, tmp_path)
    assert found["fit"]["background_order"] > 6
    (said,) = (text for text in found["warnings"] if "a background of order" in text)
    assert f"a background of order {found['fit']['background_order']} before the selection, which can absorb" in said
    rest = run(peak, tmp_path, "--cut", "(mass > 90) & (mass < 250)")["warnings"]
    assert not [text for text in rest if "of order" in text]


def test_a_signal_as_wide_as_the_background_is_not_fitted(file, tmp_path):
    found = run(file, tmp_path, "--signal-width", 60)
    assert "the signal has a width of 60 in mass" in found["unknown"]["spurious signal"]
