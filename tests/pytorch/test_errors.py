"""Bad input is refused with a message that names the argument, its value and its place.

The tables hold one row for each error: what is changed in a good call, the type
raised, and parts of the message. They run through NumPy and PyTorch.
"""

import decimal

import libmode
import numpy as np
import pytest
import torch
from libmode.torch import MoDeLoss
from libmode.torch import mode_loss as torch_mode_loss

N = 60


def good():
    """Arguments of a call that is accepted: masses 0, 1, ... 59, so that bins are easily made bad."""
    return {
        "score": np.linspace(0.01, 0.99, N),
        "mass": np.arange(N, dtype=float),
        "weight": np.ones(N),
        "label": np.zeros(N, np.int64),
        "bins": 4,
    }


def changed(name, index, value):
    """A change that puts a value into an array."""

    def change(arguments):
        arguments[name][index] = value

    return change


def replaced(**values):
    """A change that replaces arguments or adds options."""
    return lambda arguments: arguments.update(values)


def shortened(name):
    """A change that leaves an array one element short."""
    return lambda arguments: arguments.update({name: arguments[name][:-1]})


def empty(arguments):
    """A change that leaves no event."""
    arguments.update({name: arguments[name][:0] for name in ("score", "mass", "weight", "label")})


def as_numpy(arguments):
    return libmode.mode_loss_and_grad(**arguments)


def as_forward(arguments):
    return libmode.mode_loss(**arguments)


def _tensors(arguments):
    return {k: torch.from_numpy(v) if isinstance(v, np.ndarray) else v for k, v in arguments.items()}


def as_torch(arguments):
    return torch_mode_loss(**_tensors(arguments))


def as_module(arguments):
    arguments = _tensors(arguments)
    score, label, mass, weight = (arguments.pop(name) for name in ("score", "label", "mass", "weight"))
    return MoDeLoss(**arguments)(score, label, mass, weight)


FRONTENDS = [as_numpy, as_forward, as_torch, as_module]


def raises(frontend, change, kind, *parts):
    """Asserts that a changed call raises and that the message holds all parts."""
    arguments = good()
    change(arguments)
    with pytest.raises(kind) as caught:
        frontend(arguments)
    message = str(caught.value)
    for part in parts:
        assert part in message


def table(rows):
    """A table of errors as a decorator: rows are name: (change, type, part of the message, ...)."""
    return pytest.mark.parametrize("row", rows.values(), ids=rows.keys())


EVENTS = {
    f"{value} in {name}": (changed(name, 7, value), ValueError, f"{name}[7] = {shown}", "finite")
    for name in ("score", "mass", "weight")
    for value, shown in ((np.nan, "NaN"), (np.inf, "+Inf"), (-np.inf, "-Inf"))
} | {
    "score above the range": (changed("score", 5, 1.5), ValueError, "score[5] = 1.5", "[0, 1]", "sigmoid", "score_range=None"),
    "score below the range": (changed("score", 5, -0.25), ValueError, "score[5] = -0.25", "[0, 1]", "sigmoid"),
    "score outside a given range": (replaced(score_range=(0, 0.5)), ValueError, "score[30]", "score_range = [0, 0.5]"),
    "no event": (empty, ValueError, "no event selected", "empty"),
    "no background": (replaced(background_label=3), ValueError, "no event selected", "background_label = 3", "larger batches"),
    "one label of two is missing": (replaced(background_label=(0, 8)), ValueError, "no event selected", "background_label = 8"),
    "no event in the mass range": (replaced(mass_range=(100, 200)), ValueError, "no event selected", "[100, 200]", "60"),
    "no event between edges": (replaced(edges=(-5, -2), bins=None), ValueError, "no event selected", "[-5, -2]"),
    "fewer events than quantile bins": (replaced(bins=61), ValueError, "60", "bins = 61", "fewer bins", "larger batches"),
    "fewer events than uniform bins": (replaced(bins=61, binning="uniform"), ValueError, "60", "bins = 61", "fewer bins"),
    "too few events for the default bins": (
        lambda a: (empty(a), a.update(good() | {k: good()[k][:9] for k in ("score", "mass", "weight", "label")}, order=8), a.pop("bins")),
        ValueError, "9 selected events", "10 bins", "order = 8", "larger batches",
    ),
    "all masses equal": (replaced(mass=np.full(N, 91.2)), ValueError, "mass", "91.2", "60"),
    "empty uniform bin": (
        replaced(mass=np.where(np.arange(N) < 30, 0.0, 59.0), binning="uniform"), ValueError, "bin 1 of 4", "[14.75, 29.5)", "sum of weights 0", "fewer or wider",
    ),
    "empty last bin": (replaced(edges=(0, 59, 59.5), bins=None, mass=np.arange(N) % 59 * 1.0), ValueError, "bin 1 of 2", "[59, 59.5]"),
    "negative bin": (lambda a: a["weight"].__setitem__(slice(15, 30), -1.0), ValueError, "bin 1 of 4", "[14.5, 29.5)", "-15", "positive"),
    "bin whose weights cancel": (
        lambda a: a["weight"].__setitem__(slice(0, 15), np.resize([1.0, -1.0, 0.0], 15)), ValueError, "bin 0 of 4", "[0, 14.5)", "sum of weights 0",
    ),
    "unbiased with one event in a bin": (
        replaced(unbiased=True, edges=(0, 0.5, 59), bins=None), ValueError, "bin 0 of 2", "[0, 0.5)", "unbiased", "fewer bins",
    ),
    "unbiased with one effective event": (
        lambda a: (a.update(unbiased=True), a["weight"].__setitem__(slice(1, 15), 0.0)), ValueError, "bin 0 of 4", "unbiased",
    ),
    "mass is short": (shortened("mass"), ValueError, "mass has length 59", "score has length 60"),
    "weight is short": (shortened("weight"), ValueError, "weight has length 59", "score has length 60"),
    "label is short": (shortened("label"), ValueError, "label has length 59", "score has length 60"),
    "score of two columns": (replaced(score=np.full((N, 2), 0.5)), ValueError, "score has shape (60, 2)", "(n,) or (n, 1)"),
    "mass of one row": (replaced(mass=np.arange(N)[None, :] * 1.0), ValueError, "mass has shape (1, 60)"),
    "weight of no dimension": (replaced(weight=np.array(2.0)), ValueError, "weight has shape ()"),
    "label of three dimensions": (replaced(label=np.zeros((N, 1, 1))), ValueError, "label has shape (60, 1, 1)"),
    "complex score": (replaced(score=np.full(N, 0.5 + 0j)), TypeError, "score", "complex128"),
    "complex mass": (replaced(mass=np.full(N, 0.5 + 0j)), TypeError, "mass", "complex128"),
    "complex label": (replaced(label=np.zeros(N, complex)), TypeError, "label", "complex128"),
    "score None": (replaced(score=None), TypeError, "score"),
    "mass None": (replaced(mass=None), TypeError, "mass"),
    "masses too far apart": (replaced(mass=np.resize([-1.7e308, 1.7e308], N)), ValueError, "mass", "too wide", "double precision"),
    "projection on too few bins": (
        replaced(order=4, moments="projection"), ValueError, "order = 4", "4 bins", "more bins",
    ),
}  # fmt: skip


@table(EVENTS)
@pytest.mark.parametrize("frontend", FRONTENDS)
def test_bad_events(frontend, row):
    raises(frontend, *row)


OPTIONS = {
    "order above 16": (dict(order=17), ValueError, "order = 17", "16"),
    "negative order": (dict(order=-1), ValueError, "order = -1", "0"),
    "order of another type": (dict(order=1.5), TypeError, "order = 1.5", "integer"),
    "order beyond 32 bits": (dict(order=2**40), ValueError, f"order = {2**40}", "32 bits"),
    "no bins": (dict(bins=0), ValueError, "bins = 0", "at least 1"),
    "negative bins": (dict(bins=-3), ValueError, "bins = -3", "at least 1"),
    "bins as text": (dict(bins="32"), TypeError, "bins = '32'", "integer"),
    "max_slope 0": (dict(order=1, max_slope=0), ValueError, "max_slope = 0", "greater than 0"),
    "max_slope negative": (dict(order=1, max_slope=-1), ValueError, "max_slope = -1", "greater than 0"),
    "max_slope NaN": (dict(order=1, max_slope=float("nan")), ValueError, "max_slope = NaN", "greater than 0"),
    "max_slope as text": (dict(order=1, max_slope="1"), TypeError, "max_slope = '1'", "number"),
    "max_slope at order 0": (dict(max_slope=1), ValueError, "max_slope = 1", "order >= 1", "order is 0"),
    "monotonic at order 1": (dict(order=1, monotonic=True), ValueError, "monotonic", "order >= 2", "order is 1"),
    "monotonic as text": (dict(order=2, monotonic="yes"), TypeError, "monotonic = 'yes'", "True or False"),
    "unbiased as a number": (dict(unbiased=2), TypeError, "unbiased = 2", "True or False"),
    "slope_penalty negative": (dict(order=1, slope_penalty=-0.5), ValueError, "slope_penalty = -0.5", "at least 0"),
    "slope_penalty NaN": (dict(order=1, slope_penalty=float("nan")), ValueError, "slope_penalty = NaN"),
    "slope_penalty infinite": (dict(order=1, slope_penalty=float("inf")), ValueError, "slope_penalty = +Inf", "finite"),
    "slope_penalty at order 0": (dict(slope_penalty=1), ValueError, "slope_penalty = 1", "order >= 1"),
    "unknown binning": (dict(binning="log"), ValueError, "binning = 'log'", "'quantile'", "'uniform'", "'edges'"),
    "unknown moments": (dict(moments="fit"), ValueError, "moments = 'fit'", "'quadrature'", "'projection'"),
    "unknown slope_of": (dict(slope_of="both"), ValueError, "slope_of = 'both'", "'rejected'", "'selected'"),
    "unknown reduction": (dict(reduction="none"), ValueError, "reduction = 'none'", "'mean'", "'sum'"),
    "reduction of another type": (dict(reduction=["mean"]), ValueError, "reduction = ['mean']"),
    "unknown option": (dict(lam=2), TypeError, "'lam'", "order", "reduction"),
    "mass_range reversed": (dict(mass_range=(50, 10)), ValueError, "mass_range = [50, 10]", "lower end below"),
    "mass_range of no width": (dict(mass_range=(10, 10)), ValueError, "mass_range = [10, 10]", "lower end below"),
    "mass_range of three": (dict(mass_range=(1, 2, 3)), ValueError, "mass_range", "pair"),
    "mass_range NaN": (dict(mass_range=(0, float("nan"))), ValueError, "mass_range", "NaN", "finite"),
    "mass_range half infinite": (dict(mass_range=(0, float("inf"))), ValueError, "mass_range", "+Inf", "finite"),
    "mass_range too wide": (dict(mass_range=(-1.7e308, 1.7e308)), ValueError, "mass_range", "too wide"),
    "mass_range a number": (dict(mass_range=10), (TypeError, ValueError), "mass_range = 10", "sequence of numbers"),
    "score_range reversed": (dict(score_range=(1, 0)), ValueError, "score_range = [1, 0]", "lower end below"),
    "score_range as text": (dict(score_range="01"), (TypeError, ValueError), "score_range"),
    "edges not increasing": (dict(edges=(0, 20, 20, 59)), ValueError, "edges[2] = 20", "edges[1] = 20", "greater"),
    "edges decreasing": (dict(edges=(59, 0)), ValueError, "edges[1] = 0", "edges[0] = 59"),
    "one edge": (dict(edges=(3,)), ValueError, "edges", "length 1", "at least 2"),
    "no edge": (dict(edges=()), ValueError, "edges", "at least 2"),
    "edges NaN": (dict(edges=(0, float("nan"), 59)), ValueError, "edges[1] = NaN", "finite"),
    "edges as text": (dict(edges=("a", "b")), TypeError, "edges = 'a'", "number"),
    "edges a number": (dict(edges=3), TypeError, "edges = 3"),
    "edges with mass_range": (dict(edges=(0, 59), mass_range=(0, 59)), ValueError, "mass_range = [0, 59]", "edges"),
    "edges with uniform": (dict(edges=(0, 59), binning="uniform"), ValueError, "binning = 'uniform'", "edges"),
    "binning edges without edges": (dict(binning="edges"), ValueError, "edges", "at least 2"),
    "no background label": (dict(background_label=()), ValueError, "background_label", "at least one"),
    "background label twice": (dict(background_label=(1, 2, 1)), ValueError, "background_label", "1 twice"),
    "background label as text": (dict(background_label="0"), TypeError, "background_label = '0'", "integer"),
    "background label a fraction": (dict(background_label=0.5), TypeError, "background_label = 0.5", "integer"),
    "background label beyond 32 bits": (dict(background_label=2**31), ValueError, f"background_label = {2**31}", "32 bits"),
    "order None": (dict(order=None), TypeError, "order = None"),
    "reduction None": (dict(reduction=None), TypeError, "reduction = None"),
}  # fmt: skip


@table(OPTIONS)
@pytest.mark.parametrize("frontend", FRONTENDS)
def test_bad_options(frontend, row):
    options, kind, *parts = row
    raises(frontend, replaced(**options), kind, *parts)


@table(OPTIONS)
def test_a_module_refuses_bad_options_when_it_is_made(row):
    options, kind, *_ = row
    with pytest.raises(kind):
        MoDeLoss(**options)


ARRAYS = {
    "text": (replaced(score=np.array(["a"] * N)), TypeError, "score", "<U1", "real numbers"),
    "objects": (replaced(mass=[decimal.Decimal(1)] * N), TypeError, "mass", "object"),
    "dates": (replaced(mass=np.zeros(N, "M8[s]")), TypeError, "mass", "datetime64"),
    "masked": (replaced(score=np.ma.masked_less(good()["score"], 0.5)), TypeError, "score", "masked", "compressed"),
    "nested lists of unequal lengths": (replaced(score=[[0.1], [0.2, 0.3]]), (TypeError, ValueError), "score"),
}


@table(ARRAYS)
@pytest.mark.parametrize("frontend", [as_numpy, as_forward])
def test_arrays_that_hold_no_numbers(frontend, row):
    raises(frontend, *row)


def test_positions_that_are_reported_are_those_of_the_callers_array():
    # Events of other labels before it count too, and so does a second label.
    score = np.full(10, 0.5)
    score[7] = np.nan
    with pytest.raises(ValueError, match=r"score\[7\]"):
        libmode.mode_loss(score, np.arange(10.0), label=[1] * 5 + [2] * 5, background_label=(1, 2), bins=2)


def test_the_first_of_several_bad_events_is_reported():
    n = 200_000  # several blocks, looked at by several threads
    score = np.full(n, 0.5)
    score[[150_000, 90_001, 199_999]] = np.nan
    for _ in range(5):
        with pytest.raises(ValueError, match=r"score\[90001\] = NaN"):
            libmode.mode_loss(score, np.arange(float(n)))


LOOKS = {
    "NaN in mass": (lambda: libmode.mode_edges([0, 1, np.nan], bins=2), ValueError, "mass[2] = NaN"),
    "no mass": (lambda: libmode.mode_edges([]), ValueError, "no event selected", "empty"),
    "label is short": (lambda: libmode.mode_edges([0, 1, 2], label=[0, 0]), ValueError, "label has length 2", "mass has length 3"),
    "several labels at once": (
        lambda: libmode.mode_edges([0, 1, 2], label=[0, 1, 0], background_label=(0, 1)), ValueError, "background_label", "one at a time",
    ),
    "NaN in at": (lambda: libmode.mode_moments([0.5, 0.6], [0, 1], at=[0, np.nan], bins=2), ValueError, "at[1] = NaN"),
    "at of two dimensions": (lambda: libmode.mode_moments([0.5, 0.6], [0, 1], at=[[0, 1]], bins=2), ValueError, "at has shape (1, 2)"),
    "negative threads": (lambda: libmode.set_threads(-1), ValueError, "threads", "negative"),
    "threads as text": (lambda: libmode.set_threads("2"), TypeError, "threads"),
    "a fraction of a thread": (lambda: libmode.set_threads(1.5), TypeError, "threads"),
    "threads beyond 32 bits": (lambda: libmode.set_threads(2**32 + 1), ValueError, "threads"),
}  # fmt: skip


@table(LOOKS)
@pytest.mark.usefixtures("threads")
def test_bad_input_of_the_other_functions(row):
    call, kind, *parts = row
    with pytest.raises(kind) as caught:
        call()
    for part in parts:
        assert part in str(caught.value)


TENSORS = {
    "score of integers": (
        dict(score=torch.zeros(N, dtype=torch.int64)),
        "score is torch.int64",
        "floating-point tensor",
    ),
    "score an array": (dict(score=np.full(N, 0.5)), "score is ndarray", "floating-point tensor"),
    "mass an array": (dict(mass=np.arange(N)), "mass is ndarray", "tensor of real numbers"),
    "weight a list": (dict(weight=[1.0] * N), "weight is list", "tensor of real numbers"),
    "label a list": (dict(label=[0] * N), "label is list", "tensor of real numbers"),
}


@table(TENSORS)
def test_what_is_no_tensor_is_refused(row):
    values, *parts = row
    arguments = _tensors(good()) | values
    with pytest.raises(TypeError) as caught:
        torch_mode_loss(**arguments)
    for part in parts:
        assert part in str(caught.value)


def test_a_failed_call_leaves_the_library_usable():
    with pytest.raises(ValueError, match="no event selected"):
        libmode.mode_loss([], [])
    arguments = good()
    assert libmode.mode_loss(**arguments) == libmode.mode_loss(**arguments)
