"""Trains small classifiers, and compares what the layer says with other events: ``python -m studies.verdict.study``.

results.jsonl gets a line for each training; a training that has a line does not run again. ``--only REGEX`` chooses by
name.
"""

from __future__ import annotations

import argparse
import copy
import json
import re
import time
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from libmode import TrainingWarning, metrics
from libmode.torch import MoDeConstraint
from numpy.typing import NDArray
from torch import nn

from .problems import PROBLEMS, RANGES, rounded

RESULTS = Path(__file__).with_name("results.jsonl")
TESTS, SIGNALS, BINS = 300_000, 60_000, 20
CUTS = {"80 %": 0.8, "50 %": 0.5, "20 %": 0.2}  # of signal, and one of the background:
TIGHT = 5e-3


@dataclass(frozen=True)
class Training:
    """One training; rate is the highest learning rate."""

    problem: str
    order: int = 0
    events: int = 60_000  # of background
    batch: int = 1_024
    epochs: int = 16
    rate: float = 4e-3
    seed: int = 1
    rounding: str = ""
    dropout: float = 0
    constant: bool = False  # the learning rate
    averaged: bool = False  # the weights that are judged
    resumed: bool = False  # without the layer's state, for the last tenth
    told: bool = True  # the number of events

    @property
    def name(self) -> str:
        """The problem and what differs from the defaults."""
        given = asdict(self)
        return "; ".join(
            [self.problem, *(f"{k} {v}" for k, v in given.items() if k != "problem" and v != getattr(Training, k))]
        )


def fitted(one: Training, layer: Any = None) -> tuple[nn.Module, Any, list[str]]:
    """The network to judge, the layer, and what the layer said."""
    torch.manual_seed(one.seed)
    features, mass, label, weight = PROBLEMS[one.problem](np.random.default_rng(one.seed), one.events, one.events // 3)
    x, y, m, w = (torch.tensor(a.astype("f4")) for a in (features, label, rounded(mass, one.rounding), weight))
    mean, width = x.mean(0), x.std(0)

    class Scaled(nn.Module):
        def forward(self, u: torch.Tensor) -> torch.Tensor:
            return (u - mean) / width

    sizes, parts = [x.shape[1], 64, 64], list[nn.Module]()
    for a, b in zip(sizes, sizes[1:], strict=False):
        parts += [nn.Linear(a, b), nn.SiLU(), *([nn.Dropout(one.dropout)] if one.dropout else [])]
    network = nn.Sequential(Scaled(), *parts, nn.Linear(64, 1), nn.Flatten(0))
    options: dict[str, Any] = {"order": one.order, "mass_range": RANGES.get(one.problem, (50.0, 400.0))}
    if one.told:
        options["training_events"] = one.events
    constraint = MoDeConstraint(from_logits=True, **options) if layer is None else layer(options)
    optimizer = torch.optim.Adam(network.parameters(), one.rate)
    batches = len(y) // one.batch + 1
    schedule = (
        torch.optim.lr_scheduler.ConstantLR(optimizer, 1.0)
        if one.constant
        else torch.optim.lr_scheduler.OneCycleLR(optimizer, one.rate, total_steps=one.epochs * batches)
    )
    average = torch.optim.swa_utils.AveragedModel(
        network, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.998)
    )
    step, last = 0, int(0.9 * one.epochs * batches)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", TrainingWarning)
        for _ in range(one.epochs):
            for b in torch.randperm(len(y)).split(one.batch):
                step += 1
                if one.resumed and step == last:
                    constraint = MoDeConstraint(from_logits=True, **options)
                z = constraint(network(x[b]), y[b], m[b], w[b])
                loss = nn.functional.binary_cross_entropy_with_logits(z, y[b], weight=w[b])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                if step < one.epochs * batches:
                    schedule.step()
                if one.averaged:
                    average.update_parameters(network)
        chosen = copy.deepcopy(average.module) if one.averaged else network
        chosen.eval()
        constraint.eval()
    return chosen, constraint, [str(c.message) for c in caught if issubclass(c.category, TrainingWarning)]


def judged(one: Training, network: nn.Module) -> dict[str, Any]:
    """What other events tell.

    ``z`` is the signal that a template finds at N = T, in errors, and ``p`` a chi2 of 20 bins whose variance has the
    statistics of the training too; ``strict`` is metrics.dependence, which has those of the test alone.
    """
    features, mass, label, weight = PROBLEMS[one.problem](np.random.default_rng(10_000), TESTS, SIGNALS)
    with torch.no_grad():
        score = network(torch.tensor(features.astype("f4"))).numpy().astype(float)
    b, s = label == 0, label == 1
    at = [np.quantile(score[s], 1 - cut) for cut in CUTS.values()]
    order = np.argsort(-score[b])
    share = np.cumsum(weight[b][order]) / weight[b].sum()
    at.append(score[b][order][np.argmax(share >= TIGHT)])
    found = {}
    for name, cut in zip([*CUTS, "5e-3"], at, strict=True):
        passed = score[b] >= cut
        z, bump = _signal(mass[b], weight[b], passed, mass[s], one.order, one.events)
        chi2 = _chi2(mass[b], weight[b], passed, one.order)
        scaled = chi2 / (1 + TESTS / one.events)
        free = BINS - one.order - 1
        strict = metrics.dependence(
            passed.astype(float), None, mass[b], weight=weight[b], order=one.order, bins=BINS
        ).p_value
        efficiency = float(weight[b][passed].sum() / weight[b].sum())
        found[name] = {"efficiency": efficiency, "z": z, "bump": bump, "p": _above(scaled, free), "strict": strict}
    truth = "between"
    z = max(abs(c["z"]) for c in found.values())
    p = min(1.0, 4 * min(c["p"] for c in found.values()))
    if p > 0.05 and z < 2:
        truth = "flat"
    elif p < 1e-3 or z > 3 * np.sqrt(2):
        truth = "not flat"
    return {"truth": truth, "z": z, "p": p, "cuts": found}


def _above(chi2: float, free: int) -> float:
    """The probability of a larger chi2 (Wilson and Hilferty)."""
    from math import erfc, sqrt

    t = ((chi2 / free) ** (1 / 3) - 1 + 2 / (9 * free)) / sqrt(2 / (9 * free))
    return 0.5 * erfc(t / sqrt(2))


def _chi2(mass: NDArray[Any], weight: NDArray[Any], passed: NDArray[Any], order: int) -> float:
    edges = np.quantile(mass, np.linspace(0, 1, BINS + 1))
    bins = np.clip(np.searchsorted(edges, mass, side="right") - 1, 0, BINS - 1)
    every, kept = np.bincount(bins, weight, BINS), np.bincount(bins[passed], weight[passed], BINS)
    f, mean = kept / every, kept.sum() / every.sum()
    squares = np.bincount(bins, weight**2, BINS)
    error = np.sqrt(mean * (1 - mean) * squares) / every
    x = np.bincount(bins, mass, BINS) / np.bincount(bins, minlength=BINS)
    p = np.polynomial.legendre.legvander(2 * (x - mass.min()) / np.ptp(mass) - 1, order) / error[:, None]
    return float(np.sum((f / error - p @ np.linalg.lstsq(p, f / error, rcond=None)[0]) ** 2))


def _signal(
    mass: NDArray[Any], weight: NDArray[Any], passed: NDArray[Any], signal: NDArray[Any], order: int, events: int
) -> tuple[float, float]:
    """The signal that the spectrum before, times a polynomial, leaves: in errors at N = events, and relative."""
    edges = np.quantile(mass, np.linspace(0, 1, 61))
    before, after = (
        np.histogram(mass, edges, weights=weight)[0],
        np.histogram(mass[passed], edges, weights=weight[passed])[0],
    )
    variance = np.histogram(mass, edges, weights=weight**2)[0] * after.sum() / before.sum()
    shape = np.histogram(signal, edges)[0] / len(signal)
    x = 2 * (edges[1:] + edges[:-1] - 2 * edges[0]) / 2 / np.ptp(edges) - 1
    columns = (
        np.column_stack([before[:, None] * np.polynomial.legendre.legvander(x, order), shape])
        / np.sqrt(variance)[:, None]
    )
    covariance = np.linalg.inv(columns.T @ columns)
    found = covariance @ columns.T @ (after / np.sqrt(variance))
    under = np.sum(shape * after) / np.sum(shape**2)  # of the background where the signal is
    return float(found[-1] / np.sqrt(covariance[-1, -1]) * np.sqrt(events / len(mass))), float(found[-1] / under)


def trainings() -> list[Training]:
    """All trainings: first as they should be, then with what makes a response that is not flat."""
    problems = [(name, order) for name in PROBLEMS for order in (0, 1) if (name, order) != ("dijet", 0)]
    found = [Training(name, order=order, seed=seed) for seed in (1, 2) for name, order in problems]

    def add(which: tuple[tuple[str, int], ...], *changes: dict[str, Any]) -> None:
        found.extend(Training(name, order=order, **change) for name, order in which for change in changes)

    tagger, resonant, simple, tail, innocent = (
        ("tagger", 0),
        ("resonant", 1),
        ("simple", 1),
        ("tail", 1),
        ("innocent", 0),
    )
    rounding = [{"rounding": how, "batch": batch, "seed": 3} for how in (".05", "mantissa") for batch in (256, 512)]
    add((tagger, resonant), *rounding)
    add((tagger, tail, ("resonant", 0), ("simple", 0)), *({"epochs": epochs, "seed": 4} for epochs in (3, 6)))
    few = {"events": 10_000, "batch": 512, "epochs": 30}
    add((tagger, ("resonant", 0), simple, innocent), *({**few, "seed": seed} for seed in (5, 6)))
    add((tagger, resonant, simple), *({"rate": rate, "constant": True, "seed": 7} for rate in (1e-2, 3e-2)))
    add((tagger, ("simple", 0), resonant), *({"dropout": share, "seed": 8} for share in (0.1, 0.5)))
    add((tagger, simple, resonant, ("broad", 0)), {"resumed": True, "seed": 9})
    add((tagger, simple, innocent), {"averaged": True, "constant": True, "rate": 2e-3, "seed": 10})
    add((tagger, simple, innocent), *({**few, "told": told, "seed": 11} for told in (True, False)))
    return found


def append(key: str, result: dict[str, Any]) -> None:
    """Adds a line to the results."""
    with RESULTS.open("a") as file:
        file.write(json.dumps({"key": key, **result}) + "\n")


def stored() -> dict[str, dict[str, Any]]:
    """The results by name."""
    lines = RESULTS.read_text().splitlines() if RESULTS.exists() else []
    return {one.pop("key"): one for one in map(json.loads, lines)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", metavar="REGEX", default="")
    only = parser.parse_args().only
    torch.set_num_threads(1)
    done = stored()
    for one in trainings():
        if one.name in done or not re.search(only, one.name):
            continue
        start = time.time()
        network, constraint, said = fitted(one)
        verdict = constraint.convergence
        spectrum = {"zero": verdict.zero, "peak": verdict.peak}
        result = {**judged(one, network), "flat": verdict.flat, **spectrum, "verdict": str(verdict), "said": said}
        append(one.name, result)
        print(
            f"{one.name}: {result['truth']}, z {result['z']:.1f}; {verdict.flat}; {time.time() - start:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
