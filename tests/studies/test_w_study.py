"""The study of W tagging: its pieces, on jets that are made up."""

import numpy as np
import pytest

from studies.w_tagging import paper
from studies.w_tagging.classifiers import METHODS, PAPER_FRACTION, PAPER_RECIPE
from studies.w_tagging.study import Size, Task

pytestmark = pytest.mark.usefixtures("threads_afterwards")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A file of jets that are made up: the masses have the shape of real ones, and features follow them."""
    rng, w, qcd = np.random.default_rng(1), 10_000, 20_000
    falling = 50 + 150 * (1 - np.sqrt(rng.uniform(size=qcd)))
    mass = np.concatenate([rng.normal(80.4, 7, w).clip(51, 299), falling])
    label = np.repeat([1.0, 0.0], [w, qcd])
    # Two that know the class, one that knows the mass, one that knows both, and noise.
    features = rng.normal(size=(w + qcd, 10))
    features[:, :2] += 0.7 * label[:, None]
    features[:, 2] = 3 * np.log(mass / 80) + 0.5 * features[:, 2]
    features[:, 3] += label - 2 * np.log(mass / 80)
    order = rng.permutation(w + qcd)
    arrays = {"features": features, "mass": mass, "pt": rng.uniform(300, 400, w + qcd), "label": label}
    path = tmp_path_factory.mktemp("jets") / "sample.npz"
    np.savez(path, **{name: array[order].astype(np.float32) for name, array in arrays.items()})
    return str(path)


# ------------------------------------------------------------ the trainings


def test_every_method_trains(path):
    tiny = Size(path, 4, 5_000, (1,))
    scans = [scan[len(scan) // 2] for scan in METHODS.values()]
    for classifier, fraction in [*((c, 0.0) for c in scans), *((c, PAPER_FRACTION) for c in PAPER_RECIPE)]:
        found = paper.measured(Task(classifier, 1, tiny, fraction))
        assert 0 < found["auc"] < 1 and found["jsd"] > 0


# ------------------------------------------------------------- the judgment
