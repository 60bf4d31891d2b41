"""Limits of mass and score are rounded outwards to the type of the array that they are compared with."""

from functools import partial

import libmode
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from libmode._limits import exact, outwards
from libmode._options import check
from libmode.torch import MoDeLoss, mode_loss
from libmode.torch.baselines import FlatnessLoss

N = 100
TORCH = {"float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32, "float64": torch.float64}


def events(limit=0.8):
    """Scores and masses of which the last 60 are the limit itself."""
    rng = np.random.default_rng(0)
    on_limit = np.arange(N) >= N - 60
    return np.where(on_limit, limit, rng.random(N) * limit), rng.permutation(
        np.where(on_limit, limit, rng.random(N) * limit)
    )


def taking_part(grad):
    return int(np.count_nonzero(np.asarray(grad)))


# Of the plain loss: what crossing the first or last event of a bin adds to it, the bias takes away.
PLAIN = dict(unbiased=False)
LIMITS = {
    "mass_range": dict(mass_range=(0, 0.8), bins=2, binning="uniform", score_range=None),
    "edges": dict(edges=(0, 0.3, 0.8), score_range=None),
}


@pytest.mark.parametrize("options", LIMITS.values(), ids=LIMITS.keys())
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_events_on_a_limit_of_mass_take_part(options, dtype):
    _, mass = events()
    score = np.random.default_rng(1).random(N)
    mass = mass.astype(dtype)
    loss, grad = libmode.mode_loss_and_grad(score, mass, **PLAIN, **options)
    assert taking_part(grad) == N
    assert loss == libmode.mode_loss(score, mass, **PLAIN, **options)
    assert libmode.mode_loss(score, mass, loss="flatness", **options) > 0
    edges = libmode.mode_edges(mass, **options)
    assert edges[0] <= mass.min() and mass.max() <= edges[-1] == outwards(0, 0.8, dtype.__name__)[1]
    moments = libmode.mode_moments(score, mass, at=[0.5], **options)
    assert moments.edges.tolist() == edges.tolist()
    inside = (score <= 0.5) & (mass >= edges[-2])
    assert moments.cdf[0, -1] == pytest.approx(inside.sum() / (mass >= edges[-2]).sum())


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_scores_on_a_limit_are_inside(dtype):
    score, mass = events()
    for function in (libmode.mode_loss, partial(libmode.mode_loss, loss="flatness"), libmode.mode_moments):
        function(score.astype(dtype), mass, bins=2, score_range=(0, 0.8))
    with pytest.raises(ValueError, match="lies outside score_range"):
        libmode.mode_loss(score.astype(dtype) + dtype(0.01), mass, bins=2, score_range=(0, 0.8))


@pytest.mark.parametrize("options", LIMITS.values(), ids=LIMITS.keys())
@pytest.mark.parametrize("dtype", TORCH)
def test_so_it_is_with_tensors(options, dtype):
    _, mass = events()
    mass = torch.tensor(mass).to(TORCH[dtype])
    score = torch.rand(N, dtype=torch.float32, requires_grad=True)
    for loss in (
        mode_loss(score, mass, **PLAIN, **options),
        MoDeLoss(**PLAIN, **options)(score, torch.zeros(N), mass),
        FlatnessLoss(**options)(score, torch.zeros(N), mass),
    ):
        (grad,) = torch.autograd.grad(loss, score)
        assert torch.count_nonzero(grad) > 0.6 * N and loss.isfinite()
    (grad,) = torch.autograd.grad(mode_loss(score, mass, **PLAIN, **options), score)
    assert torch.count_nonzero(grad) == N


@pytest.mark.parametrize("dtype", TORCH)
def test_scores_of_tensors_on_a_limit_are_inside(dtype):
    score, mass = (torch.tensor(array).to(TORCH[dtype]) for array in events())
    target = torch.arange(N) % 2
    for options in ({}, {"score_transform": torch.square}, {"score_transform": "signal_efficiency"}):
        module = MoDeLoss(bins=2, score_range=(0, 0.8), **options)
        assert module(score, target, mass).isfinite()
    compiled = torch.compile(MoDeLoss(bins=2, score_range=(0, 0.8)), fullgraph=True, backend="aot_eager")
    assert compiled(score, target, mass) == MoDeLoss(bins=2, score_range=(0, 0.8))(score, target, mass)


def test_each_array_has_its_own_type():
    score, mass = events()
    libmode.mode_loss(score.astype(np.float32), mass, bins=2, score_range=(0, 0.8), mass_range=(0, 0.8))
    with pytest.raises(ValueError, match="lies outside score_range"):  # of a float64 score, beside a float32 mass
        libmode.mode_loss(
            np.where(score == 0.8, float(np.float32(0.8)), score), mass.astype(np.float32), score_range=(0, 0.8)
        )


def test_options_whose_limits_every_type_has_are_left_as_they_are():

    common = check("mode", {"mass_range": (50, 300)})
    assert check("mode", {}).rounded_to("float16", "float16") is check("mode", {})
    other = check("mode", {"mass_range": (0, 0.8)})
    assert other.rounded_to("float64", "float64") is other
    assert other.rounded_to("float32", "float32") is other.rounded_to("float32", "float32") is not other
    assert common.rounded_to("float32", "float32") is common


@given(st.floats(-1e4, 1e4), st.sampled_from(["float16", "float32"]))
def test_outwards_is_the_next_number_of_the_type(limit, kind):
    low, high = outwards(limit, limit, kind)
    dtype = np.dtype(kind).type
    assert dtype(low) == low <= limit <= high == dtype(high)
    assert low == high or np.nextafter(dtype(low), dtype(np.inf)) == high


def test_there_may_be_no_number_that_is_outwards():
    assert outwards(-1e6, 1e6, "float16") == (-1e6, 1e6)
    assert outwards(-np.inf, np.inf, "float16") == (-np.inf, np.inf)
    assert exact(-np.inf, np.inf) and exact(0, 1) and not exact(0, 0.8)
    assert outwards(0, 0.8, "bfloat16") == (0, 0.80078125)
