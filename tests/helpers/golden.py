"""The golden cases of tests/golden/mode_loss.json, and how a result is compared with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

PATH = Path(__file__).parents[1] / "golden" / "mode_loss.json"


class Case(NamedTuple):
    """Events and options, with the loss and the gradient that a brute-force oracle found."""

    name: str
    options: dict[str, Any]
    score: np.ndarray
    mass: np.ndarray
    weight: np.ndarray | None
    loss: float
    grad: np.ndarray

    def events(self, dtype=np.float64) -> list[np.ndarray | None]:
        """Score, mass and weight as arrays of this type."""
        return [None if a is None else a.astype(dtype) for a in (self.score, self.mass, self.weight)]


def _case(record: dict[str, Any]) -> Case:
    arrays = {name: np.array(record[name]) for name in ("score", "mass", "grad")}
    weight = None if record["weight"] is None else np.array(record["weight"])
    # A case with given edges has bins null, which Python takes as not given.
    return Case(record["name"], record["options"], weight=weight, loss=record["loss"], **arrays)


CASES = [_case(record) for record in json.loads(PATH.read_text())]


def case(name: str) -> Case:
    """The case of this name."""
    return next(found for found in CASES if found.name == name)


def assert_close(got, want, tolerance: float, floor: float = 0.0) -> None:
    """Every element of ``got`` within ``tolerance`` of the largest element of ``want``, or within ``floor``."""
    got, want = np.asarray(got, dtype=float), np.asarray(want, dtype=float)
    assert got.shape == want.shape
    if want.size == 0:
        return
    error = np.abs(got - want)
    at = np.unravel_index(np.argmax(error), error.shape)  # NaN counts as the largest
    allowed = max(tolerance * np.abs(want).max(), floor)
    assert error[at] <= allowed, (
        f"element {at}: got {got[at]!r}, want {want[at]!r}, off by {error[at]:.3g} > {allowed:.3g}"
    )
