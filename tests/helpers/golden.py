"""The golden cases of tests/golden, and how a result is compared with them."""

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
    mass: np.ndarray  #: (n,), or (n, d) for d variables; NaN where there is none
    weight: np.ndarray | None
    label: np.ndarray | None
    category: np.ndarray | None
    loss: float
    grad: np.ndarray

    def events(self, dtype=np.float64) -> dict[str, np.ndarray | None]:
        """The arguments of a loss by name; score, mass and weight are of this type."""
        floats = {name: getattr(self, name) for name in ("score", "mass", "weight")}
        typed = {name: None if array is None else array.astype(dtype) for name, array in floats.items()}
        return typed | {"label": self.label, "category": self.category}


def _case(record: dict[str, Any]) -> Case:
    # A case with given edges has bins null, which Python takes as not given.
    given = {name: np.array(record[name], dtype=float) for name in ("score", "mass", "grad")}
    for name in ("weight", "label", "category"):
        given[name] = None if record.get(name) is None else np.array(record[name])
    return Case(record["name"], {"order": 0} | record["options"], loss=record["loss"], **given)


def _cases(path: Path) -> list[Case]:
    return [_case(record) for record in json.loads(path.read_text())]


#: One variable in bins, against Legendre polynomials.
CASES = _cases(PATH)
#: All else: several variables, categories, other bins or none.
VARIABLES = _cases(PATH.with_name("variables.json"))


def assert_close(got, want, tolerance: float, floor: float = 0.0) -> None:
    """Every element of ``got`` within ``tolerance`` of the largest element of ``want``, or within ``floor``."""
    got, want = np.asarray(got, dtype=float), np.asarray(want, dtype=float)
    assert got.shape == want.shape
    allowed = max(tolerance * np.abs(want).max(initial=0), floor)
    np.testing.assert_allclose(got, want, rtol=0, atol=allowed, equal_nan=False)
