"""The study of boosted trees: every method trains."""

import pytest

from studies.trees import study
from studies.trees.task import Size

pytestmark = pytest.mark.usefixtures("threads_afterwards")
TINY = Size(4_000, 8_000, rounds=10, trees=4, epochs=2)


@pytest.mark.filterwarnings("ignore:.*the push has not settled:libmode.TrainingWarning")  # so few rounds
@pytest.mark.parametrize("sample", study.SAMPLES)
def test_one_of_each_method_trains(sample):
    tasks = [task for task in study.tasks(study.Sizes(TINY, TINY, TINY, 1)).values() if task.sample == sample]
    for task in {task.classifier.method: task for task in tasks}.values():
        assert study.seconds(task) > 0
        assert 0 < study.measured(task)["auc"] < 1
