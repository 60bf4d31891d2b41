"""Files of events for the tests of ``libmode report``, in every format, and a way to run it."""

import csv
import json
from contextlib import nullcontext
from unittest.mock import patch

import h5py
import numpy as np
import pyarrow
import uproot
from click.testing import CliRunner
from libmode.report import cli
from libmode.report import judge as figures_of_page
from pyarrow import parquet

SUFFIXES = ("root", "parquet", "h5", "csv")


def events(n=20_000, seed=0):
    """Signal in a peak over a falling background; ``flat`` has nothing to do with the mass of background, ``carved``
    knows where the peak is, and the mean of ``linear`` rises with the mass."""
    rng = np.random.default_rng(seed)
    label = rng.random(n) < 0.3
    mass = np.where(label, rng.normal(120, 8, n), 50 + 250 * rng.beta(1, 3, n))
    x = rng.normal(np.where(label, 1.5, 0))
    second = rng.random(n) < (mass - 40) / 300  # a share that is linear in mass
    return {
        "mass": mass,
        "flat": 1 / (1 + np.exp(-x)),
        "carved": 1 / (1 + np.exp(-x - 2 * np.exp(-(((mass - 120) / 10) ** 2) / 2))),
        "linear": np.where(second, rng.beta(4, 2, n), rng.beta(2, 4, n)),
        "label": label.astype(np.int32),
        "weight": rng.normal(1, 0.5, n),  # some are negative
        "count": rng.integers(0, 5, n),
    }


def write(path, columns):
    """These columns in the format of the suffix, for ROOT and HDF5 as ``events``."""
    kind = path.suffix[1:]
    if kind == "root":
        with uproot.recreate(path) as file:
            file.mktree("events", {name: values.dtype for name, values in columns.items()})
            half = len(columns["mass"]) // 2
            for part in (slice(None, half), slice(half, None)):
                file["events"].extend({name: values[part] for name, values in columns.items()})
    elif kind == "parquet":
        parquet.write_table(pyarrow.table(columns), path, row_group_size=3000)
    elif kind == "h5":
        with h5py.File(path, "w") as file:
            for name, values in columns.items():
                file[f"events/{name}"] = values
    else:
        with open(path, "w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(columns)
            rows.writerows(zip(*(values.tolist() for values in columns.values()), strict=True))
    return path


def report(*arguments, figures=False, order=0):
    """The status and what is printed, at order 0 where the arguments have none. Figures take most of the time."""
    arguments += () if order is None or "--order" in arguments else ("--order", order)
    with nullcontext() if figures else patch.object(figures_of_page, "_svg", lambda _: "data:image/svg+xml,"):
        done = CliRunner().invoke(cli.main, ["report", *map(str, arguments)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.output


def numbers(out):
    return json.loads((out / "report.json").read_text(encoding="utf-8"))
