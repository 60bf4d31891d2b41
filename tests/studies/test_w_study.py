"""The study of W tagging: its pieces, on jets that are made up."""

import numpy as np
import pytest
import torch

from studies.w_tagging import paper, tables
from studies.w_tagging.classifiers import METHODS, PAPER_FRACTION, PAPER_RECIPE
from studies.w_tagging.cost import measured as cost_of
from studies.w_tagging.measure import fit_of
from studies.w_tagging.sample import Sample, load
from studies.w_tagging.study import Size, Task, split
from studies.w_tagging.train import Choice, prepared

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


@pytest.fixture(scope="module")
def sample(path):
    return load(path)


# ------------------------------------------------------------ the trainings


def test_the_parts_are_all_jets_and_have_both_classes_alike():
    label = np.arange(5000) % 4 == 0
    every = [split(label, seed) for seed in (1, 2, 3, 4)]
    for parts in every:
        assert sorted(np.concatenate(parts)) == list(range(5000))
        assert [len(part) for part in parts] == [2500, 1000, 1500]
        assert [label[part].mean() for part in parts] == [0.25, 0.25, 0.25]
    assert len(np.unique([parts[2] for parts in every[:3]])) == 4500  # the test sets of three seeds


def test_features_have_mean_0_and_width_1_in_training_and_both_classes_count_one_half(sample):
    parts = prepared(sample, split(sample.label, 1))
    assert torch.allclose(parts[0].inputs.mean(0), torch.zeros(10), atol=1e-4)
    assert torch.allclose(parts[0].inputs.std(0), torch.ones(10), atol=1e-3)
    (planed,) = prepared(sample, split(sample.label, 1)[:1], planed=True)
    mean = [np.average(planed.mass[own], weights=planed.weight[own]) for own in map(planed.label.eq, (0, 1))]
    assert mean[0] == pytest.approx(mean[1], abs=3)  # the background has that of the signal
    for jets in parts:
        for label in (0, 1):
            assert jets.weight[jets.label == label].sum() / len(jets) == pytest.approx(0.5, rel=1e-4)


def test_the_choice_is_the_smallest_loss_and_keeps_its_weights():
    choice, weights = Choice(), torch.zeros(1)
    for epoch, loss in enumerate([3.0, 1.0, 2.0]):
        weights.fill_(epoch)
        choice.offer(epoch, loss, {"weights": weights})
    assert (choice.epoch, choice.loss, choice.state["weights"].item()) == (1, 1.0, 1.0)


def test_every_method_trains(path):
    tiny = Size(path, 4, 5_000, (1,))
    scans = [scan[len(scan) // 2] for scan in METHODS.values()]
    for classifier, fraction in [*((c, 0.0) for c in scans), *((c, PAPER_FRACTION) for c in PAPER_RECIPE)]:
        found = paper.measured(Task(classifier, 1, tiny, fraction))
        assert 0 < found["auc"] < 1 and found["jsd"] > 0


def test_the_cost_of_a_method(path):
    names = ("unconstrained", "planing", "adversary", "MoDe[1]")
    cost = {name: cost_of(METHODS[name][0], Size(path, 4, 5_000, (1,)), epochs=2) for name in names}
    assert tables.of_cost(cost).count("\n") == 2 + 4
    assert all(len(times) == 2 for found in cost.values() for times in found["seconds"].values())


# ------------------------------------------------------------- the judgment


def test_a_spectrum_that_no_polynomial_fits_is_refused(sample):
    waves = np.sin(sample.mass / 3) > np.random.default_rng(1).uniform(-1, 3, len(sample))
    kept = (sample.label == 1) | waves
    comb = Sample(sample.names, *(array[kept] for array in (sample.features, sample.mass, sample.pt, sample.label)))
    with pytest.raises(RuntimeError, match="no polynomial of degree 2 to 7 fits the unselected QCD spectrum"):
        fit_of(comb)
