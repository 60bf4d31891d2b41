"""The sample of jets: what is in it, and reading it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

SMALL = Path(__file__).with_name("sample.npz")
FEATURES = ("c2", "d2", "tau21", "r2", "planar_flow", "a3", "aplanarity", "zcut", "sqrt_d12", "kt_dr")
MASS = (50.0, 300.0)  # GeV


@dataclass(frozen=True)
class Sample:
    """Jets in random order, as float32 arrays.

    names : of the features
    features : (n, 10), one column for each name
    mass, pt : (n,), GeV
    label : (n,), 1 for W and 0 for QCD
    """

    names: tuple[str, ...]
    features: np.ndarray
    mass: np.ndarray
    pt: np.ndarray
    label: np.ndarray

    def __len__(self) -> int:
        return len(self.label)


def load(path: Path | str | None = None) -> Sample:
    """Reads a sample; None for the small one beside this file."""
    with np.load(SMALL if path is None else path) as arrays:
        return Sample(FEATURES, *(arrays[name] for name in ("features", "mass", "pt", "label")))
