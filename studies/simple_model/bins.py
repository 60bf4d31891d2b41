"""The best number of events in a bin, for small batches: ``python -m studies.simple_model.bins``.

MoDe[1] and MoDe[0] in batches of which half are background, with a given number of
bins. Writes bins.json.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .. import pages
from ..command import command
from .classifiers import mode
from .small_batches import auc, measured, residual
from .study import Size, Task, seconds

RESULTS = Path(__file__).with_name("bins.json")
STRENGTHS = {1: 300, 0: 1_000}  # by order
BINS = {256: (4, 8, 16, 32), 1_000: (8, 16, 32, 64)}  # by batch
FULL = Size(2_000, 100_000, 400_000, (1, 2, 3, 4))
QUICK = Size(300, 60_000, 100_000, (1,))


def tasks(size: Size) -> dict[str, Task]:
    """All trainings by name."""
    return {
        f"{_name(order, bins)}, batch {batch}, seed {seed}": Task(
            mode(order, strength, _name(order, bins), bins=bins), seed, size, batch
        )
        for batch, numbers in BINS.items()
        for order, strength in STRENGTHS.items()
        for bins in numbers
        for seed in size.seeds
    }


def _name(order: int, bins: int) -> str:
    return f"MoDe[{order}] in {bins} bins"


def tables(results: Mapping[str, Any]) -> dict[str, str]:
    """The table, by the name of its marks."""
    rows = [["batch", "bins", "background events a bin", "AUC, order 1", "residual", "AUC, order 0", "residual"]]
    for batch, numbers in BINS.items():
        for bins in numbers:
            row = [f"{batch:,}", str(bins), f"{batch / 2 / bins:.0f}"]
            for order in STRENGTHS:
                name = _name(order, bins)
                row += [
                    pages.over_seeds(auc(results, name, batch), 3),
                    pages.over_seeds(residual(results, name, batch), 1),
                ]
            rows.append(row)
    return {"bins by batch": pages.table(rows)}


def main() -> None:
    results = command("simple_model.bins", __doc__.split("\n")[0], tasks, measured, seconds, (FULL, QUICK), RESULTS)
    print(*tables(results).values(), sep="\n")


if __name__ == "__main__":
    main()
