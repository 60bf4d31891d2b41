"""The demo, made short: it runs as a command, and MoDe already takes the bump away."""

import json
import subprocess
import sys
from pathlib import Path

from examples.simple_model import batches

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-W", "error", "-m", "examples.simple_model"]


def test_a_short_demo(tmp_path):
    short = ["--events", "20000", "--epochs", "20", "--seed", "1", "--output", str(tmp_path)]
    done = subprocess.run(COMMAND + short, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr

    figures = list(tmp_path.glob("*.png"))
    assert figures and all(figure.stat().st_size > 10_000 for figure in figures)

    classifiers = json.loads((tmp_path / "table.json").read_text())["classifiers"]
    assert list(classifiers) == ["unconstrained", "m-agnostic", "MoDe[0]", "MoDe[1]", "MoDe[2]"]
    assert all(name in done.stdout for name in classifiers)
    assert classifiers["unconstrained"]["auc"] > 0.9

    def flatness(name):
        """At 50 % signal efficiency."""
        return classifiers[name]["selections"][1]["flatness"]

    for name in ("MoDe[0]", "MoDe[1]", "MoDe[2]"):
        assert classifiers[name]["auc"] > 0.6
        assert flatness(name) < flatness("unconstrained") / 3


def test_the_page_on_history_shows_the_results():
    page = (ROOT / "docs" / "history.md").read_text()
    for table in batches.tables(json.loads(batches.RESULTS.read_text())["results"]):
        assert table in page


def test_the_study_trains_each_kind_of_loss():
    short = [batches.HISTORY[1], batches.HISTORY[-1], batches.TRANSFORM[-1]]
    found = list(batches.outcomes(short, steps=80, seeds=(1, 2), train_events=20_000, test_events=20_000))
    assert [outcome.setting for outcome in found] == short
    assert all(0 < auc < 1 for outcome in found for auc in outcome.auc)
    assert all(len(outcome.auc) == len(outcome.residual) == 2 for outcome in found)
