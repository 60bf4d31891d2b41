"""What a history and a transform of the score do on the simple model. Usage: python -m examples.simple_model.batches"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from ..methods import UNBIASED
from .classifiers import Classifier
from .measure import performance
from .study import TRAIN_EVENTS, Size, Task, scores

RESULTS = Path(__file__).with_name("batches.json")
TEST_EVENTS = 400_000
STEPS = 2_000
SEEDS = (1, 2, 3)
LOSSES: dict[str, dict[str, Any]] = {"plain": {}, "unbiased": UNBIASED}


@dataclass(frozen=True)
class Setting:
    """A way to train: the order and the loss, the events of a batch, and how many batches the history holds."""

    order: int
    loss: str
    batch: int
    kept: int = 0
    score_transform: str | None = None
    strength: int = 2_000  # that of MoDe[1] and MoDe[2] in the demo

    def classifier(self) -> Classifier:
        """Half of each batch is background."""
        history = {"history": self.kept * self.batch // 2, "score_transform": self.score_transform}
        options = {"order": self.order} | LOSSES[self.loss] | history
        return Classifier(self.loss, "mode", self.strength, options)


@dataclass
class Outcome:
    """For each seed, the AUC and the residuals at signal efficiencies 80, 50 and 20 %."""

    setting: Setting
    auc: list[float] = field(default_factory=list)
    residual: list[list[float]] = field(default_factory=list)


HISTORY = [Setting(1, loss, batch, kept) for loss in LOSSES for batch in (250, 1_000) for kept in (0, 4, 16)]
TRANSFORM = [
    Setting(1, "unbiased", 2_000, score_transform=transform, strength=strength)
    for transform in (None, "signal_efficiency")
    for strength in (300, 1_000)
]


def outcomes(
    settings: list[Setting],
    *,
    steps: int = STEPS,
    seeds: tuple[int, ...] = SEEDS,
    train_events: int = TRAIN_EVENTS,
    test_events: int = TEST_EVENTS,
) -> Iterator[Outcome]:
    """Trains and measures each setting with each seed."""
    for setting in tqdm(settings, desc="settings", position=0):
        outcome = Outcome(setting)
        for seed in seeds:
            size = Size(steps, train_events, test_events, seeds)
            score, test = scores(Task(setting.classifier(), seed, size, setting.batch), name=f"seed {seed}")
            measured = performance(score, test, setting.order)
            outcome.auc.append(round(measured.auc, 4))
            outcome.residual.append([round(selection.residual, 4) for selection in measured.selections])
        yield outcome


def tables(results: list[dict[str, Any]]) -> tuple[str, str]:
    """Of the histories and of the transforms, as docs/history.md shows them: lowest to highest over the seeds."""
    chosen = {Setting(**result["setting"]): result for result in results}
    history = ["| loss | batch | history, batches | AUC | residual at 80, 50, 20 % |", "|---|---|---|---|---|"]
    history += [f"| {s.loss} | {s.batch:,} | {s.kept} | {_figures(chosen[s])} |" for s in HISTORY]
    transform = ["| `score_transform` | strength | AUC | residual at 80, 50, 20 % |", "|---|---|---|---|"]
    transform += [f"| `{s.score_transform!r}` | {s.strength:,} | {_figures(chosen[s])} |" for s in TRANSFORM]
    return "\n".join(history) + "\n", "\n".join(transform) + "\n"


def _figures(result: dict[str, Any]) -> str:
    residuals = zip(*result["residual"], strict=True)
    return f"{_span(result['auc'])} | {', '.join(_span(values) for values in residuals)}"


def _span(values: Iterable[float]) -> str:
    low, *_, high = sorted(values)
    return f"{low:.3f}-{high:.3f}"


def main() -> None:
    """A quarter of an hour on two cores; what an interrupted run had finished is kept."""
    torch.set_num_threads(1)
    results = json.loads(RESULTS.read_text())["results"] if RESULTS.exists() else []
    done = [Setting(**result["setting"]) for result in results]
    for outcome in outcomes([setting for setting in HISTORY + TRANSFORM if setting not in done]):
        results.append(asdict(outcome))
        RESULTS.write_text(json.dumps({"steps": STEPS, "seeds": SEEDS, "results": results}, indent=1) + "\n")
    print(*tables(results), sep="\n")


if __name__ == "__main__":
    main()
