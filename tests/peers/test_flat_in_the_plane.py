"""SDE and Cramer-von Mises over two masses, beside hep_ml or the definition written out."""

import numpy as np
import pandas
import pytest
from hep_ml.commonutils import weighted_quantile
from hep_ml.metrics import BinBasedCvM, BinBasedSDE, KnnBasedCvM, KnnBasedSDE
from libmode import metrics

EFFICIENCIES = np.array([0.5, 0.6, 0.7, 0.8, 0.9])
COLUMNS = ["m12", "m23"]


def events(ties=False, weighted=False, n=1500):
    rng = np.random.default_rng(0)
    mass = rng.uniform(-1, 1, (n, 2))
    mass = mass[mass.sum(axis=1) < 0.7]  # so that cells are empty
    score = rng.random(len(mass)) ** np.exp(mass[:, 0] * mass[:, 1])
    return score.round(1) if ties else score, mass, rng.uniform(1, 5, len(mass)) if weighted else None


def of_hep_ml(kind, score, mass, weight, **options):
    weight = np.ones(len(score)) if weight is None else weight
    label = np.ones(len(score))
    metric = kind(uniform_features=COLUMNS, uniform_label=1, **options)
    metric.fit(pandas.DataFrame(mass, columns=COLUMNS), label, sample_weight=weight.copy())
    return metric(label, np.column_stack([1 - score, score]), sample_weight=weight.copy())


@pytest.mark.parametrize("weighted", [False, True])
def test_sde_is_that_of_hep_ml(weighted):
    score, mass, weight = events(weighted=weighted)
    # An event at the cut, here the median, is selected here and not there.
    cuts = np.nextafter(weighted_quantile(score, 1 - EFFICIENCIES, sample_weight=weight), 1)
    # Its binned form takes target_rcp for quantiles of the score, its other form for efficiencies.
    want = of_hep_ml(BinBasedSDE, score, mass, weight, n_bins=6, target_rcp=1 - EFFICIENCIES)
    assert metrics.sde(score, mass, cuts, 6, weight=weight) == pytest.approx(want, rel=1e-9)
    want = of_hep_ml(KnnBasedSDE, score, mass, weight, n_neighbours=40, target_rcp=EFFICIENCIES)
    assert metrics.sde_knn(score, mass, cuts, n_neighbours=40, weight=weight) == pytest.approx(want, rel=1e-9)


def test_weights_of_another_scale_change_sde_here_alone():
    """hep_ml divides by 1 where the weights of a bin sum to less."""
    score, mass, weight = events(weighted=True)
    here = [metrics.sde(score, mass, 0.5, 6, weight=w) for w in (weight, weight / weight.sum())]
    there = [of_hep_ml(BinBasedSDE, score, mass, w, n_bins=6) for w in (weight, weight / weight.sum())]
    assert here[0] == pytest.approx(here[1], rel=1e-12)
    assert there[0] != pytest.approx(there[1], rel=0.1)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_cvm_is_that_of_hep_ml(weighted, ties):
    score, mass, weight = events(ties, weighted)
    want = of_hep_ml(BinBasedCvM, score, mass, weight, n_bins=6)
    assert metrics.cvm_flatness(score, mass, 6, weight=weight) == pytest.approx(want, rel=1e-9)
    want = of_hep_ml(KnnBasedCvM, score, mass, weight, n_neighbours=40)
    assert metrics.cvm_knn(score, mass, n_neighbours=40, weight=weight) == pytest.approx(want, rel=1e-9)


@pytest.mark.parametrize("ties", [False, True])
def test_neighbours_by_hand_with_negative_weights(ties):
    score, mass, _ = events(ties, n=300)
    weight = np.random.default_rng(1).choice([1.0, -0.5], len(score), p=[0.9, 0.1])
    distance = np.linalg.norm(mass[:, None] - mass, axis=2)
    near = [np.argsort(row)[:30] for row in distance]
    share = weight / np.bincount(np.concatenate(near), minlength=len(score))
    importance = np.array([share[group].sum() for group in near])
    half = np.heaviside(score[:, None] - score, 0.5)  # [at, of]
    overall = half @ weight / weight.sum()
    own = [half[:, group] @ weight[group] / weight[group].sum() for group in near]
    cvm = [weight @ (f - overall) ** 2 / weight.sum() for f in own]
    want = importance @ cvm / importance.sum()
    assert metrics.cvm_knn(score, mass, n_neighbours=30, weight=weight) == pytest.approx(want, rel=1e-9)

    passed = score >= 0.5
    deviation = [share[g] @ passed[g] / share[g].sum() - weight @ passed / weight.sum() for g in near]
    want = np.sqrt(importance @ np.square(deviation) / importance.sum())
    assert metrics.sde_knn(score, mass, 0.5, n_neighbours=30, weight=weight) == pytest.approx(want, rel=1e-9)


def test_neighbours_in_chunks(monkeypatch):
    score, mass, _ = events()
    want = metrics.cvm_knn(score, mass)
    monkeypatch.setattr("libmode.metrics.cvm.CHUNK", 7 * 50)
    assert metrics.cvm_knn(score, mass) == pytest.approx(want, rel=1e-12)


def test_one_mass_is_taken_in_either_shape():
    score, mass, _ = events()
    for of_bins in (lambda m: metrics.sde(score, m, 0.5, 7), lambda m: metrics.cvm_flatness(score, m, 7)):
        assert of_bins(mass[:, 0]) == of_bins(mass[:, :1])
    efficiency = metrics.efficiency(mass[:, 0], score >= 0.5, 7)
    share = np.histogram(mass[:, 0], efficiency.edges)[0] / len(score)
    spread = np.sqrt(share @ (efficiency.value - np.mean(score >= 0.5)) ** 2)
    assert metrics.sde(score, mass[:, 0], 0.5, 7) == pytest.approx(spread, rel=1e-12)


def test_independent_and_constant_scores():
    rng = np.random.default_rng(2)
    score, mass = rng.random(20_000), rng.uniform(-1, 1, (20_000, 2))
    assert metrics.cvm_knn(score, mass, n_neighbours=50) == pytest.approx(1 / 300, rel=0.1)
    assert metrics.cvm_knn(np.ones(500), mass[:500]) == pytest.approx(0, abs=1e-15)
    assert metrics.sde_knn(score, mass, 0.0) == 0
    # Fluctuations alone: the mean square of each of 100 bins is e (1 - e) / n.
    assert metrics.sde(score, mass, 0.3, 10) == pytest.approx(np.sqrt(0.21 / 200), rel=4 / np.sqrt(200))


def test_many_equal_masses():
    """More of them than neighbours: some events are in no group."""
    score = np.random.default_rng(3).random(200)
    assert 0 < metrics.cvm_knn(score, np.zeros((200, 2)), n_neighbours=10) < 0.1


BAD = [
    (lambda s, m: metrics.cvm_knn(s, m, n_neighbours=0), "n_neighbours = 0: expected at least 1"),
    (lambda s, m: metrics.cvm_knn(s, m, n_neighbours=11), "n_neighbours = 11 with 10 events"),
    (lambda s, m: metrics.sde_knn(s, m, 0.5, n_neighbours=2, weight=-np.arange(10.0)), "weight sums to -1 over the 2 nearest neighbours of event 0"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call(np.arange(10) / 10, np.column_stack([np.arange(10.0), np.zeros(10)]))
