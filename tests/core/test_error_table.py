"""The table of errors through NumPy; and that it is whole: every error in the sources is one that a case makes."""

import ast
import re
from functools import partial
from pathlib import Path

import error_cases
import libmode
import pytest

ROOT = Path(__file__).resolve().parents[2]
FUNCTIONS = {
    "mode_loss": [libmode.mode_loss, libmode.mode_loss_and_grad],
    "disco_loss": [partial(libmode.mode_loss_and_grad, loss="disco")],
    "flatness_loss": [
        partial(function, loss="flatness") for function in (libmode.mode_loss, libmode.mode_loss_and_grad)
    ],
    **{name: [getattr(libmode, name)] for name in ("mode_evaluate", "mode_edges", "mode_moments")},
}
CASES = [
    (function, case)
    for case in error_cases.OPTIONS
    + error_cases.EVENTS
    + error_cases.LOOKING
    + error_cases.FRONT_OPTIONS
    + error_cases.FRONT_ARRAYS
    for function in FUNCTIONS[case.function]
]


@pytest.mark.parametrize("function, case", CASES, ids=lambda value: getattr(value, "input", ""))
def test_the_error_is_that_of_the_table(function, case):
    with pytest.raises(case.error) as caught:
        function(**case.arguments())
    assert type(caught.value) is case.error
    assert str(caught.value) == case.expected("numpy")


def test_no_two_cases_are_the_same():
    inputs = [(case.function, case.input) for _, case in CASES] + [("C", case.input) for case in error_cases.C_CASES]
    once = {key for key in inputs if inputs.count(key) > len(FUNCTIONS.get(key[0], [1]))}
    assert not once


# ------------------------------------------------------------------ every error of the sources has a case

#: Errors that no binding can make, by a part of their sentence, with the reason.
UNREACHED = {
    # core/*.go, for programs in Go; the bindings hand over arrays of one length, and check types before.
    "bins or edges make %d bins": "half a million edges are too long a case; core/internal/bins/bins_test.go",
    "push has length %d, but": "one size in C and in Python; core/direction_test.go",
    "sum has length %d, and must": "of mode_direction_..., tests/c/test_api.c",
    "sum[%d] = %v": "of mode_direction_..., tests/c/test_api.c",
    "norm = %v": "of mode_direction_..., core/direction_test.go",
    "rate = %v": "of mode_direction_..., core/direction_test.go",
    "factor = %v": "of mode_direction_..., core/direction_test.go",
    "batch = %d": "of mode_direction_..., tests/c/test_api.c and core/direction_test.go",
    "found is NULL": "of mode_direction_..., tests/c/test_api.c",
    "x has length %d, but one call": "2^32 values are 32 GB",
    "%s has length %d, but x has": "one size in C, one shape in PyTorch; core/disco/correlation_test.go",
    "the derivative is beyond its type": "of package disco; core/disco/correlation_test.go",
    "value is NULL": "of mode_distance_correlation_..., tests/c/test_baselines.c",
    "mass is given twice, as Mass and as Masses": "Go alone has both; core/variables_test.go",
    "mass has %d variables, and 1 to %d are possible": "C says n_mass, Python the shape; core/variables_test.go",
    "variable %d of mass has length %d": "one n in C, and one shape in Python; core/joint_test.go",
    "score has length %d, more than": "C says it of mass, which it looks at first; 2^32 events are 32 GB",
    "mass has %d variables, which have bins of their own": "Python says the shape; core/variables_test.go",
    "category is given, and each category has bins": "Python says it of an option; core/category_errors_test.go",
    "category has floating-point numbers": "C and Python refuse the type before; core/internal/events/division.go says it to Go",
    "are more than the %d that a call can have": "C says n_variables, Python the entries; core/variables_test.go",
    # What only memory or a defect can cause.
    "defect in libmode, please report it": "a defect: none is known",
    "libmode was loaded before fork()": "tests/c/test_threads.c",
    # python/libmode, beside the arguments of a loss.
    "is not libmode: it has no function": "tests/core/test_package.py",
    "has ABI version": "tests/core/test_package.py",
    "this process was forked from one": "tests/pytorch/test_fork.py",
    "only Linux can": "a reason inside the error of a forked process; tests/pytorch/test_fork.py",
    "unknown argument {…} of": "of what takes no options; tests/core/test_arguments_of_events.py, tests/pytorch/test_errors.py",
    "has another index than": "of pandas; tests/core/test_arguments_of_events.py",
    "are given by name": "of classes: tests/pytorch/test_option_values.py, tests/frameworks",
    "reference": "of constraints: tests/pytorch/test_constraint.py, tests/frameworks",
    "and {…} has none: give it for both or for neither": "of constraints: tests/pytorch/test_constraint.py",
}


def pattern(words, hole):
    """What a sentence made from a format looks like."""
    return ".*".join(re.escape(part) for part in re.split(hole, words))


def formats_of_go(path):
    """The formats of the errors of a file in Go."""
    text = path.read_text()
    for call in re.finditer(r"(errs\.OfOption|errs\.Of|argumentError|fmt\.Errorf|\w+\.Error)\((.*)", text):
        rest = text[call.start(2) : call.start(2) + 600]
        literal = re.sub(r'"\s*\+\s*\n\s*"', "", rest).split("\n")[0]
        strings = re.findall(r'"((?:[^"\\]|\\.)*)"', literal)
        if call[1] == "errs.OfOption":
            if "func " in text[: call.start()].rsplit("\n", 1)[-1]:
                continue
            # name and value come before the sentence, some as literals
            strings = [max(strings, key=len)] if strings else []
            yield from (f"%s = %v {one}" for one in strings)
        elif strings and "func " not in text[: call.start()].rsplit("\n", 1)[-1]:
            yield strings[0]
    for why in re.finditer(r'why:? ?=? ?"((?:[^"\\]|\\.)*)"', text):
        yield f"%s = %v {why[1]}"


def formats_of_c(path):
    """The sentences of the errors of mode.c."""
    text = re.sub(r'"\s*\n\s*"', "", path.read_text())
    for call in re.finditer(r"(?:fail\(|snprintf\()[^;]*;", text):
        for words in re.findall(r'"((?:[^"\\]|\\.)*)"', call[0]):
            if " " in words:
                yield words


def formats_of_python(path):
    """The sentences of what a module raises, with {…} for what is filled in."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not (isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args):
            continue
        words = node.exc.args[0]
        parts = words.values if isinstance(words, ast.JoinedStr) else [words]
        texts = [part.value if isinstance(part, ast.Constant) else "{…}" for part in parts]
        if any(text != "{…}" for text in texts):
            yield "".join(map(str, texts))


GO = [path for path in sorted((ROOT / "core").rglob("*.go")) if not path.name.endswith("_test.go")]
FRONT = [
    ROOT / "python" / "libmode" / f"_{name}.py"
    for name in ("events", "options", "option_values", "arrays", "limits", "native", "evaluate", "functions")
]
SOURCES = {
    "core": [(words, r"%[\w.]+") for path in GO for words in formats_of_go(path)],
    "capi": [(words, r"%\w+") for path in sorted((ROOT / "capi").glob("*.go")) for words in formats_of_go(path)],
    "mode.c": [(words, r"%\w+") for words in formats_of_c(ROOT / "capi" / "mode.c")],
    "python": [(words, re.escape("{…}")) for path in FRONT for words in formats_of_python(path)],
}
SENTENCES = [
    error_cases.filled(sentence)
    for case in [case for _, case in CASES] + error_cases.C_CASES
    for sentence in (case.sentence, *case.elsewhere.values())
    if sentence
]


#: How many formats are found at least, so that a change of how errors are written does not empty the lists.
AT_LEAST = {"core": 80, "capi": 14, "mode.c": 8, "python": 35}


@pytest.mark.parametrize("source", SOURCES)
def test_every_error_of_the_sources_is_one_that_a_case_makes(source):
    assert len(SOURCES[source]) >= AT_LEAST[source]
    missing = []
    for words, hole in SOURCES[source]:
        literal = re.sub(hole, "", words)
        if len(re.findall(r"[a-z]{3,}", literal)) < 2:  # only passes on another sentence
            continue
        if any(part in words for part in UNREACHED):
            continue
        matching = re.compile(pattern(words, hole))
        if not any(matching.search(sentence) for sentence in SENTENCES):
            missing.append(words)
    assert not missing


def test_nothing_is_excused_that_is_no_error():
    every = [words for found in SOURCES.values() for words, _ in found]
    assert [part for part in UNREACHED if not any(part in words for words in every)] == []
    reached = [
        words
        for found in SOURCES.values()
        for words, hole in found
        if any(part in words for part in UNREACHED)
        and any(re.search(pattern(words, hole), sentence) for sentence in SENTENCES)
    ]
    assert reached == []
