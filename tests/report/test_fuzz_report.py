"""Whatever damaged files ``libmode report`` is given: events with finite numbers, or a sentence that names what is wrong.

``LIBMODE_FUZZ`` says how many examples; other than by default they differ from run to run.
"""

import warnings

import numpy as np
import pytest
import report_toys
from fuzzed import fuzzing
from hypothesis import given
from hypothesis import strategies as st
from libmode.report.events import Wanted, read
from libmode.report.formats import find
from libmode.report.problem import Problem

N = 40


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """With a file of each suffix that can be read."""
    folder = tmp_path_factory.mktemp("fuzz")
    for suffix in report_toys.SUFFIXES:
        report_toys.write(folder / f"good.{suffix}", report_toys.events(N))
    return folder


def check(path, tree="", **wanted):
    """Reads the file, whose events are finite, or which the sentence of the problem names."""
    options = {"scores": ("flat",), "mass": "mass"} | wanted
    try:
        parts = [read(source, Wanted(**options))[1] for source in find(f"{path}{tree}")]
    except Problem as problem:
        sentence = str(problem)
        assert sentence.endswith(".") and "\n" not in sentence and len(sentence.split()) > 3, sentence
        assert path.name in sentence or "--" in sentence, f"neither a file nor an option is named: {sentence}"
        return
    for part in parts:
        for array in (*part.scores.T, part.mass, part.weight):
            assert array.shape == part.mass.shape and np.isfinite(array).all()


#: What is done to the bytes of a file from a place on: so many are removed, and some are put in.
DAMAGES = st.tuples(st.floats(0, 1), st.sampled_from([0, 1, 8, 64, 10**6]), st.binary(max_size=64))


@fuzzing
@given(st.sampled_from(report_toys.SUFFIXES), st.lists(DAMAGES, min_size=1, max_size=3))
def test_a_damaged_file(folder, suffix, damages):
    data = (folder / f"good.{suffix}").read_bytes()
    for place, removed, added in damages:
        at = int(place * len(data))
        data = data[:at] + added + data[at + removed :]
    path = folder / f"damaged.{suffix}"
    path.write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the packages that read, about what is in the file
        check(path, weight="weight", label="label", cut="count > 1")
