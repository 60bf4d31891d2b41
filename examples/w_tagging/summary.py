"""What results.json says of each classifier: means and errors over its seeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from ..methods import Classifier
from .classifiers import METHODS, PAPER_RECIPE

Results = Mapping[str, Any]  # of one training

CONSISTENT = 2  # errors that a bias may be from none


class Value(NamedTuple):
    """A mean over seeds and its standard error."""

    mean: float
    error: float


@dataclass(frozen=True)
class Point:
    """One classifier of a scan, trained with each seed."""

    classifier: Classifier
    seeds: tuple[Results, ...]

    def values(self, name: str) -> list[Any]:
        """Of each seed."""
        return [result[name] for result in self.seeds]

    @property
    def r50(self) -> Value:
        """The error from the spread over seeds; of one seed, from the bootstrap."""
        values = self.values("r50")
        error = _of_mean(values) if len(values) > 1 else self.seeds[0]["r50_error"]
        return Value(float(np.mean(values)), error)

    @property
    def bias(self) -> Value | None:
        """With the study's polynomial; None where a seed's selection left so few jets somewhere that there is no fit.

        The error is from those of the seeds, whose test jets are others, or from their spread if that is more.
        """
        return self._bias("bias")

    @property
    def bias_of_next(self) -> Value | None:
        """With a polynomial of one degree more."""
        return self._bias("bias_of_next")

    def _bias(self, name: str) -> Value | None:
        found = [result[name] for result in self.seeds]
        if any(bias["value"] is None for bias in found):
            return None
        values, errors = [bias["value"] for bias in found], [bias["error"] for bias in found]
        error = sqrt(sum(e**2 for e in errors)) / len(errors)
        return Value(float(np.mean(values)), max(error, _of_mean(values)) if len(values) > 1 else error)

    @property
    def is_unbiased(self) -> bool:
        """Whether the bias is consistent with none."""
        bias = self.bias
        return bias is not None and abs(bias.mean) <= CONSISTENT * bias.error


def points(results: Mapping[str, Results]) -> dict[str, list[Point]]:
    """The scan of each method, as results.json has it; those of the paper's recipe are methods too."""
    found = {}
    for name, scan in {**METHODS, **{c.name: (c,) for c in PAPER_RECIPE}}.items():
        trained = ((c, _seeds(results, c)) for c in scan)
        found[name] = [Point(classifier, seeds) for classifier, seeds in trained if seeds]
    return found


def _seeds(results: Mapping[str, Results], classifier: Classifier) -> tuple[Results, ...]:
    start = f"{classifier.name}, strength {classifier.strength:g}, seed "
    return tuple(result for key, result in results.items() if key.startswith(start))


def best_unbiased(scan: list[Point]) -> Point | None:
    """The one of the largest R50 whose bias is consistent with none."""
    return max((point for point in scan if point.is_unbiased), key=lambda point: point.r50.mean, default=None)


def shown(scan: list[Point]) -> Point:
    """One for a figure that has room for one: the best unbiased, else the one that shapes the mass least."""
    return best_unbiased(scan) or min(scan, key=lambda point: float(np.mean(point.values("jsd"))))


def sensitivity(point: Point, reference: Point) -> Value:
    """sqrt(R50) relative to that of another."""
    one, other = point.r50, reference.r50
    ratio = sqrt(one.mean / other.mean)
    if point is reference:
        return Value(1.0, 0.0)
    return Value(ratio, ratio / 2 * sqrt((one.error / one.mean) ** 2 + (other.error / other.mean) ** 2))


def r50_at(scan: list[Point], inverse_jsd: float) -> list[float] | None:
    """The R50 of each seed at this 1/JSD, on the line through neighbours of the scan, in log(1/JSD).

    The largest if the scan passes there more than once; None if that of a seed does not.
    """
    found = []
    for seed in range(len(scan[0].seeds)):
        at = [(-np.log(p.seeds[seed]["jsd"]), p.seeds[seed]["r50"]) for p in scan]
        wanted = np.log(inverse_jsd)
        there = [
            y0 + (y1 - y0) * (wanted - x0) / (x1 - x0)
            for (x0, y0), (x1, y1) in pairwise(at)
            if x0 != x1 and min(x0, x1) <= wanted <= max(x0, x1)
        ]
        if not there:
            return None
        found.append(float(max(there)))
    return found


def _of_mean(values: list[float]) -> float:
    return float(np.std(values, ddof=1)) / sqrt(len(values))
