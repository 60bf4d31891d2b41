"""torch.compile without a graph break: numbers, states and warnings are those of a training that is not compiled."""

import copy
import shutil
from functools import partial

import pytest
import torch
from libmode import BatchError
from libmode.torch import Events, MoDeConstraint, MoDeLoss, distance_correlation, mode_loss
from torch.nn.functional import binary_cross_entropy, binary_cross_entropy_with_logits, cross_entropy

# Inductor compiles C++ for the sigmoid; without a compiler the graph is still traced whole.
BACKENDS = ["aot_eager", *["inductor"] * any(map(shutil.which, ("c++", "g++", "clang++")))]
pytestmark = pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")  # of PyTorch


def batch(seed, n=400):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 3, generator=generator)
    label = (torch.rand(n, generator=generator) < 0.5).float()
    return x + label[:, None], label, (x[:, 0] / 2).exp()


class Training(torch.nn.Module):
    """A network, and the loss of a batch by a module (or None), the network's outputs, labels and masses."""

    def __init__(self, loss, mode=None, outputs=1):
        super().__init__()
        torch.manual_seed(1)
        self.network, self.mode, self.loss = torch.nn.Linear(3, outputs), mode, loss

    def forward(self, x, label, mass):
        return self.loss(self.mode, self.network(x), label, mass)


def beside(term):
    """Cross entropy and a term of the scores."""

    def loss(mode, logit, label, mass):
        score = torch.sigmoid(logit[:, 0])
        return binary_cross_entropy(score, label) + 3 * term(mode, score, label, mass)

    return loss


def between(mode, logit, label, mass):
    """The layer between network and loss."""
    return binary_cross_entropy(mode(torch.sigmoid(logit[:, 0]), label, mass), label)


def of_categories(mode, logit, label, mass):
    """The layer with a push for each category."""
    return binary_cross_entropy(mode(torch.sigmoid(logit[:, 0]), label, mass, category=(mass > 1).int()), label)


def of_logits(mode, logit, label, mass):
    """With one logit, and reference events."""
    further = Events(logit.detach()[:200, 0] / 2, None, mass[:200])
    changed = mode(logit, label[:, None], mass[:, None], reference=further)
    return binary_cross_entropy_with_logits(changed[:, 0], label)


def of_classes(mode, logit, label, mass):
    """With the outputs of a softmax."""
    return cross_entropy(mode(logit, label, mass), label.long())


of_module = beside(lambda mode, score, label, mass: mode(score, label, mass))
of_function = beside(lambda _, score, label, mass: mode_loss(score, mass, label=label, order=1, bins=8))
of_both = beside(lambda _, score, label, mass: distance_correlation(score, score * mass, weight=1 - label))
of_reference = beside(
    lambda mode, score, label, mass: mode(score, label, mass, reference=Events(score.detach() / 2, None, mass + 0.1))
)
TRAININGS = {
    "loss": lambda: Training(of_module, MoDeLoss(order=1)),
    "strength": lambda: Training(of_module, MoDeLoss(order=1, strength=3)),
    "skip": lambda: Training(of_module, MoDeLoss(order=1)),
    "reference": lambda: Training(of_reference, MoDeLoss(order=1)),
    "function": lambda: Training(of_function),
    "correlation": lambda: Training(of_both),
    "layer": lambda: Training(between, MoDeConstraint(order=1)),
    "categories": lambda: Training(of_categories, MoDeConstraint(order=1, categories=2)),
    "logits": lambda: Training(of_logits, MoDeConstraint(order=1, from_logits=True)),
    "softmax": lambda: Training(of_classes, MoDeConstraint(order=1, from_logits=True), outputs=2),
}


def trained(model, step, steps=20):
    """The gradients of all steps."""
    optimizer = torch.optim.SGD(model.parameters(), 0.3)
    for seed in range(steps):
        optimizer.zero_grad()
        step(*batch(seed)).backward()
        yield model.network.weight.grad.clone()
        optimizer.step()


EVERY = [*((name, "aot_eager") for name in TRAININGS), *((name, BACKENDS[-1]) for name in ("strength", "layer"))]


@pytest.mark.parametrize("name, backend", dict.fromkeys(EVERY))
def test_gradients_and_states_of_twenty_steps_are_those_of_eager_ones(name, backend):
    eager = TRAININGS[name]()
    model = copy.deepcopy(eager)
    step = torch.compile(model, fullgraph=True, backend=backend)
    # Inductor's sigmoid may round differently.
    close = {"rtol": 1e-4, "atol": 1e-6} if backend == "inductor" else {"rtol": 0, "atol": 0}
    for got, want in zip(trained(model, step), trained(eager, eager), strict=True):
        torch.testing.assert_close(got, want, **close)
    for got, want in zip(model.buffers(), eager.buffers(), strict=True):
        torch.testing.assert_close(got, want, **close)
    if isinstance(eager.mode, MoDeConstraint):
        assert model.mode.state[1] == 20


def compiled_term(mode):
    """A compiled step of scores that follow one feature."""

    def step(x, label, mass):
        found = mode(torch.sigmoid(x[:, 0]), label, mass)
        return found if found.ndim == 0 else binary_cross_entropy(found, label)

    compiled = torch.compile(step, fullgraph=True, backend="aot_eager")
    return lambda x, *others: compiled(x.clone().requires_grad_(), *others)


def test_a_bad_batch_is_skipped_or_raised_and_counted():
    x, label, mass = batch(1)
    for mode in (MoDeConstraint(order=1), MoDeLoss(order=1)):
        step = compiled_term(mode)
        with pytest.warns(RuntimeWarning, match="no event selected"):
            step(x, torch.ones_like(label), mass).backward()
        step(x, label, mass).backward()
        assert mode.skipped == 1
    for mode in (MoDeConstraint(order=1, on_bad_batch="raise"), MoDeLoss(order=1, on_bad_batch="raise")):
        with pytest.raises(BatchError, match="no event selected"):
            compiled_term(mode)(x, torch.ones_like(label), mass)


@pytest.mark.parametrize("mode", [MoDeLoss(order=0, bins=2), MoDeConstraint(order=0, bins=2)], ids=["loss", "layer"])
def test_compiled_once_it_takes_batches_of_any_size_and_says_what_is_wrong_with_one(mode):
    compiled = torch.compile(mode, fullgraph=True, backend="aot_eager", dynamic=True)
    for n in (20, 33, 50):
        score, label, mass = torch.rand(n).requires_grad_(), torch.zeros(n), torch.rand(n)
        assert torch.equal(compiled(score, label, mass), mode(score, label, mass))
    with pytest.raises(ValueError, match=r"score\[3\] = 2 lies outside"):
        compiled(torch.tensor([0.5, 0.5, 0.5, 2.0]).requires_grad_(), torch.zeros(4), torch.arange(4.0))


@pytest.mark.parametrize("make", [partial(MoDeLoss, strength=3), MoDeConstraint])
def test_further_trainings_in_one_process_compile_nothing_again(make):
    """The ninth ended with FailOnRecompileLimitHit: the layer's key was a string, on which PyTorch puts a guard."""

    def step(mode, x, label, mass):
        return mode(torch.sigmoid(x[:, 0]), label, mass).square().sum()

    compiled = torch.compile(step, fullgraph=True, backend="aot_eager")
    losses = []
    for _ in range(10):
        x, label, mass = batch(1)
        x.requires_grad_()
        mode = make(order=1)
        loss = compiled(mode, x, label, mass)
        loss.backward()
        losses.append((loss.item(), x.grad.norm().item()))
    assert len(set(losses)) == 1
