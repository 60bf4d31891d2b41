"""Section 3.2 of arXiv:2010.09745, W tagging, with every method: ``python -m studies.w_tagging.paper``.

Trains every classifier of every scan with three seeds, measures it, and writes results.json; the
tables and figures of docs/zoo.md are made of that by ``python -m studies.w_tagging.report``.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..command import command
from ..methods import Classifier, one_thread
from .classifiers import METHODS, PAPER_FRACTION, PAPER_RECIPE
from .measure import fit_of, mass_edges, performance
from .sample import LARGE, SMALL, load
from .study import TEST, VALIDATION, Size, Task, seconds, trained
from .summary import points
from .tables import of_study

RESULTS = Path(__file__).with_name("results.json")
FULL = Size(str(LARGE), 50, 2_000, (1, 2, 3))
QUICK = Size(None, 30, 1_000, (1,))


def key(classifier: Classifier, seed: int) -> str:
    """The name of a training in results.json."""
    return f"{classifier.name}, strength {classifier.strength:g}, seed {seed}"


def digest(size: Size) -> str:
    """A digest of the sample's file, so that another sample is trained again."""
    path = Path(size.sample) if size.sample else SMALL
    if not path.exists():
        raise SystemExit(f"no sample in {path}: ./build.sh studies wsample makes one, --sample FILE takes another")
    return hashlib.sha256(path.read_bytes()).hexdigest()


def tasks(size: Size) -> dict[str, Task]:
    """All trainings of the study by name."""
    shared = {"digest": digest(size), "jets": len(load(size.sample))}
    quick = replace(size, sample=QUICK.sample) == QUICK
    scans = [scan[1::2] or scan if quick else scan for scan in METHODS.values()]
    scanned = [(classifier, 0.0) for scan in scans for classifier in scan]
    return {
        key(classifier, seed): Task(classifier, seed, size, fraction, **shared)
        for classifier, fraction in [*scanned, *((c, PAPER_FRACTION) for c in PAPER_RECIPE)]
        for seed in size.seeds
    }


def measured(task: Task) -> dict[str, Any]:
    """Trains once, and returns what results.json holds of it."""
    one_thread()
    sample = load(task.size.sample)
    fit, edges = fit_of(sample), mass_edges(sample)
    found = trained(task, sample)
    result = performance(found.score, found.mass, found.label, task.classifier.order, edges, fit)
    if task.classifier.method == "none":  # once is enough
        count = {"W": int(sample.label.sum()), "QCD": int((1 - sample.label).sum())}
        result["sample"] = {**count, "test": TEST, "validation": VALIDATION, "edges": edges.tolist()}
        result["fit"] = {"width": fit.width, "degree": fit.degree, "degrees": fit.fits}
    return {"epoch": found.epoch, **result}


def main() -> None:
    results = command(
        "w_tagging.paper", __doc__.split("\n")[0], tasks, measured, seconds, (FULL, QUICK), RESULTS, samples=True
    )
    print(*(f"{name}\n{table}" for name, table in of_study(points(results)).items()), sep="\n")


if __name__ == "__main__":
    main()
