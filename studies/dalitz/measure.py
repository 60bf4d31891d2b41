"""Measures how well a classifier separates, and how uniform its signal efficiency is in the plane."""

from __future__ import annotations

import numpy as np
from libmode import metrics

from ..plane import rms_pull
from .events import Events
from .uniformity import cvm, cvm_of_neighbors, sde, sde_of_neighbors

EFFICIENCIES = (0.5, 0.6, 0.7, 0.8, 0.9)  # of signal, over which hep_ml takes the mean of SDE^2
BINS = 10  # of each squared mass; as hep_ml has by default
NEIGHBORS = 50  # likewise


def measured(score: np.ndarray, events: Events) -> dict[str, float]:
    """The AUC, hep_ml's measures of the signal's scores, and the rms pull at an efficiency of 70 %.

    SDE and the Cramer-von Mises distance, of cells and of neighbors, are those of ``BinBasedSDE``,
    ``KnnBasedSDE``, ``BinBasedCvM`` and ``KnnBasedCvM`` (tests/peers/test_flat_in_the_plane.py).

    score : (n,), any numbers: only their order counts
    """
    score = score.astype(np.float64)
    signal = events.label == 1
    own, mass = score[signal], events.mass[signal].astype(np.float64)
    cuts = np.quantile(own, 1 - np.array(EFFICIENCIES))
    return {
        "auc": metrics.auc(score, events.label),
        "sde": sde(own, mass, cuts, BINS),
        "cvm": cvm(own, mass, BINS),
        "sde_knn": sde_of_neighbors(own, mass, cuts, NEIGHBORS),
        "cvm_knn": cvm_of_neighbors(own, mass, NEIGHBORS),
        "rms_pull": rms_pull(own, mass, cuts[2], BINS),
    }
