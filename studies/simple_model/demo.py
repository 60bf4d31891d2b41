"""Trains the paper's simple model, prints its table and writes its figures."""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace

import torch

from ..methods import PLAIN
from . import plots, table
from .classifiers import DEMO, Classifier
from .measure import Performance, performance
from .study import Size, Task, scores
from .train import BATCH, LEARNING_RATE, RAMP

TEST_EVENTS = 1_000_000
DEGREE = 2  # of the polynomial for the residuals of all classifiers, which a fit to the spectrum absorbs


def main(args: argparse.Namespace) -> None:
    # A network this small gains little from more threads and loses much on a busy
    # machine; and with a fixed number the seed alone decides the result.
    torch.set_num_threads(1)

    classifiers = [plain(c) for c in DEMO] if args.plain else DEMO
    strengths = ", ".join(f"{c.strength:g} for {c.name}" for c in classifiers if c.strength)
    loss = "the paper's formula" if args.plain else "unbiased, projection moments"
    print(f"simple model of arXiv:2010.09745, seed {args.seed}")
    print(f"training     {args.events:,} events, {args.epochs} epochs, batch {BATCH:,}, 1cycle to {LEARNING_RATE:g}")
    print(f"strength     lambda = {strengths} (reduction mean), reached after {RAMP:.0%} of the steps")
    print(f"MoDe         {loss}")
    print(f"measured on  {TEST_EVENTS:,} fresh events", flush=True)

    start = time.perf_counter()
    size = Size(args.epochs * max(1, round(args.events / BATCH)), args.events, TEST_EVENTS, (args.seed,))
    results: dict[str, Performance] = {}
    for c in classifiers:
        score, test = scores(Task(c, args.seed, size), name=f"{c.name:13}")
        results[c.name] = performance(score, test, DEGREE)

    args.output.mkdir(parents=True, exist_ok=True)
    path = args.output / "table.json"
    setting = {"events": args.events, "epochs": args.epochs, "seed": args.seed, "plain": args.plain}
    path.write_text(json.dumps({"setting": setting, **table.as_dict(results)}, indent=1) + "\n")
    written = [path, *plots.write(results, args.output)]

    print()
    print(table.as_text(results))
    print(
        "\nflatness: rms of the background efficiency in 20 mass bins around its best parabola, relative to its\n"
        "mean, the same for all classifiers; in brackets its value from statistics alone"
    )
    print(f"\nwrote {', '.join(map(str, written))} after {time.perf_counter() - start:.0f} s")


def plain(classifier: Classifier) -> Classifier:
    """A classifier with the paper's loss."""
    return replace(classifier, options=classifier.options | PLAIN) if classifier.method == "mode" else classifier
