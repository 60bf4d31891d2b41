"""Whether the loss without bins is better in small batches: ``python -m studies.simple_model.unbinned``.

MoDe[1] and MoDe[0] in batches of which half are background, in the bins that are the
default and without bins up to some degrees. Writes unbinned.json.
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

PAGE = pages.DOCS / "variables.md"
RESULTS = Path(__file__).with_name("unbinned.json")
STRENGTHS = {1: 300, 0: 1_000}  # by order
BATCHES = (256, 1_000)
DEGREES = (None, 4, 8)  # None: the default, in bins
FULL = Size(2_000, 100_000, 400_000, (1, 2, 3, 4))
QUICK = Size(300, 60_000, 100_000, (1,))


def tasks(size: Size) -> dict[str, Task]:
    """All trainings by name."""
    return {
        f"{named(order, degree)}, batch {batch}, seed {seed}": Task(
            mode(order, strength, named(order, degree), **options_of(degree)), seed, size, batch
        )
        for batch in BATCHES
        for order, strength in STRENGTHS.items()
        for degree in DEGREES
        for seed in size.seeds
    }


def options_of(degree: int | None) -> dict[str, Any]:
    """Without bins up to a degree, or the default."""
    return {} if degree is None else {"binning": "none", "degree": degree}


def named(order: int, degree: int | None) -> str:
    """What a classifier is called."""
    return f"MoDe[{order}] {shown(degree)}"


def shown(degree: int | None) -> str:
    """In tables."""
    return "in bins" if degree is None else f"up to degree {degree}"


def tables(results: Mapping[str, Any]) -> dict[str, str]:
    """That of docs/variables.md, by the name of its marks."""
    rows = [["batch", "", "AUC, order 1", "residual", "AUC, order 0", "residual"]]
    for batch in BATCHES:
        for degree in DEGREES:
            row = [f"{batch:,}", shown(degree)]
            for order in STRENGTHS:
                name = named(order, degree)
                row += [
                    pages.over_seeds(auc(results, name, batch), 3),
                    pages.over_seeds(residual(results, name, batch), 1),
                ]
            rows.append(row)
    return {"without bins": pages.table(rows)}


def main() -> None:
    results = command("simple_model.unbinned", __doc__.split("\n")[0], tasks, measured, seconds, (FULL, QUICK), RESULTS)
    print(*tables(results).values(), sep="\n")


if __name__ == "__main__":
    main()
