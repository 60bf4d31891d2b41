"""The table of docs/from-disco.md: ``python -m studies.abcd.report``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .. import pages
from .study import BATCHES, RESULTS
from .train import FRACTIONS, METHODS

REST = Path(__file__).with_name("tables.md")


def tables(results: Mapping[str, Any]) -> dict[str, str]:
    """The table of the page, at 1 % of the background, and that of all three fractions."""
    short = [["between the scores", *(f"batches of {batch:,}" for batch in BATCHES)]]
    full = [["between the scores", "batch", *(f"{100 * one:g} %" for one in FRACTIONS), "ms a step"]]
    for method in METHODS:
        cells = [method]
        for batch in BATCHES:
            found = [one for key, one in results.items() if key.startswith(f"{method}; {batch};")]
            shown = [_shown(found, k) for k in range(len(FRACTIONS))]
            cells.append(shown[FRACTIONS.index(0.01)])
            full.append([method, f"{batch:,}", *shown, f"{1e3 * np.median([one['seconds'] for one in found]):.1f}"])
        short.append(cells)
    return {"closure": pages.table(short), "closure in full": pages.table(full)}


def _shown(found: list[Any], k: int) -> str:
    """Median over seeds of the non-closure and of the signal efficiency; the largest non-closure in brackets."""
    apart = [abs(one["ratio"][k] - 1) for one in found]
    return f"{np.median(apart):.3f} ({max(apart):.3f}), {100 * np.median([one['signal'][k] for one in found]):.0f} %"


if __name__ == "__main__":
    pages.write(tables(json.loads(RESULTS.read_text())["results"]), REST)
