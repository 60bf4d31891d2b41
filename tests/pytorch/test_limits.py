"""Limits of mass and score are rounded outwards to the type of the array that they are compared with."""

import libmode
import numpy as np
import pytest
import torch
from libmode.torch import mode_loss

N = 100
pytestmark = pytest.mark.filterwarnings("ignore:mass is in")  # half precision, which is said

TYPES = pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
# Of the plain loss: what crossing the first or last event of a bin adds to it, the bias takes away.
PLAIN = dict(order=0, unbiased=False)
LIMITS = [
    dict(mass_range=(0, 0.8), bins=2, binning="uniform", score_range=None),
    dict(edges=(0, 0.3, 0.8), score_range=None),
]


def events():
    """Scores and masses of which 60 are the limit itself."""
    rng = np.random.default_rng(0)
    on_limit = np.arange(N) >= N - 60
    score, mass = (np.where(on_limit, 0.8, rng.random(N) * 0.8) for _ in range(2))
    return torch.tensor(score), torch.tensor(rng.permutation(mass))


@pytest.mark.parametrize("options", LIMITS, ids=str)
@TYPES
def test_events_on_a_limit_of_mass_take_part(options, dtype):
    mass, score = events()[1].to(dtype), torch.rand(N, requires_grad=True)
    (grad,) = torch.autograd.grad(mode_loss(score, mass, **PLAIN, **options), score)
    assert torch.count_nonzero(grad) == N
    if dtype is torch.bfloat16:  # which NumPy has not
        return
    mass, score = mass.numpy(), score.detach().numpy()
    edges = libmode.mode_edges(mass, **options)
    assert edges[0] <= mass.min() and mass.max() <= edges[-1]
    moments, last = libmode.mode_moments(score, mass, at=[0.5], order=0, **options), mass >= edges[-2]
    assert moments.cdf[0, -1] == pytest.approx((last & (score <= 0.5)).sum() / last.sum())
