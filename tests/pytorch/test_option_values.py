"""Options are copied when they are given: what changes afterwards changes nothing, and nothing is kept alive."""

import numpy as np
import pytest
import torch
from defaults import DEFAULTS, of_signature
from libmode.torch import MoDeConstraint, MoDeLoss

RNG = np.random.default_rng(1)
SCORE, MASS = RNG.random(500), RNG.random(500)
TENSORS = torch.tensor(SCORE), torch.zeros(500), torch.tensor(MASS)


@pytest.mark.parametrize("kind", [MoDeLoss, MoDeConstraint], ids=lambda kind: kind.__name__)
def test_defaults_that_are_given_are_defaults_left_out(kind):
    found = []
    for more in ({}, DEFAULTS["mode"] | of_signature(kind)):
        score = TENSORS[0].clone().requires_grad_()
        kind(order=1, **more)(score, *TENSORS[1:]).sum().backward()
        found.append(score.grad)
    assert torch.equal(*found)


def test_a_module_keeps_what_it_was_made_with():
    edges, label = np.array([0.0, 0.2, 1.0]), torch.tensor([0, 1])
    loss = MoDeLoss(edges=edges, background_label=label, order=0)
    events = TENSORS[0], torch.arange(500) % 2, TENSORS[2]
    before = loss(*events)
    edges[1], label[0] = 0.7, 5
    assert loss(*events) == before
    assert "edges=(0.0, 0.2, 1.0)" in repr(loss) and "background_label=(0, 1)" in repr(loss)
