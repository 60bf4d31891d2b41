"""Random calls of the loss, good and bad, for comparing one form of it with another."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Call(NamedTuple):
    """The arguments of a call. Events of other labels have NaN for score and infinite masses."""

    score: np.ndarray
    mass: np.ndarray  #: (n,) or (n, 2)
    weight: np.ndarray | None
    label: np.ndarray | None
    options: dict[str, Any]

    def events(self) -> dict[str, np.ndarray | None]:
        """The arrays by name."""
        return {name: getattr(self, name) for name in ("score", "mass", "weight", "label")}


def draw(seed: int) -> Call:
    """A call that depends on the seed alone, of 1 to 3,000 events."""
    rng = np.random.default_rng(seed)
    options, n = _options(rng), int(rng.choice([1, 2, 5, 20, 60, 100, 300, 1000, 3000], p=[0.04] * 4 + [0.168] * 5))
    score = rng.random(n)
    if rng.random() < 0.5:
        score = np.round(score * rng.choice([3, 20, 200])) / 256  # ties
    mass = 50 + rng.exponential(60, n)
    if rng.random() < 0.3:
        mass = np.round(mass / 20) * 20
    kinds = [
        None,
        rng.exponential(1, n),
        rng.choice([1.0, -0.5, 2.0, 0.0], n, p=[0.7, 0.05, 0.2, 0.05]),
        rng.normal(1, 1.2, n),
        np.full(n, 2.5),
    ]
    weight, label = kinds[rng.integers(len(kinds))], None
    if rng.random() < 0.5:
        label, options["background_label"] = rng.integers(0, 3, n), [0, (0, 2)][rng.integers(2)]
        others = ~np.isin(label, options["background_label"])
        score[others], mass[others] = np.nan, np.inf
    if rng.random() < 0.3 and options["binning"] != "values":
        mass = np.stack([mass, rng.random(n) * 100 + 50], axis=1)
        if "mass_range" in options:
            options["mass_range"] = [options["mass_range"], None]
        if "edges" in options:
            options["edges"] = [options["edges"], [0.0, 90.0, 110.0, 120.0, 200.0]]
    if rng.random() < 0.25:
        options["missing"] = "ignore"
        mass[rng.random(mass.shape) < 0.1] = np.nan
    return Call(score, mass, weight, label, options)


def _options(rng: np.random.Generator) -> dict[str, Any]:
    def either(*values: Any) -> Any:
        return values[rng.integers(len(values))]

    order = either(0, 1, 2, 3)
    options: dict[str, Any] = {
        "order": order,
        "moments": either("projection", "quadrature"),
        "unbiased": either(False, True),
        "reduction": either("mean", "sum"),
        "slope_of": either("rejected", "selected"),
        "score_range": either((0, 1), None, (-1.0, 2.0)),
    }
    if order >= 1:
        options |= either({}, {"max_slope": rng.uniform(0.05, 3)})
        options |= either({}, {"slope_penalty": rng.uniform(0, 3)})
    if order >= 2:
        options["monotonic"] = either(False, True)
    match either("none given", "given", "edges", "values"):
        case "edges":
            return options | {"binning": "edges", "edges": [40.0, 60.0, 75.0, 100.0, 150.0, 1000.0]}
        case "values":
            options |= {"binning": "values", "moments": "projection"}
        case "given":
            options |= {"binning": either("quantile", "uniform"), "bins": int(rng.integers(order + 2, 12))}
        case _:
            options["binning"] = either("quantile", "uniform")
    return options | either({}, {"mass_range": (60.0, 200.0)})
