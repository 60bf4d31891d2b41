"""A batch that has no loss: an error with advice, or the loss 0, a count and one warning."""

import libmode
import numpy as np
import pytest
import torch
from libmode.compat import pytorch as compat
from libmode.torch import MoDeConstraint, MoDeLoss
from libmode.torch.baselines import DisCoLoss, FlatnessLoss

MODULES = {
    "mode": lambda **options: MoDeLoss(bins=4, **options),
    "transform": lambda **options: MoDeLoss(bins=4, score_transform="signal_efficiency", **options),
    "disco": lambda **options: DisCoLoss(**options),
    "flatness": lambda **options: FlatnessLoss(bins=4, **options),
}
every_module = pytest.mark.parametrize("make", MODULES.values(), ids=MODULES.keys())


def events(n=60):
    """Score, target and mass; every third event is signal."""
    rng = np.random.default_rng(2)
    score = torch.tensor(rng.random(n), requires_grad=True)
    return score, (torch.arange(n) % 3 == 2).long(), torch.tensor(rng.random(n))


BATCHES = {
    "no background": lambda score, target, mass: (score, 0 * target + 1, mass, None),
    "empty": lambda score, target, mass: (score[:0], target[:0], mass[:0], None),
    "one event": lambda score, target, mass: (score[:1], target[:1], mass[:1], None),
    "weights that sum to a negative number": lambda score, target, mass: (score, target, mass, -torch.ones_like(mass)),
    "equal masses": lambda score, target, mass: (score, target, 0 * mass, None),
}


def is_bad(make, batch):
    """Whether the loss of the batch is an error."""
    try:
        make()(*batch)
    except libmode.BatchError:
        return True
    return False


@pytest.mark.parametrize("which", BATCHES)
@every_module
def test_skip_gives_0_with_gradient_0_and_warns_once(make, which):
    batch = BATCHES[which](*events())
    assert is_bad(make, batch)
    loss = make(on_bad_batch="skip")
    with pytest.warns(RuntimeWarning, match="the loss 0, and counts further ones in .skipped: ") as caught:
        values = [loss(*batch) for _ in range(3)]
    assert len(caught) == 1
    assert loss.skipped == 3
    for value in values:
        assert value.item() == 0 and value.dtype == torch.float64
        (grad,) = torch.autograd.grad(value, batch[0])
        assert grad.shape == batch[0].shape and not grad.any()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("make", [*MODULES.values(), lambda **options: MoDeConstraint(bins=4, **options)])
def test_a_loss_that_only_skips_is_an_error_with_the_reason(make):
    good, bad = events(), BATCHES["no background"](*events())
    loss = make(on_bad_batch="skip")
    for _ in range(9):
        loss(*bad)
    with pytest.raises(
        libmode.BatchError, match="has skipped the first 10 batches, .* Of the last one: .*(label|back)"
    ):
        loss(*bad)
    loss = make(on_bad_batch="skip")
    for _ in range(3):  # a batch that has a loss ends the row
        loss(*good)
        for _ in range(99):
            loss(*bad)
    with pytest.raises(libmode.BatchError, match="has skipped the last 100 batches"):
        loss(*bad)
    assert loss.skipped == 298


@pytest.mark.parametrize("make", [MODULES[name] for name in ("mode", "disco", "flatness")])
def test_a_score_that_is_nan_does_not_spoil_the_gradient_of_a_batch_without_background(make):
    score, target, mass = events()
    score.data[5] = torch.nan
    loss = make(on_bad_batch="skip")
    with pytest.warns(RuntimeWarning):
        value = loss(score, 0 * target + 1, mass)
    value.backward()
    assert value == 0 and not score.grad.any()


@every_module
def test_raise_is_the_default_and_says_what_helps(make):
    loss = make()
    with pytest.raises(libmode.BatchError) as caught:
        loss(*BATCHES["no background"](*events()))
    for part in (
        "no event selected" if make is not MODULES["transform"] else "",
        "drop_last=True",
        "on_bad_batch='skip'",
    ):
        assert part in str(caught.value)
    assert loss.skipped == 0 and isinstance(caught.value, ValueError)


@every_module
@pytest.mark.parametrize(
    "spoil, message",
    [
        (lambda score, target, mass: (score * torch.nan, target, mass), "NaN|not finite|outside"),
        (lambda score, target, mass: (score, target, mass[:-1]), "mass has length 59"),
        (lambda score, target, mass: (score[:, None, None], target, mass), "shape"),
    ],
    ids=["NaN", "length", "shape"],
)
def test_other_errors_are_raised_all_the_same(make, spoil, message):
    loss = make(on_bad_batch="skip")
    with pytest.raises(ValueError, match=message) as caught:
        loss(*spoil(*events()))
    assert not isinstance(caught.value, libmode.BatchError)
    assert loss.skipped == 0


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")
def test_compiled():
    loss = MoDeLoss(bins=4, on_bad_batch="skip")
    step = torch.compile(lambda *batch: 3 * loss(*batch), backend="aot_eager")
    assert step(*events()) == 3 * MoDeLoss(bins=4)(*events())
    with pytest.warns(RuntimeWarning, match="no event selected"):
        value = step(*BATCHES["no background"](*events())[:3])
    assert value == 0 and loss.skipped == 1


CORE = {
    "no event": lambda: libmode.mode_loss([], []),
    "too few": lambda: libmode.mode_loss([0.5, 0.5], [1, 2], bins=3),
    "outside": lambda: libmode.mode_loss([0.5, 0.5], [1, 2], bins=1, mass_range=(5, 6)),
    "label": lambda: libmode.mode_loss([0.5, 0.5], [1, 2], label=[1, 1]),
    "edges": lambda: libmode.mode_edges([1, 2], label=[1, 1]),
    "moments": lambda: libmode.mode_moments([0.5, 0.5], [1, 2], label=[1, 1]),
    "bin": lambda: libmode.mode_loss([0.5, 0.5], [1, 2], edges=[0, 3, 4]),
    "disco": lambda: libmode.mode_loss([0.5, 0.5], [1, 2], loss="disco"),
    "disco of one": lambda: libmode.mode_loss([0.5], [1], loss="disco"),
}


@pytest.mark.parametrize("name", CORE)
def test_which_errors_are_of_the_batch(name):
    with pytest.raises(libmode.BatchError):
        CORE[name]()


LABELS = {
    "signs": (
        [-1] * 3 + [1] * 2,
        "label holds -1 (3 events) and 1 (2 events): labels are 0 for background and 1 for signal; for these give background_label=-1",
    ),
    "one": ([1] * 5, "label holds 1 (5 events): check background_label, or use larger batches"),
    "fractions": ([0.5, 0.5, 1, 1, 1], "label holds 0.5 (2 events) and 1 (3 events): "),
    "others": ([3, 3, 2, 7, 3], "label holds 2 (1 event), 3 (3 events) and 7 (1 event): "),
    "large": ([2**32] * 5, "label holds 4.29497e+09 (5 events): "),
    "many": ([*range(1, 21)], "4 (1 event), 5 (1 event) and 15 other values: "),
    "not a number": ([np.nan, np.nan, 1, 1, 1], "label holds 1 (3 events) and nan (2 events): "),
}


@pytest.mark.parametrize("name", LABELS)
def test_the_labels_that_there_are_are_listed(name):
    label, message = LABELS[name]
    score, mass = np.full(len(label), 0.5), np.arange(len(label)) * 1.0
    calls = [
        lambda: libmode.mode_loss(score, mass, label=label),
        lambda: libmode.mode_loss_and_grad(score, mass, label=np.array(label)),
        lambda: libmode.mode_edges(mass, label=label),
        lambda: libmode.mode_moments(score, mass, label=label),
        lambda: libmode.mode_loss(score, mass, label=label, loss="disco"),
        lambda: MoDeLoss()(torch.tensor(score), torch.tensor(label), torch.tensor(mass)),
        lambda: DisCoLoss()(torch.tensor(score), torch.tensor(label), torch.tensor(mass)),
    ]
    for call in calls:
        with pytest.raises(libmode.BatchError) as caught:
            call()
        start = f"no event selected: none of the {len(label)} values of label equals background_label = 0; "
        assert str(caught.value).startswith(start) and message in str(caught.value)


MASSES = {
    "floats": np.linspace(50, 300, 60),
    "integers": np.arange(50, 110),
    "from 0 to 1": np.linspace(0, 1, 60),  # one of which is the background's label
    "of few values": np.arange(60) % 7 + 0.5,
}


@pytest.mark.parametrize("name", MASSES)
def test_masses_in_the_place_of_labels_are_recognized(name):
    score, target, _ = events()
    given = MASSES[name]
    calls = [
        lambda: libmode.mode_loss(score.detach().numpy(), target.numpy(), label=given),
        lambda: MoDeLoss()(score, torch.tensor(given), target),
        lambda: MoDeConstraint(on_bad_batch="raise")(score, torch.tensor(given), target),
    ]
    for call in calls:
        with pytest.raises(
            libmode.BatchError, match=r"are these masses\? .* \(pred, target, mass, weight\) in this order"
        ):
            call()


def test_of_several_background_labels_the_missing_one_is_named():
    with pytest.raises(libmode.BatchError, match=r"background_label = 8; label holds 0 \(3 events\): check"):
        libmode.mode_loss([0.1, 0.2, 0.3], [1, 2, 3], label=[0, 0, 0], background_label=(0, 8), bins=1)


def test_compat_says_which_class_skips():
    with pytest.raises(libmode.BatchError, match=r"drop_last=True.*libmode.torch.MoDeLoss\(on_bad_batch='skip'\)"):
        compat.MoDeLoss()(torch.ones(5), torch.ones(5), torch.arange(5.0))
