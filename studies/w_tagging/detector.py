"""A calorimeter: what stands in for Delphes.

Energy is summed in towers of 0.1 x 2 pi / 64 in eta and phi, as large as those of ATLAS'
hadronic calorimeter, up to abs(eta) = 4. In each, that of photons and electrons and that
of all else, muons too, are smeared apart, by a Gaussian of relative width

    sqrt(a**2 / E + b**2), E in GeV: a = 0.1, b = 0.01 and a = 0.5, b = 0.03

Towers with less than 0.5 GeV after that are dropped. There is no magnetic field, no
tracker, no pile-up, and all particles come from the origin.
"""

from __future__ import annotations

import awkward as ak
import numpy as np

ETA_MAX = 4.0
ETA_BINS, PHI_BINS = 80, 64
STOCHASTIC = np.array([0.1, 0.5])  # photons and electrons; all else
CONSTANT = np.array([0.01, 0.03])
NOISE = 0.5  # GeV
ELECTROMAGNETIC = (11, 22)


def deposit(particles: ak.Array) -> np.ndarray:
    """Energy in GeV by tower, (events, ETA_BINS, PHI_BINS, 2), the last axis as in STOCHASTIC.

    particles : (events, any number), records of px, py, pz, E and id
    """
    event = np.repeat(np.arange(len(particles)), ak.num(particles))
    flat = ak.flatten(particles)
    px, py, pz, energy, pdg = (ak.to_numpy(flat[name]) for name in ("px", "py", "pz", "E", "id"))
    # Along the beam eta is infinite; those particles are outside.
    eta = np.arcsinh(pz / np.maximum(np.hypot(px, py), 1e-12))
    inside = np.abs(eta) < ETA_MAX
    # Just below ETA_MAX the quotient may round up to 1.
    eta_bin = np.minimum(np.floor((eta[inside] + ETA_MAX) / (2 * ETA_MAX) * ETA_BINS).astype(int), ETA_BINS - 1)
    phi = np.arctan2(py[inside], px[inside]) % (2 * np.pi)
    phi_bin = np.floor(phi / (2 * np.pi) * PHI_BINS).astype(int) % PHI_BINS
    other = ~np.isin(np.abs(pdg[inside]), ELECTROMAGNETIC)
    shape = (len(particles), ETA_BINS, PHI_BINS, 2)
    cell = np.ravel_multi_index((event[inside], eta_bin, phi_bin, other.astype(int)), shape)
    return np.bincount(cell, energy[inside], minlength=int(np.prod(shape))).reshape(shape)


def smear(energy: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The measured energy, from the energy of deposit(); at least 0."""
    hit = np.nonzero(energy)
    true, kind = energy[hit], hit[-1]
    width = np.sqrt(STOCHASTIC[kind] ** 2 * true + (CONSTANT[kind] * true) ** 2)
    measured = np.zeros_like(energy)
    measured[hit] = np.maximum(rng.normal(true, width), 0)
    return measured


def towers(energy: np.ndarray) -> ak.Array:
    """Massless towers at the centers of their cells, (events, any number), records of px, py, pz and E.

    energy : as from deposit() or smear()
    """
    total = energy.sum(axis=-1)
    event, eta_bin, phi_bin = np.nonzero(total >= NOISE)
    e = total[event, eta_bin, phi_bin]
    eta = (eta_bin + 0.5) * (2 * ETA_MAX / ETA_BINS) - ETA_MAX
    phi = (phi_bin + 0.5) * (2 * np.pi / PHI_BINS)
    pt = e / np.cosh(eta)
    flat = ak.zip({"px": pt * np.cos(phi), "py": pt * np.sin(phi), "pz": pt * np.sinh(eta), "E": e})
    return ak.unflatten(flat, np.bincount(event, minlength=len(total)))
