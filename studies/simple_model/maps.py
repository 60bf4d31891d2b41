"""A map after the training, or a loss in it: ``python -m studies.simple_model.maps``.

Networks without and with a constraint, as they are and with a QuantileMap that is fitted to fresh background. Beside
it a fixed-efficiency regression of k neighbours. Writes maps.json.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from libmode import metrics
from libmode.posthoc import QuantileMap
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsRegressor
from torch.nn import Module

from .. import pages
from ..command import command
from ..methods import one_thread, penalty
from .classifiers import AGNOSTIC, Classifier
from .data import SIGNAL_MASS, SIGNAL_WIDTH, Events, simple_model
from .measure import performance
from .study import Size, Task, seconds
from .train import evaluate, train

PAGE = pages.DOCS / "posthoc.md"
RESULTS = Path(__file__).with_name("maps.json")
BATCH, SEEDS = 5_000, 3
ORDERS = (0, 1, 2)
NEIGHBOURS = 1_000  # for each event, of the regression
OF_REGRESSION = 50_000  # background events


@dataclass(frozen=True)
class Sizes:
    """Of the study: that of each training, and the background that maps are fitted to."""

    each: Size
    fitted: int


FULL = Sizes(Size(2_000, 100_000, 200_000, ()), 1_000_000)
QUICK = Sizes(Size(200, 50_000, 100_000, ()), 100_000)


@dataclass(frozen=True)
class Mapped:
    """A training, and how many background events maps are fitted to."""

    task: Task
    fitted: int


def classifiers() -> dict[str, Classifier]:
    """By name."""
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
        f"{name}, seed {seed}": Mapped(Task(classifier, seed, sizes.each, BATCH), sizes.fitted)
        for name, classifier in classifiers().items()
        for seed in range(1, SEEDS + 1)
    }


def measured(mapped: Mapped) -> dict[str, Any]:
    """For each map, and for each order judged: AUC, residuals over expected, and the significance."""
    one_thread()
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
    return {
        name: {str(order): _judged(z, test, order) for order in ORDERS}
        for name, z in _scores(score, test.mass, of_fit, fresh.mass[background])
    }


def _scores(
    score: NDArray[Any], mass: NDArray[Any], of_fit: NDArray[Any], mass_of_fit: NDArray[Any]
) -> Iterator[tuple[str, NDArray[Any]]]:
    yield "as it is", score
    for order in ORDERS:
        yield f"QuantileMap({order})", QuantileMap(order).fit(of_fit, mass_of_fit).transform(score, mass)
    yield "k neighbours", _neighbours(score, mass, of_fit[:OF_REGRESSION], mass_of_fit[:OF_REGRESSION])


def _neighbours(
    score: NDArray[Any], mass: NDArray[Any], of_fit: NDArray[Any], mass_of_fit: NDArray[Any]
) -> NDArray[Any]:
    """Fixed-efficiency regression: the score less what cuts 20 % of the background off among k neighbours in mass."""
    order = np.argsort(mass_of_fit)
    grid = np.linspace(mass_of_fit.min(), mass_of_fit.max(), 400)
    near = KNeighborsRegressor(NEIGHBOURS).fit(mass_of_fit[order][:, None], of_fit[order])
    places = near.kneighbors(grid[:, None], return_distance=False)
    thresholds = np.quantile(of_fit[order][places], 0.8, axis=1)
    shifted: NDArray[Any] = score - np.interp(mass, grid, thresholds)
    return shifted


def _judged(z: NDArray[Any], test: Events, order: int) -> dict[str, Any]:
    found = performance(z, test, order)
    near = np.abs(test.mass - SIGNAL_MASS) < 2 * SIGNAL_WIDTH
    signal, background = near & (test.label == 1), near & (test.label == 0)
    significance = []
    for selection in found.selections:
        kept = z >= selection.threshold
        of_signal, of_background = kept[signal].mean(), kept[background].mean()
        significance.append(float(of_signal / np.sqrt(of_background)))
    flat = [
        float(
            metrics.flatness(
                test.mass[test.label == 1], z[test.label == 1] >= s.threshold, np.linspace(-0.6, 1, 17), degree=0
            ).rms
        )
        for s in found.selections
    ]
    return {
        "auc": found.auc,
        "residual": [s.residual / s.expected if s.expected > 0 else None for s in found.selections],
        "significance": significance,
        "signal": flat,
    }


def tables(results: Mapping[str, Any]) -> dict[str, str]:
    """That of docs/posthoc.md, by the name of its marks."""
    rows = [
        [
            "network",
            "scores",
            "judged as order",
            "AUC",
            "residual over expected at 80, 50, 20 %",
            "significance at 50, 20 %",
            "signal moved, rms at 50 %",
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
                    f"{np.mean([one['auc'] for one in of]):.3f}",
                    " ".join("-" if np.isnan(v) else f"{v:.1f}" for v in _mean(of, "residual")),
                    " ".join(f"{v:.2f}" for v in _mean(of, "significance")[1:]),
                    f"{_mean(of, 'signal')[1]:.3f}",
                ]
            )
    return {"maps": pages.table(rows)}


def _mean(of: list[dict[str, Any]], name: str) -> NDArray[Any]:
    values = np.array([[np.nan if v is None else v for v in one[name]] for one in of])
    mean: NDArray[Any] = values.mean(axis=0)
    return mean


def of_one(mapped: Mapped) -> float:
    """About what a training and its maps take."""
    return seconds(mapped.task) + 15


def main() -> None:
    """Runs the study and prints its table."""
    results = command("simple_model.maps", __doc__.split("\n")[0], tasks, measured, of_one, (FULL, QUICK), RESULTS)
    print(*tables(results).values(), sep="\n")


if __name__ == "__main__":
    main()
