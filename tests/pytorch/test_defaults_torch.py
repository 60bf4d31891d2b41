"""An option that is given with its default is the option that is left out: the modules and functions of PyTorch."""

import pytest
import torch
from defaults import DEFAULTS, of_signature
from libmode.torch import MoDeConstraint, MoDeLoss, distance_correlation, mode_loss

RNG = torch.Generator().manual_seed(1)
LABEL = torch.randint(0, 2, (2_000,), generator=RNG)
MASS = torch.rand(2_000, generator=RNG) * 250 + 50
LOGIT = torch.randn(2_000, generator=RNG) + LABEL - MASS / 200


def gradient(function, events):
    """The value and the gradient by the scores."""
    score = torch.sigmoid(LOGIT).requires_grad_()
    value = function(score, *events)
    (slope,) = torch.autograd.grad(value.square().sum(), score)
    return value.detach(), slope


def assert_same(make, *events, **default):
    found, want = (gradient(make(**more), events) for more in (default, {}))
    assert torch.equal(found[0], want[0]) and torch.equal(found[1], want[1])
    assert want[1].abs().max() > 0


MODULES = [(kind, name) for kind in (MoDeLoss, MoDeConstraint) for name in {**of_signature(kind), **DEFAULTS["mode"]}]


@pytest.mark.parametrize("kind, name", MODULES, ids=lambda one: getattr(one, "__name__", one))
def test_of_modules(kind, name):
    default = {**DEFAULTS["mode"], **of_signature(kind)}[name]
    assert_same(lambda **more: kind(order=1, **more), LABEL, MASS, **{name: default})


@pytest.mark.parametrize("name", DEFAULTS["mode"])
def test_of_logits(name):
    """score_range=(0, 1), the range of logits, was once an error."""

    def of_logits(**more):
        constraint = MoDeConstraint(order=1, from_logits=True, **more)
        return lambda score, label, mass: torch.sigmoid(constraint(torch.logit(score), label, mass))

    assert_same(of_logits, LABEL, MASS, **{name: DEFAULTS["mode"][name]})


@pytest.mark.parametrize("loss, name", [(loss, name) for loss in DEFAULTS for name in DEFAULTS[loss]])
def test_of_functions(loss, name):
    order = {"order": 1} if loss == "mode" else {}
    assert_same(
        lambda **more: lambda score: mode_loss(score, MASS, label=LABEL, loss=loss, **order, **more),
        **{name: DEFAULTS[loss][name]},
    )


@pytest.mark.parametrize("name", ["unbiased", "weight"])
def test_of_disco(name):
    default = of_signature(distance_correlation)[name]
    assert_same(lambda **more: lambda score: distance_correlation(score, MASS, **more), **{name: default})
