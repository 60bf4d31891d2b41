"""The sample of jets: its columns, and functions that read and write it."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

SMALL = Path(__file__).with_name("sample.npz")
LARGE = Path("build/studies/w_tagging.npz")  # where generate writes it
BOTH = (0, 1)  # labels
FEATURES = ("c2", "d2", "tau21", "r2", "planar_flow", "a3", "aplanarity", "zcut", "sqrt_d12", "kt_dr")
ARRAYS = ("features", "mass", "pt", "label")
MASS = (50.0, 300.0)  # GeV
PT = (300.0, 400.0)  # GeV

# The file of Zenodo 3606767, as the notebooks of the paper's authors describe it.
PAPER_PARTS = ("train", "val", "test")
PAPER_COLUMNS = (
    "mass", "pt", "tau21", "c2", "d2", "r2", "planar_flow", "aplanarity", "zcut", "kt_dr", "sqrt_d12", "label",
)  # fmt: skip


@dataclass(frozen=True)
class Sample:
    """Jets in random order, as float32 arrays.

    names : of the features
    features : (n, len(names)); of sqrt_d12 in GeV, of the others without a unit
    mass : (n,), GeV, inside MASS
    pt : (n,), GeV, inside PT
    label : (n,), 1 for W and 0 for QCD

    From the paper's file, the features are all that it has, the nine of PAPER_COLUMNS without a3, and
    they and pt are in the file's units, which it does not state.
    """

    names: tuple[str, ...]
    features: np.ndarray
    mass: np.ndarray
    pt: np.ndarray
    label: np.ndarray

    def __len__(self) -> int:
        return len(self.label)


def testing(seed: int) -> Path:
    """The file of the QCD jets for testing only. Each seed has other jets."""
    return Path(f"build/studies/w_tagging_test_{seed}.npz")


def load(path: Path | str | None = None, labels: Sequence[int] = BOTH) -> Sample:
    """Reads a sample; None for the small one beside this file.

    path : a file that generate wrote, or the paper's, W_high_level.npz
    labels : that the sample must have

    Raises ValueError that names the file, the column and the first bad row where one is not as it should be.
    """
    path = SMALL if path is None else Path(path)
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (AttributeError, EOFError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is not an npz file of plain arrays") from error
    if set(arrays) == set(ARRAYS):
        return _ours(path, arrays, labels)
    if set(arrays) == set(PAPER_PARTS):
        return _papers(path, arrays, labels)
    raise ValueError(
        f"{path} has the arrays {', '.join(sorted(arrays))}: expected {', '.join(ARRAYS)}, "
        f"or {', '.join(PAPER_PARTS)} as the paper's file has"
    )


def write(sample: Sample, path: Path, labels: Sequence[int] = BOTH) -> None:
    """Writes a sample in the form that load() reads; ValueError, as there, for a sample without all FEATURES."""
    arrays = {name: getattr(sample, name) for name in ARRAYS}
    _ours(path, arrays, labels)
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, **arrays)


def _ours(path: Path, arrays: Mapping[str, np.ndarray], labels: Sequence[int]) -> Sample:
    rows = arrays["label"].size
    for name in ARRAYS:
        _shaped(path, name, arrays[name], (rows, len(FEATURES)) if name == "features" else (rows,))
    columns = dict(zip(FEATURES, arrays["features"].T, strict=True))
    columns |= {name: arrays[name] for name in ("mass", "pt", "label")}
    _check(str(path), columns, {"mass": MASS, "pt": PT})
    return _sample(path, FEATURES, columns, labels)


def _papers(path: Path, arrays: Mapping[str, np.ndarray], labels: Sequence[int]) -> Sample:
    """A sample from the paper's file, where mass is (mass in GeV - 50) / 250, and the label 0 for W and 1 for QCD."""
    for name in PAPER_PARTS:
        _shaped(path, name, arrays[name], (*arrays[name].shape[:1], len(PAPER_COLUMNS)))
        _check(f"{path}: {name}", dict(zip(PAPER_COLUMNS, arrays[name].T, strict=True)), {"mass": (0.0, 1.0)})
    table = np.concatenate([arrays[name] for name in PAPER_PARTS])
    columns = dict(zip(PAPER_COLUMNS, table.T, strict=True))
    columns["mass"] = MASS[0] + (MASS[1] - MASS[0]) * columns["mass"]
    columns["label"] = 1 - columns["label"]
    return _sample(path, tuple(name for name in PAPER_COLUMNS if name in FEATURES), columns, labels)


def _shaped(path: Path, name: str, array: np.ndarray, shape: tuple[int, ...]) -> None:
    if array.shape != shape or not np.issubdtype(array.dtype, np.number):
        raise ValueError(f"{path}: {name} has the shape {array.shape} and dtype {array.dtype}, not {shape} numbers")


def _check(place: str, columns: Mapping[str, np.ndarray], limits: Mapping[str, tuple[float, float]]) -> None:
    for name, values in columns.items():
        _every(np.isfinite(values), place, name, values, "a finite number")
        if name in limits:
            low, high = limits[name]
            _every((values >= low) & (values <= high), place, name, values, f"from {low:g} to {high:g}")
    _every(np.isin(columns["label"], (0, 1)), place, "label", columns["label"], "0 or 1")


def _every(good: np.ndarray, place: str, column: str, values: np.ndarray, expected: str) -> None:
    if not good.all():
        row = int(np.argmin(good))
        raise ValueError(f"{place}: {column} in row {row} is {values[row]:g}, not {expected}")


def _sample(path: Path, names: tuple[str, ...], columns: Mapping[str, np.ndarray], labels: Sequence[int]) -> Sample:
    single = {name: np.ascontiguousarray(values, np.float32) for name, values in columns.items()}
    for label in labels:
        if not np.any(single["label"] == label):
            raise ValueError(f"{path}: no row has the label of {('QCD', 'W')[label]}")
    features = np.column_stack([single[name] for name in names])
    return Sample(names, features, single["mass"], single["pt"], single["label"])
