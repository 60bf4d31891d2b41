"""Every program of examples/recipes does what its first lines say, in a process of its own; test-full runs the slow ones."""

import re
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from programs import run
from shown import assert_alike, shown_blocks

ROOT = Path(__file__).resolve().parents[2]
RECIPES = ROOT / "examples" / "recipes"
OTHER_ENDS = {"abcd", "abcd_trees", "optuna_search", "planing"}  # a closure, a front, a table of the page
PAGE = (ROOT / "docs" / "recipes.md").read_text()


def printed(name, *warnings):
    """The lines before the check of the last score. One thread in PyTorch, whose threads only wait for each other."""
    lines = run(sys.executable, *warnings, RECIPES / f"{name}.py", OMP_NUM_THREADS="1").splitlines()
    checks = [
        place
        for place, line in enumerate(lines)
        if re.match(r"(not )?(flat|known)( at order 0)?( \(global p [^)]*\))?: ", line)
    ]
    ends_with_check = (RECIPES / f"{name}.py").read_text().splitlines()[-1].startswith("    print(metrics.check(")
    assert len(checks) == ends_with_check == (name not in OTHER_ENDS)
    return lines[: checks[0]] if checks else lines


def numbers(line):
    return [float(found) for found in re.findall(r"(?<![\w.])-?\d+\.\d+(?:e[-+]\d+)?", line)]


def assert_flat(without, with_mode):
    """The residual is some times what chance makes without MoDe, and about that with it; something is still separated."""
    auc, residual, chance = numbers(without)[:3]
    assert residual > 5 * chance and auc > 0.8, without
    auc, residual, chance = numbers(with_mode)[:3]
    assert residual < 2 * chance and auc > 0.6, with_mode


def test_there_is_a_test_and_a_row_of_the_page_for_each():
    files = {path.stem for path in RECIPES.glob("*.py")} - {"toys"}
    assert files == set(re.findall(r"\(\.\./examples/recipes/(\w+)\.py\)", PAGE)) - {"toys"}
    assert all(f"test_{name}" in globals() or name in FLAT for name in files)


#: What else the two lines of a recipe say, without MoDe and with it.
FLAT = {
    "spectators": lambda lines: all(line.endswith("scores without spectators the same: True") for line in lines),
    "monotonic_network": lambda lines: all(numbers(line)[3] > 0 for line in lines),
}


@pytest.mark.parametrize("name", FLAT)
def test_the_response_is_flat_with_mode(name):
    lines = printed(name, "-W", "error")
    assert_flat(*lines)
    assert FLAT[name](lines), lines


def test_hypotheses():
    lines = printed("hypotheses", "-W", "error")
    without, with_mode = lines[:3], lines[3:]
    assert len(with_mode) == 3
    for before, after in zip(without, with_mode, strict=True):
        assert_flat(before, after)


@pytest.mark.full
def test_candidates():
    without, with_mode = printed("candidates", "-W", "error")
    auc, residual, chance = numbers(with_mode)
    assert residual < 3 * chance and auc > 0.6, with_mode
    auc, residual, chance = numbers(without)
    assert residual > 10 * chance and auc > 0.8, without


@pytest.mark.full
def test_multiplier():
    nothing, multiplier, layer = (numbers(line) for line in printed("multiplier", "-W", "error"))
    assert nothing[1] > 10 * nothing[2]
    # The limit is on the mean over all cuts. At this cut the residual is 1 to 3.3 times chance for three seeds.
    assert multiplier[1] < 5 * multiplier[2] and layer[1] < 3 * layer[2]
    assert min(multiplier[0], layer[0]) > 0.7


@pytest.mark.full
def test_planing():
    lines = printed("planing", "-W", "error")
    assert_alike("\n".join(lines), shown_blocks(PAGE)[0], digits=15)
    nothing, planing, mode, both = map(numbers, lines)
    assert min(nothing[1], planing[1]) > 5 * planing[2]
    assert both[1] < 0.7 * mode[1] and both[1] < 4 * both[2] and both[0] > 0.5 * mode[0]


@pytest.mark.full
def test_scikit_learn():
    without, with_mode, search = printed("scikit_learn", "-W", "error")
    assert_flat(without, with_mode)
    assert 1 < max(numbers(search)) < 3  # of trees that most folds do not call not flat


@pytest.mark.full
def test_average_of_trees():
    *each, mean, mapped, own = (numbers(line) for line in printed("average_of_trees", "-W", "error"))
    assert len(each) == 3 and all(residual < 3 * chance for _, residual, chance in [*each, mapped, own])
    assert mean[1] > 3 * max(residual for _, residual, _ in each)
    assert min(mapped[0], own[0]) > 0.72


@pytest.mark.full
def test_abcd_trees():
    plain, by_heart, aware = (numbers(line) for line in printed("abcd_trees", "-W", "error"))
    assert max(plain[1::2]) < 0.5
    assert all(abs(ratio - 1) < 0.2 for ratio in aware[1::2])
    assert by_heart[0] > aware[0] > 0.75


def test_the_closure_of_abcd_by_counting(monkeypatch):
    """12 events of background, of which cuts at a quarter keep the upper half of each score."""
    monkeypatch.syspath_prepend(RECIPES)
    first, second = np.arange(14.0), np.array([0, 7, 1, 8, 2, 9, 3, 6, 10, 4, 11, 5, 99, 99])
    ratio, error = import_module("toys").closure(first, second, np.arange(14) // 12, 0.25)
    assert (ratio, error) == pytest.approx((1, (4 / 3) ** 0.5))


@pytest.mark.full
def test_abcd():
    nothing, disco = map(numbers, printed("abcd", "-W", "error"))
    assert max(nothing[2::2]) < 0.3  # without anything, A has several times what is predicted
    assert all(0.95 < ratio < 1.05 for ratio in disco[2::2]), disco
    assert min(disco[:2]) > 0.7


@pytest.mark.full
def test_to_onnx():
    """The program that scores them fails if it imports libmode, PyTorch or XGBoost."""
    lines = printed("to_onnx", "-W", "error")
    assert [line.split(":")[0] for line in lines] == ["network", "trees"]
    for line in lines:
        auc, residual, _, difference = numbers(line)
        assert difference < 1e-6
        assert auc > 0.7 and residual < 0.4  # without MoDe the residual is above 1


@pytest.mark.full
def test_optuna_search():
    head, *front = printed("optuna_search", "-W", "error")
    assert head == f"12 trials, on the front {len(front)}:" and len(front) >= 3
    rejections, residuals, *_ = zip(*map(numbers, front), strict=True)
    orders = [int(re.search(r"order (\d)", line)[1]) for line in front]
    # A front: who rejects more depends more; and what decides is the order.
    assert list(rejections) == sorted(rejections) and list(residuals) == sorted(residuals)
    assert residuals[0] < 1.7 and residuals[-1] > 2.5 and orders[0] < orders[-1]


@pytest.mark.full
def test_lightning_ddp():
    # Lightning warns of PyTorch, and of the number of processors.
    without, with_mode = printed("lightning_ddp")
    assert without.startswith("1 process(es), MoDe False") and with_mode.startswith("2 process(es), MoDe True")
    assert_flat(without, with_mode)
    (_, _, _, auc_logged, before), (auc, _, _, logged, after) = numbers(without), numbers(with_mode)
    assert logged == pytest.approx(auc, abs=0.02) and auc_logged > logged  # of the events of both processes
    assert after > before
