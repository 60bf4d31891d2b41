"""The study of W tagging: its pieces, and what it claims in small, on jets that are made up."""

import dataclasses

import jet_samples
import numpy as np
import pytest
import torch
from scipy import stats

from studies import pages
from studies.methods import Classifier
from studies.w_tagging import curves, paper, report, summary, tables
from studies.w_tagging.classifiers import METHODS, PAPER_FRACTION, PAPER_RECIPE
from studies.w_tagging.cost import measured as cost_of
from studies.w_tagging.measure import BINS, FINE_EDGES, ROC, fit_of, mass_edges
from studies.w_tagging.sample import load
from studies.w_tagging.study import Size, Task, split
from studies.w_tagging.train import LEARNING_RATES, MOMENTA, Choice, new_network, one_cycle, prepared

pytestmark = pytest.mark.usefixtures("threads_afterwards")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return jet_samples.write(tmp_path_factory.mktemp("jets") / "sample.npz", 10_000, 20_000)


@pytest.fixture(scope="module")
def sample(path):
    return load(path)


# ------------------------------------------------------------------ the split


def test_the_parts_are_all_jets_and_have_both_classes_alike():
    label = np.arange(5000) % 4 == 0
    for seed in (1, 2, 3, 4):
        parts = split(label, seed)
        assert sorted(np.concatenate(parts)) == list(range(5000))
        assert [len(part) for part in parts] == [2500, 1000, 1500]
        assert [label[part].mean() for part in parts] == [0.25, 0.25, 0.25]


def test_the_test_sets_of_three_seeds_have_no_jet_in_common():
    label = np.arange(5000) % 4 == 0
    test = np.concatenate([split(label, seed)[2] for seed in (1, 2, 3)])
    assert len(np.unique(test)) == len(test) == 4500


def test_features_have_mean_0_and_width_1_in_training_and_both_classes_count_one_half(sample):
    training, validation, test = prepared(sample, split(sample.label, 1))
    assert torch.allclose(training.inputs.mean(0), torch.zeros(10), atol=1e-4)
    assert torch.allclose(training.inputs.std(0), torch.ones(10), atol=1e-3)
    for jets in (training, validation, test):
        for label in (0, 1):
            assert jets.weight[jets.label == label].sum() / len(jets) == pytest.approx(0.5, rel=1e-4)


def test_planing_gives_the_background_the_mass_of_the_signal(sample):
    (training,) = prepared(sample, split(sample.label, 1)[:1], planed=True)
    mean = [
        np.average(training.mass[training.label == k], weights=training.weight[training.label == k]) for k in (0, 1)
    ]
    assert mean[0] == pytest.approx(mean[1], abs=3)


# --------------------------------------------------------------- the training


def test_the_schedule_is_the_papers():
    optimizer, schedule = one_cycle(new_network(10), 100)
    seen = []
    for _ in range(100):
        seen.append((optimizer.param_groups[0]["lr"], optimizer.param_groups[0]["betas"][0]))
        optimizer.step()
        schedule.step()
    rate, momentum = np.array(seen).T
    assert (rate[0], rate.max(), rate[-1]) == pytest.approx(LEARNING_RATES)
    assert (momentum[0], momentum.min(), momentum[-1]) == pytest.approx((*MOMENTA, MOMENTA[0]))


def test_the_choice_is_the_smallest_loss_and_keeps_its_weights():
    choice, weights = Choice(), torch.zeros(1)
    for epoch, loss in enumerate([3.0, 1.0, 2.0]):
        weights.fill_(epoch)
        choice.offer(epoch, loss, {"weights": weights})
    assert (choice.epoch, choice.loss, choice.state["weights"].item()) == (1, 1.0, 1.0)


def test_every_method_trains(path):
    tiny = Size(path, 4, 5_000, (1,))
    scans = [scan[len(scan) // 2] for name, scan in METHODS.items() if name not in SMALL]
    for classifier, fraction in [*((c, 0.0) for c in scans), *((c, PAPER_FRACTION) for c in PAPER_RECIPE)]:
        found = paper.measured(Task(classifier, 1, tiny, fraction))
        assert 0 < found["auc"] < 1
        assert found["jsd"] > 0
        assert 0 <= found["epoch"] < 4


SMALL = {"unconstrained": 0, "DisCo": 30, "MoDe[0]": 300, "MoDe[1]": 300}


@pytest.fixture(scope="module")
def results(path):
    size = Size(path, 25, 1_000, (1,))
    chosen = [c for name, strength in SMALL.items() for c in METHODS[name] if c.strength == strength]
    return {c.name: paper.measured(Task(c, 1, size)) for c in chosen}


# Trainings this small differ from seed to seed, and from one torch to the next: the limits below
# are left with room by each of seeds 1 to 6. Which method is better is for the page to say.


def test_mode_0_and_disco_leave_the_mass_as_it_is(results):
    for name in ("MoDe[0]", "DisCo"):
        assert results[name]["jsd"] < results["unconstrained"]["jsd"] / 5  # 16 to 58 times smaller
        assert results[name]["auc"] < results["unconstrained"]["auc"] - 0.02  # 0.06 to 0.15 smaller


def test_a_linear_response_is_one_and_makes_no_signal(results):
    assert results["MoDe[1]"]["jsd"] > 2 * results["MoDe[0]"]["jsd"]  # 5 to 14 times
    assert results["MoDe[1]"]["r50"] > 0.7 * results["MoDe[0]"]["r50"]  # 0.95 to 2.6 times
    bias = results["MoDe[1]"]["bias"]
    assert abs(bias["value"]) < 5 * bias["error"]


# --------------------------------------------------------------- the measures


def test_bins_of_mass_have_as_many_qcd_jets(sample):
    counts, _ = np.histogram(sample.mass[sample.label == 0], mass_edges(sample))
    assert len(counts) == BINS
    assert np.allclose(counts, counts.mean(), rtol=0.02)


def test_background_without_a_selection_has_no_bias(sample):
    """Nor has one that falls linearly, of any size; a bump has."""
    fit = fit_of(sample)
    rng = np.random.default_rng(2)
    mass = sample.mass[sample.label == 0]
    linear = mass[rng.uniform(size=len(mass)) < 0.9 - mass / 300]
    bump = mass[rng.uniform(size=len(mass)) < 0.2 + 0.3 * np.exp(-0.5 * ((mass - 80.4) / 10) ** 2)]
    for selected in (mass, linear):
        found = fit.bias(selected, fit.degree, rng)
        assert abs(found["value"]) < 3
        assert 0.7 < found["error"] < 1.4
    assert fit.bias(bump, fit.degree, rng)["value"] > 5


def test_the_width_is_that_of_the_w(sample):
    assert fit_of(sample).width == pytest.approx(7, abs=0.3)


def sample_of(sample, kept):
    arrays = {name: getattr(sample, name)[kept] for name in ("features", "mass", "pt", "label")}
    return dataclasses.replace(sample, **arrays)


def test_a_spectrum_that_no_polynomial_fits_is_refused(sample):
    waves = np.sin(sample.mass / 3) > np.random.default_rng(1).uniform(-1, 3, len(sample))
    comb = sample_of(sample, (sample.label == 1) | waves)
    with pytest.raises(RuntimeError, match="no polynomial of degree 2 to 7 fits the unselected QCD spectrum"):
        fit_of(comb)


def test_a_mass_blind_selection_reaches_the_ceiling(results):
    """JSD grows with fluctuations, as (bins - 1) / 8 ln 2 (1 / selected + 1 / not selected)."""
    for result in results.values():
        selected, everything = np.sum(result["selected"]), np.sum(result["background"])
        expected = (BINS - 1) / (8 * np.log(2)) * (1 / selected + 1 / (everything - selected))
        assert result["blind_jsd"] == pytest.approx(expected, rel=0.35)
        assert result["jsd"] > expected / 4  # it fluctuates: 0.57 times and more with seeds 1 to 6


# ----------------------------------------------------------------- the report


def made_up(r50, bias, inverse_jsd=100.0, error=1.0):
    """A result of one training."""
    return {
        "epoch": 1, "auc": 0.9, "r50": r50, "r50_error": 0.1, "jsd": 1 / inverse_jsd,
        "rate": [0.1] * BINS, "flatness": 0.1, "flatness_expected": 0.1,
        **dict.fromkeys(("bias", "bias_of_next"), {"value": bias, "error": error, "chi2": 1.0}), "blind_jsd": 1e-4,
        "selected": [10] * (len(FINE_EDGES) - 1), "background": [100] * (len(FINE_EDGES) - 1),
        "roc": (ROC / 10).tolist(),
        "sample": {"W": 1, "QCD": 1},
        "fit": {"degree": 2, "width": 7.0, "degrees": [{"degree": 2, "chi2": 1.0, "ndof": 2, "probability": 0.5, "significance": 0.1}]},
    }  # fmt: skip


def scan(*seeds_of_each):
    return [summary.Point(Classifier("c", strength=k + 1), tuple(seeds)) for k, seeds in enumerate(seeds_of_each)]


def test_bias_has_the_error_of_the_mean_or_the_spread_of_the_seeds_if_that_is_more():
    bias = scan([made_up(9, 0.2), made_up(9, 0.3), made_up(9, 0.4)])[0].bias()
    assert (bias.mean, bias.error) == pytest.approx((0.3, 1 / np.sqrt(3)))
    assert bias.probability == pytest.approx(stats.chi2.sf(0.29, 3))
    bias = scan([made_up(9, 10), made_up(9, 20), made_up(9, 30)])[0].bias()
    assert (bias.mean, bias.error) == pytest.approx((20, 10 / np.sqrt(3)))
    assert bias.probability < 1e-9
    assert scan([made_up(9, None)])[0].bias() is None


def test_a_bias_up_with_one_seed_and_down_with_the_next_is_one():
    point = scan([made_up(9, 6, error=2), made_up(9, -6, error=2)])[0]
    assert point.bias().mean == 0
    assert point.bias().probability == pytest.approx(np.exp(-9))  # of 3 errors twice
    assert not summary.is_unbiased(point)


def test_the_best_is_the_largest_r50_without_bias():
    points = scan([made_up(16, 5.0)], [made_up(9, 1.0)], [made_up(4, 0.0)])
    best = summary.best(points, summary.is_unbiased)
    assert best is points[1]
    assert summary.best(points, summary.is_as_wanted) is points[0]
    assert summary.best(points, lambda point: False) is None
    ratio = summary.sensitivity(best, points[2])
    assert ratio.mean == pytest.approx(1.5)
    assert ratio.error == pytest.approx(0.75 * np.hypot(0.1 / 9, 0.1 / 4))


def test_r50_at_equal_jsd_is_on_the_line_between_neighbors():
    points = scan([made_up(10, 0, 100)], [made_up(6, 0, 10_000)])
    assert summary.r50_at(points, 1000) == pytest.approx((8, 0.1 / np.sqrt(2)))
    assert summary.r50_at(points, 10) is None


def test_tables_and_figures_of_all_trainings(path):
    named = paper.tasks(Size(path, 4, 5_000, (1, 2)))
    results = {key: made_up(9 + k % 7, 0.1 * (k % 5), 100 + 10 * k) for k, key in enumerate(named)}
    scans = summary.points(results)
    assert sum(len(point.seeds) for points in scans.values() for point in points) == len(named)
    shown = tables.of_study(scans)
    assert shown["w tagging, scans"].count("\n") == 2 + sum(map(len, METHODS.values()))
    assert shown["w tagging, recipe"].count("\n") == 2 + 6
    assert "| DisCo |" in shown["w tagging, unbiased"]
    assert all(figure.axes for figure in curves.figures(scans).values())


def test_a_quick_study_of_another_sample_is_quick_too(path):
    quick = dataclasses.replace(paper.QUICK, sample=path)
    assert len(paper.tasks(quick)) == len(paper.tasks(paper.QUICK)) < len(paper.tasks(Size(path, 50, 2_000, (1,))))


def test_cost_of_a_method(path):
    cost = {
        name: cost_of(METHODS[name][0], Size(path, 4, 5_000, (1,)), epochs=2)
        for name in ("unconstrained", "planing", "adversary", "MoDe[1]")
    }
    table = tables.of_cost(cost)
    assert table.count("\n") == 2 + 4
    assert all(len(times) == 2 for found in cost.values() for times in found["seconds"].values())


def test_the_page_shows_the_committed_results():
    for name, table in report.tables().items():
        assert pages.shown(name, report.REST) == table
