"""Decays to three pions in a Dalitz plane: uniform signal, and background with structure.

A parent of mass M decays to A, B and C of mass m. The position in the plane, the squares of
the masses of A with B and of A with C, fixes the momenta p_A, p_B, p_C in the parent's frame,
and features of an event follow these momenta as they do in a detector: soft tracks
have small transverse momenta and are measured worse.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

# D_s+ and pi+, in GeV (R. L. Workman et al., Review of Particle Physics, 2022).
PARENT_MASS = 1.968
DAUGHTER_MASS = 0.1396
LOW, HIGH = (2 * DAUGHTER_MASS) ** 2, (PARENT_MASS - DAUGHTER_MASS) ** 2  # of each squared mass, GeV^2
RHO = 0.775, 0.149  # rho(770): mass and width in GeV
F0 = 0.980, 0.060  # f0(980), with a width of its right size
FEATURES = ("vertex", "flight", "soft", "asymmetry", "angle", "impact")


@dataclass(frozen=True)
class Events:
    """Events in random order, as float32 arrays.

    features : (n, 6), in the order of FEATURES: vertex quality and flight distance, which know
        nothing of the plane; logarithm of the smallest momentum; how the momenta of B and C
        differ; how forward A is; logarithm of the largest impact parameter
    mass : (n, 2), the squared masses of AB and AC in GeV^2: the position in the Dalitz plane
    label : (n,), 1 for signal and 0 for background
    """

    features: np.ndarray
    mass: np.ndarray
    label: np.ndarray

    def __len__(self) -> int:
        return len(self.label)


def decays(events: int, rng: np.random.Generator) -> Events:
    """Draws ``events`` events, half of them signal, half background.

    Signal is uniform in the plane. A fifth of the background is in each of two bands, rho(770) in
    AB and f0(980) in AC, and the rest is combinatorial, which prefers a soft track: it falls
    with the smallest momentum.
    """
    n_signal = events // 2
    n_background = events - n_signal
    n_rho = n_f0 = n_background // 5
    mass = np.concatenate(
        [
            _drawn(n_signal, rng, lambda mass: np.ones(len(mass))),
            _drawn(n_rho, rng, lambda mass: _resonance(mass[:, 0], *RHO)),
            _drawn(n_f0, rng, lambda mass: _resonance(mass[:, 1], *F0)),
            _drawn(n_background - n_rho - n_f0, rng, lambda mass: np.exp(-momenta(mass).min(axis=1) / 0.2)),
        ]
    )
    label = np.repeat([1, 0], [n_signal, n_background])
    features = _features(momenta(mass), label, rng)
    order = rng.permutation(events)
    return Events(*(array[order].astype(np.float32) for array in (features, mass, label)))


def momenta(mass: np.ndarray) -> np.ndarray:
    """p_A, p_B, p_C in the parent's frame in GeV, (n, 3), NaN outside of the plane's border.

    mass : (n, 2), squared masses of AB and AC in GeV^2; that of BC follows from their sum
    """
    pairs = np.column_stack([PARENT_MASS**2 + 3 * DAUGHTER_MASS**2 - mass.sum(axis=1), mass[:, 1], mass[:, 0]])
    energy = (PARENT_MASS**2 + DAUGHTER_MASS**2 - pairs) / (2 * PARENT_MASS)  # of A against BC, B against AC, ...
    with np.errstate(invalid="ignore"):
        p = np.sqrt(energy**2 - DAUGHTER_MASS**2)
        # Momenta that add up to 0 are the sides of a triangle; energies are conserved anyway.
        inside = p.max(axis=1) <= p.sum(axis=1) / 2
    p[~inside] = np.nan
    return p


def _drawn(events: int, rng: np.random.Generator, density: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Draws positions in the plane, (events, 2), by rejection from a density of at most 1."""
    kept: list[np.ndarray] = []
    while sum(map(len, kept)) < events:
        mass = rng.uniform(LOW, HIGH, (4 * events, 2))
        mass = mass[np.isfinite(momenta(mass)[:, 0])]
        kept.append(mass[rng.random(len(mass)) < density(mass)])
    return np.concatenate(kept)[:events]


def _resonance(mass2: np.ndarray, mass: float, width: float) -> np.ndarray:
    """The Breit-Wigner distribution of a squared mass, 1 at its top."""
    return (mass * width) ** 2 / ((mass2 - mass**2) ** 2 + (mass * width) ** 2)


def _features(p: np.ndarray, label: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Features (n, 6) of momenta (n, 3) and labels (n,).

    The first two, "soft" and "impact" are larger for signal, by the same amount everywhere, so that
    a cut on the last two removes signal where the momenta are small; "asymmetry" and "angle" have the same
    distribution for both classes at each place of the plane, and tell the place.
    """
    a, b, c = p.T
    noise = rng.normal(size=(6, len(label)))
    soft = np.log(p.min(axis=1))
    return np.column_stack(
        [
            1.0 * label + noise[0],
            1.0 * label + noise[1],
            soft + 0.3 * label + 0.3 * noise[2],
            (b - c) / (b + c) + 0.15 * noise[3],
            a + 0.1 * noise[4],
            -0.5 * soft + 0.6 * label + 0.6 * noise[5],
        ]
    )
