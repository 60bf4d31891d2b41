"""MoDeLoss(per_class=True): the mean over the outputs of several classes."""

import numpy as np
import pytest
import torch
from libmode.torch import Events, MoDeLoss, mode_loss

N = 120


def outputs():
    """The outputs of a softmax of three classes, targets, masses of two variables, weights and categories."""
    rng = np.random.default_rng(8)
    pred, mass, weight = (torch.tensor(a) for a in (rng.dirichlet([1, 1, 1], N), rng.random((N, 2)), rng.random(N)))
    return pred.requires_grad_(), torch.arange(N) % 3, mass, weight, torch.arange(N) // 60


@pytest.mark.parametrize("compile", [False, True], ids=["eager", "compiled"])
def test_it_is_the_mean_over_the_columns(compile):
    pred, target, mass, weight, category = outputs()
    options = {"order": 1, "bins": 3, "background_label": (0, 2)}
    module = MoDeLoss(per_class=True, **options)
    loss = torch.compile(module, fullgraph=True, backend="aot_eager") if compile else module
    value = loss(pred, target, mass, weight, category=category)
    columns = [
        mode_loss(column, mass, weight=weight, label=target, category=category, **options) for column in pred.t()
    ]
    want = torch.stack(columns).mean()
    torch.testing.assert_close(value, want, rtol=1e-12, atol=0)
    (grad,), (want_grad,) = (torch.autograd.grad(one, pred, retain_graph=True) for one in (value, want))
    torch.testing.assert_close(grad, want_grad, rtol=1e-9, atol=1e-15)


def test_with_a_transform_and_a_bad_batch():
    pred, target, mass, *_ = outputs()
    mode = MoDeLoss(bins=3, per_class=True, score_transform=torch.sqrt, order=0)
    want = MoDeLoss(bins=3, per_class=True, order=0)(pred.sqrt(), target, mass)
    torch.testing.assert_close(mode(pred, target, mass), want, rtol=1e-12, atol=0)
    skipping = MoDeLoss(per_class=True, on_bad_batch="skip", order=0)
    with pytest.warns(RuntimeWarning, match="gives a batch the loss 0"):
        loss = skipping(pred, target + 1, mass)
    assert loss == 0 and skipping.skipped == 1
    assert torch.autograd.grad(loss, pred)[0].eq(0).all()


BAD = [
    (r"score has shape \(120,\): per_class = True needs shape \(n, k\)", lambda pred: pred[:, 0], None),
    (r"score has shape \(120, 0\)", lambda pred: pred[:, :0], None),
    ("score is list: per_class", lambda pred: [0.5], None),
    ("reference and per_class = True", lambda pred: pred, Events(torch.rand(9), None, torch.rand(9))),
]


@pytest.mark.parametrize("message, change, reference", BAD, ids=[row[0] for row in BAD])
def test_bad_input(message, change, reference):
    pred, target, mass, *_ = outputs()
    with pytest.raises(ValueError, match=message):
        MoDeLoss(per_class=True, order=0)(change(pred), target, mass, reference=reference)
