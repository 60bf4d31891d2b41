"""SDE and Cramer-von Mises over two masses, beside hep_ml or the definition written out."""

import numpy as np
import pandas
import pytest
from hep_ml.commonutils import weighted_quantile
from hep_ml.metrics import BinBasedCvM, BinBasedSDE, KnnBasedCvM, KnnBasedSDE
from libmode import metrics

from studies.dalitz import uniformity

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


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_cvm_is_that_of_hep_ml(weighted, ties):
    score, mass, weight = events(ties, weighted)
    want = of_hep_ml(BinBasedCvM, score, mass, weight, n_bins=6)
    assert metrics.cvm_flatness(score, mass, 6, weight=weight) == pytest.approx(want, rel=1e-9)
    assert metrics.cvm_flatness(score, mass[:, 0], 7) == metrics.cvm_flatness(score, mass[:, :1], 7)


@pytest.mark.parametrize("ties", [False, True])
def test_measures_of_the_study_are_those_of_hep_ml(ties):
    score, mass, _ = events(ties)
    want = of_hep_ml(KnnBasedCvM, score, mass, None, n_neighbours=40)
    assert uniformity.cvm_of_neighbours(score, mass, 40) == pytest.approx(want, rel=1e-9)
    if ties:
        return
    # An event at the cut, here the median, is selected here and not there.
    cuts = np.nextafter(weighted_quantile(score, 1 - EFFICIENCIES), 1)
    # Its binned form takes target_rcp for quantiles of the score, its other form for efficiencies.
    want = of_hep_ml(BinBasedSDE, score, mass, None, n_bins=6, target_rcp=1 - EFFICIENCIES)
    assert uniformity.sde(score, mass, cuts, 6) == pytest.approx(want, rel=1e-9)
    want = of_hep_ml(KnnBasedSDE, score, mass, None, n_neighbours=40, target_rcp=EFFICIENCIES)
    assert uniformity.sde_of_neighbours(score, mass, cuts, 40) == pytest.approx(want, rel=1e-9)
