"""Writes the golden cases to standard output as lines of words, which programs in C and C++ read.

Usage: python golden_to_text.py mode_loss.json variables.json > golden.txt

A case begins with "case NAME". Then come lines "option NAME VALUE..." and, in this order,
"loss", "score", "n_mass", as many lines "mass", one for each variable, "weight", "label",
"category" (without numbers if there are none) and "grad", each followed by its numbers.
Numbers are hexadecimal: none is rounded. A reader sets options by name, see set_option.h,
and so need not change where an option is added.
"""

import json
import sys

# Options that each of several variables may have of its own.
OF_VARIABLES = ("bins", "mass_range", "edges", "knots")


def words(value):
    """A value of JSON as words."""
    if value is None:
        return "none"
    if isinstance(value, list):
        return " ".join(map(words, value))
    if isinstance(value, float):
        return value.hex()
    return str(int(value) if isinstance(value, bool) else value)


def one_for_each(name, value):
    """Whether the value of an option is a list of one for each variable."""
    return name in OF_VARIABLES and isinstance(value, list) and any(not isinstance(one, float) for one in value)


def options(given):
    """The lines of a case's options."""
    for name, value in given.items():
        if not one_for_each(name, value):
            yield f"option {name} {words(value)}"
    own = {name: value for name, value in given.items() if one_for_each(name, value)}
    each = zip(*own.values(), strict=True)
    variables = [" ".join(f"{name} {words(one)}" for name, one in zip(own, values, strict=True)) for values in each]
    if variables:
        yield f"option variables {' , '.join(variables)}"


def masses(mass):
    """A list for each variable; a value that is not there is NaN."""
    rows = [row if isinstance(row, list) else [row] for row in mass]
    return [[float("nan") if value is None else value for value in column] for column in zip(*rows, strict=True)]


def main(paths):
    for path in paths:
        with open(path) as file:
            cases = json.load(file)
        for case in cases:
            print("case", case["name"].replace(" ", "_"))
            print("\n".join(options(case["options"])))
            print("loss", words(case["loss"]))
            print("score", words(case["score"]))
            columns = masses(case["mass"]) or [[]]  # of no events
            print("n_mass", len(columns))
            for column in columns:
                print("mass", words(column))
            for name in ("weight", "label", "category", "grad"):
                print(name, words(case.get(name) or []))


main(sys.argv[1:])
