"""Tables and figures of the studies with jets, from committed results: ``python -m studies.w_tagging.report``."""

from __future__ import annotations

import json
from pathlib import Path

from .. import pages
from ..drawing import style
from . import keras_check, maps, verdict
from .cost import COST
from .curves import figures
from .paper import RESULTS
from .summary import points
from .tables import of_cost, of_study

REST = Path(__file__).with_name("tables.md")


def tables() -> dict[str, str]:
    """The tables, by the names of their marks."""
    return {
        **of_study(points(json.loads(RESULTS.read_text())["results"])),
        **verdict.tables(),
        **maps.tables(json.loads(maps.RESULTS.read_text())["results"]),
        "w tagging, cost": of_cost(json.loads(COST.read_text())),
        "w tagging, keras": keras_check.table(json.loads(keras_check.KERAS.read_text())["results"]),
    }


def main() -> None:
    pages.write(tables(), REST)
    with style():
        for name, figure in figures(points(json.loads(RESULTS.read_text())["results"])).items():
            figure.savefig(pages.DOCS / "images" / f"{name}.png", dpi=60)


if __name__ == "__main__":
    main()
