"""Writes the golden cases to standard output as numbers that test_golden.c reads with fscanf.

Usage: python golden_to_text.py mode_loss.json > mode_loss.txt

A case is its name on a line, the options in the order of mode_options (flags
and enumerations as numbers, edges with their number before them), the number of
events, 1 if there are weights, the loss, then scores, masses, weights if any,
and the gradient. Floating-point numbers are hexadecimal: none is rounded.
"""

import json
import math
import sys

ENUMERATIONS = {
    "binning": ("quantile", "uniform", "edges"),
    "moments": ("quadrature", "projection"),
    "slope_of": ("rejected", "selected"),
    "reduction": ("mean", "sum"),
}
UNBOUNDED = (-math.inf, math.inf)
DEFAULT_BINS = 32  # for cases with given edges, where the number is not used


def lines(case):
    """The lines of a case."""
    options = case["options"]
    yield case["name"]
    yield options["order"], options["bins"] or DEFAULT_BINS
    yield [names.index(options[name]) for name, names in ENUMERATIONS.items()]
    yield int(options["monotonic"]), int(options["unbiased"])
    yield math.inf if options["max_slope"] is None else options["max_slope"], float(options["slope_penalty"])
    yield [float(end) for end in (*(options["mass_range"] or UNBOUNDED), *(options["score_range"] or UNBOUNDED))]
    yield [len(options["edges"] or ()), *map(float, options["edges"] or ())]
    yield len(case["score"]), int(case["weight"] is not None)
    yield (case["loss"],)
    for name in ("score", "mass", "weight", "grad"):
        if case[name] is not None:
            yield map(float, case[name])


def text(value):
    """A line as text."""
    if isinstance(value, str):
        return value
    return " ".join(number.hex() if isinstance(number, float) else str(number) for number in value)


with open(sys.argv[1]) as file:
    cases = json.load(file)
print(len(cases))
for case in cases:
    for line in lines(case):
        print(text(line))
