"""``libmode report --signal-mass --signal-masses --signal-width``: the spurious signal where a search looks."""

import numpy as np
import pytest
import report_toys
from libmode import metrics

MASSES = [90, 125, 170]


@pytest.fixture(scope="module")
def toy():
    return report_toys.events()


@pytest.fixture(scope="module")
def file(toy, tmp_path_factory):
    return report_toys.write(tmp_path_factory.mktemp("search") / "toy.parquet", toy)


def run(file, out, *options, scores=("carved",)):
    named = [part for score in scores for part in ("--score", score)] + ["--label", "label"]
    return report_toys.report(file, *named, "--mass", "mass", "--working-points", "0.5", "--out", out, *options)


def page(folder):
    return (folder / "report.html").read_text(encoding="utf-8").replace("\xa0", " ")


def test_the_signal_is_quoted_where_the_search_is(toy, file, tmp_path):
    status, printed = run(file, tmp_path, "--signal-mass", 125, "--signal-width", 8)
    assert status == 0, printed
    found = report_toys.numbers(tmp_path)
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
    said = f"at mass 125 a fit finds a signal of {want.signal:.0f} ± {want.error:.1f} ({want.significance:.1f} σ)"
    assert said + ", which a search could mistake for a signal" in point["verdict"]
    assert "spurious signal<br>at 125" in page(tmp_path)


@pytest.mark.parametrize("widths", [[8], [6, 8, 11]])
def test_the_masses_are_those_of_the_search(toy, file, tmp_path, widths):
    written = ["--signal-masses", "170,90,125", "--signal-width", ",".join(map(str, widths[:1] or widths))]
    if len(widths) == 3:
        written[-1] = "11,6,8"  # in the order of the masses
    assert run(file, tmp_path, *written)[0] == 0
    found = report_toys.numbers(tmp_path)
    fit, before = found["fit"], found["fit"]["before"]
    assert before["signal_mass"] == MASSES and fit["signal_width"] == (8 if len(widths) == 1 else widths)
    width = widths[0] if len(widths) == 1 else widths
    want = metrics.spurious_signal(toy["mass"][toy["label"] == 0], fit["edges"], MASSES, width, degree=fit["degree"])
    np.testing.assert_allclose(before["signal"], want.signal, rtol=1e-5)
    largest = MASSES[int(np.argmax(want.significance))]
    assert fit["quoted"] is None and before["quoted"]["signal_mass"] == largest


def test_several_scores_have_one_table_after_the_figures(file, tmp_path):
    scores = ("flat", "carved", "linear")
    assert run(file, tmp_path, scores=scores)[0] == 0
    found, text = report_toys.numbers(tmp_path), page(tmp_path)
    assert text.index("<h2>Figures</h2>") < text.index("<h2>Numbers</h2>") < text.index("How it was computed")
    levels = [point["level"] for score in found["scores"] for point in score["working_points"]]
    assert levels[:2] == ["none seen", "dependent"]
    table = text[text.index("Each working point") :].partition("</table>")[0]
    assert [row.partition("</span>")[0].rpartition(">")[2] for row in table.split("<tr>")[2:]] == levels
    assert not any(point["verdict"] in text for score in found["scores"] for point in score["working_points"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--signal-masses", "90,x"], "--signal-masses has 'x': expected numbers, as in 90,125,170"),
        (["--signal-masses", "90,90"], "--signal-masses has 90 twice"),
        (["--signal-masses", "90,nan"], "--signal-masses has 'nan'"),
        (["--signal-width", "0"], "--signal-width has '0': expected numbers above 0"),
        (["--signal-width", "6,8"], "--signal-width has 2 numbers, and --signal-masses 0"),
        (["--signal-masses", "90,125,170", "--signal-width", "6,8"], "has 2 numbers, and --signal-masses 3"),
        (["--signal-mass", "inf"], "--signal-mass is inf"),
        (["--signal-mass", "120", "--signal-masses", "90,125"], "--signal-mass 120 is none of --signal-masses 90,125"),
        (["--signal-mass", "20"], "--signal-mass 20 is outside the central 95 % of the background, 5"),
        (["--signal-masses", "90,290"], "--signal-masses 290 is outside the central 95 % of the background, 5"),
    ],
)
def test_bad_use_is_named(file, tmp_path, options, message):
    status, printed = run(file, tmp_path, *options)
    assert status == 2
    assert message in printed.replace("\n", " ")


def test_a_signal_as_wide_as_the_background_is_not_fitted(file, tmp_path):
    assert run(file, tmp_path, "--signal-width", 60)[0] == 0
    assert "the signal has a width of 60 in mass" in report_toys.numbers(tmp_path)["unknown"]["spurious signal"]
