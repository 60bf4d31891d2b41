"""Whatever files and expressions ``libmode report`` is given: events with finite numbers, or a sentence that names what is wrong.

``LIBMODE_FUZZ`` says how many examples; other than by default they differ from run to run.
"""

import os
import warnings

import numpy as np
import pytest
import report_toys
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from libmode.report.events import Wanted, read
from libmode.report.formats import find
from libmode.report.problem import Problem

EXAMPLES = int(os.environ.get("LIBMODE_FUZZ", "0"))
fuzzing = settings(
    max_examples=EXAMPLES or 150,
    derandomize=not EXAMPLES,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)
N = 40


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """With a file of each suffix that can be read."""
    folder = tmp_path_factory.mktemp("fuzz")
    for suffix in report_toys.SUFFIXES:
        report_toys.write(folder / f"good.{suffix}", report_toys.events(N))
    return folder


def check(path, tree="", **wanted):
    """Reads the file, and returns the sentence of the problem, or "" if there is none."""
    options = {"scores": ("flat",), "mass": "mass"} | wanted
    try:
        parts = [events for _, events in read(find(f"{path}{tree}"), Wanted(**options))]
    except Problem as problem:
        sentence = str(problem)
        assert sentence.endswith(".") and "\n" not in sentence and len(sentence.split()) > 3, sentence
        assert path.name in sentence or "--" in sentence, f"neither a file nor an option is named: {sentence}"
        return sentence
    for part in parts:
        for array in (*part.scores.T, part.mass, part.weight):
            assert array.shape == part.mass.shape and np.isfinite(array).all()
    return ""


@st.composite
def damages(draw):
    """A change of the bytes of a file."""
    kind = draw(st.sampled_from(["cut", "flip", "insert", "remove", "fill", "append"]))
    place, length = draw(st.floats(0, 1)), draw(st.integers(1, 64))
    some = draw(st.binary(min_size=1, max_size=64))

    def damage(data):
        at = int(place * len(data))
        return {
            "cut": data[:at],
            "flip": data[:at] + bytes(b ^ s for b, s in zip(data[at:], some, strict=False)) + data[at + len(some) :],
            "insert": data[:at] + some + data[at:],
            "remove": data[:at] + data[at + length :],
            "fill": data[:at] + b"\xff" * length + data[at + length :],
            "append": data + some,
        }[kind]

    return damage


@fuzzing
@given(st.sampled_from(report_toys.SUFFIXES), st.lists(damages(), min_size=1, max_size=3))
def test_a_damaged_file(folder, suffix, damages):
    data = (folder / f"good.{suffix}").read_bytes()
    for damage in damages:
        data = damage(data)
    path = folder / f"damaged.{suffix}"
    path.write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the packages that read, about what is in the file
        check(path, weight="weight", label="label", cut="count > 1")


@fuzzing
@given(st.binary(max_size=300), st.sampled_from([b"", b"root", b"PAR1", b"\x89HDF\r\n\x1a\n", b"flat,mass\n"]))
def test_a_file_of_any_bytes(folder, data, head):
    path = folder / "any.csv"
    path.write_bytes(head + data)
    check(path)


WORDS = ["mass", "flat", "weight", "label", "count", "nothing", "get", "sqrt", "log", "where", "len", "__import__", "lambda", "1", "0", "1e400",
         "-", "+", "*", "/", "//", "%", "**", "<", "==", "&", "|", "^", "~", "(", ")", "[", "]", ",", ".", ":", "'", '"', "\\", "\0", "é", " ", "\n",
         "if", "else", "and", "not", "in", "True", "None", "0x", "1j", "...", ":=", "{", "}", "@", "!", "#"]  # fmt: skip
TEXTS = st.one_of(st.text(max_size=20), st.lists(st.sampled_from(WORDS), max_size=8).map("".join))


@fuzzing
@given(st.sampled_from(report_toys.SUFFIXES), st.sampled_from(["scores", "mass", "weight", "label", "cut"]), TEXTS)
def test_any_expression(folder, suffix, option, text):
    path = folder / f"good.{suffix}"
    check(path, **{option: (text,) if option == "scores" else text})


@fuzzing
@given(st.sampled_from(report_toys.SUFFIXES), TEXTS.filter(lambda text: text.splitlines() in ([], [text])))
def test_any_tree(folder, suffix, text):
    check(folder / f"good.{suffix}", tree=f":{text}")
