"""Writes toy jets, train.h5, valid.h5 and test.h5, and norm.yaml into a folder: python jets.py FOLDER [JETS]

The jets of examples/weaver, with flat priors: as umami-preprocessing does, each class gets as many jets in each bin of
pT, by drawing some of them again.
"""

import sys
from pathlib import Path

import h5py
import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1] / "weaver"))
from toy import CLASSES, jets

FEATURES = ["substructure", "shape", "first_tag", "second_tag"]
EDGES = [400, 500, 600, 800, 1000]


def resampled(kind, pt, rng):
    """The places of as many jets of each class in each bin of pT."""
    cells = kind * len(EDGES) + np.digitize(pt, EDGES)
    each = len(kind) // len(np.unique(cells))
    return rng.permutation(
        np.concatenate([rng.choice(np.flatnonzero(cells == cell), each) for cell in np.unique(cells)])
    )


if __name__ == "__main__":
    folder, count = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 50_000
    for seed, name in enumerate(["train", "valid", "test"]):
        columns = jets(count if name != "test" else count // 3, seed)
        kind = np.argmax([columns[f"label_{one}"] for one in CLASSES], axis=0)
        chosen = (
            np.arange(len(kind)) if name == "test" else resampled(kind, columns["jet_pt"], np.random.default_rng(seed))
        )
        fields = [("flavour_label", "i4"), ("mass", "f4"), *((one, "f4") for one in FEATURES)]
        table = np.zeros(len(chosen), fields)
        table["flavour_label"], table["mass"] = kind[chosen], columns["jet_mass"][chosen]
        for one in FEATURES:
            table[one] = columns[one][chosen]
        with h5py.File(folder / f"{name}.h5", "w") as file:
            file["jets"] = table
            file["jets"].attrs["flavour_label"] = CLASSES
        if name == "train":
            lines = [f"  {one}: {{mean: {columns[one].mean():.4f}, std: {columns[one].std():.4f}}}" for one in FEATURES]
            (folder / "norm.yaml").write_text("\n".join(["jets:", *lines, ""]))
