"""What trainings achieve on the simple model, whose best trees without x2 have the AUC of x1."""

import numpy as np
import pytest
from boosted import TEST, TRAIN, Watched, beyond_flat, probabilities
from libmode.metrics import auc

OF_X1 = auc(TEST.features[:, 0], TEST.label)


def test_a_training_gets_flat_and_keeps_what_the_feature_without_mass_knows(library):
    without = probabilities(library, 60)  # by the library's own objective
    assert auc(without, TEST.label) > OF_X1 + 0.03  # which it has from the mass
    for order, least in ((0, 0.75), (1, OF_X1 - 0.02), (2, OF_X1 - 0.02)):
        probability = probabilities(library, 150, library.objective(TRAIN.mass, order=order))
        assert beyond_flat(probability, order) < beyond_flat(without, order) / 5
        assert auc(probability, TEST.label) > least


def test_the_larger_the_tolerance_the_flatter(library):
    """A tolerance is how many events are to see nothing, and none is for any number of them."""
    found = [
        probabilities(library, 150, library.objective(TRAIN.mass, order=1, tolerance=tolerance))
        for tolerance in (100, 10_000, None)
    ]
    seen = [beyond_flat(probability, 1) for probability in found]
    assert seen[0] > 1.25 * seen[1] > 1.25 * 1.05 * seen[2]
    areas = [auc(probability, TEST.label) for probability in found]
    assert areas[0] > max(areas[1:])  # since there is no need to give up what the mass tells


@pytest.mark.parametrize("eta", [0.05, 0.5])
@pytest.mark.parametrize("strength", [1.0, 30.0, 1e4])
def test_no_strength_lets_a_training_diverge(library, strength, eta):
    watched = Watched(library.objective(TRAIN.mass, loss_weight=strength))
    assert np.isfinite(probabilities(library, 40, watched, eta=eta)).all()
    entropies = [np.mean(np.logaddexp(0, margin) - TRAIN.label * margin) for margin in watched.margins]
    values = np.add(entropies, np.multiply(strength, watched.losses))
    # At 10^4 the steps of the first rounds, when all scores are near each other, are too long, and are taken back.
    assert np.mean(values[-5:]) < (1.0 if strength < 1e4 else 1.15) * values[0] + 1e-3
    assert max(values) < (1.0 if strength < 1e4 else 2.0) * values[0] + 1e-3


def test_what_a_training_has_seen_is_not_remembered_in_the_next(library):
    """Nor where it begins from other margins, nor by rows that a tree does not see."""
    objective = library.objective(TRAIN.mass, order=1)
    for parameters in ({}, {"subsample": 0.5, "seed": 3}):
        anew = library.objective(TRAIN.mass, order=1)
        found = [probabilities(library, 15, own, **parameters) for own in (objective, anew)]
        np.testing.assert_array_equal(*found)
    assert beyond_flat(found[0], 1) < beyond_flat(probabilities(library, 15, **parameters), 1) / 1.5
