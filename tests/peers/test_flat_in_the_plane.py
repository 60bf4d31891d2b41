"""SDE and Cramer-von Mises over two masses, as the study of a Dalitz plane has them, beside hep_ml."""

import numpy as np
import pandas
import pytest
from hep_ml.commonutils import weighted_quantile
from hep_ml.metrics import BinBasedCvM, BinBasedSDE, KnnBasedCvM, KnnBasedSDE

from studies.dalitz import uniformity

EFFICIENCIES = np.array([0.5, 0.6, 0.7, 0.8, 0.9])
COLUMNS = ["m12", "m23"]


def events(ties=False, n=1500):
    rng = np.random.default_rng(0)
    mass = rng.uniform(-1, 1, (n, 2))
    mass = mass[mass.sum(axis=1) < 0.7]  # so that cells are empty
    score = rng.random(len(mass)) ** np.exp(mass[:, 0] * mass[:, 1])
    return score.round(1) if ties else score, mass


def of_hep_ml(kind, score, mass, **options):
    label, weight = np.ones((2, len(score)))
    metric = kind(uniform_features=COLUMNS, uniform_label=1, **options)
    metric.fit(pandas.DataFrame(mass, columns=COLUMNS), label, sample_weight=weight.copy())
    return metric(label, np.column_stack([1 - score, score]), sample_weight=weight.copy())


@pytest.mark.parametrize("ties", [False, True])
def test_measures_of_the_study_are_those_of_hep_ml(ties):
    score, mass = events(ties)
    want = of_hep_ml(BinBasedCvM, score, mass, n_bins=6)
    assert uniformity.cvm(score, mass, 6) == pytest.approx(want, rel=1e-9)
    want = of_hep_ml(KnnBasedCvM, score, mass, n_neighbours=40)
    assert uniformity.cvm_of_neighbors(score, mass, 40) == pytest.approx(want, rel=1e-9)
    if ties:
        return
    # An event at the cut, here the median, is selected here and not there.
    cuts = np.nextafter(weighted_quantile(score, 1 - EFFICIENCIES), 1)
    # Its binned form takes target_rcp for quantiles of the score, its other form for efficiencies.
    want = of_hep_ml(BinBasedSDE, score, mass, n_bins=6, target_rcp=1 - EFFICIENCIES)
    assert uniformity.sde(score, mass, cuts, 6) == pytest.approx(want, rel=1e-9)
    want = of_hep_ml(KnnBasedSDE, score, mass, n_neighbours=40, target_rcp=EFFICIENCIES)
    assert uniformity.sde_of_neighbors(score, mass, cuts, 40) == pytest.approx(want, rel=1e-9)
