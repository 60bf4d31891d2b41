"""Writes golden cases, or the table of errors, as the arrays of a header for C, C++ and ROOT.

Usage: PYTHONPATH=tests/helpers python write_cases.py golden.h mode_loss.json variables.json
       PYTHONPATH=tests/helpers python write_cases.py error_cases.h
"""

import json
import math
import sys
from pathlib import Path

import numpy as np

# Options that each of several variables may have of its own.
OF_VARIABLES = ("bins", "mass_range", "edges")

CASE = """#include <math.h>
#include <string.h>
#include <mode.h>

typedef struct {
    const char *name;
    mode_options (*options)(void);
    size_t n, n_mass;
    double loss;
    const double *score, *mass[3], *weight, *grad; /* weight: NULL if there are none */
    const int32_t *label;                          /* NULL: none */
    const int64_t *category;                       /* NULL: none */
} golden_case;

/* The events of a case, good while that lives. */
static inline mode_events_f64 events_of(const golden_case *c) {
    mode_events_f64 events;
    memset(&events, 0, sizeof events);
    events.struct_size = sizeof events;
    events.n = c->n, events.n_mass = c->n_mass;
    events.score = c->score, events.mass = c->mass, events.weight = c->weight, events.label = c->label, events.category = c->category;
    events.label_type = MODE_LABEL_INT32, events.category_type = MODE_LABEL_INT64;
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


def one_for_each(name, value):
    """Whether the value of an option is a list of one for each variable."""
    several = isinstance(value, (list, tuple))
    return several and name in OF_VARIABLES and (name == "bins" or any(not isinstance(v, (int, float)) for v in value))


def statements(of, name, value):
    """What sets a member of options, or of a variable."""
    if name in ("mass_range", "score_range"):
        low, high = (-math.inf, math.inf) if value is None else value
        return [f"{of}.{name}[0] = {number(low)}, {of}.{name}[1] = {number(high)};"]
    if value is None:
        return []
    if isinstance(value, str):
        return [f"{of}.{name} = MODE_{name.upper()}_{value.upper()};"]
    if name in ("edges", "background_label"):
        kind, values = "int32_t" if name == "background_label" else "double", np.ravel(list(np.atleast_1d(value)))
        listed = ", ".join(map(number, values.tolist())) or "0"
        choice = "o.binning = MODE_BINNING_EDGES;" if name == "edges" else ""
        return [
            f"{{ static const {kind} list[] = {{{listed}}}; {of}.{name} = list, {of}.n_{name} = {len(values)}; }}",
            choice,
        ]
    return [f"{of}.{name} = {number(value)};"]


def options(k, given):
    """A function that returns the options of case k."""
    each = {name: value for name, value in given.items() if one_for_each(name, value)}
    lines = [line for name, value in given.items() if name not in each for line in statements("o", name, value)]
    count = len(next(iter(each.values()))) if each else 0
    for i in range(count):
        lines += [f"mode_variable_init(&v[{i}], sizeof *v);"]
        lines += [line for name, value in each.items() for line in statements(f"v[{i}]", name, value[i])]
    if each:
        lines = ["static mode_variable v[3];", *lines, f"o.variables = v, o.n_variables = {count};"]
    body = " ".join(lines)
    return (
        f"static mode_options options_{k}(void) {{ mode_options o; mode_options_init(&o, sizeof o); {body} return o; }}"
    )


def case(k, record):
    """The definitions of a case, and its line in the list."""
    score = np.array(record["score"], dtype=float)
    mass = np.array(record["mass"], dtype=float)  # null is NaN
    columns = mass.reshape(len(mass), -1).T if mass.size else [mass]
    names = [f"mass_{k}_{i}" for i in range(len(columns))]
    arrays = [array("double", name, column) for name, column in zip(names, columns, strict=True)]
    for name, kind in (
        ("score", "double"),
        ("weight", "double"),
        ("grad", "double"),
        ("label", "int32_t"),
        ("category", "int64_t"),
    ):
        arrays.append(array(kind, f"{name}_{k}", record.get(name)))
    pointers = ", ".join(names + ["NULL"] * (3 - len(names)))
    line = f'{{"{record["name"]}", options_{k}, {len(score)}, {len(columns)}, {number(record["loss"])}, score_{k}, {{{pointers}}}, '
    return "\n".join(
        [options(k, record["options"]), *arrays]
    ), line + f"weight_{k}, grad_{k}, label_{k}, category_{k}}}"


def header(records):
    definitions, lines = zip(*(case(k, record) for k, record in enumerate(records)), strict=True)
    return "\n".join([CASE, *definitions, "static const golden_case cases[] = {", ",\n".join(lines), "};", ""])


def of_error(case):
    """An error as a case without loss and gradient."""
    given = case.arguments()
    arrays = {name: given.pop(name, None) for name in ("score", "mass", "weight", "label", "category")}
    tuples = {name: tuple(value) if isinstance(value, range) else value for name, value in given.items()}
    return {"name": "", "options": tuples, "loss": 0.0, **arrays}


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
    if not last.startswith("mode_"):
        spoil, last = [*spoil, last], "mode_evaluate_f64(&options, &events, &result)"
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
