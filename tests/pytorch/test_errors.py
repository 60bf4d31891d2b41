"""Errors beside the table of tests/helpers/error_cases.py: other functions, and what is no tensor."""

import libmode
import pytest
import torch
from libmode import metrics
from libmode.torch import MoDeMetrics, mode_loss

N = 60
HALF, MASS = torch.full((N,), 0.5), torch.arange(float(N))

OTHERS = {
    "threads = -1": lambda: libmode.set_threads(-1),
    "threads = '2'": lambda: libmode.set_threads("2"),
    "threads = 4294967297": lambda: libmode.set_threads(2**32 + 1),
    "score is torch.int64: expected a floating-point tensor": lambda: mode_loss(MASS.long(), MASS, order=0),
    "score is ndarray: expected a floating-point tensor": lambda: mode_loss(HALF.numpy(), MASS, order=0),
    "weight is list: expected a tensor of real numbers": lambda: mode_loss(HALF, MASS, weight=[1.0] * N, order=0),
    "category is list: expected a tensor of integers": lambda: mode_loss(HALF, MASS, category=[0] * N, order=0),
    "score is a sparse_coo tensor": lambda: mode_loss(HALF.to_sparse(), MASS, order=0),
    "mass is a nested tensor": lambda: mode_loss(HALF, torch.nested.nested_tensor([HALF] * 2, layout=torch.jagged), order=0),
    "weight is on the device meta": lambda: mode_loss(HALF, MASS, weight=torch.ones(N, device="meta"), order=0),
    "'weights' of MoDeMetrics.update: did you mean weight": lambda: MoDeMetrics(order=0).update(HALF, HALF, MASS, weights=HALF),
    "'weights' of efficiency: did you mean weight": lambda: metrics.efficiency(HALF, HALF, MASS, weights=HALF),
}  # fmt: skip


@pytest.mark.parametrize("sentence", OTHERS)
@pytest.mark.usefixtures("threads")
def test_the_sentence_of(sentence):
    with pytest.raises((TypeError, ValueError)) as caught:
        OTHERS[sentence]()
    assert sentence in str(caught.value)
