"""Computes the loss and the gradient of every golden case from the definition, in extended precision.

    python tests/golden/make.py            writes them into mode_loss.json and variables.json
    python tests/golden/make.py --check    compares them with those that are there

The events and the options of the cases are taken from these files: to add a
case, write a record without its loss and gradient, and run this. Nothing here
uses libmode; the definition is in tests/helpers/definition.py.

mode_loss.json has one variable in bins, against Legendre polynomials. variables.json
has all else: several variables (a mass is then a list of numbers, null where there is
none), categories, a bin for each value.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))

from definition import gradient_of, loss_of

PATHS = [Path(__file__).parent / name for name in ("mode_loss.json", "variables.json")]
TOLERANCE = 1e-12  # relative to the largest element, for what is stored in float64


def computed(record: dict) -> dict:
    """The loss and the gradient of a case, by summing over all events anew at every score."""
    return {"loss": float(loss_of(record)), "grad": [float(element) for element in gradient_of(record)]}


def differences(record: dict) -> list[str]:
    """What of a case is not as it is computed, in words."""
    return [
        f"{record['name']}: {name} differs by {off:.3g}, largest element {np.max(np.abs(want)):.3g}"
        for name, want in computed(record).items()
        if not (off := np.max(np.abs(np.subtract(record[name], want)))) <= TOLERANCE * np.max(np.abs(want))
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    check, different = parser.parse_args().check, []
    for path in PATHS:
        records = json.loads(path.read_text())
        if check:
            print(f"{path.name}: {len(records)} cases")
            different += [line for record in records for line in differences(record)]
        else:
            records = [record | computed(record) for record in records]
            path.write_text("[\n" + ",\n".join(map(json.dumps, records)) + "\n]\n")
    if check:
        print(*different, f"{len(different)} differences", sep="\n")
    return len(different) > 0


if __name__ == "__main__":
    sys.exit(main())
