"""The layers of PyTorch say that a mass of -999 stretches their range, once and at the first batch."""

import warnings

import numpy as np
import pytest
import torch
from libmode import _options
from libmode.torch import MoDeConstraint, MoDeLoss

rng = np.random.default_rng(3)


@pytest.mark.parametrize("make", [MoDeLoss, MoDeConstraint])
@pytest.mark.parametrize("options, times", [({}, 1), ({"mass_range": (50, 400)}, 0)])
def test_a_layer_warns_once(make, options, times):
    _options._cached.cache_clear()
    layer = make(order=1, max_slope=0.5, **options)
    label = torch.tensor(rng.integers(0, 2, 2000), dtype=torch.float32)
    mass = torch.tensor(50 + rng.exponential(60, 2000), dtype=torch.float32)
    mass[::50] = -999
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for _ in range(12):
            score = torch.tensor(rng.random(2000), dtype=torch.float32, requires_grad=True)
            layer(score, label, mass).sum().backward()
    assert [str(warning.message)[:12] for warning in found] == ["mass is -999"] * times
    assert all(warning.filename == __file__ for warning in found)
