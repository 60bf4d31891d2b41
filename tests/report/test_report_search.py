"""``libmode report --signal-mass --signal-masses --signal-width``: the spurious signal where a search looks."""

import numpy as np
import pytest
import report_toys
from libmode import metrics

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
    mass = toy["mass"][background & (toy["carved"] >= point["threshold"])]
    want = metrics.signal_bias(mass, fit["edges"], 125, 8, degree=fit["degree"])
    assert want.significance > 3
    quoted = point["spurious_signal"]["quoted"]
    assert quoted == pytest.approx({"signal_mass": 125, "signal": want.signal, "error": want.error}, rel=1e-6)
    assert "spurious signal<br>at 125" in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("written, width", [("8", 8), ("11,6,8", [6, 8, 11])])
def test_the_masses_are_those_of_the_search(toy, file, tmp_path, written, width):
    """In any order, with one width or one for each."""
    found = run(file, tmp_path, "--signal-masses", "170,90,125", "--signal-width", written)
    fit, before = found["fit"], found["fit"]["before"]
    assert before["signal_mass"] == MASSES and fit["signal_width"] == width
    want = metrics.spurious_signal(toy["mass"][toy["label"] == 0], fit["edges"], MASSES, width, degree=fit["degree"])
    np.testing.assert_allclose(before["signal"], want.signal, rtol=1e-5)
    largest = MASSES[int(np.argmax(want.significance))]
    assert fit["quoted"] is None and before["quoted"]["signal_mass"] == largest


def test_a_signal_as_wide_as_the_background_is_not_fitted(file, tmp_path):
    found = run(file, tmp_path, "--signal-width", 60)
    assert "the signal has a width of 60 in mass" in found["unknown"]["spurious signal"]
