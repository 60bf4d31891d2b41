"""The loss of a golden case by its definition, for every option: a sum over labels, categories and variables.

Each term is an integral of its own over the score, of a J in extended precision
from reference.py. Nothing is shared with the library, and nothing
is carried from one score to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from basis import independent, products, to_x
from cells import FEWEST_EFFECTIVE, default_edges, edges_of, grid, nested, range_of, within
from reference import MP, Binned, Reference, bin_of, exact, legendre

# Options of Reference that a case may leave out.
OF_J = ("max_slope", "slope_of", "monotonic", "slope_penalty", "reduction")
# Options that have a value for each variable; one number of bins counts for all.
OF_VARIABLES = ("bins", "edges", "mass_range")


class Term(NamedTuple):
    """A factor times the integral of J, which is a function of the part of each event (by index) that is crossed."""

    factor: Any
    events: np.ndarray
    integrand: Callable[[np.ndarray], Any]


def terms(record: dict) -> list[Term]:
    """The loss of a case as a sum."""
    options = record["options"]
    mass = np.array(record["mass"], dtype=float)  # null is NaN
    weight = exact(np.ones(len(mass)) if record["weight"] is None else record["weight"])
    found = []
    for share, events in parts(record, weight):
        assert options.get("missing") == "ignore" or not np.isnan(mass[events]).any()
        alone = losses(mass[events], weight[events], options)
        assert alone, "no event of this category has a mass in range"
        found += [Term(share * term.factor, events[term.events], term.integrand) for term in alone]
    return found


def parts(record: dict, weight) -> Iterator[tuple[Any, np.ndarray]]:
    """The events of each category of each background label, with the category's share of the label's weight."""
    category = np.array(record.get("category") or np.zeros(len(weight)))
    for selected in by_label(record):
        for value in np.unique(category[selected]):
            events = selected[category[selected] == value]
            share = weight[events].sum() / weight[selected].sum()
            assert share > 0
            yield share, events


def by_label(record: dict) -> list[np.ndarray]:
    """The events of each background label; all events, where there are no labels."""
    if record.get("label") is None:
        return [np.arange(len(record["score"]))]
    wanted = np.ravel(record["options"].get("background_label", 0))
    return [np.flatnonzero(np.array(record["label"]) == value) for value in wanted]


def losses(mass, weight, options: dict) -> list[Term]:
    """The terms of a call with these events alone."""
    if mass.ndim == 1:
        found = [one_variable(mass, weight, options)]
    elif options.get("joint"):
        found = [joint(mass, weight, options)]
    else:
        found = [one_variable(own, weight, of_variable(options, k)) for k, own in enumerate(mass.T)]
    left = [term for term in found if len(term.events)]
    return [term._replace(factor=MP.mpf(1) / len(left)) for term in left]


def of_variable(options: dict, k: int) -> dict:
    """The options for variable k of several."""
    lists = {name: options[name][k] for name in OF_VARIABLES if isinstance(options.get(name), list)}
    return options | lists


def one_variable(mass, weight, options: dict) -> Term:
    """The loss in one variable; without events, where none lies in the range."""
    limits = range_of(mass, options.get("mass_range"), options.get("edges"))
    inside = np.flatnonzero(within(mass, limits))
    if len(inside) == 0:
        return Term(1, inside, lambda crossed: 0)
    mass, weight = mass[inside], weight[inside]
    return Term(1, inside, in_bins(mass, weight, limits, options))


def in_bins(mass, weight, limits, options: dict) -> Callable[[np.ndarray], Any]:
    """The scaled J of events in bins of one variable, all in range."""
    asked = options["binning"] == "edges" or options.get("bins")
    edges = edges_of(mass, limits, options) if asked else default_edges(mass, weight, limits, options)
    return in_cells(
        bin_of(mass, edges), weight, legendre(options["order"], to_x(mass, limits)), edges, np.asarray, options
    )


def joint(mass, weight, options: dict) -> Term:
    """The loss in all variables at once."""
    each = [of_variable(options, k) for k in range(mass.shape[1])]
    ranges = [range_of(own, some.get("mass_range"), some.get("edges")) for own, some in zip(mass.T, each, strict=True)]
    inside = np.flatnonzero(np.all([within(own, limits) for own, limits in zip(mass.T, ranges, strict=True)], axis=0))
    mass, weight = mass[inside], weight[inside]
    if options["binning"] == "quantile":
        cells = nested(mass, [some["bins"] for some in each], ranges)
    else:
        cells = grid(mass, [edges_of(None, limits, some) for limits, some in zip(ranges, each, strict=True)])
    rows = products(options["order"], [to_x(own, limits) for own, limits in zip(mass.T, ranges, strict=True)])
    return Term(1, inside, in_cells(cells, weight, rows, (), independent, options))


def in_cells(cells, weight, rows, edges, reduce, options: dict) -> Callable[[np.ndarray], Any]:
    """The scaled J of events in these cells, against the cells' means of the rows, after ``reduce``.

    Without edges every number of a cell has an event; with them a bin without events is seen, and is an error.
    """
    n_cells = len(edges) - 1 if len(edges) else cells.max() + 1
    binned = Binned.of_rows(cells, n_cells, weight, rows, edges)
    assert all(binned.totals > 0), "a cell's sum of weights is not positive"
    effective = binned.totals**2 / binned.squares
    assert not options["unbiased"] or all(effective >= FEWEST_EFFECTIVE), "a cell has one event in effect"
    own = {name: options[name] for name in OF_J if name in options}
    reference = Reference(
        binned._replace(polynomials=reduce(binned.polynomials)),
        order=options.get("order"),
        moments=options["moments"],
        unbiased=options["unbiased"],
        **own,
    )
    masks = [cells == cell for cell in range(n_cells)]
    powers = weight, weight**2

    def integrand(crossed):
        sums = [[(power * crossed.astype(float))[mask].sum() for mask in masks] for power in powers]
        return reference.scale * reference.integrand(*sums)

    return integrand


def integral(integrand, score, score_range):
    """The integral of J over the score, for events of these scores."""
    levels = np.unique(score)
    steps = [integrand(score < level) for level in levels] + [integrand(score <= levels[-1])]
    ends = (levels[0], levels[-1]) if score_range is None else score_range
    return np.array(steps) @ np.diff(exact([ends[0], *levels, ends[1]]))


def slope(integrand, score, i: int, score_range):
    """The derivative of the integral by the score of event i, which crosses the middle of its tie."""
    up_to = score <= score[i]
    before = 0.5 * (score < score[i]) + 0.5 * up_to
    after = before.copy()
    before[i], after[i] = 0, 1
    value = integrand(before) - integrand(after)
    if score_range is None and score[i] == score.max():  # the integral ends there
        value += integrand(up_to) / (1 if (score == score[i]).sum() == 1 else 2)
    return value


def loss_of(record: dict, score=None):
    """The loss of a case, in extended precision; with other scores, if they are given."""
    score = np.array(record["score"]) if score is None else score
    score_range = record["options"].get("score_range", [0, 1])
    return sum(term.factor * integral(term.integrand, score[term.events], score_range) for term in terms(record))


def gradient_of(record: dict) -> np.ndarray:
    """The gradient of the loss by the scores, in extended precision."""
    score, gradient = np.array(record["score"]), exact(np.zeros(len(record["score"])))
    score_range = record["options"].get("score_range", [0, 1])
    for term in terms(record):
        own = score[term.events]
        gradient[term.events] += [term.factor * slope(term.integrand, own, i, score_range) for i in range(len(own))]
    return gradient
