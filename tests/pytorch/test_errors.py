"""Errors beside the table of tests/helpers/error_cases.py: other functions, and what is no tensor."""

import libmode
import pytest
import torch
from libmode import metrics
from libmode.torch import ABCDLoss, Events, MoDeConstraint, MoDeLoss, MoDeMetrics, Reference, mode_loss

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
    "'weights' of jsd: did you mean weight": lambda: metrics.jsd(HALF, HALF, MASS, weights=HALF),
}  # fmt: skip


@pytest.mark.parametrize("sentence", OTHERS)
@pytest.mark.usefixtures("threads")
def test_the_sentence_of(sentence):
    with pytest.raises((TypeError, ValueError)) as caught:
        OTHERS[sentence]()
    assert sentence in str(caught.value)


#: Labels of which two are missing, as where a join found no partner, and what takes them.
LOST = (MASS % 2).where((MASS != 5) & (MASS != 9), torch.nan)
LABELLED = {
    "a constraint": lambda: MoDeConstraint(order=0)(HALF.clone().requires_grad_(), LOST, MASS),
    "a loss that skips": lambda: MoDeLoss(order=0, on_bad_batch="skip")(HALF, LOST, MASS),
    "classes": lambda: MoDeLoss(order=0, per_class=True)(torch.stack([HALF, HALF], 1), LOST.double(), MASS),
    "half precision": lambda: MoDeLoss(order=0)(HALF, LOST.half(), MASS),
    "reference events": lambda: MoDeLoss(order=0)(HALF, MASS % 2, MASS, reference=Events(HALF, LOST, MASS)),
    "drawn events": lambda: Reference((HALF, LOST, MASS)),
    "ABCD": lambda: ABCDLoss()(HALF, MASS, LOST),
}


@pytest.mark.parametrize("what", LABELLED)
def test_a_label_that_is_missing_is_an_error_of(what):
    with pytest.raises(
        ValueError, match=r"^(reference\.)?label\[5\] = nan: expected a number; leave such eve"
    ) as caught:
        LABELLED[what]()
    assert not isinstance(caught.value, libmode.BatchError)


@pytest.mark.parametrize(("kind", "large"), [(torch.float64, 1e200), (torch.float32, 1e30), (torch.float16, 3e4)])
@pytest.mark.filterwarnings("error")
def test_labels_whose_squares_overflow_are_labels(kind, large):
    score, mass = torch.rand(200), torch.rand(200)
    label = (large * (torch.arange(200) % 2).double()).to(kind)
    assert mode_loss(score, mass, label=label, order=0) == mode_loss(score[::2], mass[::2], order=0)
