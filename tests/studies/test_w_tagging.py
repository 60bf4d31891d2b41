"""W tagging's sample: features of jets whose values are known, the detector, jets, generation and files."""

import numpy as np
import pytest

from studies.w_tagging import features, sample


def particles(pt, y, phi):
    """Massless, (n, 4)."""
    pt, y, phi = np.broadcast_arrays(np.asarray(pt, float), np.asarray(y, float), np.asarray(phi, float))
    return np.stack([pt * np.cos(phi), pt * np.sin(phi), pt * np.sinh(y), pt * np.cosh(y)], axis=-1)


def boosted(q, velocity=0.9):
    """Massless particles of these momenta where the jet is at rest, boosted along x."""
    q = np.array(q, float)
    energy = np.linalg.norm(q, axis=1)
    gamma = 1 / np.sqrt(1 - velocity**2)
    px, e = gamma * (q[:, 0] + velocity * energy), gamma * (energy + velocity * q[:, 0])
    return np.column_stack([px, q[:, 1], q[:, 2], e])


def two_prongs(share):
    return particles([350 * share, 350 * (1 - share)], 0, [-R / 2, R / 2])


def of_two_prongs(share):
    """In closed form."""
    d12 = (share * 350 * R) ** 2
    mass_squared = 2 * share * (1 - share) * 350**2 * (1 - np.cos(R))
    return {"kt_dr": R, "sqrt_d12": share * 350 * R, "zcut": d12 / (d12 + mass_squared), "c2": 0, "d2": 0, "tau21": 0}


def ring(n, opening=0.3):
    angle, one = 2 * np.pi * np.arange(n) / n, np.ones(n)
    around = np.sin(opening) * np.array([np.cos(angle), np.sin(angle)])
    return 50 * np.column_stack([np.cos(opening) * one, *around, one])


R, SPLIT, SIDE = 0.5, 0.02, 0.3
TRIANGLE = np.array([0, 2, 4]) * np.pi / 3
CLOSED_FORMS = {
    # e2 = 3 side / 9 and e3 = side**3 / 27
    "triangle": (
        particles(100, SIDE / np.sqrt(3) * np.sin(TRIANGLE), SIDE / np.sqrt(3) * np.cos(TRIANGLE)),
        {"c2": SIDE / 3, "d2": 1},
    ),
    "two prongs": (two_prongs(0.2), of_two_prongs(0.2)),
    "two equal prongs": (
        two_prongs(0.5),
        of_two_prongs(0.5) | {"a3": (1 - np.cos(R / 2)) ** 2 / (1 + np.cos(R / 2)) / np.sin(R / 2)},
    ),
    "two prongs of two": (
        particles(80, 0, [-R / 2 - SPLIT, -R / 2 + SPLIT, R / 2 - SPLIT, R / 2 + SPLIT]),
        {"tau21": 2 * SPLIT / R, "kt_dr": R},
    ),
    "three at rest": (
        boosted([[0, 40, 0], [0, -20, 20 * 3**0.5], [0, -20, -20 * 3**0.5]]),
        {"r2": 0.25, "aplanarity": 0},
    ),
    "six at rest": (boosted([*40 * np.eye(3), *-40 * np.eye(3)]), {"r2": 0, "aplanarity": 0.5}),
    "ring": (ring(7), {"planar_flow": 1}),
    "line": (particles([30, 50, 20, 90], 0, [-0.3, 0.1, 0.2, 0.4]), {"planar_flow": 0}),
}


@pytest.mark.parametrize("name", CLOSED_FORMS)
def test_features_are_those_of_closed_forms(name):
    jet, expected = CLOSED_FORMS[name]
    assert set(expected) <= set(features.FEATURES) == set(sample.FEATURES)
    found = {name: features.FEATURES[name](jet[None])[0] for name in expected}
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-7)


# ------------------------------------------------------- the detector and jets


# --------------------------------------------------------- generation and files


def test_the_papers_file(tmp_path):
    """In which label 1 is QCD."""
    table = np.random.default_rng(4).uniform(0.1, 0.9, (6, 12))
    table[:, -1] = np.arange(6) % 2
    path = tmp_path / "W_high_level.npz"
    np.savez(path, train=table[:3], val=table[3:4], test=table[4:])
    read = sample.load(path)
    assert read.names == ("tau21", "c2", "d2", "r2", "planar_flow", "aplanarity", "zcut", "kt_dr", "sqrt_d12")
    np.testing.assert_allclose(read.mass, 50 + 250 * table[:, 0], rtol=1e-6)
    np.testing.assert_allclose(read.pt, table[:, 1], rtol=1e-6)
    np.testing.assert_allclose(read.features, table[:, 2:11], rtol=1e-6)
    np.testing.assert_array_equal(read.label, 1 - table[:, 11])
