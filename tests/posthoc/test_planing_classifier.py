"""Planing by a classifier of scikit-learn."""

import numpy as np
import pytest
from helpers.planing import histogram, in_two
from libmode.torch.baselines import Planing
from sklearn import ensemble


@pytest.mark.parametrize("target", ["signal", "flat"])
def test_a_classifier_learns_the_densities(target):
    """Seen in cells that it does not know: the spectra differ by less than a fifth of what they did."""
    mass, label = in_two()
    classifier = ensemble.HistGradientBoostingClassifier(max_iter=50, random_state=0)
    planing = Planing(mass, label, target=target, classifier=classifier, floor=0.02)
    assert not hasattr(classifier, "classes_")  # a copy is fitted
    edges = [np.linspace(500, 1000, 4), np.linspace(60, 140, 5)]
    fresh, fresh_label = in_two(seed=5)
    background = fresh_label == 0
    wanted = histogram(fresh[~background], edges) if target == "signal" else np.full((3, 4), 1 / 12)
    before = histogram(fresh[background], edges)
    after = histogram(fresh[background], edges, planing(fresh, fresh_label)[background])
    assert np.abs(after - wanted).sum() < 0.2 * np.abs(before - wanted).sum()
    assert len(planing.weight) == len(label) and planing.effective_size > 1000
