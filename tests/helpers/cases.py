"""What hypothesis chooses: events and options that the loss accepts, for every option.

Scores and masses are multiples of powers of 2, so that shifts and scalings by
such numbers are exact; ties in both are common.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from reference import bin_of, quantile_edges

GAP = 1 / 64  # between neighboring scores
TICKS = 1024  # masses are multiples of 1/TICKS


class Case(NamedTuple):
    """The arguments of a call."""

    score: np.ndarray
    mass: np.ndarray
    weight: np.ndarray | None
    label: np.ndarray | None
    options: dict[str, Any]

    def evaluate(self, function, **changed):
        """Calls a function of the library, with some arrays or options replaced."""
        arrays = {name: changed.pop(name, getattr(self, name)) for name in ("score", "mass", "weight", "label")}
        return function(arrays.pop("score"), arrays.pop("mass"), **arrays, **(self.options | changed))

    @property
    def takes_part(self) -> np.ndarray:
        """Which events the loss sees."""
        edges = self.options.get("edges")
        low, high = (edges[0], edges[-1]) if edges is not None else self.options.get("mass_range") or (-np.inf, np.inf)
        inside = (self.mass >= low) & (self.mass <= high)
        return inside if self.label is None else inside & np.isin(self.label, self.options["background_label"])


@st.composite
def options(draw, **fixed) -> dict[str, Any]:
    """Options that go together; those in ``fixed`` are as given."""

    def pick(name, strategy):
        return fixed[name] if name in fixed else draw(strategy)

    order = pick("order", st.integers(0, 5) | st.integers(0, 16))
    moments = pick("moments", st.sampled_from(["quadrature", "projection"]))
    # A fit of high order on hardly more bins loses digits too: test_plain_loss_is_not_negative has those.
    least = order + 1 + (order > 5) * order if moments == "projection" else 1
    bins = pick("bins", st.integers(least, max(8, least + 2)))
    chosen = {
        "order": order,
        "moments": moments,
        "slope_of": pick("slope_of", st.sampled_from(["rejected", "selected"])),
        "reduction": pick("reduction", st.sampled_from(["mean", "sum"])),
        "unbiased": pick("unbiased", st.booleans()),
        "score_range": pick("score_range", st.sampled_from([(0, 1), (-0.5, 2), None])),
    }
    if order >= 1:
        chosen["max_slope"] = pick("max_slope", st.none() | st.floats(0.05, 5))
        chosen["slope_penalty"] = pick("slope_penalty", st.just(0.0) | st.floats(0, 10))
    if order >= 2:
        chosen["monotonic"] = pick("monotonic", st.booleans())
    binning = pick("binning", st.sampled_from(["quantile", "uniform", "edges"]))
    if binning == "edges":
        # Widths that differ by up to 4: a fit on bins that nearly coincide has no digits to compare.
        return chosen | {"edges": [0.0, *np.cumsum(draw(_lists(st.integers(1, 4), bins)), dtype=float).tolist()]}
    return chosen | {"binning": binning, "bins": bins, "mass_range": draw(st.sampled_from([None, (0.0, 1.0)]))}


@st.composite
def cases(draw, labels: int | None = None, **fixed) -> Case:
    """Events for drawn options; at least two events, of positive total weight, in every bin of every label.

    ``labels`` says how many labels the events have, of which the loss sees all.
    """
    chosen = draw(options(**fixed))
    given = chosen.get("edges")
    edges = np.linspace(0, 1, chosen["bins"] + 1) if given is None else np.array(given)
    if labels is None:
        labels = draw(st.sampled_from([1, 1, 2]))

    # Events of every label in every bin of uniform or given edges, at both ends of the range too.
    shape = (draw(st.integers(3, 5)), labels, len(edges) - 1)
    _, label, bin_ = np.indices(shape)
    low = np.ceil(edges[bin_] * TICKS)
    width = np.ceil(edges[bin_ + 1] * TICKS) - low
    coarse = draw(st.sampled_from([1, 2, 4, 1000]))  # 1: one mass in each bin
    offset = np.reshape(draw(_lists(st.integers(0, coarse - 1), low.size)), shape) / coarse
    mass = (low + np.floor(offset * width)) / TICKS
    mass[0, :, 0], mass[-1, :, -1] = edges[0], edges[-1]
    mass, label = mass.ravel(), label.ravel().astype(np.int32)
    if (given is not None or chosen["mass_range"] is not None) and draw(st.booleans()):
        mass, label = np.append(mass, [edges[0] - 0.25, edges[-1] + 0.5]), np.append(label, [0, 0]).astype(np.int32)

    n = len(mass)
    levels = draw(st.sampled_from([2, 8, 62]))  # 2: nearly all scores are tied
    score = (np.array(draw(_lists(st.integers(1, levels), n))) + 0.5) * GAP
    weight = None
    if draw(st.booleans()):
        weight = np.array(draw(_lists(st.sampled_from([0.5, 1.0, 1.75, 3.0, -0.25]), n)))
    order = np.array(draw(st.permutations(range(n))))
    if labels > 1:
        chosen["background_label"] = tuple(range(labels))
    case = Case(score, mass[order], weight, label[order] if labels > 1 else None, chosen)
    assume(_bins_are_usable(case))
    return case


def _lists(elements, n):
    return st.lists(elements, min_size=n, max_size=n)


def _bins_are_usable(case: Case) -> bool:
    """Whether no bin lacks what the spec asks for, by a margin: sums that cancel leave no digits to compare."""
    options = case.options
    weight = np.ones(len(case.mass)) if case.weight is None else case.weight
    for label in [None] if case.label is None else (0, 1):
        selected = case.takes_part if label is None else case.takes_part & (case.label == label)
        mass = case.mass[selected]
        if options.get("edges") is not None:
            edges = options["edges"]
        elif options["binning"] == "uniform":
            edges = np.linspace(*(options["mass_range"] or (mass.min(), mass.max())), options["bins"] + 1)
        else:
            edges = quantile_edges(mass, options["bins"], options["mass_range"])
            if options["moments"] == "projection" and len(edges) - 1 <= options["order"]:
                return False
        sums, squares = (
            np.bincount(bin_of(mass, edges), weight[selected] ** power, minlength=len(edges) - 1) for power in (1, 2)
        )
        if sums.min() < 0.5 or options["unbiased"] and (squares > 0.9 * sums**2).any():
            return False
    return True
