"""Errors beside the table of tests/helpers/error_cases.py: which event is named, other functions, what is no tensor."""

import libmode
import numpy as np
import pytest
import torch
from libmode import plots
from libmode.torch import MoDeConstraint, MoDeLoss, MoDeMetrics
from libmode.torch import mode_loss as torch_mode_loss
from libmode.torch.baselines import DisCoLoss, FlatnessLoss

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


def _tensors(arguments):
    return {k: torch.from_numpy(v) if isinstance(v, np.ndarray) else v for k, v in arguments.items()}


def table(rows):
    """A table of errors as a decorator: rows are name: (change, type, part of the message, ...)."""
    return pytest.mark.parametrize("row", rows.values(), ids=rows.keys())


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
    "sparse": (dict(score=torch.ones(N).to_sparse()), "score is a sparse_coo tensor", "dense"),
    "nested": (
        dict(mass=torch.nested.nested_tensor([torch.ones(3)] * 2, layout=torch.jagged)),
        "mass is a nested tensor",
        "dense",
    ),
    "meta": (dict(weight=torch.ones(N, device="meta")), "weight is on the device meta", "no values"),
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


@pytest.mark.parametrize("name", ["weights", "sample_weight"])
@pytest.mark.parametrize("make", [MoDeLoss, MoDeConstraint, DisCoLoss, FlatnessLoss])
def test_modules_say_what_weights_are_called(make, name):
    given = _tensors(good())
    with pytest.raises(TypeError, match=f"unknown argument '{name}' of .*: did you mean weight"):
        make()(given["score"], given["label"], given["mass"], **{name: given["weight"]})


def test_others_say_it_too():
    given = _tensors(good())
    score, label, mass, weight = (given[name] for name in ("score", "label", "mass", "weight"))
    with pytest.raises(TypeError, match="did you mean weight"):
        torch_mode_loss(score, mass, weights=weight)
    with pytest.raises(TypeError, match="did you mean weight"):
        MoDeMetrics(order=0).update(score, label, mass, weights=weight)
    with pytest.raises(TypeError, match="did you mean weight"):  # not a style of matplotlib
        plots.spectrum(None, mass.numpy(), None, [0, 30, 60], weights=weight.numpy())
