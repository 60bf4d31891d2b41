"""Errors beside the table of tests/helpers/error_cases.py: what is no tensor, and what modules and their calls refuse."""

import math

import libmode
import pytest
import torch
from libmode.torch import Events, MoDeConstraint, MoDeLoss, MoDeMetrics, distance_correlation, mode_loss

N = 60
HALF, ONES, MASS = torch.full((N,), 0.5), torch.ones(N), torch.arange(float(N))
SCORE, LABEL = torch.linspace(0.1, 0.9, N), torch.arange(N) % 3
ROWS = torch.softmax(torch.stack([SCORE, MASS / N, SCORE**2], 1), 1)


def layer(score=SCORE, label=LABEL, reference=None, **options):
    """A call of a constraint."""
    MoDeConstraint(**{"order": 1, "bins": 4} | options)(
        score.clone().requires_grad_(), label, MASS, reference=reference
    )


OTHERS = {
    "threads = -1": lambda: libmode.set_threads(-1),
    "threads = 4294967297": lambda: libmode.set_threads(2**32 + 1),
    "score is torch.int64: expected a floating-point tensor": lambda: mode_loss(MASS.long(), MASS, order=0),
    "score is ndarray: expected a floating-point tensor": lambda: mode_loss(HALF.numpy(), MASS, order=0),
    "weight is list: expected a tensor of real numbers": lambda: mode_loss(HALF, MASS, weight=[1.0] * N, order=0),
    "score is a sparse_coo tensor": lambda: mode_loss(HALF.to_sparse(), MASS, order=0),
    "mass is a nested tensor": lambda: mode_loss(HALF, torch.nested.nested_tensor([HALF] * 2, layout=torch.jagged), order=0),
    "weight is on the device meta": lambda: mode_loss(HALF, MASS, weight=torch.ones(N, device="meta"), order=0),
    "unknown option 'lable': did you mean label?": lambda: mode_loss(SCORE, MASS, order=0, lable=MASS),
    "order is missing: it says which dependence of the background efficiency": lambda: MoDeLoss(bins=4),
    "unknown option 'strenght': did you mean strength?": lambda: layer(strenght=3),
    "strength = +Inf must be finite and at least 0": lambda: MoDeLoss(order=1, strength=math.inf),
    "strength = 3 and score_range": lambda: MoDeLoss(order=1, strength=3, score_range=None),
    "strength = 3.0: on_device = True has no such form": lambda: MoDeLoss(order=1, strength=3, on_device=True),
    "strength = -1 must be a number, finite and at least 0": lambda: layer(strength=-1),
    "floor = 2 must be greater than 0 and at most 1": lambda: layer(floor=2),
    "training_events = 'many' must be a number": lambda: layer(training_events="many"),
    "categories = -1 must be at least 0": lambda: layer(categories=-1),
    "score_range = (0.0, 2.0) and from_logits = True": lambda: layer(from_logits=True, score_range=(0, 2)),
    "on_bad_batch = 'pass'": lambda: layer(on_bad_batch="pass"),
    "lies outside score_range = [0, 1]: give from_logits=True for raw outputs": lambda: layer(9 * SCORE),
    "reference is tuple: give Events(score, label, mass, weight)": lambda: layer(reference=(SCORE, MASS)),
    "reference has weight, and the batch has none": lambda: layer(reference=Events(SCORE, None, MASS, ONES)),
    "reference.mass has shape": lambda: layer(reference=Events(SCORE, None, ROWS)),
    "where events from 60 on are reference events": lambda: layer(reference=Events(SCORE + 1, None, MASS)),
    "expected (n,), (n, 1), or (n, k) of a softmax with a class 3": lambda: layer(ROWS, from_logits=True, signal=3),
    "background_label = 2 and signal = -1: the 3 columns of score are classes": lambda: layer(ROWS, background_label=2),
    "from_logits = True, and the rows of score are from 0 to 1": lambda: layer(ROWS, from_logits=True),
    "must be probabilities of a softmax": lambda: layer(2 * ROWS),
    "x: all 60 events have the value 1, so DisCo is 0/0": lambda: distance_correlation(ONES, MASS),
    "x[0] = NaN: must be finite": lambda: distance_correlation(ONES * math.nan, MASS),
    "x is list: expected a tensor": lambda: distance_correlation([1.0] * N, MASS),
    "weight has length 59, but x has length 60": lambda: distance_correlation(SCORE, MASS, weight=ONES[1:]),
    "weight requires a gradient": lambda: distance_correlation(SCORE, MASS, weight=ONES.clone().requires_grad_()),
    "label is None: expected a tensor": lambda: MoDeMetrics(order=0).update(SCORE, None, MASS),
    "mass has shape (60, 3)": lambda: MoDeMetrics(order=0).update(SCORE, LABEL, ROWS),
    "mass[0] = nan": lambda: MoDeMetrics(order=0).update(SCORE, LABEL, MASS * math.nan),
    "there are no events: call update": lambda: MoDeMetrics(order=0).compute(),
}  # fmt: skip


@pytest.mark.parametrize("sentence", OTHERS)
@pytest.mark.usefixtures("threads")
def test_the_sentence_of(sentence):
    with pytest.raises((TypeError, ValueError)) as caught:
        OTHERS[sentence]()
    assert sentence in str(caught.value)
