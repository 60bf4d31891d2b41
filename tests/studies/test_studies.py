"""The studies of the simple model: every method trains."""

import pytest

from studies.simple_model import bins, maps, paper, small_batches
from studies.simple_model.classifiers import MODIFIED, OTHERS, SLOPES, SLOPES_TIGHT
from studies.simple_model.study import Size, Task

pytestmark = pytest.mark.usefixtures("threads_afterwards")


@pytest.mark.filterwarnings("ignore:label or score is the wrong way round")  # a moment teaches a network little
def test_every_method_of_the_study_trains():
    tiny = Size(steps=40, train_events=8_000, test_events=20_000, seeds=(1,))
    for classifier in (*OTHERS, MODIFIED[-1], SLOPES[-1], SLOPES_TIGHT[-1]):
        assert 0 < paper.measured(Task(classifier, 1, tiny))["auc"] < 1


def test_the_studies_of_batches_and_of_bins():
    tiny = Size(steps=30, train_events=8_000, test_events=20_000, seeds=(1,))
    for study, key in (
        (small_batches, "unbiased, projection, batch 500, seed 1"),
        (bins, "MoDe[1] in 8 bins, batch 256, seed 1"),
    ):
        assert 0 < small_batches.measured(study.tasks(tiny)[key])["auc"] < 1


def test_the_study_of_maps():
    tiny = maps.Sizes(Size(steps=150, train_events=20_000, test_events=40_000, seeds=()), 40_000, 60)
    tasks = maps.tasks(tiny)
    trained = maps.measured(tasks["unconstrained, seed 1"])
    before, after = (trained[name]["0"]["residual"] for name in ("as it is", "QuantileMap(0)"))
    assert min(before) > 3 and max(after) < 2
    assert trained["k neighbors"]["0"]["residual"][1] < before[1] and trained["k neighbors"]["0"]["auc"] is None
