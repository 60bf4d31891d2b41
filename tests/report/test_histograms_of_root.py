"""Metrics take the histograms that uproot reads."""

import numpy as np
import pytest
import uproot
from libmode import metrics
from numpy.testing import assert_allclose


def test_histograms_of_uproot(tmp_path):
    rng = np.random.default_rng(3)
    mass_edges, score_edges = np.linspace(50, 250, 9), np.linspace(0, 1, 21)
    mass = rng.uniform(50, 250, 2_000)
    score = (np.floor(20 * rng.beta(2, 3 - mass / 200)) + 0.5) / 20
    with uproot.recreate(tmp_path / "h.root") as file:
        file["w"] = np.histogram2d(mass, score, bins=[mass_edges, score_edges], weights=np.full(2_000, 0.01))
        file["h"] = np.histogram2d(mass, score, bins=[mass_edges, score_edges])
    with uproot.open(tmp_path / "h.root") as file:
        found = metrics.efficiency(file["h"], threshold=0.4)
        with pytest.raises(ValueError, match="the histogram has weights and no variances"):  # no Sumw2
            metrics.efficiency(file["w"], threshold=0.4)
    expected = metrics.efficiency(score, None, mass, threshold=0.4, bins=mass_edges)
    assert_allclose(found.value, expected.value, rtol=1e-12)
    assert_allclose(found.error, expected.error, rtol=1e-12)
