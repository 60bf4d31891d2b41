"""Maps after the training compared with losses in it: ``python -m studies.simple_model.maps``.

Networks without and with a constraint, as they are and with a QuantileMap that is fitted to fresh background. Beside
it a normalizing flow, fitted to the same, and the regression of a quantile at each working point, by k neighbors and
by boosted trees. Writes maps.json.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from libmode import metrics
from libmode.posthoc import QuantileMap
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.neighbors import KNeighborsRegressor
from threadpoolctl import threadpool_limits
from torch.nn import Module

from .. import flow, pages
from ..command import command
from ..methods import one_thread, penalty
from ..spectra import residual as residual_of
from .classifiers import AGNOSTIC, Classifier
from .data import SIGNAL_MASS, SIGNAL_WIDTH, Events, simple_model
from .measure import EFFICIENCIES, MASS_EDGES, bias, performance, select
from .study import Size, Task, seconds
from .train import evaluate, train

RESULTS = Path(__file__).with_name("maps.json")
BATCH, SEEDS = 5_000, 3
ORDERS = (0, 1, 2)
NEIGHBORS = 1_000  # for each event, of the regression
OF_REGRESSION = 50_000  # background events
OF_FLOW = 10_000  # in each batch
SIGNAL_EDGES = np.linspace(-0.6, 1, 17)  # of the mass of signal


@dataclass(frozen=True)
class Sizes:
    """The sizes of the study: of each training, of the background for maps, and the steps of a flow."""

    each: Size
    fitted: int
    flow_steps: int


FULL = Sizes(Size(2_000, 100_000, 200_000, ()), 1_000_000, 3_000)
QUICK = Sizes(Size(200, 50_000, 100_000, ()), 100_000, 500)


@dataclass(frozen=True)
class Mapped:
    """A training, the number of background events for its maps, and the steps of its flow."""

    task: Task
    fitted: int
    flow_steps: int


def classifiers() -> dict[str, Classifier]:
    """The classifiers by name."""
    return {
        "unconstrained": Classifier("unconstrained"),
        AGNOSTIC: Classifier(AGNOSTIC, features=(0,)),
        **{
            f"MoDeConstraint({order})": Classifier("constraint", "constraint", options={"order": order})
            for order in ORDERS
        },
    }


def tasks(sizes: Sizes) -> dict[str, Mapped]:
    """All trainings by name."""
    return {
        f"{name}, seed {seed}": Mapped(Task(classifier, seed, sizes.each, BATCH), sizes.fitted, sizes.flow_steps)
        for name, classifier in classifiers().items()
        for seed in range(1, SEEDS + 1)
    }


def measured(mapped: Mapped) -> dict[str, Any]:
    """AUC, residuals over expected and significance, for each map and each order of the polynomial.

    Also the seconds of one core for the fit of the map; for a regression, of all working points together.
    """
    one_thread()
    threadpool_limits(1)
    task = mapped.task
    classifier, size = task.classifier, task.size
    sources = (np.random.default_rng(s) for s in np.random.SeedSequence(task.seed).spawn(3))
    training, test, fresh = (
        simple_model(events, rng)
        for events, rng in zip((size.train_events, size.test_events, 2 * mapped.fitted), sources, strict=True)
    )
    features = list(classifier.features)
    network: Module = train(
        training, features, penalty(classifier), steps=size.steps, seed=task.seed, batch=task.batch, name=None
    )
    background = fresh.label == 0
    score, of_fit = evaluate(network, test, features), evaluate(network, fresh, features)[background]
    of_fit_mass = fresh.mass[background]
    found = {"as it is": _every_order([score] * 3, test)}
    for order in ORDERS:
        start = process_time()
        quantiles = QuantileMap(order).fit(of_fit, of_fit_mass)
        took = process_time() - start
        found[f"QuantileMap({order})"] = _every_order([quantiles.transform(score, test.mass)] * 3, test, took=took)
    if classifier.order == 0:  # a flow makes scores flat
        start = process_time()
        normal = flow.fitted(of_fit, of_fit_mass, steps=mapped.flow_steps, batch=OF_FLOW, seed=task.seed)
        took = process_time() - start
        found["flow"] = _every_order([normal(score, test.mass)] * 3, test, took=took)
    some = of_fit[:OF_REGRESSION], of_fit_mass[:OF_REGRESSION]
    rates = [np.mean(score[test.label == 0] >= s.threshold) for s in performance(score, test, 0).selections]
    for name, regression in REGRESSIONS.items():
        start = process_time()
        scores = [score - regression(test.mass, *some, 1 - rate) for rate in rates]
        took = process_time() - start
        found[name] = _every_order(scores, test, 0.0, took)
    return found


def _neighbors(mass: NDArray[Any], of_fit: NDArray[Any], mass_of_fit: NDArray[Any], quantile: float) -> NDArray[Any]:
    """A quantile of the background among k neighbors in mass: fixed-efficiency regression."""
    grid = np.linspace(mass_of_fit.min(), mass_of_fit.max(), 400)
    near = KNeighborsRegressor(NEIGHBORS).fit(mass_of_fit[:, None], of_fit)
    places = near.kneighbors(grid[:, None], return_distance=False)
    found: NDArray[Any] = np.interp(mass, grid, np.quantile(of_fit[places], quantile, axis=1))
    return found


def _trees(mass: NDArray[Any], of_fit: NDArray[Any], mass_of_fit: NDArray[Any], quantile: float) -> NDArray[Any]:
    """The same quantile by boosted trees."""
    trees = HistGradientBoostingRegressor(loss="quantile", quantile=quantile, max_iter=100, random_state=0)
    found: NDArray[Any] = trees.fit(mass_of_fit[:, None], of_fit).predict(mass[:, None])
    return found


REGRESSIONS = {"k neighbors": _neighbors, "quantile regression": _trees}


def _every_order(
    scores: list[NDArray[Any]], test: Events, cut: float | None = None, took: float | None = None
) -> dict[str, Any]:
    """Judges by each order. ``scores`` has the scores for each signal efficiency; they are cut if no cut is given."""
    return {"seconds": took} | {str(order): _judged(scores, test, order, cut) for order in ORDERS}


def _judged(scores: list[NDArray[Any]], test: Events, order: int, cut: float | None) -> dict[str, Any]:
    near = np.abs(test.mass - SIGNAL_MASS) < 2 * SIGNAL_WIDTH
    signal, background = near & (test.label == 1), near & (test.label == 0)
    residual, significance, moved, spurious = [], [], [], []
    for k, z in enumerate(scores):
        kept = z >= (select(z, test, EFFICIENCIES[k], order).threshold if cut is None else cut)
        of_background = test.label == 0
        flat = residual_of(test.mass[of_background], kept[of_background], MASS_EDGES, order)
        spurious.append(bias(test.mass[kept & (test.label == 0)]))
        residual.append(flat.rms / flat.expected if flat.expected > 0 else None)
        significance.append(float(kept[signal].mean() / np.sqrt(kept[background].mean())))
        moved.append(residual_of(test.mass[test.label == 1], kept[test.label == 1], SIGNAL_EDGES, 0).rms)
    auc = metrics.auc(scores[0], test.label) if all(z is scores[0] for z in scores) else None
    return {"auc": auc, "residual": residual, "significance": significance, "signal": moved, "bias": spurious}


def tables(results: Mapping[str, Any]) -> dict[str, str]:
    """The table, by the name of its marks."""
    rows = [
        [
            "network",
            "scores",
            "judged as order",
            "AUC",
            "residual over expected at 80, 50, 20 %",
            "significance at 50, 20 %",
            "signal moved, rms at 50 %",
            "spurious signal at 80, 50, 20 %",
            "seconds to fit",
        ]
    ]
    for name in classifiers():
        runs = [found for key, found in results.items() if key.rsplit(", ", 1)[0] == name]
        for scores in runs[0]:
            own = int(name[-2]) if name.startswith("MoDe") else 0
            judged = int(scores[-2]) if scores.startswith("Quantile") else own
            of = [run[scores][str(judged)] for run in runs]
            if name.startswith("MoDe") and scores.startswith("Quantile") and judged != own:
                continue
            rows.append(
                [
                    name,
                    scores,
                    str(judged),
                    "-" if of[0]["auc"] is None else f"{np.mean([one['auc'] for one in of]):.3f}",
                    " ".join("-" if np.isnan(v) else f"{v:.1f}" for v in _mean(of, "residual")),
                    " ".join(f"{v:.2f}" for v in _mean(of, "significance")[1:]),
                    f"{_mean(of, 'signal')[1]:.3f}",
                    ", ".join(pages.biases(one["bias"][k] for one in of) for k in range(len(EFFICIENCIES))),
                    _seconds([run[scores]["seconds"] for run in runs]),
                ]
            )
    return {"maps": pages.table(rows)}


def _seconds(took: Sequence[float | None]) -> str:
    return "-" if None in took else f"{np.mean([one for one in took if one is not None]):.1f}"


def _mean(of: list[dict[str, Any]], name: str) -> NDArray[Any]:
    values = np.array([[np.nan if v is None else v for v in one[name]] for one in of])
    mean: NDArray[Any] = values.mean(axis=0)
    return mean


def of_one(mapped: Mapped) -> float:
    """The approximate time of a training and its maps."""
    return seconds(mapped.task) + 15 + 0.025 * mapped.flow_steps * (mapped.task.classifier.order == 0)


def main() -> None:
    """Runs the study and prints its table."""
    results = command("simple_model.maps", __doc__.split("\n")[0], tasks, measured, of_one, (FULL, QUICK), RESULTS)
    print(*tables(results).values(), sep="\n")


if __name__ == "__main__":
    main()
