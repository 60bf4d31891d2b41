"""The demo, made short: it runs as a command, and MoDe already takes the bump away."""

import json
import sys
from pathlib import Path

import pytest
from programs import run

ROOT = Path(__file__).parents[2]


@pytest.mark.full
def test_a_short_demo(tmp_path):
    short = ["--events", "20000", "--epochs", "20", "--seed", "1", "--output", str(tmp_path)]
    printed = run(sys.executable, "-W", "error", "-m", "studies.simple_model", *short, cwd=ROOT)
    figures = list(tmp_path.glob("*.png"))
    assert figures and all(figure.stat().st_size > 10_000 for figure in figures)
    classifiers = json.loads((tmp_path / "table.json").read_text())["classifiers"]
    assert list(classifiers) == ["unconstrained", "m-agnostic", "MoDe[0]", "MoDe[1]", "MoDe[2]"]
    assert all(name in printed for name in classifiers)
    # At 50 % signal efficiency.
    flatness = {name: one["selections"][1]["flatness"] for name, one in classifiers.items()}
    assert max(flatness[f"MoDe[{order}]"] for order in range(3)) < flatness["unconstrained"] / 3
