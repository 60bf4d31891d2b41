"""Computes the loss and the gradient of every golden case from the definition, in extended precision.

    python tests/golden/make.py            writes them into mode_loss.json
    python tests/golden/make.py --check    compares them with those that are there

The events and the options of the cases are taken from mode_loss.json: to add a
case, write a record without its loss and gradient, and run this. Nothing here
uses libmode; what there is to share with the tests is in tests/helpers/reference.py.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))

from reference import Binned, Reference, bin_of, exact, quantile_edges

PATH = Path(__file__).parent / "mode_loss.json"
TOLERANCE = 1e-12  # relative to the largest element, for what is stored in float64


def edges_of(mass: np.ndarray, options: dict) -> np.ndarray:
    """The edges of the bins that the options ask for."""
    if options["binning"] == "edges":
        return np.array(options["edges"])
    low, high = options["mass_range"] or (mass.min(), mass.max())
    if options["binning"] == "uniform":
        return np.linspace(low, high, options["bins"] + 1)
    return quantile_edges(mass, options["bins"], (low, high))


def loss_and_gradient(record: dict) -> tuple[float, list[float]]:
    """Of one case, by summing over all events anew at every score."""
    options = dict(record["options"])
    score, mass = np.array(record["score"]), np.array(record["mass"])
    weight = np.ones(len(mass)) if record["weight"] is None else np.array(record["weight"])
    edges = edges_of(mass, options)
    bins = bin_of(mass, edges)
    inside = bins >= 0
    n_bins = len(edges) - 1
    score_range = options.pop("score_range")
    for name in ("binning", "bins", "edges", "mass_range"):
        del options[name]
    reference = Reference(Binned.of(mass[inside], weight[inside], edges, options["order"]), **options)

    own = exact(weight)
    powers = own, own**2

    def sums(selected):
        """The sums over each bin, of weights and of their squares."""
        masks = [selected & (bins == b) for b in range(n_bins)]
        return np.array([[power[mask].sum() for mask in masks] for power in powers], dtype=object)

    levels = np.unique(score[inside])
    below = [reference.integrand(*sums(score < level)) for level in levels]
    above = reference.integrand(*sums(score <= levels[-1]))
    ends = (levels[0], levels[-1]) if score_range is None else score_range
    places = exact([ends[0], *levels, ends[1]])
    loss = reference.scale * (np.array([*below, above]) @ np.diff(places))

    gradient = []
    for s, b, w in zip(score, bins, own, strict=True):
        if b < 0:
            gradient.append(0.0)
            continue
        value = reference.derivative(sums(score < s), sums(score <= s), b, w)
        if score_range is None and s == levels[-1]:  # the integral ends there
            share = 1 if (score[inside] == s).sum() == 1 else 0.5
            value += share * reference.scale * above
        gradient.append(float(value))
    return float(loss), gradient


def differences(record: dict, loss: float, gradient: list[float]) -> list[str]:
    """What differs between a record and this loss and gradient, in words."""
    found = []
    for name, stored, computed in (("loss", record["loss"], loss), ("grad", record["grad"], gradient)):
        off = np.max(np.abs(np.subtract(stored, computed)))
        if not off <= TOLERANCE * np.max(np.abs(computed)):
            found.append(
                f"{record['name']}: {name} differs by {off:.3g}, largest element {np.max(np.abs(computed)):.3g}"
            )
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    check = parser.parse_args().check
    records = json.loads(PATH.read_text())
    different = []
    for record in records:
        loss, gradient = loss_and_gradient(record)
        if check:
            different += differences(record, loss, gradient)
        record["loss"], record["grad"] = loss, gradient
    if check:
        print(*different, f"{len(records)} cases, {len(different)} differences", sep="\n")
        return len(different) > 0
    PATH.write_text("[\n" + ",\n".join(map(json.dumps, records)) + "\n]\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
