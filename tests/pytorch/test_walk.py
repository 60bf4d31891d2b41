"""How many functions a call goes through on its way to the core, and in how many files: a reader follows it."""

import pytest
import torch
from libmode.torch import MoDeConstraint, MoDeLoss

from tools.walk import walk

MOST = {"loss": (12, 5), "strength": (14, 6), "layer": (11, 5)}
MODULES = {"loss": MoDeLoss(order=1), "strength": MoDeLoss(order=1, strength=30), "layer": MoDeConstraint(order=1)}


@pytest.mark.parametrize("name", MOST)
def test_a_call_goes_through_few_functions(name):
    score, mass, label = torch.rand(1_000).requires_grad_(), torch.rand(1_000), torch.randint(0, 2, (1_000,)).float()
    calls, files, names = walk(lambda: MODULES[name](score, label, mass))
    assert calls <= MOST[name][0] and files <= MOST[name][1], "\n".join(names)
    assert any("_native.py" in name for name in names), "the walk does not come to the core"
