"""The study of W tagging: its pieces, and what it claims in small, on jets that are made up."""

import jet_samples
import numpy as np
import pytest
import torch
from scipy import stats

from studies.methods import Classifier
from studies.w_tagging import paper, summary, tables
from studies.w_tagging.classifiers import METHODS, PAPER_FRACTION, PAPER_RECIPE
from studies.w_tagging.cost import measured as cost_of
from studies.w_tagging.measure import BINS, fit_of
from studies.w_tagging.sample import Sample, load
from studies.w_tagging.study import Size, Task, split
from studies.w_tagging.train import Choice, prepared

pytestmark = pytest.mark.usefixtures("threads_afterwards")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return jet_samples.write(tmp_path_factory.mktemp("jets") / "sample.npz", 10_000, 20_000)


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


SMALL = {"unconstrained": 0, "DisCo": 30, "MoDe[0]": 300, "MoDe[1]": 300}


def test_every_method_trains(path):
    tiny = Size(path, 4, 5_000, (1,))
    scans = [scan[len(scan) // 2] for name, scan in METHODS.items() if name not in SMALL]
    for classifier, fraction in [*((c, 0.0) for c in scans), *((c, PAPER_FRACTION) for c in PAPER_RECIPE)]:
        found = paper.measured(Task(classifier, 1, tiny, fraction))
        assert 0 < found["auc"] < 1 and found["jsd"] > 0


def test_the_cost_of_a_method(path):
    names = ("unconstrained", "planing", "adversary", "MoDe[1]")
    cost = {name: cost_of(METHODS[name][0], Size(path, 4, 5_000, (1,)), epochs=2) for name in names}
    assert tables.of_cost(cost).count("\n") == 2 + 4
    assert all(len(times) == 2 for found in cost.values() for times in found["seconds"].values())


def test_the_claims_in_small(path):
    """With limits that seeds 1 to 6 keep: small trainings differ, and which method is better is for the page to say."""
    size = Size(path, 25, 1_000, (1,))
    chosen = [c for name, strength in SMALL.items() for c in METHODS[name] if c.strength == strength]
    found = {c.name: paper.measured(Task(c, 1, size)) for c in chosen}
    for name in ("MoDe[0]", "DisCo"):
        assert found[name]["jsd"] < found["unconstrained"]["jsd"] / 5  # 16 to 58 times smaller
        assert found[name]["auc"] < found["unconstrained"]["auc"] - 0.02  # 0.06 to 0.15 smaller
    linear = found["MoDe[1]"]
    assert linear["jsd"] > 2 * found["MoDe[0]"]["jsd"]  # 5 to 14 times
    assert linear["r50"] > 0.7 * found["MoDe[0]"]["r50"]  # 0.95 to 2.6 times
    assert abs(linear["bias"]["value"]) < 5 * linear["bias"]["error"]
    for result in found.values():
        # What does not look at the mass has a JSD by fluctuations alone.
        selected, everything = np.sum(result["selected"]), np.sum(result["background"])
        expected = (BINS - 1) / (8 * np.log(2)) * (1 / selected + 1 / (everything - selected))
        assert result["blind_jsd"] == pytest.approx(expected, rel=0.35)
        assert result["jsd"] > expected / 4  # 0.57 times and more


# ------------------------------------------------------------- the judgment


def test_a_selection_that_is_linear_in_the_mass_has_no_bias_and_a_bump_has(sample):
    fit = fit_of(sample)
    assert fit.width == pytest.approx(7, abs=0.3)
    rng = np.random.default_rng(2)
    mass = sample.mass[sample.label == 0]
    linear = mass[rng.uniform(size=len(mass)) < 0.9 - mass / 300]
    bump = mass[rng.uniform(size=len(mass)) < 0.2 + 0.3 * np.exp(-0.5 * ((mass - 80.4) / 10) ** 2)]
    for selected in (mass, linear):
        found = fit.bias(selected, fit.degree, rng)
        assert abs(found["value"]) < 3 and 0.7 < found["error"] < 1.4
    assert fit.bias(bump, fit.degree, rng)["value"] > 5


def test_a_spectrum_that_no_polynomial_fits_is_refused(sample):
    waves = np.sin(sample.mass / 3) > np.random.default_rng(1).uniform(-1, 3, len(sample))
    kept = (sample.label == 1) | waves
    comb = Sample(sample.names, *(array[kept] for array in (sample.features, sample.mass, sample.pt, sample.label)))
    with pytest.raises(RuntimeError, match="no polynomial of degree 2 to 7 fits the unselected QCD spectrum"):
        fit_of(comb)


def made_up(r50, bias=0.0, inverse_jsd=100.0, error=1.0):
    """A result of one training."""
    bias = {"value": bias, "error": error}
    flatness = {"flatness": 0.1, "flatness_expected": 0.1}
    return {"r50": r50, "r50_error": 0.1, "jsd": 1 / inverse_jsd, "bias": bias} | flatness


def scan(*seeds_of_each):
    return [summary.Point(Classifier("c", strength=k + 1), tuple(seeds)) for k, seeds in enumerate(seeds_of_each)]


def test_bias_has_the_error_of_the_mean_or_the_spread_of_the_seeds_if_that_is_more():
    alike, apart, none, opposite = (
        point.bias()
        for point in scan(
            [made_up(9, 0.2), made_up(9, 0.3), made_up(9, 0.4)],
            [made_up(9, 10), made_up(9, 20), made_up(9, 30)],
            [made_up(9, None)],
            [made_up(9, 6, error=2), made_up(9, -6, error=2)],
        )
    )
    assert (alike.mean, alike.error) == pytest.approx((0.3, 1 / np.sqrt(3)))
    assert alike.probability == pytest.approx(stats.chi2.sf(0.29, 3))
    assert (apart.mean, apart.error) == pytest.approx((20, 10 / np.sqrt(3))) and apart.probability < 1e-9
    assert none is None
    # Up with one seed and down with the next is a bias, of 3 errors twice.
    assert opposite.mean == 0 and opposite.probability == pytest.approx(np.exp(-9))


def test_the_best_is_the_largest_r50_without_bias():
    points = scan([made_up(16, 5.0)], [made_up(9, 1.0)], [made_up(4, 0.0)])
    best = summary.best(points, summary.is_unbiased)
    assert best is points[1] and summary.best(points, summary.is_as_wanted) is points[0]
    assert summary.best(points, lambda point: False) is None
    ratio = summary.sensitivity(best, points[2])
    assert ratio == pytest.approx((1.5, 0.75 * np.hypot(0.1 / 9, 0.1 / 4)))
    points = scan([made_up(10, inverse_jsd=100)], [made_up(6, inverse_jsd=10_000)])
    assert summary.r50_at(points, 1000) == pytest.approx((8, 0.1 / np.sqrt(2)))  # on the line between neighbors
    assert summary.r50_at(points, 10) is None
