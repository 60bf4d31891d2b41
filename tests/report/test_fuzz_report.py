"""Whatever files and expressions ``libmode report`` is given: events with finite numbers, or a sentence that names what is wrong.

``LIBMODE_FUZZ`` says how many examples; other than by default they differ from run to run.
"""

import os
import warnings

import h5py
import numpy as np
import pyarrow
import pytest
import report_toys
import uproot
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from libmode.report.events import Events, Wanted, read
from libmode.report.formats import find
from libmode.report.problem import Problem
from pyarrow import parquet

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
        sample = Events.joined([events for _, events in read(find(f"{path}{tree}"), Wanted(**options))])
    except Problem as problem:
        sentence = str(problem)
        assert sentence.endswith(".") and "\n" not in sentence and len(sentence.split()) > 3, sentence
        assert path.name in sentence or "--" in sentence, f"neither a file nor an option is named: {sentence}"
        return sentence
    for array in (*sample.scores.T, sample.mass, sample.weight):
        assert array.shape == sample.mass.shape and np.isfinite(array).all()
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


COLUMNS = {
    "floats": lambda n: np.linspace(0.1, 0.9, n),
    "float32": lambda n: np.linspace(0.1, 0.9, n, dtype="f4"),
    "float16": lambda n: np.linspace(0.1, 0.9, n, dtype="f2"),
    "integers": lambda n: np.arange(n),
    "huge integers": lambda n: np.arange(n, dtype="u8") + 2**63,
    "lowest integers": lambda n: np.full(n, -(2**63)),
    "bool": lambda n: np.arange(n) % 2 == 0,
    "NaN": lambda n: np.full(n, np.nan),
    "one NaN": lambda n: np.where(np.arange(n) == 3, np.nan, 0.5),
    "infinite": lambda n: np.full(n, np.inf),
    "huge": lambda n: np.full(n, 1e308),
    "denormal": lambda n: np.arange(n) * 5e-324,
    "equal": lambda n: np.full(n, 0.5),
    "texts": lambda n: np.array([f"x{k}" for k in range(n)], object),
    "nested": lambda n: np.zeros((n, 3)),
    "empty": lambda n: np.zeros(0),
    "shorter": lambda n: np.zeros(max(n - 1, 0)),
    "None": lambda n: np.array([None] * n, object),
    "ragged": lambda n: np.array([np.zeros(k % 3) for k in range(n)] + [0], object)[:n],
    "dates": lambda n: np.arange(n).astype("M8[s]"),
    "complex": lambda n: np.ones(n, complex),
}


def write(path, columns):
    """The columns in a file; False where the format has no such columns."""
    try:
        if path.suffix == ".parquet":
            parquet.write_table(
                pyarrow.table(
                    {
                        name: pyarrow.array(values.tolist() if values.ndim > 1 else values)
                        for name, values in columns.items()
                    }
                ),
                path,
            )
        elif path.suffix == ".h5":
            with h5py.File(path, "w") as file:
                for name, values in columns.items():
                    file[name] = values
        elif path.suffix == ".root":
            with uproot.recreate(path) as file:
                file["events"] = columns
        else:
            rows = zip(*(values.tolist() for values in columns.values()), strict=False)
            path.write_text("\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]))
    except Exception:  # each package says in its own way what it does not write
        return False
    return True


@fuzzing
@given(
    st.sampled_from(report_toys.SUFFIXES),
    st.sampled_from([0, 1, 2, N]),
    st.fixed_dictionaries(
        {name: st.sampled_from(["floats"] * 8 + sorted(COLUMNS)) for name in ("flat", "mass", "weight", "label")}
    ),
)
def test_columns_of_any_kind(folder, suffix, n, kinds):
    path = folder / f"columns.{suffix}"
    path.unlink(missing_ok=True)
    if write(path, {name: COLUMNS[kind](n) for name, kind in kinds.items()}):
        check(path, weight="weight", label="label > 0.5")


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
