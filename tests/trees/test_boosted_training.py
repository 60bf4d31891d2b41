"""What trainings achieve on the simple model, whose best trees without x2 have the AUC of x1."""

import numpy as np
import pytest
from boosted import TEST, TRAIN, beyond_flat, probabilities
from libmode.metrics import auc
from libmode.xgboost import objective

OF_X1 = auc(TEST.features[:, 0], TEST.label)


@pytest.mark.filterwarnings("ignore:the push has not settled")  # order 0, in so few rounds
def test_a_training_gets_flat_and_keeps_what_the_feature_without_mass_knows(library):
    trees = library.Estimator(n_estimators=60, learning_rate=0.3, max_depth=4, n_jobs=1)
    without = trees.fit(TRAIN.features, TRAIN.label).predict_proba(TEST.features)[:, 1]
    assert auc(without, TEST.label) > OF_X1 + 0.03  # which it has from the mass
    for order, least in ((0, 0.75), (1, OF_X1 - 0.02), (2, OF_X1 - 0.02)):
        classifier = library.Classifier(order=order, n_estimators=150, n_jobs=1, validation_fraction=None)
        probability = classifier.fit(TRAIN.features, TRAIN.label, mass=TRAIN.mass).predict_proba(TEST.features)[:, 1]
        assert beyond_flat(probability, order) < beyond_flat(without, order) / 5
        assert auc(probability, TEST.label) > least


def test_what_a_training_has_seen_is_not_remembered_in_the_next():
    """Nor where it begins from other margins, nor by rows that a tree does not see."""
    mode = objective(TRAIN.mass, order=1)
    for parameters in ({}, {"subsample": 0.5, "seed": 3}):
        anew = objective(TRAIN.mass, order=1)
        found = [probabilities(15, own, **parameters) for own in (mode, anew)]
        np.testing.assert_array_equal(*found)
    assert beyond_flat(found[0], 1) < beyond_flat(probabilities(15, **parameters), 1) / 1.5
