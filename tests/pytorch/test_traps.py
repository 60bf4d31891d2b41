"""One rule for arguments: losses take score and mass, modules are made by keywords; what breaks it says so."""

import inspect

import libmode
import numpy as np
import pytest
import torch
from libmode import baselines
from libmode.compat import pytorch as compat
from libmode.torch import MoDeLoss, mode_loss
from libmode.torch.baselines import AdversaryLoss, DisCoLoss, FlatnessLoss

RNG = np.random.default_rng(1)
SCORE, MASS, LABEL = RNG.random(500), RNG.random(500), RNG.integers(0, 2, 500)

LOSSES = {
    "mode_loss": libmode.mode_loss,
    "mode_loss_and_grad": libmode.mode_loss_and_grad,
    "mode_moments": libmode.mode_moments,
    "disco_loss": baselines.disco_loss,
    "disco_loss_and_grad": baselines.disco_loss_and_grad,
    "flatness_loss": baselines.flatness_loss,
    "flatness_loss_and_grad": baselines.flatness_loss_and_grad,
    "torch.mode_loss": lambda *arrays, **options: mode_loss(*map(torch.tensor, arrays), **options),
}
every_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES.keys())


@every_loss
def test_a_loss_takes_two_arrays_by_position(loss):
    for arrays in ((SCORE, MASS, LABEL), (SCORE, LABEL, MASS), (SCORE, LABEL, MASS, MASS)):
        with pytest.raises(TypeError, match="takes 2 positional arguments but"):
            loss(*arrays)


def test_the_edges_take_one_array_by_position():
    with pytest.raises(TypeError, match="takes 1 positional argument but"):
        libmode.mode_edges(MASS, LABEL)


MEANT = {
    "weights": "weight",
    "sample_weight": "weight",
    "weigth": "weight",
    "target": "label",
    "labels": "label",
    "y_true": "label",
    "pred": "score",
    "y_pred": "score",
    "masses": "mass",
    "background_labels": "background_label",
}


@every_loss
@pytest.mark.parametrize("name", MEANT)
def test_the_name_of_another_package_is_answered_with_that_of_this_one(loss, name):
    with pytest.raises(TypeError, match=f"unknown option '{name}': did you mean {MEANT[name]}\\? The options are "):
        loss(SCORE, MASS, **{name: LABEL})


def test_a_misspelt_option_is_answered_with_the_nearest():
    with pytest.raises(TypeError, match="'max_slop': did you mean max_slope"):
        libmode.mode_loss(SCORE, MASS, max_slop=1)
    with pytest.raises(TypeError, match="'bin': did you mean bins"):
        MoDeLoss(bin=3)
    with pytest.raises(TypeError, match="unknown option 'strength': the options are order, bins"):
        MoDeLoss(strength=3)
    with pytest.raises(TypeError, match="unknown option 'order': the options are unbiased"):
        DisCoLoss(order=1)


MODULES = {MoDeLoss: "order=1", DisCoLoss: "unbiased=True", FlatnessLoss: "bins=20", AdversaryLoss: "components=20"}


@pytest.mark.parametrize("module", MODULES)
def test_a_module_is_made_by_keywords(module):
    name = module.__name__
    with pytest.raises(TypeError) as caught:
        module(1)
    assert str(caught.value) == (
        f"{name}(1): the arguments of {name} are given by name, for instance {name}({MODULES[module]})"
    )


@pytest.mark.parametrize("module", MODULES)
def test_modules_are_called_alike(module):
    parameters = inspect.signature(module.forward).parameters
    assert list(parameters)[:5] == ["self", "pred", "target", "mass", "weights"]
    assert parameters["weights"].default is None
    if module is not AdversaryLoss:
        named = ["category", "reference"] if module is MoDeLoss else ["category"]
        assert list(parameters)[5:] == named
        assert all(parameters[name].kind is inspect.Parameter.KEYWORD_ONLY for name in named)


def test_compat_keeps_the_signature_of_modeloss():
    names = list(inspect.signature(compat.MoDeLoss).parameters)
    assert names[:4] == ["bins", "sbins", "memory", "background_label"]
    score, mass = torch.tensor(SCORE), torch.tensor(MASS)
    assert compat.MoDeLoss(8)(score, torch.zeros(500), mass) == mode_loss(
        score, mass, bins=8, moments="quadrature", unbiased=False
    )


@pytest.mark.parametrize("module", ["metrics", "plots"])
def test_what_is_optional_is_given_by_name(module):
    functions = vars(__import__(f"libmode.{module}", fromlist=["*"]))
    for name in functions["__all__"]:
        if inspect.isfunction(functions[name]):
            for parameter in inspect.signature(functions[name]).parameters.values():
                if parameter.default is not parameter.empty:
                    assert parameter.kind is parameter.KEYWORD_ONLY, f"{name}: {parameter.name}"
