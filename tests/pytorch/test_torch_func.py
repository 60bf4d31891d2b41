"""torch.func cannot transform the losses, and says so; forward mode works without it."""

import pytest
import torch
from libmode.torch import MoDeLoss, mode_loss
from torch.autograd import forward_ad

LOSSES = {
    "mode": MoDeLoss(order=1, bins=5),
    "disco": lambda score, label, mass: mode_loss(score, mass, label=label, loss="disco"),
    "on the device": MoDeLoss(order=1, bins=5, on_device=True),
}
EVENTS = torch.linspace(0.1, 0.9, 60, dtype=torch.float64), torch.arange(60) % 3 % 2, torch.rand(60)


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES.keys())
@pytest.mark.parametrize("transform", [torch.func.grad, lambda loss: torch.vmap(lambda *e: loss(*e[:1], *EVENTS[1:]))])
def test_it_says_what_to_use(loss, transform):
    with pytest.raises(RuntimeError, match="torch.func cannot transform the losses of libmode.*torch.autograd.grad"):
        transform(loss)(*(EVENTS if transform is torch.func.grad else (EVENTS[0][None],)))


# What PyTorch itself does when forward mode is first used.
@pytest.mark.filterwarnings("ignore:`torch.jit.script` is:FutureWarning", "ignore::DeprecationWarning:torch")
def test_forward_mode():
    score, *others = EVENTS
    leaf, direction = score.clone().requires_grad_(), torch.linspace(-1, 1, 60, dtype=torch.float64)
    want = torch.autograd.grad(LOSSES["mode"](leaf, *others), leaf)[0] @ direction
    with forward_ad.dual_level():
        dual = LOSSES["mode"](forward_ad.make_dual(score, direction), *others)
        torch.testing.assert_close(forward_ad.unpack_dual(dual).tangent, want)
