"""Writes the table of errors for C: the sentences as error_cases.h, the options and events as golden cases.

Usage: PYTHONPATH=tests/helpers python tests/c/write_error_cases.py error_cases.h error_cases.json
"""

import json
import sys

import error_cases
import numpy as np


def text(words):
    """A string of C."""
    return json.dumps(words)


def record(case):
    """The case as one of tests/golden."""
    given = case.arguments()
    arrays = {name: given.pop(name, None) for name in ("score", "mass", "weight", "label", "category")}
    if "edges" in given:
        given["binning"] = "edges"
    if "knots" in given:
        given["basis"] = "bspline"
    options = {
        "loss": case.loss,
        **{name: plain(value, name in ("edges", "knots", "mass_range")) for name, value in given.items()},
    }
    lists = {name: None if array is None else np.asarray(array).tolist() for name, array in arrays.items()}
    return {"name": "case", "options": options, "loss": 0.0, "grad": [], **lists}


def plain(value, real):
    """The value of an option as JSON has it, with float for numbers of lists of reals."""
    if isinstance(value, (tuple, list, range)):
        return [plain(one, real) for one in value]
    return float(value) if real and value is not None else value


def words(case):
    """What the sentence must name, in two parts."""
    first, _, second = case.words.partition(" ... ")
    return f"{text(first)}, {text(second)}"


def error(case):
    return f"{{{text(case.input)}, MODE_ERROR_{case.kind}, {words(case)}}}"


def of_c(case):
    """A line that spoils a call in C; what is called is the last statement if it is a call."""
    *statements, last = case.input.split("; ")
    if not last.startswith("mode_"):
        statements, last = [*statements, last], "mode_evaluate_f64(&options, &events, &result, grad, NULL)"
    return f"    OF_C_CASE(({', '.join(statements) or '(void)0'}), {last}, MODE_ERROR_{case.kind}, {words(case)});"


def main(header, events):
    cases = error_cases.OPTIONS + error_cases.EVENTS
    with open(events, "w") as file:
        json.dump([record(case) for case in cases], file)
    with open(header, "w") as file:
        file.write("struct error {\n    const char *input;\n    int status;\n    const char *words, *more;\n};\n\n")
        file.write(
            "static const struct error from_python[] = {\n    " + ",\n    ".join(map(error, cases)) + ",\n};\n\n"
        )
        file.write("#define OF_C \\\n" + " \\\n".join(map(of_c, error_cases.C_CASES)) + "\n")


main(*sys.argv[1:])
