"""Means and errors over seeds of the classifiers in results.json."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from scipy import stats

from ..methods import Classifier
from .classifiers import METHODS, PAPER_RECIPE

# Fits of results.json: with the polynomial of the study, and with one degree more.
BIAS, BIAS_OF_NEXT = "bias", "bias_of_next"

Results = Mapping[str, Any]  # of one training

CONSISTENT = 0.01  # the least probability of a bias consistent with 0; 0.05 would refuse two of forty by chance
RESIDUAL = 1.25  # the largest residual over expected; a flat response has 1.0 +- 0.1


class Value(NamedTuple):
    """A mean over seeds and its standard error."""

    mean: float
    error: float


def over_seeds(values: list[float]) -> Value:
    """The mean, and its error from the spread; 0 for one seed."""
    error = float(np.std(values, ddof=1)) / sqrt(len(values)) if len(values) > 1 else 0.0
    return Value(float(np.mean(values)), error)


@dataclass(frozen=True)
class Bias:
    """The fitted signal over its error: the mean over seeds, and its probability without a signal.

    error : of the mean, from those of the seeds, whose test jets are others, or from their spread if that is more
    probability : of a larger sum over seeds of (bias / error)^2 without a bias. Every seed counts: a method
        whose bias goes up with one seed and down with the next is none that a search can use.
    """

    mean: float
    error: float
    probability: float


@dataclass(frozen=True)
class Point:
    """One classifier of a scan, trained with each seed."""

    classifier: Classifier
    seeds: tuple[Results, ...]

    def values(self, name: str) -> list[Any]:
        """The values of all seeds."""
        return [result[name] for result in self.seeds]

    @property
    def r50(self) -> Value:
        """R50 with its error from the spread over seeds, or from the bootstrap for one seed."""
        found = over_seeds(self.values("r50"))
        return found if len(self.seeds) > 1 else Value(found.mean, self.seeds[0]["r50_error"])

    @property
    def residual(self) -> Value:
        """The rms around the best polynomial in mass, over its value from statistics alone."""
        return over_seeds([result["flatness"] / result["flatness_expected"] for result in self.seeds])

    def bias(self, fit: str = BIAS) -> Bias | None:
        """The bias of this fit; None if a seed has too few jets for the fit."""
        found = [result[fit] for result in self.seeds]
        if any(bias["value"] is None for bias in found):
            return None
        values, errors = [bias["value"] for bias in found], [bias["error"] for bias in found]
        mean, spread = over_seeds(values)
        error = max(sqrt(sum(e**2 for e in errors)) / len(errors), spread)
        chi2 = sum((value / error) ** 2 for value, error in zip(values, errors, strict=True))
        return Bias(mean, error, float(stats.chi2.sf(chi2, len(values))))


class Rejecting(Protocol):
    """A classifier with an R50."""

    @property
    def r50(self) -> Value: ...


Of = TypeVar("Of", bound=Rejecting)


def points(results: Mapping[str, Results]) -> dict[str, list[Point]]:
    """The scan of each method from results.json. Trainings by the paper's recipe are methods too."""
    found = {}
    for name, scan in {**METHODS, **{c.name: (c,) for c in PAPER_RECIPE}}.items():
        trained = ((c, _seeds(results, c)) for c in scan)
        found[name] = [Point(classifier, seeds) for classifier, seeds in trained if seeds]
    return found


def _seeds(results: Mapping[str, Results], classifier: Classifier) -> tuple[Results, ...]:
    start = f"{classifier.name}, strength {classifier.strength:g}, seed "
    return tuple(result for key, result in results.items() if key.startswith(start))


def is_unbiased(point: Point, fit: str = BIAS) -> bool:
    """Whether the bias of this fit is consistent with 0."""
    bias = point.bias(fit)
    return bias is not None and bias.probability >= CONSISTENT


def is_as_wanted(point: Point) -> bool:
    """Whether the response is consistent with its polynomial in mass."""
    return point.residual.mean <= RESIDUAL


def best(scan: list[Of], good: Callable[[Of], bool]) -> Of | None:
    """The good classifier of the largest R50."""
    return max(filter(good, scan), key=lambda point: point.r50.mean, default=None)


def shown(scan: list[Point]) -> Point:
    """The classifier of a method for a figure: the best one that is as wanted, or else the flattest one."""
    return best(scan, is_as_wanted) or min(scan, key=lambda point: float(np.mean(point.values("jsd"))))


def sensitivity(point: Rejecting, reference: Rejecting) -> Value:
    """sqrt(R50) relative to another classifier."""
    one, other = point.r50, reference.r50
    ratio = sqrt(one.mean / other.mean)
    if point is reference:
        return Value(1.0, 0.0)
    return Value(ratio, ratio / 2 * sqrt((one.error / one.mean) ** 2 + (other.error / other.mean) ** 2))


def r50_at(scan: list[Point], inverse_jsd: float) -> Value | None:
    """The R50 at this 1/JSD, interpolated between neighbors of the scan in the mean of log(1/JSD).

    The largest if the scan passes there more than once; None if it does not.
    """
    wanted, found = np.log(inverse_jsd), []
    at = [(-float(np.mean(np.log(point.values("jsd")))), point.r50) for point in scan]
    for (x0, y0), (x1, y1) in pairwise(at):
        if x0 != x1 and min(x0, x1) <= wanted <= max(x0, x1):
            part = (wanted - x0) / (x1 - x0)
            error = np.hypot((1 - part) * y0.error, part * y1.error)
            found.append(Value(float(y0.mean + part * (y1.mean - y0.mean)), float(error)))
    return max(found, default=None)
