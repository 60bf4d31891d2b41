"""Writes golden cases, or the table of errors, as the arrays of a header for C, C++ and ROOT.

Usage: PYTHONPATH=tests/helpers python write_cases.py golden.h mode_loss.json variables.json
       PYTHONPATH=tests/helpers python write_cases.py error_cases.h
"""

import json
import math
import re
import sys
from pathlib import Path

import numpy as np

CASE = """#include <math.h>
#include <string.h>
#include <mode.h>

typedef struct {
    const char *name, *options;
    size_t n;
    int32_t n_mass;
    double loss;
    const double *score, *mass, *weight, *grad; /* masses of each variable after those of another; weight: NULL if there are none */
    const int32_t *label;                       /* NULL: none */
    const int64_t *category;                    /* NULL: none */
} golden_case;

/* The events of a case. */
static inline mode_events events_of(const golden_case *c) {
    mode_events events;
    memset(&events, 0, sizeof events);
    events.size = sizeof events, events.n = c->n, events.n_mass = c->n_mass, events.dtype = MODE_FLOAT64;
    events.score = c->score, events.mass = c->mass, events.weight = c->weight, events.label = c->label, events.category = c->category;
    events.label_type = MODE_INT32, events.category_type = MODE_INT64;
    return events;
}
"""


def number(value):
    """A number of C, of which none is rounded."""
    if isinstance(value, (bool, int)):
        return str(int(value))
    if value is None or math.isnan(value):
        return "NAN"
    return repr(float(value)) if math.isfinite(value) else "-INFINITY" if value < 0 else "INFINITY"


def array(kind, name, values):
    """The definition of an array; NULL for none."""
    values = [number(value) for value in ([] if values is None else np.ravel(values).tolist())]
    return f"static const {kind} {name}[] = {{{', '.join(values)}}};" if values else f"#define {name} NULL"


def in_text(name, value):
    """The value of an option as mode_new reads it."""
    if value is None:
        return "none"
    if isinstance(value, (str, bool)):
        return str(value).lower() if isinstance(value, bool) else value
    if not hasattr(value, "__len__"):
        return repr(value if isinstance(value, int) else float(value))
    for_each = name in ("bins", "background_label") or any(v is None or hasattr(v, "__len__") for v in value)
    return (";" if for_each else ",").join(in_text(name, v) for v in value)


def case(k, record):
    """The definitions of a case, and its line in the list."""
    mass = np.array(record["mass"], dtype=float)  # null is NaN
    columns = mass.reshape(len(mass), -1).T if mass.size else mass[None]
    kinds = {"score": "double", "weight": "double", "grad": "double", "label": "int32_t", "category": "int64_t"}
    arrays = [array(kind, f"{name}_{k}", record.get(name)) for name, kind in kinds.items()]
    arrays.append(array("double", f"mass_{k}", columns))
    options = " ".join(f"{name}={in_text(name, value)}" for name, value in record["options"].items())
    first = f'{{"{record["name"]}", {text(options)}, {len(record["score"])}, {len(columns)}, {number(record["loss"])}, '
    return "\n".join(arrays), first + f"score_{k}, mass_{k}, weight_{k}, grad_{k}, label_{k}, category_{k}}}"


def header(records):
    definitions, lines = zip(*(case(k, record) for k, record in enumerate(records)), strict=True)
    return "\n".join([CASE, *definitions, "static const golden_case cases[] = {", ",\n".join(lines), "};", ""])


def of_error(case):
    """An error as a case without loss and gradient."""
    given = case.arguments()
    arrays = {name: given.pop(name, None) for name in ("score", "mass", "weight", "label", "category")}
    return {"name": "", "options": given, "loss": 0.0, **arrays}


def text(words):
    """A string of C."""
    return json.dumps(words)


def words(case):
    """What the sentence must name, in two parts."""
    first, _, second = case.words.partition(" ... ")
    return f"{text(first)}, {text(second)}"


def of_c(case):
    """A line that spoils a call in C; what is called is the last statement if it is a call."""
    *spoil, last = case.input.split("; ")
    if not re.match(r"mode_(?!free)\w+\(", last):
        spoil, last = [*spoil, last], "mode_loss(m, &events, &result, grad)"
    return f"    OF_C_CASE(({', '.join(spoil) or '(void)0'}), {last}, MODE_ERROR_{case.kind}, {words(case)});"


def errors():
    import error_cases

    every = [case for case in error_cases.OPTIONS + error_cases.EVENTS if case.loss == "mode"]
    rows = [f"{{{text(case.input)}, MODE_ERROR_{case.kind}, {words(case)}}}" for case in every]
    return "\n".join(
        [
            header(map(of_error, every)),
            "struct error { const char *input; int status; const char *words, *more; };",
            "static const struct error from_python[] = {" + ",\n".join(rows) + "};",
            "#define OF_C \\\n" + " \\\n".join(map(of_c, error_cases.C_CASES)),
            "",
        ]
    )


def main(path, *golden):
    records = [record for name in golden for record in json.loads(Path(name).read_text())]
    Path(path).write_text(header(records) if golden else errors())


main(*sys.argv[1:])
