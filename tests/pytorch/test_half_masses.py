"""Masses in half precision are said: few of them differ."""

import libmode
import pytest
import torch
from libmode import TrainingWarning
from libmode.torch import MoDeConstraint, MoDeLoss, mode_loss

MASS = 5_279 + 20 * torch.randn(2_000, generator=torch.Generator().manual_seed(1), dtype=torch.float64)  # MeV
LABEL = (torch.arange(2_000) % 2).float()


def score(kind):
    values = torch.rand(2_000, generator=torch.Generator().manual_seed(2)).to(kind)
    return values.requires_grad_()


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("call", [
    lambda mass, kind: MoDeLoss(order=0)(score(kind), LABEL, mass),
    lambda mass, kind: MoDeConstraint(order=0, monitor=False)(score(kind), LABEL, mass),
    lambda mass, kind: mode_loss(score(kind), mass, label=LABEL, order=0),
], ids=["loss", "constraint", "function"])  # fmt: skip
def test_what_the_masses_have_become(call, kind):
    mass = MASS.to(kind)
    exact = mass.double()
    values = exact.unique()
    apart = (values[1:] - values[:-1]).min()
    with pytest.warns(TrainingWarning) as caught:
        call(mass, kind)
    (sentence,) = [str(one.message) for one in caught if "mass is in" in str(one.message)]
    assert str(kind).removeprefix("torch.") in sentence
    assert f"are {apart:.3g} apart, and 2000 masses have {len(values)} values" in sentence
    assert caught[0].filename == __file__


def test_masses_beyond_float16_are_said():
    mass = torch.linspace(0, 80_000, 2_000).half()  # MeV
    for given in (mass, mass.numpy()):
        with pytest.raises(
            ValueError, match=r"^float16 ends at 65,504, give masses in float32: mass\[\d+\] = \+?[Ii]nf"
        ):
            if given is mass:
                MoDeLoss(order=0)(score(torch.float32), LABEL, given)
            else:
                libmode.mode_loss(score(torch.float32).detach().numpy(), given, order=0)
