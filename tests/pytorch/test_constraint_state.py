"""The state of a constraint has one size from the start, and belongs to its options."""

import copy
import io
import pickle
import re

import processes
import pytest
import torch
import torch.distributed as dist
from libmode.torch import MoDeConstraint
from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecision
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


def train(model, steps=range(2), saved=None, after=lambda model: None, **more):
    """The state of the optimizer after some steps."""
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    if saved is not None:
        optimizer.load_state_dict(saved)
    for step in steps:
        x, target, mass = batch(step, **more)
        optimizer.zero_grad()
        binary_cross_entropy(model(x, target, mass), target).backward()
        optimizer.step()
        after(model)
    return optimizer.state_dict()


@pytest.mark.parametrize("arguments", [
    {},
    {"use_buffers": True},
    {"multi_avg_fn": get_ema_multi_avg_fn(0.9), "use_buffers": True},
], ids=["buffers of the last", "mean", "EMA"])  # fmt: skip
def test_averaged_models(arguments):
    model = Classifier()
    averaged = AveragedModel(model, **arguments)
    train(model, range(3), after=averaged.update_parameters)
    assert averaged.module.constraint.state.shape == model.constraint.state.shape
    assert averaged.module.constraint.state[1] > 0


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


@pytest.mark.full
def test_two_processes_without_gather_of_which_one_begins_without_background():
    (first, no), (second, some) = processes.run(2, first_batches)
    assert first.shape == second.shape and first[1] == 3 and second[1] >= 1
    assert (no, some) == (0, 2)


def same(one, other):
    """Whether two dicts of tensors are the same."""
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


OTHERS = [  # of the checkpoint, of the module, and what is said
    ({"order": 0}, {"order": 1}, "order = 1, .* order = 0"),
    ({"bins": 8}, {}, "bins = None, .* bins = 8"),
    ({}, {"edges": [0.0, 1.0, 2.0]}, r"edges = \(0.0, 1.0, 2.0\), .* edges = None|binning = 'edges', .* 'quantile'"),
    ({"background_label": (0, 1)}, {}, r"background_label = 0, .* background_label = \(0, 1\)"),
    ({"bins": (4, None)}, {"bins": (5, None)}, r"bins = \(5, None\), .* bins = \(4, None\)"),
]


@pytest.mark.parametrize("saved, own, said", OTHERS, ids=str)
def test_a_checkpoint_of_other_options(saved, own, said):
    """It changes nothing of the layer, and the remedy that the error names works."""
    model, other = Classifier(**saved), Classifier(**own)
    for one, steps in ((model, 2), (other, 1)):
        several = any(isinstance(value, tuple) for value in ({**saved, **own}.get("bins"),))
        train(one, range(steps), variables=2 if several else 1)
    state, before = model.state_dict(), copy.deepcopy(other.constraint.state_dict())
    for strict in (True, False):
        with pytest.raises(ValueError, match=said) as caught:
            other.load_state_dict(copy.deepcopy(state), strict=strict)
        assert same(other.constraint.state_dict(), before)
    command = re.search(r"model\.load_state_dict\(.*strict=False\)", str(caught.value)).group()
    eval(command, {"model": other, "saved": state})
    assert same(other.constraint.state_dict(), before)
    assert torch.equal(other.network[0].weight, model.network[0].weight)


def test_a_state_that_cannot_be():
    """When it is loaded, and where a program has written it into the layer; tests/core/test_law.py has each number."""
    model, other = Classifier(), Classifier()
    train(model)
    saved = copy.deepcopy(model.state_dict())
    for state in (saved["constraint.state"], model.constraint.state):
        state[0] = 7
    with pytest.raises(ValueError, match=r"state\[0\] = 7: the version of the state"):
        other.load_state_dict(saved)
    assert not other.constraint.state.any()
    before = model.constraint.state.clone()
    with pytest.raises(ValueError, match=r"state\[0\] = 7: the version of the state.*\(in training step 2\)"):
        train(model)
    assert torch.equal(before, model.constraint.state)


@pytest.mark.parametrize("arguments", [{}, {"order": 0, "bins": 8}, {"background_label": (0, 1)}], ids=str)
def test_a_resumed_training_equals_one_that_went_on(arguments):
    went_on, first, again = (Classifier(**arguments) for _ in range(3))
    train(went_on, range(4))
    file = io.BytesIO()
    torch.save({"model": first.state_dict(), "optimizer": train(first)}, file)
    saved = torch.load(io.BytesIO(file.getvalue()))
    again.load_state_dict(saved["model"])
    again.constraint = pickle.loads(pickle.dumps(again.constraint))  # as other processes get it
    train(again, range(2, 4), saved["optimizer"])
    assert all(map(torch.equal, went_on.state_dict().values(), again.state_dict().values()))


def of_batches(model):
    """The state after more batches than a type of 16 bits can count."""
    for step in range(260):
        x, target, mass = batch(step, n=100)
        binary_cross_entropy(model(x, target, mass), target).backward()
    return model.constraint.state


@pytest.fixture
def group(tmp_path):
    dist.init_process_group("gloo", init_method=f"file://{tmp_path / 'store'}", rank=0, world_size=1)
    yield
    dist.destroy_process_group()


@pytest.mark.usefixtures("group")
@pytest.mark.filterwarnings("ignore:FSDP is switching to use `NO_SHARD`")
def test_fsdp_with_buffers_of_less_precision():
    plain = of_batches(Classifier(monitor=False))

    def wrapped(kind):
        model, precision = Classifier(monitor=False), MixedPrecision(buffer_dtype=kind)
        return FullyShardedDataParallel(model, mixed_precision=precision, device_id=torch.device("cpu"))

    assert torch.equal(of_batches(wrapped(torch.float32)), plain) and plain[1] == 260
    for kind in (torch.bfloat16, torch.float16):
        with pytest.raises(ValueError, match=f"state has {kind}, which rounds it: give buffer_dtype=torch.float32 to"):
            of_batches(wrapped(kind))


def test_a_checkpointed_layer_counts_no_batch_twice():
    """Both forms of checkpoint, around the network with the layer or without, train as without a checkpoint."""
    plain, *models = (Classifier() for _ in range(4))
    for step in range(3):
        x, target, mass = batch(step)
        x.requires_grad_()
        scores = [plain(x, target, mass)]
        scores += [checkpoint(models[way], x, target, mass, use_reentrant=bool(way)) for way in (0, 1)]
        inner = checkpoint(models[2].network, x, use_reentrant=False)[:, 0]
        scores.append(models[2].constraint(inner, target, mass))
        for model, score in zip((plain, *models), scores, strict=True):
            model.zero_grad()
            binary_cross_entropy(score, target).backward()
    for model in models:
        assert torch.equal(model.constraint.state, plain.constraint.state) and model.constraint.state[1] == 3
        assert torch.equal(model.network[0].weight.grad, plain.network[0].weight.grad)
