"""Writes the golden cases to standard output as lines of words, which programs in C and C++ read.

Usage: python golden_to_text.py mode_loss.json > mode_loss.txt

A case begins with "case NAME". Then come lines "option NAME VALUE..." and, in this order,
"loss", "score", "mass", "weight" (without numbers if there are no weights) and "grad", each
followed by its numbers. Numbers are hexadecimal: none is rounded. A reader sets options by
name, see set_option.h, and so need not change where an option is added.
"""

import json
import sys


def words(value):
    """A value of JSON as words."""
    if value is None:
        return "none"
    if isinstance(value, list):
        return " ".join(map(words, value))
    if isinstance(value, float):
        return value.hex()
    return str(int(value) if isinstance(value, bool) else value)


with open(sys.argv[1]) as file:
    cases = json.load(file)
for case in cases:
    print("case", case["name"].replace(" ", "_"))
    for name, value in case["options"].items():
        print("option", name, words(value))
    for name in ("loss", "score", "mass", "weight", "grad"):
        print(name, words(case[name] or []))
