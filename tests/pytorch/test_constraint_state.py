"""The state of a constraint has one size from the start, and belongs to its options."""

import copy
import io

import processes
import pytest
import torch
from libmode._constraint import NUMBERS
from libmode.torch import MoDeConstraint
from torch.nn.functional import binary_cross_entropy
from torch.nn.parallel import DistributedDataParallel
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.utils.checkpoint import checkpoint


class Classifier(torch.nn.Module):
    """A network with the layer inside."""

    def __init__(self, **arguments):
        super().__init__()
        torch.manual_seed(1)
        self.network = torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Sigmoid())
        self.constraint = MoDeConstraint(**({"order": 1} | arguments))

    def forward(self, x, target, mass):
        return self.constraint(self.network(x)[:, 0], target, mass)


def batch(seed, n=600, variables=1, signal=0.5):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 3, generator=generator)
    target = (torch.rand(n, generator=generator) < signal).float()
    return x, target, x[:, 0].exp() if variables == 1 else x[:, :variables].exp()


def train(model, steps=2, **more):
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for step in range(steps):
        x, target, mass = batch(step, **more)
        optimizer.zero_grad()
        binary_cross_entropy(model(x, target, mass), target).backward()
        optimizer.step()
        yield step


@pytest.mark.parametrize("arguments", [{"variables": 2}, {"variables": 3}, {}], ids=str)
@pytest.mark.parametrize("labels", [0, (0, 1)], ids=str)
def test_no_batch_changes_the_size(arguments, labels):
    model = Classifier(background_label=labels, bins=4, order=0)
    size = model.constraint.state.shape
    for _ in train(model, **arguments):
        assert model.constraint.state.shape == size
    assert model.constraint.state[1] == 2


@pytest.mark.parametrize("arguments", [
    {},
    {"use_buffers": True},
    {"multi_avg_fn": get_ema_multi_avg_fn(0.9), "use_buffers": True},
], ids=["buffers of the last", "mean", "EMA"])  # fmt: skip
def test_averaged_models(arguments):
    model = Classifier()
    averaged = AveragedModel(model, **arguments)
    for _ in train(model, steps=3):
        averaged.update_parameters(model)
    assert averaged.module.constraint.state.shape == model.constraint.state.shape
    assert averaged.module.constraint.state[NUMBERS:].any()


def first_batches(rank):
    """Rank 1 begins without background, so that its constraint has seen none when buffers are sent."""
    model = Classifier(monitor=False)
    wrapped = DistributedDataParallel(model)
    for step in range(3):
        x, target, mass = batch(10 * step + rank, signal=1.0 if rank == step == 1 or rank > step else 0.5)
        if rank == 1 and step == 0:
            with pytest.warns(RuntimeWarning, match="gives a batch no gradient of MoDe"):
                score = wrapped(x, target, mass)
        else:
            score = wrapped(x, target, mass)
        binary_cross_entropy(score, target).backward()
    return model.constraint.state, model.constraint.skipped


def test_two_processes_without_gather_of_which_one_begins_without_background():
    (first, no), (second, some) = processes.run(2, first_batches)
    assert first.shape == second.shape and first[1] == 3 and second[1] >= 2
    assert (no, some) == (0, 2)


OTHERS = [  # of the checkpoint, of the module, and what is said
    ({"order": 0}, {"order": 1}, "order = 1, .* order = 0"),
    ({}, {"order": 2}, "order = 2, .* order = 1"),
    ({"bins": 8}, {}, "bins = None, .* bins = 8"),
    ({}, {"edges": [0.0, 1.0, 2.0]}, r"edges = \(0.0, 1.0, 2.0\), .* edges = None|binning = 'edges', .* 'quantile'"),
    ({"mass_range": (0, 1)}, {"mass_range": (0, 2)}, r"mass_range = \(0.0, 2.0\), .* mass_range = \(0.0, 1.0\)"),
    ({"unbiased": False}, {}, "unbiased = True, .* unbiased = False"),
    ({"background_label": (0, 1)}, {}, r"background_label = \(0,\), .* background_label = \(0, 1\)"),
    ({"max_slope": 0.5}, {}, "max_slope = None, .* max_slope = 0.5"),
    ({"bins": (4, None)}, {"bins": (5, None)}, r"bins = \(5, None\), .* bins = \(4, None\)"),
]


@pytest.mark.parametrize("saved, own, said", OTHERS, ids=str)
def test_a_checkpoint_of_other_options(saved, own, said):
    state = Classifier(**saved).state_dict()
    for strict in (True, False):
        with pytest.raises(ValueError, match=said):
            Classifier(**own).load_state_dict(copy.deepcopy(state), strict=strict)


@pytest.mark.parametrize("saved, own", [
    ({"order": 1}, {"unbiased": True, "background_label": 0, "score_range": (0, 1), "mass_range": None}),
    ({"edges": [0, 0.5, 1, 2]}, {"binning": "edges", "edges": torch.tensor([0, 0.5, 1, 2])}),
    ({}, {"tolerance": 1000.0, "on_bad_batch": "raise", "monitor": False}),
], ids=str)  # fmt: skip
def test_a_checkpoint_of_the_same_options(saved, own):
    model = Classifier(**saved)
    for _ in train(model):
        pass
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    other = Classifier(**own)
    other.load_state_dict(torch.load(file, weights_only=True))
    assert torch.equal(other.constraint.state, model.constraint.state) and other.constraint.state[NUMBERS:].any()


def test_a_state_dict_holds_tensors_alone():
    """Files of other packages have no room for others, and averages of others are taken over all values."""
    assert all(isinstance(value, torch.Tensor) for value in Classifier(order=2, bins=8).state_dict().values())


def test_a_checkpointed_layer_counts_no_batch_twice():
    """The advice of the error, and the older form of checkpoint, train as without a checkpoint."""
    plain, inside, outside = Classifier(), Classifier(), Classifier()
    for step in range(3):
        x, target, mass = batch(step)
        x.requires_grad_()
        score = outside.constraint(checkpoint(outside.network, x, use_reentrant=False)[:, 0], target, mass)
        scores = plain(x, target, mass), checkpoint(inside, x, target, mass, use_reentrant=True), score
        for model, score in zip((plain, inside, outside), scores, strict=True):
            model.zero_grad()
            binary_cross_entropy(score, target).backward()
    for model in (inside, outside):
        assert torch.equal(model.constraint.state, plain.constraint.state)
        assert torch.equal(model.network[0].weight.grad, plain.network[0].weight.grad)
    score = checkpoint(inside, x, target, mass, use_reentrant=False)
    with pytest.raises(RuntimeError, match="called again in the backward pass.*twice: leave the layer out of the"):
        binary_cross_entropy(score, target).backward()
    assert inside.constraint.convergence.batches == 4
