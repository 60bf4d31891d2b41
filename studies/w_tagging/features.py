"""Ten features of the substructure of jets. Each is a function of many jets.

All take p, (jets, constituents, 4): px, py, pz and E in GeV of massless constituents,
where jets with fewer of them end in zeros; and return (jets,), float64. A jet has
two constituents or more, in different directions.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import awkward as ak
import fastjet
import numpy as np

from .jets import RADIUS, distance, mass, pt

# Larger than a jet, so that all its constituents merge with one another before any merges with the beam.
KT_RADIUS = 4.0
KT = fastjet.JetDefinition(fastjet.kt_algorithm, KT_RADIUS)


def c2(p: np.ndarray) -> np.ndarray:
    """Energy correlation ratio e3 / e2**2 with beta = 1 (arXiv:1305.0007).

    e2 = sum over i < j of z_i z_j R_ij and e3 = sum over i < j < k of z_i z_j z_k R_ij R_ik R_jk,
    with z_i = pT_i / sum pT
    """
    e2, e3 = _energy_correlations(p)
    return e3 / e2**2


def d2(p: np.ndarray) -> np.ndarray:
    """Energy correlation ratio e3 / e2**3 with beta = 1 (arXiv:1409.6298); e2 and e3 as in c2()."""
    e2, e3 = _energy_correlations(p)
    return e3 / e2**3


def tau21(p: np.ndarray) -> np.ndarray:
    """N-subjettiness tau_2 / tau_1 with beta = 1 (arXiv:1011.2268).

    tau_N = sum of pT_i min_k R_ik / (sum of pT_i, times the jet's radius), where the N axes k are the
    exclusive kt subjets: for N = 1, the jet
    """
    to_jet = distance(p, p.sum(axis=1, keepdims=True))
    subjets, _ = _two_subjets(p)
    to_subjets = distance(p[:, :, None], subjets[:, None]).min(axis=-1)
    return _tau(p, to_subjets) / _tau(p, to_jet)


def r2(p: np.ndarray) -> np.ndarray:
    """Ratio H_2 / H_0 of Fox-Wolfram moments (Phys. Rev. Lett. 41 (1978) 1581) in the jet's rest frame.

    H_l = sum over i and j of |p_i| |p_j| P_l(cos theta_ij), with the Legendre polynomials P_l
    """
    q = _in_rest_frame(p)
    size = _size(q)
    # The sum of |p_i| |p_j| cos(theta_ij)**2 is the trace of the square of this tensor.
    tensor = _tensor(q, 1 / np.where(size > 0, size, 1))
    h0 = size.sum(axis=1) ** 2
    return (3 * np.sum(tensor**2, axis=(1, 2)) / h0 - 1) / 2


def planar_flow(p: np.ndarray) -> np.ndarray:
    """4 det I / (trace I)**2, 0 for two prongs and 1 for a round jet (arXiv:0807.0234).

    I_kl = sum of q_ik q_il / E_i, with the two components q_i of p_i across the jet
    """
    axis = _unit(p.sum(axis=1))[:, None]
    along = np.sum(p[..., :3] * axis, axis=-1, keepdims=True)
    energy = p[..., 3]
    tensor = _tensor(p[..., :3] - along * axis, 1 / np.where(energy > 0, energy, 1))
    # In three dimensions, where one eigenvalue is 0: the determinant of the other two.
    trace = np.trace(tensor, axis1=1, axis2=2)
    determinant = (trace**2 - np.sum(tensor**2, axis=(1, 2))) / 2
    return 4 * determinant / trace**2


def a3(p: np.ndarray) -> np.ndarray:
    """Angularity tau_a with a = -2, nearly sum E_i theta_i**4 / 8m (arXiv:0807.0234; as ATLAS in arXiv:1203.4606).

    tau_a = sum of E_i sin(theta_i)**a (1 - cos(theta_i))**(1 - a) / m, with the angle theta_i to the jet
    """
    jet = p.sum(axis=1)
    cosine = np.sum(_unit(p) * _unit(jet)[:, None], axis=-1)
    return np.sum(p[..., 3] * (1 - cosine) ** 2 / (1 + cosine), axis=1) / mass(jet)


def aplanarity(p: np.ndarray) -> np.ndarray:
    """3/2 of the least eigenvalue of the sphericity tensor in the jet's rest frame (Phys. Rev. D 1 (1970) 1416).

    S_kl = sum of p_ik p_il / sum of |p_i|**2; from 0 for a plane to 1/2 for a sphere
    """
    q = _in_rest_frame(p)
    tensor = _tensor(q, np.ones(q.shape[:2])) / np.sum(q**2, axis=(1, 2))[:, None, None]
    return 1.5 * np.maximum(np.linalg.eigvalsh(tensor)[:, 0], 0)


def zcut(p: np.ndarray) -> np.ndarray:
    """d12 / (d12 + m**2), with d12 as in sqrt_d12() (arXiv:0806.0848)."""
    _, d12 = _two_subjets(p)
    return d12 / (d12 + mass(p.sum(axis=1)) ** 2)


def sqrt_d12(p: np.ndarray) -> np.ndarray:
    """Scale in GeV of the last kt merging, min(pT_1, pT_2) R_12 (hep-ph/0201098)."""
    _, d12 = _two_subjets(p)
    return np.sqrt(d12)


def kt_dr(p: np.ndarray) -> np.ndarray:
    """Distance in rapidity and phi of the two exclusive kt subjets (ATLAS, ATL-PHYS-PUB-2018-014)."""
    subjets, _ = _two_subjets(p)
    return distance(subjets[:, 0], subjets[:, 1])


FEATURES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    f.__name__: f for f in (c2, d2, tau21, r2, planar_flow, a3, aplanarity, zcut, sqrt_d12, kt_dr)
}


def features(p: np.ndarray) -> np.ndarray:
    """All features, (jets, 10), in the order of FEATURES."""
    return np.column_stack([f(p) for f in FEATURES.values()])


def _energy_correlations(p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    z = pt(p) / pt(p).sum(axis=1, keepdims=True)
    r = distance(p[:, :, None], p[:, None])
    zr = z[:, :, None] * r
    # r is 0 where two of the indices agree, so that these sums hold each pair 2 times and each triple 6 times.
    e2 = np.sum(zr * z[:, None], axis=(1, 2)) / 2
    e3 = np.sum((zr @ zr) * np.swapaxes(zr, 1, 2), axis=(1, 2)) / 6
    return e2, e3


def _two_subjets(p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The exclusive kt subjets, (jets, 2, 4), and the scale in GeV**2 at which they merge, (jets,)."""
    if len(p) == 0:
        return np.zeros((0, 2, 4)), np.zeros(0)
    there = p[..., 3] > 0
    flat = ak.zip({name: p[there][:, k] for k, name in enumerate(("px", "py", "pz", "E"))})
    clustered = fastjet.ClusterSequence(ak.unflatten(flat, there.sum(axis=1)), KT)
    with warnings.catch_warnings():
        # It compares our definition with algorithms, and so warns of kt too.
        warnings.filterwarnings("ignore", "dcut and exclusive jets for jet-finders other than kt")
        subjets = clustered.exclusive_jets(n_jets=2)
        d12 = clustered.exclusive_dmerge(njets=1)
    momenta = np.stack([ak.to_numpy(subjets[name]) for name in ("px", "py", "pz", "E")], axis=-1)
    return momenta, ak.to_numpy(d12) * KT_RADIUS**2


def _tau(p: np.ndarray, nearest: np.ndarray) -> np.ndarray:
    return np.sum(pt(p) * nearest, axis=1) / (pt(p).sum(axis=1) * RADIUS)


def _in_rest_frame(p: np.ndarray) -> np.ndarray:
    """Momenta, (jets, constituents, 3), in the rest frame of the jet."""
    jet = p.sum(axis=1)[:, None]
    m = mass(jet)
    energy = (p[..., 3] * jet[..., 3] - np.sum(p[..., :3] * jet[..., :3], axis=-1)) / m
    return p[..., :3] - jet[..., :3] * ((p[..., 3] + energy) / (jet[..., 3] + m))[..., None]


def _tensor(q: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Sum of weight_i q_ik q_il, (jets, 3, 3)."""
    return np.swapaxes(q * weight[..., None], 1, 2) @ q


def _unit(p: np.ndarray) -> np.ndarray:
    size = _size(p[..., :3])
    return p[..., :3] / np.where(size > 0, size, 1)[..., None]


def _size(q: np.ndarray) -> np.ndarray:
    return np.linalg.norm(q, axis=-1)
