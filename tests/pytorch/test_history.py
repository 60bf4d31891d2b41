"""MoDeLoss(history=k): the loss over earlier events and the batch."""

import copy
import io

import numpy as np
import pytest
import torch
from libmode.torch import MoDeLoss, mode_loss

OPTIONS = {"order": 1, "bins": 4, "mass_range": (0.0, 1.0), "binning": "uniform"}


def batch(seed, n=60, dtype=torch.float64):
    """Scores, targets, masses, weights."""
    rng = np.random.default_rng(seed)
    score = torch.tensor(rng.random(n), dtype=dtype, requires_grad=True)
    target = torch.tensor(rng.integers(0, 2, n))
    return score, target, torch.tensor(rng.random(n), dtype=dtype), torch.tensor(rng.normal(1, 0.3, n), dtype=dtype)


def background(events):
    score, target, *rest = events
    return [values.detach()[target == 0] for values in (score, *rest)]


def direct(batches, size, weighted, gradient_for):
    """The loss by hand: the last ``size`` background events of all but the last batch, and those of the last."""
    kept = [torch.cat(values)[-size:] for values in zip(*map(background, batches[:-1]), strict=True)]
    score, mass, weight = (torch.cat(pair) for pair in zip(kept, background(batches[-1]), strict=True))
    score.requires_grad_()
    loss = mode_loss(score, mass, weight=weight if weighted else None, **OPTIONS)
    loss.backward()
    grad = torch.zeros_like(gradient_for)
    new = score.grad[len(kept[0]) :]
    grad[batches[-1][1] == 0] = new * (len(score) / len(new))
    return loss, grad


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("size", [1, 20, 75, 1000])
def test_the_loss_is_over_what_is_kept_and_the_batch(size, weighted):
    mode = MoDeLoss(history=size, **OPTIONS)
    batches = [batch(seed) for seed in range(5)]
    for step, (score, target, mass, weight) in enumerate(batches):
        loss = mode(score, target, mass, weight if weighted else None)
        loss.backward()
        if step:
            want, grad = direct(batches[: step + 1], size, weighted, score)
            assert loss.item() == want.item()
            torch.testing.assert_close(score.grad, grad, rtol=1e-14, atol=0)
        assert len(mode.history) == min(size, sum(len(background(b)[0]) for b in batches[: step + 1]))
    assert not mode.history.score.requires_grad


def test_the_first_batch_is_as_without_history():
    score, target, mass, _ = batch(1)
    assert MoDeLoss(history=100, **OPTIONS)(score, target, mass) == MoDeLoss(**OPTIONS)(score, target, mass)


def test_it_is_bounded_in_memory():
    mode = MoDeLoss(history=30, **OPTIONS)
    for seed in range(10):
        mode(*batch(seed, n=200)[:3])
    assert len(mode.history) == 30
    for values in mode.history.buffers():
        assert values.untyped_storage().nbytes() == 30 * values.element_size()


def test_reset_forgets():
    mode = MoDeLoss(history=100, **OPTIONS)
    first, second = batch(1), batch(2)
    mode(*first[:3])
    mode.reset()
    assert len(mode.history) == 0
    assert mode(*second[:3]) == MoDeLoss(**OPTIONS)(*second[:3])
    MoDeLoss(**OPTIONS).reset()  # nothing to forget


def test_evaluation_neither_uses_nor_changes_it():
    mode = MoDeLoss(history=100, **OPTIONS)
    mode(*batch(1)[:3])
    before = copy.deepcopy(mode.state_dict())
    mode.eval()
    score, target, mass, _ = batch(2)
    assert mode(score, target, mass) == MoDeLoss(**OPTIONS)(score, target, mass)
    assert all(torch.equal(before[name], value) for name, value in mode.state_dict().items())
    assert len(before) == len(mode.state_dict()) == 3


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("used", [False, True], ids=["new", "used"])
def test_a_checkpoint_brings_it_back(weighted, used):
    def call(mode, seed):
        score, target, mass, weight = batch(seed)
        return mode(score, target, mass, weight if weighted else None)

    mode = MoDeLoss(history=100, **OPTIONS)
    for seed in range(3):
        call(mode, seed)
    file = io.BytesIO()
    torch.save({"mode": mode.state_dict()}, file)
    file.seek(0)
    restored = MoDeLoss(history=100, **OPTIONS)
    if used:  # with another number of events, and weights
        restored(*batch(9, n=100, dtype=torch.float32))
    restored.load_state_dict(torch.load(file, weights_only=True)["mode"])
    assert call(restored, 5) == call(mode, 5)


def test_a_module_without_events_has_no_state():
    mode = MoDeLoss(history=10, **OPTIONS)
    assert mode.state_dict() == {} == MoDeLoss(**OPTIONS).state_dict()
    used = MoDeLoss(history=10, **OPTIONS)
    used(*batch(1)[:3])
    used.load_state_dict(mode.state_dict())
    assert len(used.history) == 0


def test_it_moves_with_the_module():
    mode = MoDeLoss(history=10, **OPTIONS)
    mode(*batch(1)[:3])
    assert mode.to("meta").history.score.device.type == "meta"
    mode = MoDeLoss(history=10, **OPTIONS)
    mode(*batch(1)[:3])
    assert mode.to(torch.float32).history.score.dtype == torch.float32


def test_a_batch_that_is_refused_leaves_no_trace():
    mode = MoDeLoss(history=100, **OPTIONS)
    mode(*batch(1)[:3])
    before = len(mode.history)
    score, target, mass, _ = batch(2)
    with torch.no_grad():
        score[target == 0] = float("nan")
    with pytest.raises(ValueError, match="score"):
        mode(score, target, mass)
    assert len(mode.history) == before


def test_a_batch_without_background_has_gradient_0():
    mode = MoDeLoss(history=100, **OPTIONS)
    mode(*batch(1)[:3])
    score, target, mass, _ = batch(2)
    mode(score, torch.ones_like(target), mass).backward()
    assert torch.equal(score.grad, torch.zeros_like(score))


def test_weights_may_come_later():
    mode = MoDeLoss(history=100, **OPTIONS)
    first, (score, target, mass, weight) = batch(1), batch(2)
    mode(*first[:3])
    ones = [*first[:3], torch.ones_like(first[3])]
    want, _ = direct([ones, (score, target, mass, weight)], 100, True, score)
    assert mode(score, target, mass, weight).item() == want.item()


@pytest.mark.parametrize("label", [(0, 1), 1])
def test_labels_are_kept_with_their_events(label):
    mode = MoDeLoss(background_label=label, history=1000, **OPTIONS)
    first, second = batch(1), batch(2)
    mode(*first[:3])
    both = [torch.cat([a.detach(), b.detach()]) for a, b in zip(first, second, strict=True)]
    assert mode(*second[:3]).item() == pytest.approx(
        MoDeLoss(background_label=label, **OPTIONS)(*both[:3]).item(), rel=1e-14
    )


def test_all_events_are_kept_where_labels_do_not_matter():
    mode = MoDeLoss(background_only=False, history=1000, **OPTIONS)
    first, second = batch(1), batch(2)
    mode(*first[:3])
    both = [torch.cat([a.detach(), b.detach()]) for a, b in zip(first, second, strict=True)]
    assert mode(*second[:3]) == MoDeLoss(background_only=False, **OPTIONS)(*both[:3])


@pytest.mark.parametrize("history, message", [(-1, "history = -1: must not be negative"), (1.5, "history = 1.5")])
def test_a_size_that_makes_no_sense_is_an_error(history, message):
    with pytest.raises((ValueError, TypeError), match=message):
        MoDeLoss(history=history)


@pytest.mark.filterwarnings(
    "ignore:The .grad attribute of a Tensor that is not a leaf"
)  # by dynamo, after a graph break
def test_it_can_be_compiled():
    plain, compiled = MoDeLoss(history=100, **OPTIONS), MoDeLoss(history=100, **OPTIONS)
    call = torch.compile(compiled, backend="eager")
    for seed in range(3):
        assert call(*batch(seed)[:3]).item() == plain(*batch(seed)[:3]).item()


def test_the_representation_shows_what_is_kept():
    mode = MoDeLoss(history=100, order=2)
    assert "order=2" in repr(mode)
    assert "0 of 100 events" in repr(mode)
