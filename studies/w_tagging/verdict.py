"""Finds the classifiers that a search can use in testing.json, by rules that were fixed before it existed.

A search is one with SEARCH QCD jets before the selection: what a bias means to it does not depend on how many
jets it was measured with.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import hypot, sqrt
from pathlib import Path
from typing import Any

import numpy as np

from .. import pages
from .measure import BIAS_EDGES, Fit
from .sample import load
from .summary import Value, best, over_seeds, sensitivity
from .tables import REFERENCE, shown_value, unselected
from .testing import ORDERS, RESULTS, SCANS, SEARCH, key, mapped

SPURIOUS = 0.5  # the largest spurious signal, over its statistical error
AS_WANTED = 0.05  # the largest rms of the efficiency around its polynomial in mass, over its mean
CENTERS = (BIAS_EDGES[1:] + BIAS_EDGES[:-1]) / 2


@dataclass(frozen=True)
class Counts:
    """The counts of all test jets for one training.

    kept : jets
    spectrum : of these, in BIAS_EDGES
    shape : the mean square departure of the fraction kept from its polynomial in mass, over the square of the mean
        fraction, without what chance makes of it (so that it may be negative)
    """

    kept: int
    spectrum: np.ndarray
    shape: float


def together(parts: Sequence[Mapping[str, Any]]) -> Counts:
    """Adds the counts of one training over the test jets of several seeds.

    These may differ in number: what chance makes of a shape goes as one over the jets that are kept, so that each
    counts as much as it has of them.
    """
    kept = [part["kept"] for part in parts]
    shapes = [part["residual"] ** 2 - part["expected"] ** 2 for part in parts]
    return Counts(
        sum(kept), np.sum([part["spectrum"] for part in parts], axis=0), float(np.average(shapes, weights=kept))
    )


@dataclass(frozen=True)
class Judgment:
    """One classifier, with the counts of each of its trainings.

    jets : for testing, before the selection
    """

    name: str
    strength: float
    jets: int
    of: tuple[Counts, ...]
    fit: Fit

    @cached_property
    def r50(self) -> Value:
        """1 over the QCD efficiency; the error combines the spread over trainings and the counts."""
        found = over_seeds([self.jets / counts.kept for counts in self.of])
        of_counts = found.mean / sqrt(self.jets / found.mean)
        return Value(found.mean, hypot(found.error, of_counts))

    @cached_property
    def shape(self) -> float:
        """The rms of the efficiency around its polynomial over its mean, with statistics subtracted."""
        return sqrt(max(0.0, float(np.mean([counts.shape for counts in self.of]))))

    @cached_property
    def biases(self) -> tuple[tuple[Value, float] | None, ...]:
        """The mean over trainings of the signal that a search would find, over its statistical error, and its size.

        First by a polynomial of the degree that the unselected spectrum needs, and then by one of one degree more.

        The size is the rms over trainings without what the fluctuation of the test jets makes of it, so that a
        bias that goes up with one training and down with the next counts. The error of the mean has that fluctuation
        whole, since all trainings are judged by the same jets. None where a selection left so few jets somewhere
        that there is no fit.
        """
        return self._bias(self.fit.degree), self._bias(self.fit.degree + 1)

    def _bias(self, degree: int) -> tuple[Value, float] | None:
        error = sqrt(SEARCH / self.jets)
        values = []
        for counts in self.of:
            if not counts.spectrum.any():
                return None
            try:
                found = self.fit.found(np.repeat(CENTERS, counts.spectrum), degree)
            except RuntimeError:
                return None
            values.append(found.significance * error)
        mean, spread = over_seeds(values)
        return Value(mean, hypot(error, spread)), sqrt(max(0.0, float(np.mean(np.square(values))) - error**2))


def is_as_wanted(one: Judgment) -> bool:
    """Whether the response is the allowed polynomial in mass."""
    return one.shape <= AS_WANTED


def is_unbiased(one: Judgment, more: int = 0) -> bool:
    """Whether a search would find less than SPURIOUS signal in background."""
    bias = one.biases[more]
    return bias is not None and bias[1] <= SPURIOUS


def judged(results: Mapping[str, Any]) -> tuple[dict[str, list[Judgment]], Fit]:
    """The scans by method, and the fit with the degree that the unselected spectrum of all test jets needs."""
    batches = list(results["test jets"].values())
    spectrum = np.sum([batch["spectrum"] for batch in batches], axis=0)
    tree = load(None)
    fit = Fit(np.repeat(CENTERS, spectrum), tree.mass[tree.label == 1])
    names = {name: [one.strength for one in scan] for name, scan in SCANS.items()}
    names |= {mapped(order): [0.0] for order in ORDERS}

    def judgment(name: str, strength: float) -> Judgment:
        """By the test jets that this classifier was judged by, in each of its trainings."""
        of_name = key(name, strength)
        by = [one for one in batches if all(of_name in training for training in one["trainings"].values())]
        of = tuple(together([one["trainings"][seed][of_name] for one in by]) for seed in by[0]["trainings"])
        return Judgment(name, strength, sum(one["jets"] for one in by), of, fit)

    return {name: [judgment(name, one) for one in strengths] for name, strengths in names.items()}, fit


def tables(path: Path = RESULTS) -> dict[str, str]:
    """The tables, by the names of their marks."""
    scans, fit = judged(json.loads(path.read_text()))
    return {
        "w tagging, test jets": unselected(fit.fits, fit.degree),
        "w tagging, tested, as wanted": _best(scans, is_as_wanted, 0),
        "w tagging, tested, unbiased": _best(scans, is_unbiased, 0),
        "w tagging, tested, unbiased with a degree more": _best(scans, lambda one: is_unbiased(one, 1), 1),
        "w tagging, tested, scans": _scans([one for scan in scans.values() for one in scan]),
    }


_HEAD = ["method", "strength", "R50", "shape, %", "spurious signal", "its size"]


def _row(one: Judgment, more: int) -> list[str]:
    bias = one.biases[more]
    return [
        one.name,
        f"{one.strength:g}" if one.strength else "",
        shown_value(one.r50, 2),
        f"{100 * one.shape:.1f}",
        "-" if bias is None else shown_value(bias[0], 2),
        "-" if bias is None else f"{bias[1]:.2f}",
    ]


def _best(scans: Mapping[str, list[Judgment]], good: Callable[[Judgment], bool], more: int) -> str:
    """The good classifier of the largest R50 of each method that has one."""
    reference = best(scans[REFERENCE], good)
    rows = [[*_HEAD, f"sqrt(R50) relative to {REFERENCE}"]]
    for scan in scans.values():
        one = best(scan, good)
        if one is not None:
            rows.append([*_row(one, more), shown_value(sensitivity(one, reference) if reference else None, 3)])
    return pages.table(rows)


def _scans(shown: Sequence[Judgment]) -> str:
    return pages.table([_HEAD, *(_row(one, 0) for one in shown)])
