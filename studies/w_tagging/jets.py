"""Jets of radius 1, trimmed, within the cuts."""

from __future__ import annotations

from dataclasses import dataclass

import awkward as ak
import fastjet
import numpy as np

from .sample import MASS, PT

RADIUS = 1.0
SUBJET_RADIUS, SUBJET_FRACTION = 0.2, 0.05
RAPIDITY_MAX = 2.0
W_DISTANCE = 0.75

ANTI_KT = fastjet.JetDefinition(fastjet.antikt_algorithm, RADIUS)
KT = fastjet.JetDefinition(fastjet.kt_algorithm, SUBJET_RADIUS)


@dataclass(frozen=True)
class Jets:
    """The jets of all events, in the order of the events.

    constituents : (jets, most constituents of one, 4), px, py, pz and E in GeV; a jet with fewer ends in zeros
    event : (jets,), which event it is from
    """

    constituents: np.ndarray
    event: np.ndarray

    def __len__(self) -> int:
        return len(self.event)

    def __getitem__(self, kept: np.ndarray) -> Jets:
        return Jets(self.constituents[kept], self.event[kept])


def cluster(towers: ak.Array) -> Jets:
    """Trimmed anti-kt jets (arXiv:0802.1189) of at least PT[0] before trimming.

    Trimming only removes energy, so no jet that could pass the cuts is lost.

    towers : (events, any number), records of px, py, pz and E in GeV
    """
    found = fastjet.ClusterSequence(towers, ANTI_KT).constituents(min_pt=PT[0])
    event = np.repeat(np.arange(len(found)), ak.num(found))
    return Jets(_padded(trim(ak.flatten(found, axis=1))), event)


def trim(jets: ak.Array) -> ak.Array:
    """The jets without kt subjets of radius 0.2 with less than 5 % of the jet's pT (arXiv:0912.1342), as in ATLAS.

    jets : (jets, constituents), records of px, py, pz and E
    """
    if len(jets) == 0:
        return jets
    subjets = fastjet.ClusterSequence(jets, KT).constituents(min_pt=0.0)
    kept = _pt(subjets) >= SUBJET_FRACTION * _pt(jets)
    return ak.flatten(subjets[kept], axis=2)


def select(jets: Jets) -> Jets:
    """The jets with pT in PT, mass in MASS and abs(rapidity) < RAPIDITY_MAX after trimming."""
    total = jets.constituents.sum(axis=1)
    passed = _between(pt(total), PT) & _between(mass(total), MASS) & (np.abs(rapidity_phi(total)[0]) < RAPIDITY_MAX)
    return jets[passed]


def match(jets: Jets, quarks: np.ndarray) -> Jets:
    """The jets with a W inside: closer than 0.75 to the W, and closer than the radius to both of its quarks.

    quarks : (events, 2, 4), px, py, pz and E
    """
    axis = jets.constituents.sum(axis=1)
    of_jet = quarks[jets.event]
    near_w = distance(axis, of_jet.sum(axis=1)) < W_DISTANCE
    return jets[near_w & np.all(distance(axis[:, None], of_jet) < RADIUS, axis=1)]


def pt(p: np.ndarray) -> np.ndarray:
    """The transverse momentum of p, (..., 4): px, py, pz and E."""
    return np.hypot(p[..., 0], p[..., 1])


def mass(p: np.ndarray) -> np.ndarray:
    """The mass of p, (..., 4): px, py, pz and E."""
    return np.sqrt(np.maximum(p[..., 3] ** 2 - np.sum(p[..., :3] ** 2, axis=-1), 0))


def rapidity_phi(p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rapidity and phi of p, (..., 4): px, py, pz and E; 0 and 0 for zeros."""
    energy = p[..., 3]
    return np.arctanh(p[..., 2] / np.where(energy > 0, energy, 1)), np.arctan2(p[..., 1], p[..., 0])


def distance(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """sqrt(dy**2 + dphi**2) of p and q, (..., 4): px, py, pz and E, with the rapidity y."""
    (y_p, phi_p), (y_q, phi_q) = rapidity_phi(p), rapidity_phi(q)
    return np.hypot(y_p - y_q, (phi_p - phi_q + np.pi) % (2 * np.pi) - np.pi)


def _between(x: np.ndarray, limits: tuple[float, float]) -> np.ndarray:
    return (x > limits[0]) & (x < limits[1])


def _pt(lists: ak.Array) -> ak.Array:
    return np.hypot(ak.sum(lists.px, axis=-1), ak.sum(lists.py, axis=-1))


def _padded(jets: ak.Array) -> np.ndarray:
    most = int(ak.to_numpy(ak.num(jets)).max(initial=0))
    return np.stack(
        [ak.to_numpy(ak.fill_none(ak.pad_none(jets[x], most, clip=True), 0.0)) for x in ("px", "py", "pz", "E")],
        axis=-1,
    )
