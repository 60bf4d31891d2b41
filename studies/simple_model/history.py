"""What a history and a transform of the score do: ``python -m studies.simple_model.history``.

Writes history.json, of which the tables of docs/history.md are made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import pages
from ..command import command
from ..methods import PLAIN, one_thread
from .classifiers import Classifier
from .measure import performance
from .study import Size, Task, scores, seconds

PAGE = pages.DOCS / "history.md"
RESULTS = Path(__file__).with_name("history.json")
FULL = Size(2_000, 100_000, 400_000, (1, 2, 3))
QUICK = Size(300, 60_000, 100_000, (1,))
LOSSES: dict[str, dict[str, Any]] = {"plain": PLAIN, "unbiased": {}}  # the latter with projection moments


@dataclass(frozen=True)
class Setting:
    """A way to train MoDe[1]: the loss, the events of a batch, and how many batches the history holds."""

    loss: str
    batch: int
    kept: int = 0
    score_transform: str | None = None
    strength: int = 2_000

    @property
    def name(self) -> str:
        """In history.json."""
        return f"{self.loss} of {self.batch} after {self.kept} over {self.score_transform} at {self.strength}"

    def classifier(self) -> Classifier:
        """Half of each batch is background."""
        history = {"history": self.kept * self.batch // 2, "score_transform": self.score_transform}
        return Classifier(self.name, "mode", self.strength, {"order": 1} | LOSSES[self.loss] | history)


HISTORY = [Setting(loss, batch, kept) for loss in LOSSES for batch in (250, 1_000) for kept in (0, 4, 16)]
TRANSFORM = [
    Setting("unbiased", 2_000, score_transform=transform, strength=strength)
    for transform in (None, "signal_efficiency")
    for strength in (300, 1_000)
]


def tasks(size: Size) -> dict[str, Task]:
    """All trainings by name."""
    return {
        f"{setting.name}, seed {seed}": Task(setting.classifier(), seed, size, setting.batch)
        for setting in HISTORY + TRANSFORM
        for seed in size.seeds
    }


def measured(task: Task) -> dict[str, Any]:
    """Trains, and measures the AUC and the residuals at signal efficiencies 80, 50 and 20 %."""
    one_thread()
    found = performance(*scores(task), order=1)
    return {"auc": round(found.auc, 4), "residual": [round(selection.residual, 4) for selection in found.selections]}


def tables(results: Mapping[str, Any]) -> dict[str, str]:
    """Those of docs/history.md, by the name of their marks: lowest to highest over the seeds."""
    history = [["loss", "batch", "history, batches", "AUC", "residual at 80, 50, 20 %"]]
    history += [[s.loss, f"{s.batch:,}", str(s.kept), *_figures(s, results)] for s in HISTORY]
    transform = [["`score_transform`", "strength", "AUC", "residual at 80, 50, 20 %"]]
    transform += [[f"`{s.score_transform!r}`", f"{s.strength:,}", *_figures(s, results)] for s in TRANSFORM]
    return {"histories": pages.table(history), "transforms": pages.table(transform)}


def _figures(setting: Setting, results: Mapping[str, Any]) -> tuple[str, str]:
    seeds = [result for key, result in results.items() if key.startswith(f"{setting.name}, ")]
    residuals = zip(*(seed["residual"] for seed in seeds), strict=True)
    return _span(seed["auc"] for seed in seeds), ", ".join(map(_span, residuals))


def _span(values: Iterable[float]) -> str:
    found = sorted(values)
    return f"{found[0]:.3f}-{found[-1]:.3f}"


def main() -> None:
    results = command("simple_model.history", __doc__.split(":")[0], tasks, measured, seconds, (FULL, QUICK), RESULTS)
    print(*tables(results).values(), sep="\n")


if __name__ == "__main__":
    main()
