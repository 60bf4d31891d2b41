"""Judges W taggers by QCD jets that have no other use: ``python -m studies.w_tagging.testing --seed 1``.

Trains every classifier with each of TRAININGS on the jets of the tree, and counts which of the test jets of that
seed (``./build.sh studies wsample --test-jets N --seed 1``) it keeps. The counts are added to testing.json, so
that the test jets of more seeds, which are others, can be judged by on other days: each training is then repeated.
``--only REGEX`` trains the classifiers whose name it matches, and keeps the counts of the others. The tables of
docs/zoo.md are made of them by verdict.py.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from libmode import metrics
from libmode.posthoc import QuantileMap

from ..methods import Classifier, one_thread
from ..runner import Piece, run
from ..spectra import residual
from .classifiers import METHODS, RANGE
from .maps import ORDERS
from .measure import BIAS_EDGES, EFFICIENCY, mass_edges
from .sample import Sample, load, testing
from .study import Size, Task, prepared_split, seconds
from .train import scores_of, train, train_against_adversary

RESULTS = Path(__file__).with_name("testing.json")
TRAININGS = tuple(range(1, 9))  # seeds; each of them trains on another half of the tree's jets
FULL = Size(None, 50, 2_000, ())
QUICK = Size(None, 3, 2_000, ())
OF_QUICK = ("unconstrained", "MoDe[1]")

SEARCH = 25_000  # jets before the selection


def layer(order: int) -> Classifier:
    """A classifier with MoDeConstraint."""
    return Classifier(f"MoDeConstraint[{order}]", "constraint", options={"order": order, "mass_range": RANGE})


LAYERS = [layer(order) for order in ORDERS]
# The scans, and classifiers without a strength.
SCANS: dict[str, tuple[Classifier, ...]] = {**METHODS, **{one.name: (one,) for one in LAYERS}}


@dataclass(frozen=True)
class Judged:
    """A training, and the file of the jets that judge it."""

    task: Task
    path: str


def mapped(order: int) -> str:
    """The name of the unconstrained classifier with a map of this order."""
    return f"unconstrained, QuantileMap({order})"


def key(name: str, strength: float) -> str:
    """The name of a classifier in testing.json."""
    return f"{name}, strength {strength:g}"


def measured(judged: Judged) -> dict[str, Any]:
    """Trains a classifier, and counts the test jets that pass it and its maps, by their keys."""
    one_thread()
    task, tree, jets = judged.task, load(None), load(judged.path, labels=(0,))
    parts, places = prepared_split(task, tree)
    method = train_against_adversary if task.classifier.method == "adversary" else train
    network, _ = method(
        parts[0], parts[1], task.classifier, epochs=task.size.epochs, batch=task.size.batch, seed=task.seed
    )
    score = scores_of(network, parts[2])
    trained_on = tree.features[places[0]]
    inputs = (jets.features - trained_on.mean(axis=0)) / trained_on.std(axis=0)
    of_jets = _scores(network, inputs)
    mass, label = tree.mass[places[2]], tree.label[places[2]]
    found = {
        key(task.classifier.name, task.classifier.strength): _counts(
            score, label, of_jets, jets, mass_edges(tree), task.classifier.order
        )
    }
    if task.classifier.method == "none":
        of_fit = np.concatenate([scores_of(network, part) for part in parts[:2]])
        used = np.concatenate(places[:2])
        background = (tree.label[used] == 0) & (tree.mass[used] < RANGE[1])
        for order in ORDERS:
            fitted = QuantileMap(order, mass_range=RANGE).fit(of_fit[background], tree.mass[used][background])
            found[key(mapped(order), 0)] = _counts(
                fitted.transform(score, mass),
                label,
                fitted.transform(of_jets, jets.mass),
                jets,
                mass_edges(tree),
                order,
            )
    return found


@torch.inference_mode()
def _scores(network: torch.nn.Module, inputs: np.ndarray) -> np.ndarray:
    return torch.cat([network(chunk)[:, 0] for chunk in torch.from_numpy(inputs).split(100_000)]).numpy()


def _counts(
    score: np.ndarray, label: np.ndarray, of_jets: np.ndarray, jets: Sample, edges: np.ndarray, order: int
) -> dict[str, Any]:
    """Counts of test jets that pass the cut for half of the W jets in the tree's test set.

    kept : how many
    spectrum : of these, in BIAS_EDGES
    residual, expected : rms of the fraction kept, in bins of mass up to 200 GeV, around its best polynomial in
        mass, and what the number of jets makes of it; over the mean fraction
    """
    cut = metrics.threshold(score, label, signal_efficiency=EFFICIENCY)
    selected = of_jets >= cut
    inner = np.minimum(edges, RANGE[1])
    flat = residual(jets.mass, selected, inner, order)
    return {
        "kept": int(selected.sum()),
        "spectrum": np.histogram(jets.mass[selected], BIAS_EDGES)[0].tolist(),
        "residual": flat.rms,
        "expected": flat.expected,
    }


def classifiers(quick: bool) -> Iterator[Classifier]:
    """The classifiers that are trained."""
    for name, scan in SCANS.items():
        if not quick:
            yield from scan
        elif name in OF_QUICK:
            yield scan[-1]


def main() -> None:
    """Judges by the test jets of a seed, and adds the counts to the results."""
    parser = argparse.ArgumentParser(prog="python -m studies.w_tagging.testing", description=__doc__.split(":")[0])
    parser.add_argument("--seed", type=int, default=1, help="of the test jets, from 1 on")
    parser.add_argument("--sample", type=Path, help="the test jets, by default where wsample writes those of the seed")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument(
        "--quick", action="store_true", help="two classifiers, one training, three epochs; committed results stay"
    )
    parser.add_argument("--only", metavar="REGEX", default="", help="of the classifiers, those whose name matches")
    chosen = parser.parse_args()
    if chosen.seed < 1:
        parser.error(f"--seed = {chosen.seed} is not 1 or more")
    path = chosen.sample or testing(chosen.seed)
    if not path.exists():
        parser.error(f"no jets in {path}: ./build.sh studies wsample --test-jets N --seed {chosen.seed} makes some")
    size, results = (QUICK, Path("build/studies/testing-quick.json")) if chosen.quick else (FULL, RESULTS)
    jets, tree = load(path, labels=(0,)), load(None)
    trainings = TRAININGS[:1] if chosen.quick else TRAININGS
    pieces = {seed: _pieces(seed, chosen.quick, chosen.only, size, len(tree), path, len(jets)) for seed in trainings}
    every = [piece for of_seed in pieces.values() for piece in of_seed]
    trained = run(every, measured, Path("build/studies/testing"), chosen.processes)
    found = json.loads(results.read_text())["test jets"] if results.exists() else {}
    before = found.get(str(chosen.seed), {}).get("trainings", {}) if chosen.only else {}
    found[str(chosen.seed)] = {
        "jets": len(jets),
        "spectrum": np.histogram(jets.mass, BIAS_EDGES)[0].tolist(),
        "trainings": {
            str(seed): before.get(str(seed), {})
            | {name: counts for piece in of_seed for name, counts in trained[piece.key].items()}
            for seed, of_seed in pieces.items()
        },
    }
    ordered = {seed: found[seed] for seed in sorted(found, key=int)}
    results.write_text(json.dumps({"test jets": ordered}, separators=(",", ":")) + "\n")
    print("wrote", results)


def _pieces(seed: int, quick: bool, only: str, size: Size, of_tree: int, path: Path, jets: int) -> list[Piece]:
    """The trainings of one seed."""
    pieces = []
    for classifier in classifiers(quick):
        if not re.search(only, classifier.name):
            continue
        task = Task(classifier, seed, size, jets=of_tree)
        name = f"{key(classifier.name, classifier.strength)}, seed {seed}, {path.stem}"
        pieces.append(Piece(name, asdict(task) | {"test jets": jets}, Judged(task, str(path)), seconds(task)))
    return pieces


if __name__ == "__main__":
    main()
