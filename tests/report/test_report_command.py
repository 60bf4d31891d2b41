"""The command ``libmode report``: its status, what it says, and the page that it writes."""

import html
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import report_toys
from libmode import metrics
from libmode.__main__ import NEEDED
from libmode.report.judge import plain

ROOT = Path(__file__).resolve().parents[2]
DEFAULT = ["--mass", "mass", "--label", "label"]


# ------------------------------------------------------------------ status


@pytest.mark.parametrize("score, order, status", [("carved", 2, 1), ("linear", 0, 1), ("linear", 1, 0)])
def test_the_status_says_whether_a_dependence_is_seen(file, tmp_path, score, order, status):
    options = ["--score", score, "--mass", "mass", "--cut", "label == 0", "--order", order, "--out", tmp_path]
    found, printed = report_toys.report(file, *options, "--background-efficiency", "0.3", "--max-dependence", 1e-3)
    assert found == status, printed
    numbers = report_toys.numbers(tmp_path)
    assert numbers["passed"] is (status == 0)
    assert ("Failed: not every p-value is at least 0.001" in printed) == bool(status)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert ("<strong>Failed:</strong>" if status else "<strong>Passed:</strong>") in page


@pytest.mark.parametrize(
    "change, message",
    [
        ({"FILE": "nowhere.root"}, "there is no file 'nowhere.root'"),
        ({"--label": "0 * count + 1"}, "--label is 1 for all events: expected background"),
        ({"--weight": "0 * count - 1"}, "weight sums to -"),
        ({"--signal-efficiency": "0.5,80"}, "signal_efficiency[1] = 80.0: must be positive and at most 1"),
        ({"--signal-mass": "inf"}, "signal_mass[0] = inf: expected a finite number"),
        ({"--out": __file__}, "test_report_command.py"),
        ({"--bins": "50,60,x"}, "'50,60,x' is no list of numbers"),
    ],
)
def test_bad_use_is_one_sentence_and_status_2(file, tmp_path, change, message):
    given = {"FILE": file, "--score": "flat", "--mass": "mass", "--label": "label", "--out": tmp_path} | change
    name = given.pop("FILE")
    status, printed = report_toys.report(name, *(word for pair in given.items() for word in pair))
    assert status == 2
    said = printed.strip().splitlines()[-1]
    assert said.startswith("Error: ") and message in said
    assert "Traceback" not in printed


def test_a_cut_with_too_few_events_has_a_page_without_a_picture(file, tmp_path):
    given = ["--score", "carved", "--mass", "mass", "--order", 0, "--background-efficiency", 1e-4, "--out", tmp_path]
    status, printed = report_toys.report(file, *given)
    assert status == 0, printed
    assert "data:image" not in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_options_are_those_of_check(file, toy, tmp_path):
    """Bins, the bounds of the polynomial, and the events of the training."""
    background = toy["label"] == 0
    score, mass = toy["linear"][background], toy["mass"][background]
    given = ["--score", "linear", "--mass", "mass", "--background-efficiency", "0.3", "--out", tmp_path]
    given += ["--cut", "label == 0"]
    for options, given_so in (
        ({"order": 2, "monotonic": True, "max_slope": 0.1, "training_events": 5000.0, "bins": 7},
         ["--monotonic", "--max-slope", 0.1, "--training-events", 5000, "--bins", 7]),
        ({"order": 0, "bins": [50, 100, 150, 300]}, ["--bins", "50,100,150,300"]),
    ):  # fmt: skip
        status, printed = report_toys.report(file, *given, "--order", options["order"], *given_so)
        assert status == 0, printed
        (cut,) = report_toys.numbers(tmp_path)["scores"][0]["check"]["cuts"]
        (want,) = metrics.check(score, None, mass, background_efficiency=[0.3], **options).cuts
        assert cut == plain(want)


# ------------------------------------------------------------------ the page


@pytest.fixture(scope="module")
def page(toy, tmp_path_factory):
    """Of names that would do harm where they are not escaped, in HTML and in matplotlib."""
    folder = tmp_path_factory.mktemp("page")
    script = "<script>alert(1)</script>"
    columns = {script: toy["carved"], "$x_": toy["flat"], "_y$": toy["linear"], "mass": toy["mass"], "l": toy["label"]}
    file = report_toys.write(folder / "<script>&amp;'\"$.csv", columns)
    options = [word for name in [*columns][:3] for word in ("--score", name)]
    options += ["--mass", "mass", "--label", "l", "--cut", "mass < 260"]
    status, printed = report_toys.report(file, *options, "--order", 2, "--out", folder, figures=True)
    assert status == 0, printed
    return folder, (folder / "report.html").read_text(encoding="utf-8")


def test_what_the_user_wrote_is_text(page):
    text = html.unescape(page[1])
    assert text.count("<script>alert(1)</script>") >= 3 and "<script>alert" not in page[1]
    assert "<script>&amp;'\"$.csv" in text and "mass < 260" in text


def test_the_page_has_one_verdict_and_one_figure_for_each_score(page):
    folder, found = page
    scores, text = report_toys.numbers(folder)["scores"], html.unescape(found)
    for score in scores:
        assert str(round(score["auc"], 4)) in text and f"{score['check']['why']}." in text
    assert found.count("data:image/svg+xml") == len(scores) + 1  # and the ROC curves


# ------------------------------------------------------------------ the programs


def test_without_a_package_the_command_names_the_extra():
    code = "import sys; sys.modules.update(dict.fromkeys(sys.argv[1:])); sys.argv[1:] = []\nfrom libmode.__main__ import main; main()"
    for names, verb in ((["h5py"], "is"), (["click", "h5py", "uproot"], "are")):
        done = subprocess.run([sys.executable, "-c", code, *names], capture_output=True, text=True)
        want = f"libmode report needs {', '.join(names)}, which {verb} not installed: pip install 'libmode[report]'\n"
        assert (done.returncode, done.stdout, done.stderr) == (2, "", want)
    extra = re.search(r"\nreport = \[(.*)\]", (ROOT / "pyproject.toml").read_text())[1]
    assert all(name in extra for name in {*NEEDED} - {"matplotlib"})


def test_status_1_says_not_flat_and_nothing_else(file, tmp_path):
    """Not a style that needs LaTeX, a notebook's backend, a closed pipe, Ctrl-C or a fault of libmode."""
    (tmp_path / "matplotlibrc").write_text("text.usetex: True\n")
    command = [sys.executable, "-m", "libmode", "report", file, "--score", "flat", *DEFAULT, "--order", "0"]
    environment = os.environ | {"MPLBACKEND": "module://not_here.backend_inline", "MATPLOTLIBRC": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    with open("/dev/full", "w") as full:
        assert subprocess.run(command, cwd=tmp_path, stdout=full, stderr=subprocess.DEVNULL).returncode not in (0, 1)
