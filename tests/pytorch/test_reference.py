"""Reference events in MoDeLoss, and Reference, which draws and scores them."""

import libmode
import pytest
import torch
from libmode.torch import Events, MoDeConstraint, MoDeLoss, Reference, mode_loss
from torch.utils.data import ConcatDataset, TensorDataset


def events(n, seed=1):
    """Scores, targets, masses, float64."""
    generator = torch.Generator().manual_seed(seed)
    score, mass = torch.rand(2, n, dtype=torch.float64, generator=generator)
    return score.requires_grad_(), torch.randint(0, 2, (n,), generator=generator), mass


@pytest.mark.parametrize("pooled", [False, True])
def test_the_loss_is_that_of_all_and_the_gradient_that_of_the_batch(pooled):
    score, target, mass = events(300)
    others = events(900, 2)
    reference = Events(others[0].detach(), *others[1:3])
    loss = MoDeLoss(order=1, background_only=not pooled)(score, target, mass, reference=reference)
    loss.backward()

    every = [torch.cat([a.detach(), b.detach()]) for a, b in zip((score, target, mass), others, strict=True)]
    every[0].requires_grad_()
    want = mode_loss(every[0], every[2], label=None if pooled else every[1], order=1)
    want.backward()
    counts = [len(target), len(every[1])] if pooled else [int((t == 0).sum()) for t in (target, every[1])]
    assert loss.item() == pytest.approx(want.item(), rel=1e-12)
    torch.testing.assert_close(score.grad, every[0].grad[:300] * (counts[1] / counts[0]), rtol=1e-12, atol=0)


def test_reference_events_without_background_are_a_bad_batch():
    score, target, mass = events(300)
    reference = Events(score.detach(), torch.ones(300), mass)
    with pytest.raises(
        libmode.BatchError, match="reference: no event selected: none of the 300 values of label equals"
    ):
        MoDeLoss(order=1)(score, target, mass, reference=reference)
    with pytest.warns(RuntimeWarning, match="no gradient of MoDe.*: reference: no event selected"):
        MoDeConstraint(order=1)(score, target, mass, reference=reference)


# -------------------------------------------------------------------- Reference


class Doubles(torch.nn.Module):
    """Scores that say which event and in which mode they were made."""

    def __init__(self):
        super().__init__()
        self.modes = []

    def forward(self, inputs):
        self.modes.append(self.training)
        return 2 * inputs[:, :1]


def table(n=5000):
    """Inputs that are the place of an event, targets, masses and weights that follow from it."""
    place = torch.arange(n, dtype=torch.float64)
    return place[:, None], (place % 3 == 0).long(), 10 * place, 0.5 * place


def one_by_one(tensors):
    """A data set that has no tensors of all events."""
    return ConcatDataset([TensorDataset(*tensors)])


@pytest.mark.parametrize("kind", [tuple, lambda t: TensorDataset(*t), one_by_one])
@pytest.mark.parametrize("size", [10, 100_000])
def test_it_draws_different_background_events_and_scores_them(kind, size):
    network, reference = Doubles(), Reference(kind(table()), size)
    score, label, mass, weight, _ = reference(network)
    assert torch.equal(mass, 5 * score) and torch.equal(weight, 0.25 * score)
    assert not label.any() and not (score / 2 % 3 == 0).any()
    assert len(score.unique()) == len(score)
    if kind is not one_by_one:  # of which as many as `size` are looked at
        assert len(score) == min(size, 3333)
    assert not score.requires_grad and network.modes == [False] and network.training
    if size < 5000:
        assert not torch.equal(reference(network).mass[:10], mass[:10])


@pytest.mark.parametrize(
    "make, error, message",
    [
        (lambda: Reference(table(), 0), ValueError, "size = 0: must be at least 1"),
        (lambda: Reference(table(), 2.5), TypeError, "size = 2.5: must be an integer"),
        (lambda: Reference(table()[:2]), TypeError, "events has Tensor, Tensor: expected the tensors inputs, label, mass"),
        (lambda: Reference((*table()[:2], table(9)[2])), ValueError, "mass has length 9, but inputs has length 5000"),
        (lambda: Reference(table(), background_label=7), libmode.BatchError, "none of the 5000 values of label equals background_label = 7"),
    ],
)  # fmt: skip
def test_bad_arguments(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize("fails", [False, True])
def test_frozen_layers_stay_frozen(fails):
    inner = torch.nn.Sequential(torch.nn.Dropout(), torch.nn.BatchNorm1d(1))
    network = torch.nn.Sequential(
        torch.nn.BatchNorm1d(1), inner, torch.nn.Dropout(), torch.nn.Linear(2 if fails else 1, 1)
    )
    inputs, *others = table(50)
    for training, frozen in [(True, (0, 1)), (True, (1,)), (False, (0, 1, 2)), (False, ())]:
        network.train(True)
        for place in frozen:
            network[place].eval()
        network.training = training
        modes = [module.training for module in network.modules()]
        statistics = {name: value.clone() for name, value in network.state_dict().items()}
        reference = Reference((inputs.float(), *others))
        if fails:
            with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
                reference(network)
        else:
            first, second = (reference(network) for _ in range(2))
            torch.testing.assert_close(first.score.sort().values, second.score.sort().values)  # without dropout
        assert [module.training for module in network.modules()] == modes
        for name, value in network.state_dict().items():
            assert torch.equal(value, statistics[name])
