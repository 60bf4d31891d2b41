"""The study of a Dalitz plane: its events are what they are said to be, and every classifier trains."""

import numpy as np
import pytest
from scipy.optimize import brentq

from studies.dalitz import boosting, networks, report
from studies.dalitz.events import DAUGHTER_MASS, HIGH, LOW, PARENT_MASS, momenta
from studies.dalitz.study import Size

pytestmark = pytest.mark.usefixtures("threads_afterwards")
TINY = Size(4_000, 8_000, trees=20, steps=60, batch=1_000, seeds=(1,))


def test_momenta_are_those_of_three_four_vectors():
    """Of A, B, C drawn in the parent's frame, with any directions: energies add up to M by a common factor."""
    for a, b in np.random.default_rng(1).normal(size=(100, 2, 3)):
        vectors = np.array([a, b, -a - b])

        def energies(scale, vectors=vectors):
            return np.sqrt(np.sum((scale * vectors) ** 2, axis=1) + DAUGHTER_MASS**2)

        scale = brentq(lambda scale: energies(scale).sum() - PARENT_MASS, 0, 10, xtol=1e-14)
        vectors, energy = scale * vectors, energies(scale)
        squared = [(energy[0] + energy[i]) ** 2 - np.sum((vectors[0] + vectors[i]) ** 2) for i in (1, 2)]
        np.testing.assert_allclose(momenta(np.array([squared]))[0], np.linalg.norm(vectors, axis=1), rtol=1e-9)
    outside = np.array([[LOW, LOW], [HIGH, HIGH], [LOW, HIGH], [HIGH, LOW]])
    assert np.isnan(momenta(outside)).all()


@pytest.mark.parametrize("command", (boosting, networks), ids=lambda command: command.RESULTS.stem)
def test_every_classifier_has_a_task_and_trains(command):
    tasks = command.tasks(TINY)
    assert list(tasks) == [f"{c.name}, seed 1" for c in command.CLASSIFIERS]
    one_of_each = {task.classifier.method: task for task in tasks.values()}
    for task in one_of_each.values():
        assert command.seconds(task) > 0
        found = command.measured(task)
        assert np.isfinite(list(found.values())).all() and set(found) == set(report.MEASURES)
