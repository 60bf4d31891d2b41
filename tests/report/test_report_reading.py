"""Files, cuts and expressions: what is read is what NumPy makes of the columns, and what cannot be read says why."""

import os

import h5py
import numpy as np
import pyarrow
import pytest
import report_toys
import uproot
from libmode.report.events import Wanted, read_all
from libmode.report.formats import Problem, find
from pyarrow import parquet


def taken(*arguments, **expressions):
    """The events of files, with ``flat`` and ``mass`` unless others are given."""
    wanted = Wanted(**{"scores": ("flat",), "mass": "mass"} | expressions)
    return read_all([source for one in arguments for source in find(str(one))], wanted)[1]


@pytest.mark.parametrize("suffix", report_toys.SUFFIXES)
def test_columns_are_those_of_the_file(files, toy, suffix):
    wanted = {"scores": ("flat", "carved"), "weight": "weight", "label": "label", "cut": "count > 1 & mass < 200"}
    sample = taken(files[suffix], **wanted)
    passed = (toy["count"] > 1) & (toy["mass"] < 200)
    columns = [*sample.scores.T, sample.mass, sample.weight, sample.label]
    for found, name in zip(columns, ["flat", "carved", "mass", "weight", "label"], strict=True):
        np.testing.assert_array_equal(found, toy[name][passed])


def test_several_files_are_read_in_their_order(toy, tmp_path):
    """And in CSV the type of a column is that of the whole file."""
    (tmp_path / "long.csv").write_text("\n".join(["flat,mass", *["1,2"] * 300_000, "0.5,2.5"]))
    assert taken(tmp_path / "long.csv").mass[-1] == 2.5
    for place, part in enumerate(np.array_split(np.arange(len(toy["mass"])), 3)):
        for suffix in ("root", "csv"):
            report_toys.write(tmp_path / f"part{place}.{suffix}", {name: values[part] for name, values in toy.items()})
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "part2.root").rename(tmp_path / "deep" / "er" / "part2.root")
    for names in (
        ["part?.csv"],
        ["part[01].root:events", "**/part2.root"],
        ["part0.root", "part1.csv", "deep/er/part2.root:events"],
    ):
        np.testing.assert_array_equal(taken(*(tmp_path / name for name in names)).mass, toy["mass"])


EXPRESSIONS = {
    " mass ": lambda c: c["mass"],
    "-mass + 2 * flat**2": lambda c: -c["mass"] + 2 * c["flat"] ** 2,
    "(mass - 50) / 250 // 0.1 % 3": lambda c: (c["mass"] - 50) / 250 // 0.1 % 3,
    "sqrt(mass)\n + log1p(flat)": lambda c: np.sqrt(c["mass"]) + np.log1p(c["flat"]),
    "arctan2(mass, flat) * (count != 3)": lambda c: np.arctan2(c["mass"], c["flat"]) * (c["count"] != 3),
    "mass > 60 & abs(flat) < 0.5": lambda c: (c["mass"] > 60) & (np.abs(c["flat"]) < 0.5),
    "mass > 60 and not count == 2 or flat > .5": lambda c: (c["mass"] > 60) & (c["count"] != 2) | (c["flat"] > 0.5),
    "~(mass > 60) | (50 < mass < 1e2)": lambda c: ~(c["mass"] > 60) | (c["mass"] < 100),
    "count in [1, 3]": lambda c: np.isin(c["count"], [1, 3]),
    "`mass` * 2": lambda c: c["mass"] * 2,
}


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expressions(files, toy, text):
    want = EXPRESSIONS[text](toy)
    for suffix in report_toys.SUFFIXES:
        np.testing.assert_array_equal(taken(files[suffix], mass=text).mass, want)
    if want.dtype == bool:
        np.testing.assert_array_equal(taken(files["root"], cut=text).mass, toy["mass"][want])


IN_DOUBLE = {  # of columns of small integers and of booleans
    "jets - 3": [-3, -2, -1, 0],
    "-jets": [0, -1, -2, -3],
    "abs(near)": [128, 127, 0, 1],
    "sqrt(near * near)": [128, 127, 0, 1],
    "far * far / 10000000000": [1, 1, 4, 9],
    "entry - 1": [-1, 0, 1, 2],
    "entry % 2": [0, 1, 0, 1],
    "2**-jets * 8": [8, 4, 2, 1],
    "1 * (jets > 0) + 1 * (jets > 1) + 1 * passed": [1, 1, 3, 2],
    "passed - 1": [0, -1, 0, -1],
    "not passed": [0, 1, 0, 1],
    "passed & (jets > 0)": [0, 0, 1, 0],
    "jets // 2 % 2": [0, 0, 1, 1],
}


@pytest.mark.parametrize("suffix", ["root", "parquet", "h5"])
def test_integers_do_not_wrap_around(tmp_path, suffix):
    file = report_toys.write(
        tmp_path / f"integers.{suffix}",
        {
            "jets": np.arange(4, dtype="u4"),
            "near": np.array([-128, 127, 0, 1], "i1"),
            "far": np.array([-100_000, 100_000, 200_000, 300_000], "i4"),
            "entry": np.arange(4, dtype="u8"),
            "passed": np.array([True, False, True, False]),
            "mass": np.arange(4.0),
        },
    )
    scores = taken(file, scores=tuple(IN_DOUBLE)).scores
    assert dict(zip(IN_DOUBLE, np.round(scores.T, 12).tolist(), strict=True)) == IN_DOUBLE
    with pytest.raises(Problem, match="it adds what is true or false: expected numbers, as in 1 "):
        taken(file, scores=("(jets > 0) + (jets > 1)",))


def test_labels_may_be_words(tmp_path):
    """As in the file of the Higgs challenge."""
    columns = {"flat": np.arange(3.0), "mass": np.arange(3.0), "Label": np.array(["s", "b", "s"])}
    (tmp_path / "words.csv").write_text("flat,mass,Label\n0,0,s\n1,1,b\n2,2,s\n")
    parquet.write_table(pyarrow.table(columns), tmp_path / "words.parquet")
    with h5py.File(tmp_path / "words.h5", "w") as file:
        for name, values in columns.items():
            file[name] = values.astype(object) if name == "Label" else values
    with h5py.File(tmp_path / "fields.h5", "w") as file:
        file["events"] = np.array(
            list(zip(*columns.values(), strict=True)), [("flat", "f8"), ("mass", "f8"), ("Label", "S1")]
        )
    with uproot.recreate(tmp_path / "words.root") as file:
        file.mktree("t", {"flat": "f8", "mass": "f8", "Label": "string"}).extend(columns)
    for name in ("words.csv", "words.parquet", "words.h5", "fields.h5", "words.root"):
        assert taken(tmp_path / name, label='Label == "s"').label.tolist() == [True, False, True], name
        with pytest.raises(Problem, match=r"^--label 'Label' cannot be computed from .*: could not convert string"):
            taken(tmp_path / name, label="Label")


def test_trees_and_groups(toy, tmp_path):
    small = {name: toy[name][:10] for name in ("flat", "mass")}
    with uproot.recreate(tmp_path / "trees.root") as file:
        file.mktree("one/events", {name: values.dtype for name, values in small.items()})
        file["one/events"].extend(small)
        file.mkrntuple("two", {name: values + 1 for name, values in small.items()})
    with h5py.File(tmp_path / "groups.h5", "w") as file:
        both = np.zeros(10, [(name, ">f4") for name in small])
        for name, values in small.items():
            both[name] = values
            file[f"one/events/{name}"] = values
        file["two"] = both
    for name in ("trees.root", "groups.h5"):
        np.testing.assert_array_equal(taken(f"{tmp_path / name}:one/events").mass, small["mass"])
        with pytest.raises(
            Problem, match=rf"{name} has not one .* but 2, (one/events, two|two, one/events): say which"
        ):
            taken(tmp_path / name)
        with pytest.raises(Problem, match="has no .* 'tow'; it has two, one/events"):
            taken(f"{tmp_path / name}:tow")
    np.testing.assert_array_equal(taken(f"{tmp_path / 'trees.root'}:two").mass, small["mass"] + 1)
    np.testing.assert_array_equal(taken(f"{tmp_path / 'groups.h5'}:two").mass, small["mass"].astype("f4"))


def test_missing_values_of_parquet(tmp_path):
    """They are NaN, also of booleans and decimals: an error, unless the cut leaves them out."""
    table = {"flat": [0.1, 0.2, 0.3], "mass": [1.0, 2.0, 3.0], "passed": [True, None, False]}
    table |= {"decimal": pyarrow.array([1, 2, 3], pyarrow.decimal128(9, 2)), "none": pyarrow.nulls(3)}
    parquet.write_table(pyarrow.table(table), file := tmp_path / "missing.parquet")
    assert taken(file, cut="passed == 1").mass.tolist() == [1]
    assert taken(file, mass="passed", cut="passed == passed").mass.tolist() == [1, 0]
    assert taken(file, mass="decimal").mass.tolist() == [1, 2, 3]
    for column, entry in (("passed", 1), ("none", 0)):
        with pytest.raises(Problem, match=f"^--mass '{column}' is nan at entry {entry} of "):
            taken(file, mass=column)


@pytest.mark.parametrize("suffix", report_toys.SUFFIXES)
def test_what_is_not_finite_is_named_with_file_and_entry(toy, tmp_path, suffix):
    bad = {name: values.copy() for name, values in toy.items()}
    bad["mass"][2345] = np.nan
    first, second = (report_toys.write(tmp_path / f"{k}.{suffix}", table) for k, table in enumerate([toy, bad]))
    message = rf"^--mass 'mass \* 2' is nan at entry 2345 of {second}: expected a finite number"
    for cut in (None, "flat > 0", f"flat >= {bad['flat'][2345].item()!r}"):
        with pytest.raises(Problem, match=message):
            taken(first, second, mass="mass * 2", cut=cut)
    assert len(taken(first, second, cut="mass == mass").mass) == 2 * len(toy["mass"]) - 1


@pytest.mark.parametrize(
    "expressions, message",
    [
        ({"mass": "mas"}, r"^--mass 'mas': name 'mas' is not defined in .*toy\.root; it has mass, "),
        *(({"mass": text}, "methods, which may write files, are not called") for text in (
            "np.log(mass)", "mass.to_csv(mass)", "(mass).to_csv('x')")),
        *(({"mass": text}, "^--mass .* cannot be computed from .*toy.root: ") for text in (
            "mass &&", "mass +", "(" * 500 + "mass" + ")" * 500, "@taken(mass)", "sqr(mass)", "log(mass, 2)",
            "mass & 1", "count^2", "mass; flat")),
        *(({"mass": text}, "power of numbers alone") for text in ("9**9**9", "mass + 9**99999", "(9**99)**99")),
        *(({"mass": text}, "cannot be computed from .*: ") for text in ("'mass'", "[1, 2]", "x = mass")),
        ({"mass": "mass / 0"}, r"is inf at entry 0 of "),
        ({"scores": ("log(flat - 1)",)}, r"^--score 'log\(flat - 1\)' is nan at entry 0 of "),
        ({"label": "count"}, r"^--label 'count' is [234] at entry \d+ of .*: expected 1 for signal or 0 for background"),
        ({"cut": "count"}, r"^--cut 'count' is [234] at entry \d+ of .*: expected 1 or 0"),
    ],
)  # fmt: skip
def test_bad_expressions(files, expressions, message):
    with pytest.raises(Problem, match=message):
        taken(files["root"], **expressions)


def test_bad_files(files, tmp_path):
    (tmp_path / "notes.md").write_text("no data")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "torn.root").write_bytes(files["root"].read_bytes()[:2000])
    with h5py.File(tmp_path / "filtered.h5", "w") as file:  # as by a filter that this machine lacks
        how = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        how.set_chunk((4,))
        how.set_filter(32767, h5py.h5z.FLAG_OPTIONAL)
        score = h5py.h5d.create(file.id, b"flat", h5py.h5t.NATIVE_DOUBLE, h5py.h5s.create_simple((4,)), how)
        score.write_direct_chunk((0,), bytes(32))
        file["mass"] = np.ones(4)
    for argument, message in {
        tmp_path / "none.root": r"there is no file '.*none\.root'",
        tmp_path: "there is no file '.*: expected files on this machine",
        tmp_path / "pipe": "there is no file '.*pipe'",
        "root://eos.cern.ch//eos/mc.root:t": "there is no file 'root://eos.*: expected files on this machine",
        tmp_path / "notes.md": r"notes\.md is not a ROOT, Parquet, HDF5 or \.csv file",
        tmp_path / "torn.root": r"torn\.root cannot be read: ",
        tmp_path / "filtered.h5": r"filtered\.h5 has a compression that h5py lacks: pip install hdf5plugin",
        f"{files['csv']}:events": "only ROOT and HDF5 files have trees or groups; leave out ':events'",
    }.items():
        with pytest.raises(Problem, match=message):
            taken(argument)
