"""The tutorials: their outputs in the tree are of their code, and show what the text says; the code runs.

Here it runs on few events; tests/docs/tutorials_in_full.py executes all of it, as `./build.sh test-full` does.
"""

import ast
import json
import os
import subprocess
import sys

import jupytext
import pytest
from tutorials import CLAIMS, complaints, notebooks, outputs, printed

NAMES = notebooks.names()

# What the cell that is tagged "parameters" is replaced by, so that a tutorial takes seconds.
FEW = {
    "bump-hunt": dict(simulated=8_000, in_data=60_000, epochs=4, repeats=2),
    "choosing": dict(events=8_000, tested=8_000, epochs=2),
    "maps": dict(trained=2_000, written=16_000),
    "pytorch": dict(events=8_000, epochs=2),
    "xgboost": dict(events=8_000, rounds=20),
}


def on_few_events(name):
    """The code of a tutorial with other parameters."""
    cells = []
    for cell in notebooks.code(notebooks.read(name)):
        if "parameters" in cell.metadata.get("tags", []):
            (given,) = ast.parse(cell.source).body
            assert [target.id for target in given.targets[0].elts] == list(FEW[name])
            cells.append("\n".join(f"{parameter} = {value}" for parameter, value in FEW[name].items()))
        else:
            cells.append(cell.source)
    assert len(cells) > len(set(cells) & {cell.source for cell in notebooks.code(notebooks.read(name))})
    return "\n\n".join(cells)


def test_all_are_tested():
    assert NAMES == sorted(CLAIMS) == sorted(FEW)


@pytest.mark.parametrize("name", NAMES)
def test_it_runs_on_few_events(name, tmp_path):
    # A window is what plt.show() opens elsewhere; nothing here has one. Joblib counts physical cores by lscpu.
    warnings = ["-W", "error", "-W", "ignore:FigureCanvasAgg is non-interactive"]
    warnings += ["-W", "ignore:Could not find the number of physical cores"]
    done = subprocess.run(
        [sys.executable, *warnings, "-c", on_few_events(name)],
        cwd=tmp_path, env=os.environ | {"MPLBACKEND": "agg"}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_its_outputs_are_of_its_code(name):
    notebook = notebooks.stored(name)
    assert notebook is not None, f"the code of {name}.md was changed: ./build.sh docs --execute {name}"
    assert complaints(notebook) == []


@pytest.mark.parametrize("name", NAMES)
def test_its_outputs_show_what_its_text_says(name):
    CLAIMS[name](printed(notebooks.stored(name)))


def test_outputs_of_other_code_are_not_taken(tmp_path, monkeypatch):
    page = (notebooks.TUTORIALS / "pytorch.md").read_text()
    monkeypatch.setattr(notebooks, "TUTORIALS", tmp_path)
    (tmp_path / "pytorch.md").write_text(page.replace("A search for a resonance", "A search for resonances"))
    assert notebooks.stored("pytorch") is not None
    (tmp_path / "pytorch.md").write_text(page.replace("lr=0.01", "lr=0.02"))
    assert notebooks.stored("pytorch") is None


def test_what_is_stored_comes_back(tmp_path, monkeypatch):
    before = notebooks.stored("maps")
    monkeypatch.setattr(notebooks, "OUTPUTS", tmp_path)
    notebooks.store("maps", before)
    assert outputs(notebooks.stored("maps")) == outputs(before)


def test_there_are_no_other_outputs_and_none_is_large():
    files = {path.name: path.stat().st_size for path in notebooks.OUTPUTS.iterdir()}
    named = {f"{name}.json" for name in NAMES}
    for name in NAMES:
        cells = json.loads((notebooks.OUTPUTS / f"{name}.json").read_text())["cells"]
        named |= {out["data"]["image/png"] for cell in cells for out in cell if "image/png" in out.get("data", {})}
    assert set(files) == named
    assert max(files.values()) < 200_000 and sum(files.values()) < 2_000_000


@pytest.mark.parametrize("name", NAMES)
def test_jupyter_opens_it(name):
    opened = jupytext.read(notebooks.TUTORIALS / f"{name}.md")
    assert opened.metadata["kernelspec"]["name"] == "python3"
    assert [cell.source for cell in notebooks.code(opened)] == [
        cell.source.rstrip() for cell in notebooks.code(notebooks.read(name))
    ]
