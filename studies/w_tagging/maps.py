"""Constraints without a strength, and maps after the training: ``python -m studies.w_tagging.maps``.

The jets of the tree: MoDeConstraint beside a scan of strengths, and all of them, and the unconstrained
network, with a QuantileMap fitted to the QCD jets that were not for testing, and with a flow. Writes maps.json.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from libmode import metrics
from libmode.posthoc import QuantileMap
from numpy.typing import NDArray

from .. import flow, pages
from ..command import command
from ..methods import Classifier, one_thread
from ..spectra import residual
from .classifiers import RANGE, mode
from .measure import EFFICIENCY, divergence, fit_of, mass_edges
from .sample import load
from .study import Size, Task, prepared_split, seconds
from .train import scores_of, train

RESULTS = Path(__file__).with_name("maps.json")
Scores = NDArray[Any]
ORDERS = (0, 1, 2)
STRENGTHS = (30, 100, 300)
FLOW_STEPS, OF_FLOW = 600, 5_000  # in how many steps a flow is fitted; jets in each batch
FULL = Size(None, 50, 2_000, (1, 2, 3))
QUICK = Size(None, 3, 2_000, (1,))


def classifiers() -> dict[str, Classifier]:
    """The classifiers by name."""
    found = {"unconstrained": Classifier("unconstrained")}
    for order in ORDERS:
        options: dict[str, Any] = {"order": order, "mass_range": RANGE}
        for strength in STRENGTHS:
            found[f"MoDeLoss({order}), strength {strength}"] = mode(order, (strength,))[0]
        found[f"MoDeConstraint({order})"] = Classifier("constraint", "constraint", options=options)
    return found


def tasks(size: Size) -> dict[str, Task]:
    """All trainings by name."""
    return {
        f"{name}; seed {seed}": Task(classifier, seed, size, jets=len(load(None)))
        for name, classifier in classifiers().items()
        for seed in size.seeds
    }


def measured(task: Task) -> dict[str, Any]:
    """R50, 1/JSD, residual and bias, of plain and of mapped scores, judged by the order of each.

    Also the seconds of one core for the fit of the map.
    """
    one_thread()
    sample = load(None)
    (training, validation, test), places = prepared_split(task, sample)
    network, _ = train(
        training, validation, task.classifier, epochs=task.size.epochs, batch=task.size.batch, seed=task.seed
    )
    score = scores_of(network, test)
    of_fit = np.concatenate([scores_of(network, jets) for jets in (training, validation)])
    label, mass = (array[np.concatenate(places[:2])] for array in (sample.label, sample.mass))
    background = (label == 0) & (mass < RANGE[1])
    own = task.classifier.order
    found = {"as it is": _judged(score, sample, places[2], own)}
    fits: dict[str, tuple[int, Callable[[Scores, Scores], flow.Map]]] = {
        f"QuantileMap({order})": (order, _quantiles(order))
        for order in (ORDERS if task.classifier.method == "none" else (own,))
    }
    if own == 0:  # a flow makes scores flat
        fits["flow"] = 0, partial(flow.fitted, steps=FLOW_STEPS, batch=OF_FLOW, seed=task.seed)
    for name, (order, fit) in fits.items():
        start = process_time()
        mapped = fit(of_fit[background], mass[background])
        took = process_time() - start
        found[name] = _judged(mapped(score, sample.mass[places[2]]), sample, places[2], order) | {"seconds": took}
    return found


def _quantiles(order: int) -> Callable[[Scores, Scores], flow.Map]:
    return lambda score, mass: QuantileMap(order, mass_range=RANGE).fit(score, mass).transform


def _judged(score: NDArray[Any], sample: Any, test: NDArray[Any], order: int) -> dict[str, Any]:
    mass, label, edges, fit = sample.mass[test], sample.label[test], mass_edges(sample), fit_of(sample)
    cut = metrics.threshold(score, label, signal_efficiency=EFFICIENCY)
    events, inner = (score, label, mass), np.minimum(edges, RANGE[1])
    flat = residual(mass[label == 0], score[label == 0] >= cut, inner, order)
    return {
        "auc": metrics.auc(score, label),
        "r50": metrics.rejection(score, label, threshold=cut),
        "residual": flat.rms / flat.expected,
        "inverse_jsd": 1 / divergence(metrics.efficiency(*events, threshold=cut, bins=edges)),
        "bias": fit.bias(mass[(label == 0) & (score >= cut)], fit.degree, np.random.default_rng(0))["value"],
        "seconds": None,
    }


def tables(results: Mapping[str, Any]) -> dict[str, str]:
    """The table, by the name of its marks."""
    rows = [["network", "scores", "AUC", "R50", "residual over expected", "1/JSD", "spurious signal", "seconds to fit"]]
    for name in classifiers():
        runs = [found for key, found in results.items() if key.split("; ")[0] == name]
        for scores in runs[0]:
            of = [run[scores] for run in runs]
            row = [pages.over_seeds([one[what] for one in of], digits) for what, digits in _COLUMNS]
            took = [one["seconds"] for one in of]
            fit = "-" if None in took else f"{np.mean(took):.2g}"
            rows.append([name, scores, *row, pages.biases(one["bias"] for one in of), fit])
    return {"maps of W tagging": pages.table(rows)}


_COLUMNS = (("auc", 3), ("r50", 2), ("residual", 1), ("inverse_jsd", 0))


def main() -> None:
    """Runs the study and prints its table."""
    title = __doc__.split("\n")[0]
    results = command("w_tagging.maps", title, tasks, measured, seconds, (FULL, QUICK), RESULTS)
    print(*tables(results).values(), sep="\n")


if __name__ == "__main__":
    main()
