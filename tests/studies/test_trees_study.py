"""The study of boosted trees: the claims hold in small, and every method trains."""

import numpy as np
import pytest
from libmode import mode_loss

from studies.methods import Classifier
from studies.trees import boosters, report, simple, study
from studies.trees.task import Size, Task

pytestmark = pytest.mark.usefixtures("threads_afterwards")
SMALL = Size(20_000, 60_000, rounds=100)
TINY = Size(4_000, 8_000, rounds=10, trees=4, epochs=2)


def test_mode_takes_the_bump_away_and_keeps_the_auc():
    wanted = {"XGBoost", simple.AGNOSTIC.name, "MoDe[1], XGBoost"}
    chosen = [c for c in simple.CLASSIFIERS if c.name in wanted and not c.strength]
    found = {c.name: study.measured(Task("simple", c, 1, SMALL)) for c in chosen}
    free, agnostic, mode = (found[name] for name in ("XGBoost", simple.AGNOSTIC.name, "MoDe[1], XGBoost"))
    assert free["auc"] > agnostic["auc"] + 0.02 and mode["auc"] > agnostic["auc"] - 0.01
    assert mode["residual"]["1"][0] < free["residual"]["1"][0] / 4  # at 80 %
    # What knows nothing of the mass has a response that is linear in it.
    assert max(agnostic["residual"]["1"]) < 2 and agnostic["residual"]["0"][0] > 5


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


def test_between_two_strengths_r50_is_on_their_line():
    def point(residual, r50):
        seeds = tuple({"r50": r50 + s, "flatness": residual, "flatness_expected": 1.0} for s in (-1, 1))
        return report.Point(Classifier(""), seeds)

    scan = [point(4.0, 20.0), point(2.0, 12.0), point(1.0, 8.0)]
    at = report.r50_where(scan, report.log_residual, np.log(2 * np.sqrt(2)))
    assert at.mean == pytest.approx(16.0)
    assert report.r50_where(scan, report.log_residual, np.log(5)) is None
