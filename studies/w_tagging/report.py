"""The tables and figures of docs/w-tagging.md out of the committed results: ``python -m studies.w_tagging.report``."""

from __future__ import annotations

import json

from libmode import plots

from .. import pages
from . import keras_check, verdict
from .cost import COST
from .curves import figures
from .paper import RESULTS
from .summary import points
from .tables import of_cost, of_study

PAGE = pages.DOCS / "w-tagging.md"


def tables() -> dict[str, str]:
    """All of the page, out of the committed results."""
    return {
        **of_study(points(json.loads(RESULTS.read_text())["results"])),
        **verdict.tables(),
        "w tagging, cost": of_cost(json.loads(COST.read_text())),
        "w tagging, keras": keras_check.table(json.loads(keras_check.KERAS.read_text())["results"]),
    }


def main() -> None:
    pages.write(PAGE, tables())
    with plots.style():
        for name, figure in figures(points(json.loads(RESULTS.read_text())["results"])).items():
            figure.savefig(pages.DOCS / "images" / f"{name}.png", dpi=60)


if __name__ == "__main__":
    main()
