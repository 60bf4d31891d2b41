"""The study of boosted trees: every method trains."""

import numpy as np
import pytest
from libmode import mode_loss

from studies.trees import boosters, study
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


def test_disco_pushes_scores_towards_independence():
    """By finite differences of the loss, in the margins, for a step against the gradient without the cross entropy."""
    rng = np.random.default_rng(1)
    label, mass = np.repeat([0.0, 1.0], 300), rng.normal(size=600)
    margin = mass + rng.normal(size=600)
    grads = [boosters.DisCo(label, mass, strength)(margin, None)[0] for strength in (1.0, 3.0)]
    of_disco = (grads[1] - grads[0]) / 2
    assert not of_disco[300:].any()

    def loss(margins):
        return 600 * mode_loss(1 / (1 + np.exp(-margins[:300])), mass[:300], loss="disco", unbiased=True)

    step = 1e-5 * rng.normal(size=600)
    change = loss(margin + step) - loss(margin - step)
    assert change == pytest.approx(2 * of_disco @ step, rel=1e-3)
    assert (boosters.DisCo(label, mass, 3.0)(margin, None)[1] > 0).all()
