"""MoDe next to the methods of arXiv:2401.00428, on the events of its authors: python -m studies.llg FILE

FILE is data/example_data.root of the repository jaebak/EventClassifierTransformer on GitHub: 4,640 events of a search
for H to Z gamma, with 15 features and the mass, 120 to 130 GeV being the window. The network and the loss are of
LossFunction.py there, but for batches of 464 and 60 epochs. Ten folds score each event by a network without it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import uproot
from libmode import metrics
from libmode.torch import MoDeConstraint, MoDeLoss, distance_correlation
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy

from .methods import one_thread

FEATURES = [
    "min_dR", "max_dR", "pt_mass", "cosTheta", "costheta", "llg_mass_err", "phi", "photon_rapidity", "l1_rapidity",
    "l2_rapidity", "llg_flavor", "llg_ptt", "photon_pt_mass", "lead_lep_pt", "sublead_lep_pt",
]  # fmt: skip
FOLDS, SEEDS, EPOCHS, BATCHES = 10, 3, 60, 9
WINDOW = (120.0, 130.0)  # GeV


def extreme(score: Tensor, label: Tensor) -> Tensor:
    """The extreme loss of each event."""
    s = score.clamp(0.001, 0.999)
    return (label - 1) / (s - 1) + label / s + (2 * label - 1) * torch.log(1 - s) + (1 - 2 * label) * torch.log(s)


def trained(x: Tensor, label: Tensor, mass: Tensor, classify: Any, window: bool, added: str, seed: int) -> nn.Module:
    torch.manual_seed(seed)
    network = nn.Sequential(
        nn.Linear(x.shape[1], 3 * x.shape[1]), nn.Tanh(), nn.Linear(3 * x.shape[1], 1), nn.Sigmoid()
    )
    kinds = {"layer": MoDeConstraint, "loss": MoDeLoss}
    options: dict[str, Any] = {"order": 1, "monitor": False} | ({"strength": 30} if added == "loss" else {})
    mode = kinds[added](**options) if added in kinds else None
    optimizer = torch.optim.Adam(network.parameters(), 1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=EPOCHS * BATCHES)
    for _ in range(EPOCHS):
        for chosen in torch.randperm(len(x)).chunk(BATCHES):
            score, y, m = network(x[chosen])[:, 0], label[chosen], mass[chosen]
            seen, penalty = (mode(score, y, m), 0.0) if isinstance(mode, MoDeConstraint) else (score, 0.0)
            inside = (m > WINDOW[0]) & (m < WINDOW[1]) if window else torch.ones_like(m, dtype=torch.bool)
            if isinstance(mode, MoDeLoss):
                penalty = mode(score, y, m)
            elif added == "disco":
                penalty = 10 * distance_correlation(m[y == 0], score[y == 0], unbiased=False)
            loss = classify(seen[inside], y[inside]).mean() + penalty
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return network


def cross_entropy(score: Tensor, label: Tensor) -> Tensor:
    return binary_cross_entropy(score, label, reduction="none")


METHODS: dict[str, tuple[Callable[..., Tensor], bool, str]] = {
    "cross entropy": (cross_entropy, False, ""),
    "cross entropy in the window": (cross_entropy, True, ""),
    "extreme loss, DisCo 10, window": (extreme, True, "disco"),
    "layer": (cross_entropy, False, "layer"),
    "layer, window": (cross_entropy, True, "layer"),
    "MoDeLoss 30": (cross_entropy, False, "loss"),
}


def read(path: str) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Features, scaled to widths of 1, label and mass; entries of the file hold the events."""
    with uproot.open(path) as file:
        arrays = file["eval_full_tree"].arrays([*FEATURES, "llg_mass", "classID"], library="np")
    columns = {name: np.concatenate([np.atleast_1d(one) for one in column]) for name, column in arrays.items()}
    x = np.stack([columns[name] for name in FEATURES], axis=1).astype("float32")
    return (x - x.mean(axis=0)) / x.std(axis=0), columns["classID"], columns["llg_mass"].astype("float64")


def main() -> None:
    one_thread()
    x, label, mass = read(sys.argv[1])
    print(f"{len(label)} events, {np.count_nonzero(label)} signal, masses {mass.min():.0f} to {mass.max():.0f} GeV")
    tensors = torch.from_numpy(x), torch.from_numpy(label.astype("float32")), torch.from_numpy(mass)
    near = (mass > WINDOW[0]) & (mass < WINDOW[1])
    for name, (classify, window, added) in METHODS.items():
        rows = []
        for seed in range(1, SEEDS + 1):
            fold = np.random.default_rng(seed).integers(0, FOLDS, len(label))
            score = np.empty(len(label))
            for one in range(FOLDS):
                network = trained(*(each[fold != one] for each in tensors), classify, window, added, seed)
                with torch.no_grad():
                    score[fold == one] = network(tensors[0][fold == one])[:, 0].numpy()
            check = metrics.check(score, label, mass, order=1, bins=10)
            (cut,) = check.cuts
            rows.append([metrics.auc(score[near], label[near]), cut.residual, cut.expected, check.p_value])
        auc, rms, expected, p_value = np.median(rows, axis=0)
        print(
            f"{name}: AUC in the window {auc:.3f}, residual {rms:.2f} (by chance {expected:.2f}), p {p_value:.2g}",
            flush=True,
        )


if __name__ == "__main__":
    main()
