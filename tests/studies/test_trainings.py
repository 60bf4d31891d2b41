"""Each study trains each method on few events, so that a change elsewhere does not break what runs for hours."""

import numpy as np
import pytest

from studies.dalitz import boosting, networks
from studies.dalitz.study import Size as DalitzSize
from studies.simple_model import bins, maps, paper, small_batches
from studies.simple_model.classifiers import MODIFIED, OTHERS, SLOPES, SLOPES_TIGHT
from studies.simple_model.study import Size, Task
from studies.trees import study as trees
from studies.trees.task import Size as TreesSize
from studies.w_tagging import paper as w_tagging
from studies.w_tagging.classifiers import METHODS, PAPER_FRACTION, PAPER_RECIPE
from studies.w_tagging.study import Size as WSize
from studies.w_tagging.study import Task as WTask

TINY = Size(steps=40, train_events=8_000, test_events=20_000, seeds=(1,))
pytestmark = [
    pytest.mark.full,
    pytest.mark.usefixtures("threads_afterwards"),
    pytest.mark.filterwarnings("ignore:label or score is the wrong way round"),  # a moment teaches a network little
    pytest.mark.filterwarnings("ignore:.*the push has not settled:libmode.TrainingWarning"),
]


@pytest.mark.parametrize("command", (boosting, networks), ids=lambda command: command.RESULTS.stem)
def test_dalitz(command):
    tasks = command.tasks(DalitzSize(4_000, 8_000, trees=20, steps=60, batch=1_000, seeds=(1,)))
    for task in {task.classifier.method: task for task in tasks.values()}.values():
        assert np.isfinite(list(command.measured(task).values())).all()


def test_simple_model():
    for classifier in (*OTHERS, MODIFIED[-1], SLOPES[-1], SLOPES_TIGHT[-1]):
        assert 0 < paper.measured(Task(classifier, 1, TINY))["auc"] < 1
    for study, key in (
        (small_batches, "unbiased, projection, batch 500, seed 1"),
        (bins, "MoDe[1] in 8 bins, batch 256, seed 1"),
    ):
        assert 0 < small_batches.measured(study.tasks(TINY)[key])["auc"] < 1


def test_maps():
    tiny = maps.Sizes(Size(steps=150, train_events=20_000, test_events=40_000, seeds=()), 40_000, 60)
    trained = maps.measured(maps.tasks(tiny)["unconstrained, seed 1"])
    before, after = (trained[name]["0"]["residual"] for name in ("as it is", "QuantileMap(0)"))
    assert min(before) > 3 and max(after) < 2
    assert trained["k neighbors"]["0"]["residual"][1] < before[1] and trained["k neighbors"]["0"]["auc"] is None


@pytest.mark.parametrize("sample", trees.SAMPLES)
def test_trees(sample):
    tiny = TreesSize(4_000, 8_000, rounds=10, trees=4, epochs=2)
    tasks = [task for task in trees.tasks(trees.Sizes(tiny, tiny, tiny, 1)).values() if task.sample == sample]
    for task in {task.classifier.method: task for task in tasks}.values():
        assert 0 < trees.measured(task)["auc"] < 1


def test_w_tagging(tmp_path):
    """On jets that are made up: two features know the class, one the mass, one both."""
    rng, n = np.random.default_rng(1), 30_000
    label = (np.arange(n) % 3 == 0) + 0.0
    mass = np.where(label == 1, rng.normal(80.4, 7, n).clip(51, 299), 50 + 150 * (1 - np.sqrt(rng.uniform(size=n))))
    features = rng.normal(size=(n, 10))
    features[:, :2] += 0.7 * label[:, None]
    features[:, 2] = 3 * np.log(mass / 80) + 0.5 * features[:, 2]
    features[:, 3] += label - 2 * np.log(mass / 80)
    arrays = {"features": features, "mass": mass, "pt": rng.uniform(300, 400, n), "label": label}
    np.savez(tmp_path / "sample.npz", **{name: array.astype(np.float32) for name, array in arrays.items()})
    tiny = WSize(str(tmp_path / "sample.npz"), 4, 5_000, (1,))
    scans = [scan[len(scan) // 2] for scan in METHODS.values()]
    for classifier, fraction in [*((c, 0.0) for c in scans), *((c, PAPER_FRACTION) for c in PAPER_RECIPE)]:
        found = w_tagging.measured(WTask(classifier, 1, tiny, fraction))
        assert 0 < found["auc"] < 1 and found["jsd"] > 0
