"""How short the way from a module to the core is: what lies on it is paid at each step of a training."""

import sys

import pytest
import torch
from libmode.torch import MoDeConstraint, MoDeLoss


@pytest.mark.parametrize("kind, most", [(MoDeLoss, 12), (MoDeConstraint, 32)])
def test_so_few_calls_lie_between_forward_and_the_core(kind, most):
    generator = torch.Generator().manual_seed(1)
    score, mass = torch.rand(200, generator=generator).requires_grad_(), torch.rand(200, generator=generator)
    target = (torch.arange(200) % 2).float()
    module = kind(order=1, bins=4)
    module(score, target, mass)  # the library is loaded, and options are cached
    calls = []
    sys.setprofile(lambda frame, event, _: calls.append(frame.f_code) if event == "call" else None)
    try:
        module(score, target, mass)
    finally:
        sys.setprofile(None)
    names = [code.co_name for code in calls]
    forward = next(k for k, code in enumerate(calls) if code is kind.forward.__wrapped__.__code__)
    core = names.index("_call_with")  # which calls the function of the core and nothing else
    assert 0 < core - forward <= most, names[forward : core + 1]
