"""The study of boosted trees: the claims hold in small, and the page shows the committed results."""

import json

import numpy as np
import pytest

from studies import pages
from studies.methods import Classifier
from studies.trees import boosters, jets, plane, report, simple, study
from studies.trees.task import Size, Task, key

pytestmark = pytest.mark.usefixtures("threads_afterwards")
SMALL = Size(20_000, 60_000, rounds=100)
TINY = Size(4_000, 8_000, rounds=10, trees=4, epochs=2)


@pytest.fixture(scope="module")
def small():
    wanted = [c for c in simple.CLASSIFIERS if c.name in ("XGBoost", simple.AGNOSTIC.name, "MoDe[1], XGBoost")]
    return {c.name: study.measured(Task("simple", c, 1, SMALL)) for c in wanted if not c.strength}


def test_mode_takes_the_bump_away_and_keeps_the_auc(small):
    free, agnostic, mode = (small[name] for name in ("XGBoost", simple.AGNOSTIC.name, "MoDe[1], XGBoost"))
    assert free["auc"] > agnostic["auc"] + 0.02 and mode["auc"] > agnostic["auc"] - 0.01
    assert mode["residual"]["1"][0] < free["residual"]["1"][0] / 4  # at 80 %


def test_what_knows_nothing_of_the_mass_is_linear_in_it(small):
    residual = small[simple.AGNOSTIC.name]["residual"]
    assert max(residual["1"]) < 2 and residual["0"][0] > 5


@pytest.mark.parametrize("sample", study.SAMPLES)
def test_one_of_each_method_trains(sample):
    tasks = [task for task in study.tasks(study.Sizes(TINY, TINY, TINY, 1)).values() if task.sample == sample]
    for task in {task.classifier.method: task for task in tasks}.values():
        assert study.seconds(task) > 0
        found = study.measured(task)
        assert 0 < found["auc"] < 1 and found["seconds"] > 0


def test_disco_pushes_scores_towards_independence():
    """By finite differences of the loss, in the margins, for a step against the gradient without the cross entropy."""
    from libmode import mode_loss

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


def test_every_training_has_results():
    stored = json.loads(report.RESULTS.read_text())
    sizes = stored["size"]
    full = study.Sizes(*(Size(**sizes[name]) for name in study.SAMPLES), seeds=sizes["seeds"])
    assert full == study.FULL
    assert set(stored["results"]) == {key(task) for task in study.tasks(full).values()}


def test_the_page_shows_the_committed_results():
    found = report.tables(json.loads(report.RESULTS.read_text())["results"])
    for name, table in found.items():
        assert pages.shown(name, report.REST) == table


def test_the_figure_shows_every_series():
    """Each classifier but those with a tolerance is a point of its panel."""
    panels = report.figure(json.loads(report.RESULTS.read_text())["results"]).axes
    drawn = [
        sum(len(line.get_xdata()) for line in panel.lines if line.get_marker() not in ("", "None")) for panel in panels
    ]
    of_simple = [c for c in simple.CLASSIFIERS if "tolerance" not in c.options]
    assert drawn[0] == len(of_simple)
    assert drawn[1] == len(jets.CLASSIFIERS)
    assert (
        drawn[2] == len(plane.CLASSIFIERS) + len(report.STORED) - 3
    )  # neither "independent" nor what has no constraint
