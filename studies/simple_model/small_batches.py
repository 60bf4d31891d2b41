"""Finds the losses that work in small batches: ``python -m studies.simple_model.small_batches``.

MoDe[1], plain and unbiased, with quadrature and projection moments, batches of 250 to
50,000 events, the same number of steps for each; beside the classifier that cannot see
the mass, and MoDe[2] with a few of them. Writes small_batches.json.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from .. import pages
from ..command import command
from ..methods import one_thread
from .classifiers import AGNOSTIC, Classifier, mode
from .measure import performance
from .study import Size, Task, scores, seconds
from .table import of_one

RESULTS = Path(__file__).with_name("small_batches.json")
BATCHES = (250, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
ORDER_2 = "MoDe[2]"  # unbiased, projection: the default
ORDER_2_BATCHES = (500, 1_000, 2_000, 5_000)
# As good as the m-agnostic classifier: the mean AUC over seeds is lower by at most this, and the
# residual is at most this.
AUC_LOST = 0.004
RESIDUAL = 3.0
FULL = Size(2_000, 100_000, 400_000, (1, 2, 3))
QUICK = Size(300, 60_000, 100_000, (1,))
LOSSES = {
    f"{'unbiased' if unbiased else 'plain'}, {moments}": {"unbiased": unbiased, "moments": moments}
    for unbiased in (False, True)
    for moments in ("quadrature", "projection")
}


def measured(task: Task) -> dict[str, Any]:
    """Trains once and measures."""
    one_thread()
    score, test = scores(task)
    table = of_one(performance(score, test, order=1))
    for selection in table["selections"]:
        del selection["false_positive_rate"], selection["false_positive_rate_error"]
    return table


def tasks(size: Size) -> dict[str, Task]:
    """All trainings by name."""
    trained = [(mode(1, 1_000, name, **options), BATCHES) for name, options in LOSSES.items()]
    trained.append((mode(2, 1_000, ORDER_2), ORDER_2_BATCHES))
    trained.append((Classifier(AGNOSTIC, features=(0,)), (2_000,)))  # which does not depend on the batch
    return {
        f"{classifier.name}, batch {batch}, seed {seed}": Task(classifier, seed, size, batch)
        for classifier, batches in trained
        for batch in batches
        for seed in size.seeds
    }


def tables(results: Mapping[str, Any]) -> dict[str, str]:
    """The tables, by the names of their marks."""
    return {
        "AUC by batch": _table(results, auc, 3),
        "residual by batch": _table(results, residual, 1),
        "smallest batch": _smallest(results),
        "MoDe[2] by batch": _order_2(results),
    }


def _table(results: Mapping[str, Any], value: Callable[..., list[float]], digits: int) -> str:
    rows = [["batch", *LOSSES]]
    for batch in BATCHES:
        rows.append([f"{batch:,}", *(_over_seeds(value(results, name, batch), digits) for name in LOSSES)])
    return pages.table(rows)


def _over_seeds(values: list[float], digits: int) -> str:
    return "-" if np.isnan(values).any() else pages.over_seeds(values, digits)


def _order_2(results: Mapping[str, Any]) -> str:
    rows = [["batch", "AUC", "residual"]]
    for batch in ORDER_2_BATCHES:
        found = auc(results, ORDER_2, batch), residual(results, ORDER_2, batch)
        rows.append([f"{batch:,}", pages.over_seeds(found[0], 3), pages.over_seeds(found[1], 1)])
    return pages.table(rows)


def _smallest(results: Mapping[str, Any]) -> str:
    """The smallest batch size from which on all are as good as the m-agnostic classifier."""
    goal = np.mean(auc(results, AGNOSTIC, 2_000)) - AUC_LOST

    def good(name: str, batch: int) -> bool:
        return bool(np.mean(auc(results, name, batch)) >= goal and np.mean(residual(results, name, batch)) <= RESIDUAL)

    rows = [["loss", "smallest batch"]]
    for name in LOSSES:
        reached = [batch for k, batch in enumerate(BATCHES) if all(good(name, larger) for larger in BATCHES[k:])]
        rows.append([name, f"{reached[0]:,}" if reached else "none"])
    return pages.table(rows)


def figure(results: Mapping[str, Any]) -> Figure:
    """AUC and residual against the batch size."""
    figure = Figure(figsize=(16, 7), layout="constrained")
    left, right = figure.subplots(1, 2)
    for name, options in LOSSES.items():
        style = {"ls": "-" if options["unbiased"] else "--", "marker": "o", "capsize": 4}
        for axes, values in ((left, auc), (right, residual)):
            seeds = np.array([values(results, name, batch) for batch in BATCHES])
            axes.errorbar(
                BATCHES, seeds.mean(axis=1), seeds.std(axis=1, ddof=min(1, seeds.shape[1] - 1)), label=name, **style
            )
    left.axhline(np.mean(auc(results, AGNOSTIC, 2_000)), color="black", lw=1, label="m-agnostic")
    right.axhline(1, color="black", lw=1)
    left.set(xscale="log", xlabel="events in a batch", ylabel="AUC")
    right.set(xscale="log", yscale="log", xlabel="events in a batch", ylabel="residual over expected at 50%")
    left.legend(fontsize="small")
    return figure


def auc(results: Mapping[str, Any], name: str, batch: int) -> list[float]:
    """The AUC of each seed."""
    return [result["auc"] for result in _seeds(results, name, batch)]


def residual(results: Mapping[str, Any], name: str, batch: int) -> list[float]:
    """The residual over expected of each seed, at a signal efficiency of 50 %.

    NaN if a training ended with one score for all events.
    """
    at_half = [result["selections"][1] for result in _seeds(results, name, batch)]
    return [s["flatness"] / s["flatness_expected"] if s["flatness_expected"] > 0 else np.nan for s in at_half]


def _seeds(results: Mapping[str, Any], name: str, batch: int) -> list[Mapping[str, Any]]:
    return [result for key, result in results.items() if key.startswith(f"{name}, batch {batch}, seed ")]


def main() -> None:
    results = command(
        "simple_model.small_batches", __doc__.split("\n")[0], tasks, measured, seconds, (FULL, QUICK), RESULTS
    )
    print(*tables(results).values(), sep="\n")


if __name__ == "__main__":
    main()
