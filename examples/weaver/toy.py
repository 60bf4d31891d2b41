"""Writes toy jets, train.parquet, valid.parquet and test.parquet, into a folder: python toy.py FOLDER [JETS]

A resonance X at 125 GeV, and QCD jets of four flavors with a falling mass. ``shape`` follows the mass, so a tagger that
uses it sculpts a peak.
"""

import sys
from pathlib import Path

import numpy as np

CLASSES = ["X", "QCD_bb", "QCD_cc", "QCD_b", "QCD_others"]
SHARES = [0.4, 0.1, 0.1, 0.15, 0.25]
TAGS = np.array([[1.5, 1.5], [1.5, 1.5], [0.7, 0.7], [1.5, 0], [0, 0]])  # of both subjets, means


def jets(count, seed):
    rng = np.random.default_rng(seed)
    kind = rng.choice(len(CLASSES), count, p=SHARES)
    signal = kind == 0
    mass = np.where(signal, rng.normal(125, 10, count), 50 + rng.exponential(60, count))
    tags = rng.normal(TAGS[kind])
    columns = {
        "jet_mass": mass,
        "jet_pt": 400 + np.minimum(rng.exponential(np.where(signal, 200, 150)), 599),
        "substructure": rng.normal(signal),
        "shape": np.abs(mass - 125) / 60 + rng.normal(0, 0.5, count),
        "first_tag": tags[:, 0],
        "second_tag": tags[:, 1],
    }
    columns = {name: column.astype("float32") for name, column in columns.items()}
    return columns | {f"label_{name}": (kind == k).astype("int32") for k, name in enumerate(CLASSES)}


if __name__ == "__main__":
    import awkward as ak

    folder, count = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 50_000
    for seed, name in enumerate(["train", "valid", "test"]):  # the last two with a third of the jets
        ak.to_parquet(ak.Array(jets(count if name == "train" else count // 3, seed)), folder / f"{name}.parquet")
