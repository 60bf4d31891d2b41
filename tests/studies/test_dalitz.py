"""The momenta of the study of a Dalitz plane."""

import numpy as np
from scipy.optimize import brentq

from studies.dalitz.events import DAUGHTER_MASS, HIGH, LOW, PARENT_MASS, momenta


def test_momenta_are_those_of_three_four_vectors():
    """Of A, B, C drawn in the parent's frame, with any directions: energies add up to M by a common factor."""
    for a, b in np.random.default_rng(1).normal(size=(100, 2, 3)):
        vectors = np.array([a, b, -a - b])

        def energies(scale, vectors=vectors):
            return np.sqrt(np.sum((scale * vectors) ** 2, axis=1) + DAUGHTER_MASS**2)

        scale = brentq(lambda scale: energies(scale).sum() - PARENT_MASS, 0, 10, xtol=1e-14)
        vectors, energy = scale * vectors, energies(scale)
        squared = [(energy[0] + energy[i]) ** 2 - np.sum((vectors[0] + vectors[i]) ** 2) for i in (1, 2)]
        np.testing.assert_allclose(momenta(np.array([squared]))[0], np.linalg.norm(vectors, axis=1), rtol=1e-9)
    outside = np.array([[LOW, LOW], [HIGH, HIGH], [LOW, HIGH], [HIGH, LOW]])
    assert np.isnan(momenta(outside)).all()
