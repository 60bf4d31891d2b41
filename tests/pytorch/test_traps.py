"""One rule for arguments: losses take score and mass, modules are made by keywords; what breaks it says so."""

import inspect
import warnings
from functools import partial

import libmode
import numpy as np
import pytest
import torch
from libmode.compat import pytorch as compat
from libmode.torch import MoDeConstraint, MoDeLoss, mode_loss
from libmode.torch.baselines import DisCoLoss, FlatnessLoss

RNG = np.random.default_rng(1)
SCORE, MASS, LABEL = RNG.random(500), RNG.random(500), RNG.integers(0, 2, 500)

LOSSES = {
    "mode_loss": libmode.mode_loss,
    "mode_loss_and_grad": libmode.mode_loss_and_grad,
    "mode_moments": libmode.mode_moments,
    "disco": partial(libmode.mode_loss, loss="disco"),
    "flatness": partial(libmode.mode_loss, loss="flatness"),
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


def test_a_misspelled_option_is_answered_with_the_nearest():
    with pytest.raises(TypeError, match="'max_slop': did you mean max_slope"):
        libmode.mode_loss(SCORE, MASS, max_slop=1)
    with pytest.raises(TypeError, match="'bin': did you mean bins"):
        MoDeLoss(bin=3)
    with pytest.raises(TypeError, match="unknown option 'strength': the options are order, bins"):
        MoDeLoss(strength=3)
    with pytest.raises(TypeError, match="unknown option 'order': the options are unbiased"):
        DisCoLoss(order=1)


MODULES = {MoDeLoss: "order=1", DisCoLoss: "unbiased=True", FlatnessLoss: "bins=20"}


@pytest.mark.parametrize("module", MODULES)
def test_a_module_is_made_by_keywords(module):
    name = module.__name__
    with pytest.raises(TypeError) as caught:
        module(1)
    assert str(caught.value) == (
        f"{name}(1): the arguments of {name} are given by name, for instance {name}({MODULES[module]})"
    )


def test_compat_keeps_the_signature_of_modeloss():
    names = list(inspect.signature(compat.MoDeLoss).parameters)
    assert names[:4] == ["bins", "sbins", "memory", "background_label"]
    score, mass = torch.tensor(SCORE), torch.tensor(MASS)
    assert compat.MoDeLoss(8)(score, torch.zeros(500), mass) == mode_loss(
        score, mass, bins=8, moments="quadrature", unbiased=False
    )


# They are missing where a histogram stands for the events; they and bins keep their places.
OF_EVENTS = {"label", "mass", "selected", "bins", "signal_mass", "signal_masses", "signal_width", "background"}


@pytest.mark.parametrize("module", ["metrics", "plots"])
def test_what_is_optional_is_given_by_name(module):
    functions = vars(__import__(f"libmode.{module}", fromlist=["*"]))
    for name in functions["__all__"]:
        if inspect.isfunction(functions[name]):
            for parameter in inspect.signature(functions[name]).parameters.values():
                if parameter.default is not parameter.empty and parameter.name not in OF_EVENTS:
                    assert parameter.kind is parameter.KEYWORD_ONLY, f"{name}: {parameter.name}"


# ------------------------------------------------------------- outputs that are no scores


LOGITS = 3 * torch.tensor(SCORE) + torch.tensor(LABEL) - 2
TARGET, MASSES = torch.tensor(LABEL), torch.tensor(MASS)


def refused(make):
    """The sentence for logits as scores."""
    with pytest.raises(ValueError, match="lies outside score_range") as caught:
        make()(LOGITS.clone().requires_grad_(), TARGET, MASSES)
    return str(caught.value)


def accepted(make, score):
    return make()(score.clone().requires_grad_(), TARGET, MASSES).isfinite().all()


def test_the_advice_for_logits_leads_to_no_second_error():
    assert "give from_logits=True for raw outputs, or use score_range=None" in refused(MoDeConstraint)
    assert "apply a sigmoid to raw outputs, or use score_range=None" in refused(MoDeLoss)
    assert refused(compat.MoDeLoss).endswith("apply a sigmoid to raw outputs")
    for make in (MoDeConstraint, MoDeLoss):
        narrow = refused(lambda: make(score_range=(0, 0.5)))  # noqa: B023
        assert "score_range = [0, 0.5]: widen it, or use score_range=None" in narrow
        assert "apply a sigmoid to raw outputs, or" in refused(lambda: make(score_range=(0, 1)))  # noqa: B023

    for options in ({}, {"order": 2, "monotonic": True}, {"moments": "quadrature"}, {"tolerance": 1e4}):
        for advised in ({"from_logits": True}, {"score_range": None}):
            assert accepted(lambda: MoDeConstraint(**options, **advised), LOGITS)  # noqa: B023
    for make in (MoDeConstraint, MoDeLoss):
        assert accepted(lambda: make(score_range=None), LOGITS)  # noqa: B023
        assert accepted(lambda: make(score_range=(0, 1)), LOGITS.sigmoid())  # noqa: B023
    assert accepted(compat.MoDeLoss, LOGITS.sigmoid())


def test_probabilities_given_as_logits_are_noticed_once():
    constraint = MoDeConstraint(from_logits=True)
    with pytest.warns(libmode.TrainingWarning, match=r"from_logits = True, and all .* from 0 to 1 \(of the") as caught:
        for _ in range(60):
            constraint(LOGITS.sigmoid().requires_grad_(), TARGET, MASSES).sum().backward()
    assert len(caught) == 1 and caught[0].filename == __file__


FRESH = 0.43 + 0.28 * (LOGITS.sigmoid() - 0.5) / (LOGITS.sigmoid() - 0.5).abs().max()  # from 0.15 to 0.71, as some are


@pytest.mark.parametrize("first", [LOGITS, 0.5 + 0.01 * LOGITS, FRESH], ids=["logits", "near each other", "fresh"])
def test_logits_are_not_taken_for_probabilities(first):
    constraint = MoDeConstraint(from_logits=True, monitor=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for logits in (*[first] * 15, LOGITS, *[LOGITS.sigmoid()] * 60):
            constraint(logits.clone().requires_grad_(), TARGET, MASSES)


# ------------------------------------------------------------- a constraint that does nothing


def train(constraint, calls, loss):
    """Calls of the constraint, and after each a backward pass of ``loss(what went in, what came out)``."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(calls):
            score = LOGITS.sigmoid().requires_grad_()
            loss(score, constraint(score, TARGET, MASSES)).backward()
    assert all(one.category is libmode.TrainingWarning for one in caught)
    return [str(one.message) for one in caught]


def entropy(score):
    return torch.nn.functional.binary_cross_entropy(score, TARGET.double())


def test_a_result_that_is_thrown_away_is_noticed_once():
    (found,) = train(MoDeConstraint(), 60, lambda given, returned: entropy(given))
    assert found.startswith("20 calls in a row had no backward pass") and "what the call RETURNS" in found
    assert train(MoDeConstraint(), 20, lambda given, returned: entropy(given)) == []
    assert train(MoDeConstraint(monitor=False), 60, lambda given, returned: entropy(given)) == []
    assert train(MoDeConstraint(), 60, lambda given, returned: entropy(returned)) == []


def test_a_loss_without_a_gradient_for_background_is_noticed_once():
    signal = TARGET == 1
    (found,) = train(MoDeConstraint(), 160, lambda given, returned: -returned[signal].log().mean())
    assert found.startswith("the constraint has done nothing for 100 batches: its strength is 0")
    (found,) = train(MoDeConstraint(), 160, lambda given, returned: 0 * entropy(returned))
    assert found.startswith("the constraint has done nothing for 100 batches: its strength is 0")
    assert train(MoDeConstraint(), 90, lambda given, returned: 0 * entropy(returned)) == []


def test_bins_that_leave_no_residual_are_noticed_once():
    found = train(MoDeConstraint(order=1, bins=2), 160, lambda given, returned: entropy(returned))
    assert [sentence for sentence in found if "done nothing for 100 batches: its push is 0" in sentence]
