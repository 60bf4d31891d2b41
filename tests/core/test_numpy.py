"""The NumPy functions: what they accept, what they return, and what lies inside the loss."""

import dataclasses

import golden
import libmode
import numpy as np
import pandas as pd
import pytest
from defaults import DEFAULTS, of_signature
from libmode import metrics, mode_evaluate

N = 400
OPTIONS = dict(order=1, bins=5)


@pytest.fixture(scope="module")
def events():
    """Score, mass and weight that float16 holds exactly, so that every type holds the same numbers."""
    rng = np.random.default_rng(1)
    return rng.integers(1, 1024, N) / 1024, rng.integers(0, 1000, N) * 1.0, rng.integers(1, 16, N) / 4


def strided(array):
    wide = np.zeros((len(array), 3), array.dtype)
    wide[:, 1] = array
    return wide[:, 1]


def read_only(array):
    array = array.copy()
    array.setflags(write=False)
    return array


KINDS = {
    "float16": lambda a: a.astype(np.float16),
    "float32": lambda a: a.astype(np.float32),
    "float64": lambda a: a,
    "longdouble": lambda a: a.astype(np.longdouble),
    "big-endian": lambda a: a.astype(">f8"),
    "list": lambda a: a.tolist(),
    "strided": strided,
    "reversed": lambda a: a[::-1].copy()[::-1],
    "read-only": read_only,
    "column (n, 1)": lambda a: a[:, None],
    "pandas": lambda a: pd.Series(a),
    "pandas, other index": lambda a: pd.DataFrame({"a": a[::-1]}, index=range(len(a))).sort_index(ascending=False)["a"],
    "pandas, nullable": lambda a: pd.Series(a, dtype="Float64"),
    "masked, nothing masked": np.ma.masked_array,
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_array_gives_the_same_numbers(events, kind):
    score, mass, weight = (KINDS[kind](array) for array in events)
    loss, grad = libmode.mode_loss_and_grad(score, mass, weight=weight, **OPTIONS)
    want_loss, want_grad = libmode.mode_loss_and_grad(*events[:2], weight=events[2], **OPTIONS)
    shape, dtype = np.shape(score), np.asarray(score).dtype
    assert isinstance(loss, float)
    assert grad.shape == shape
    assert grad.dtype == (np.float64 if dtype.kind != "f" else np.float32 if dtype == np.float16 else dtype)
    assert grad.flags.writeable
    # The gradient is rounded to its type: 24 bits are left in float32.
    tolerance = 1e-6 if grad.dtype == np.float32 else 1e-14
    golden.assert_close(loss, want_loss, 1e-12)
    golden.assert_close(np.ravel(grad), want_grad, tolerance)


LABELS = [*"?BbhHiIlLefdg", ">i4", ">f8"]
#: Numbers that another type would take for a background label, as 2^32 is 0 in 32 bits.
NEAR = {"B": 255, "l": 2**32, "L": 2**64 - 1, "f": 1 + 2**-23, "d": 1 + 2**-52}


@pytest.mark.parametrize("dtype", LABELS)
@pytest.mark.parametrize("background", [0, 1, (0, 1)], ids=str)
def test_labels_of_every_type_select_the_same_events(events, dtype, background):
    score, mass, weight = events
    plain = np.arange(N) % (2 if dtype == "?" else 3)
    label = plain.astype(dtype)
    label[plain == 2] = NEAR.get(dtype, 2)
    options = dict(weight=weight, background_label=background, **OPTIONS)
    want_loss, want_grad = libmode.mode_loss_and_grad(score, mass, label=plain.astype(np.int32), **options)
    for array in (label, label[:, None], strided(label), label[::-1].copy()[::-1], read_only(label)):
        loss, grad = libmode.mode_loss_and_grad(score, mass, label=array, **options)
        assert loss == want_loss
        assert (grad == want_grad).all()
    assert ((want_grad != 0) <= np.isin(label, background)).all()


def numbers(result):
    """The numbers of a result: a number, an array, a tuple or a dataclass of them."""
    if dataclasses.is_dataclass(result):
        result = [getattr(result, field.name) for field in dataclasses.fields(result)]
    if isinstance(result, (tuple, list)):
        return [number for one in result for number in numbers(one)]
    return [] if result is None else np.ravel(result).tolist()


OF_LOSS = [libmode.mode_loss, libmode.mode_loss_and_grad, mode_evaluate, metrics.efficiency]


@pytest.mark.parametrize("function", [*OF_LOSS, metrics.check], ids=lambda one: one.__name__)
def test_defaults_that_are_given_are_defaults_left_out(events, function):
    score, mass, weight = events
    of_metrics = function.__module__.startswith("libmode.metrics")
    given = {"score": score, "mass": mass, "weight": weight, "label": np.arange(N) % 2} | (
        {"signal_efficiency": 0.5} if of_metrics else {"order": 1}
    )
    given |= {"order": 1} if function is metrics.check else {}
    defaults = ({} if of_metrics else DEFAULTS["mode"]) | of_signature(function)
    found, want = numbers(function(**defaults | given)), numbers(function(**given))
    assert len(want) > 0 and list(map(repr, found)) == list(map(repr, want))  # also of NaN


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.array])
def test_options_are_numbers_of_any_type(events, kind):
    """NumPy writes np.float64(0.25), which is a float of Python too."""
    found, want = (libmode.mode_loss(*events[:2], order=1, max_slope=one) for one in (kind(0.25), 0.25))
    assert found == want


def test_without_a_label_all_events_are_background(events):
    score, mass, _ = events
    none, zeros, labels = (
        libmode.mode_loss(score, mass, label=label, order=1) for label in (None, 0 * mass, np.arange(N) % 2)
    )
    assert none == zeros != labels
