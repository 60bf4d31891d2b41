"""What is easily given wrong says so, and what trains nothing is noticed."""

import warnings

import libmode
import numpy as np
import pytest
import torch
from libmode.torch import MoDeConstraint, MoDeLoss, mode_loss

RNG = np.random.default_rng(1)
MASSES, TARGET = torch.tensor(RNG.random(500)), torch.tensor(RNG.integers(0, 2, 500))
LOGITS = 3 * torch.tensor(RNG.random(500)) + TARGET - 2


NEEDS_ORDER = [
    lambda: libmode.mode_loss([0.2, 0.7], [80, 90]),
    lambda: libmode.mode_moments([0.2, 0.7], [80, 90]),
    lambda: mode_loss(LOGITS.sigmoid(), MASSES),
    lambda: MoDeLoss(bins=4),
    lambda: MoDeConstraint(from_logits=True),
]


@pytest.mark.parametrize("call", NEEDS_ORDER)
def test_an_order_that_is_left_out_is_an_error_that_says_what_it_means(call):
    with pytest.raises(TypeError, match="order is missing: .* 0 none at all, 1 a straight line, 2 a parabola"):
        call()


@pytest.mark.parametrize("name, meant", [("weigth", "weight"), ("target", "label"), ("y_pred", "score")])
def test_a_name_that_is_no_option_says_which_is_meant(name, meant):
    with pytest.raises(TypeError, match=f"unknown option '{name}': did you mean {meant}\\? The options are "):
        mode_loss(LOGITS.sigmoid(), MASSES, order=0, **{name: MASSES})
    with pytest.raises(TypeError, match="unknown option 'order': the options are unbiased"):
        mode_loss(LOGITS.sigmoid(), MASSES, loss="disco", order=1)


@pytest.mark.parametrize("make, typo, meant, others", [
    (MoDeLoss, "strenght", "strength", {"gather", "on_bad_batch"}),
    (MoDeConstraint, "strenght", "strength", {"floor", "training_events", "from_logits", "categories"}),
    (MoDeConstraint, "flor", "floor", {"strength"}),
], ids=str)  # fmt: skip
def test_a_typing_error_in_an_argument_of_a_module(make, typo, meant, others):
    with pytest.raises(TypeError, match=f"unknown option '{typo}': did you mean {meant}\\? The options are ") as caught:
        make(order=1, **{typo: 3})
    assert {meant, "order", "bins", *others} <= set(str(caught.value).partition("options are ")[2].split(", "))


@pytest.mark.parametrize("make", [MoDeLoss, MoDeConstraint], ids=str)
def test_events_without_labels(make):
    """Signal must not become background by silence."""
    score = LOGITS.sigmoid().float().requires_grad_()
    with pytest.raises(TypeError, match="label is None, .* background_only=False"):
        make(order=0)(score, None, MASSES)
    pooled = [make(order=0, background_only=False)(score, label, MASSES) for label in (None, TARGET)]
    assert torch.equal(*pooled)
    assert mode_loss(score, MASSES, order=0) == MoDeLoss(order=0, background_only=False)(score, None, MASSES)


# ------------------------------------------------------------- outputs that are no scores


@pytest.mark.parametrize(
    "make, options, advice",
    [
        (MoDeConstraint, {"order": 1}, "give from_logits=True for raw outputs, or use score_range=None"),
        (MoDeLoss, {"order": 0, "score_range": (0, 0.5)}, "score_range = [0, 0.5]: widen it, or use score_range=None"),
    ],
)
def test_logits_that_are_taken_for_scores_get_advice(make, options, advice):
    with pytest.raises(ValueError, match="lies outside score_range") as caught:
        make(**options)(LOGITS.clone().requires_grad_(), TARGET, MASSES)
    assert advice in str(caught.value)


@pytest.mark.parametrize("value", [torch.inf, -torch.inf])
def test_infinite_logits_of_background_are_an_error(value):
    constraint = MoDeConstraint(from_logits=True, order=1)
    for label in (1, 0):
        logits, at = LOGITS.clone(), int((label == TARGET).nonzero()[3])
        logits[at] = value
        if label:  # nobody looks at signal
            constraint(logits.requires_grad_(), TARGET, MASSES).sum().backward()
        else:
            before = constraint.state.clone()
            with pytest.raises(ValueError, match=rf"score\[{at}\] = [+-]Inf: every score of a selected event"):
                constraint(logits.requires_grad_(), TARGET, MASSES).sum().backward()
            assert torch.equal(constraint.state, before)


@pytest.mark.parametrize("make", [MoDeConstraint, MoDeLoss])
def test_scores_that_are_nearly_alike_are_noticed_once(make):
    score = 0.5 + 1e-5 * torch.randn(500, dtype=torch.float64)
    for monitor, count in ((True, 1), (False, 0)):
        mode = make(order=0, monitor=monitor)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(150):
                mode(score.clone().requires_grad_(), TARGET, MASSES).sum().backward()
        assert [str(one.message)[:56] for one in caught] == [
            "the scores of a batch are nearly equal (mean 0.5, standa"
        ] * count
