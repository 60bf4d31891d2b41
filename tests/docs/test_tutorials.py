"""The tutorials: their outputs in the tree are of their code, and show what the text says; the code runs.

Here it runs on few events; tests/docs/tutorials_in_full.py executes all of it, as `./build.sh test-full` does.
"""

import ast
import sys

import pytest
from programs import run
from tutorials import CLAIMS, complaints, notebooks, printed

NAMES = notebooks.names()

# What the cell that is tagged "parameters" is replaced by, so that a tutorial takes seconds.
FEW = {
    "bump-hunt": dict(simulated=8_000, in_data=60_000, epochs=4, repeats=2),
    "choosing": dict(events=8_000, tested=8_000, epochs=2),
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
    return "\n\n".join(cells)


def test_all_are_tested():
    assert NAMES == sorted(CLAIMS) == sorted(FEW)


@pytest.mark.parametrize("name", NAMES)
def test_it_runs_on_few_events(name, tmp_path):
    # A window is what plt.show() opens elsewhere; nothing here has one. Joblib counts physical cores by lscpu.
    warnings = ["-W", "error", "-W", "ignore:FigureCanvasAgg is non-interactive"]
    warnings += ["-W", "ignore:Could not find the number of physical cores"]
    run(sys.executable, *warnings, "-c", on_few_events(name), cwd=tmp_path, MPLBACKEND="agg")


@pytest.mark.parametrize("name", NAMES)
def test_its_outputs_are_of_its_code_and_show_what_its_text_says(name):
    notebook = notebooks.stored(name)
    assert notebook is not None, f"the code of {name}.md was changed: ./build.sh docs --execute {name}"
    assert complaints(notebook) == []
    CLAIMS[name](printed(notebook))
