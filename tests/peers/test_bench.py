"""The rivals of the benchmark compute what they claim to, and its harness counts what it should."""

import golden
import numpy as np
import pytest
import torch

from bench import device, strong_torch
from bench.strong_torch import strong_torch_loss

PLAIN = {
    "max_slope": None,
    "monotonic": False,
    "moments": "quadrature",
    "unbiased": False,
    "slope_penalty": 0.0,
    "score_range": [0.0, 1.0],
    "reduction": "mean",
    "binning": "quantile",
}
CASES = [case for case in golden.CASES if PLAIN.items() <= case.options.items()]


@pytest.mark.parametrize("sort_by_bits", [True, False], ids=["radix", "float sort"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_strong_pytorch_is_exact(case, sort_by_bits, monkeypatch):
    monkeypatch.setattr(strong_torch, "_RADIX_FROM", 0)  # for any number of events
    arrays, options = list(case.events().values())[:3], case.options
    score, mass, weight = (None if array is None else torch.tensor(array) for array in arrays)
    given = (options["order"], options["bins"], weight, options["mass_range"])
    loss = strong_torch_loss(score.requires_grad_(), mass, *given, radix=sort_by_bits)
    loss.backward()
    grad = score.grad.numpy()
    golden.assert_close(loss.item(), case.loss, 1e-9)
    if len(np.unique(case.score)) == len(case.score):
        golden.assert_close(grad, case.grad, 1e-9)
    else:  # tied scores: each gradient depends on the order, their sum does not
        sums = [[g[case.score == s].sum() for s in np.unique(case.score)] for g in (grad, case.grad)]
        golden.assert_close(*sums, 1e-9)


def test_what_is_timed_beside_each_other_is_the_same_loss(interpreter):
    cpu = torch.device("cpu")
    assert device.agreement(cpu, [(options, (200,)) for options, _ in device.COMPARED if "bins" not in options]) < 1e-9
    layer, loss = device.MoDeConstraint(order=1), device.MoDeLoss(order=1, on_device=True)
    for added in ({}, {"constraint": layer}, {"mode": loss}):
        device.training(device.Paper, 200, cpu, **added)()
    assert 1.7e6 < sum(parameter.numel() for parameter in device.Transformer().parameters()) < 2.1e6
