"""MoDe of the events of several processes: with gloo, against one process that has them all."""

import warnings

import processes
import pytest
import torch
from law import GRADIENT
from libmode.torch import Events, MoDeConstraint, MoDeLoss
from torch.nn.parallel import DistributedDataParallel

SIZES = 300, 0, 241  # of the batches of ranks; that of rank 2 has no background
HALF = torch.float16


def batch(rank, step=0, size=None, dtype=torch.float64):
    """Features, targets, masses (n, 2), weights and categories of a batch of a process."""
    generator = torch.Generator().manual_seed(1000 * step + rank)
    n = SIZES[rank] if size is None else size
    features = torch.randn(n, 3, dtype=torch.float64, generator=generator)
    target = torch.randint(0, 2, (n,), generator=generator) if rank < 2 or size else torch.ones(n, dtype=torch.int64)
    mass = torch.stack([features[:, 0].exp() + features[:, 1] ** 2, features[:, 2].tanh()], 1)
    weight = torch.rand(n, dtype=torch.float64, generator=generator) - 0.1
    category = torch.randint(0, 2, (n,), generator=generator)
    return features.to(dtype), target, mass.to(dtype), weight.to(dtype), category


CASES = {  # the options
    "weights": {"order": 1},
    "bounds": {"order": 2, "max_slope": 0.5, "monotonic": True, "bins": 8},
    "half precision": {"order": 0, "bins": 8},
    "joint": {"order": 1, "joint": True, "bins": 4},
    "categories": {"order": 0, "bins": 6},
    "pooled": {"order": 1, "background_only": False},
    "several backgrounds": {"order": 1, "background_label": (0, 1), "bins": 8},
    "reference": {"order": 1},
}


def arguments(name, rank):
    """The arguments of a call for one process's batch."""
    features, target, mass, weight, category = batch(rank, dtype=HALF if name == "half precision" else torch.float64)
    pred = (features[:, 0] + features[:, 1]).sigmoid()
    given = {"score": pred, "label": target, "mass": mass if name == "joint" else mass[:, 0]}
    if name in ("weights", "bounds"):
        given["weight"] = weight
    if name == "categories":
        given["category"] = category
    if name == "reference":
        others, labels, masses, *_ = batch(rank, 7, 500 + 10 * rank)
        given["reference"] = Events(others[:, 0].sigmoid(), labels, masses[:, 0])
    return given


def joined(parts):
    """The tensors of several processes as those of one."""
    first = parts[0]
    if isinstance(first, dict):
        return {name: joined([part[name] for part in parts]) for name in first}
    if isinstance(first, Events):
        return Events(*map(joined, zip(*parts, strict=True)))
    return None if first is None else torch.cat(parts)


def value_and_grad(name, given, **more):
    given["score"].requires_grad_()
    loss = MoDeLoss(**CASES[name], **more)(**given)
    loss.backward()
    return loss.detach(), given["score"].grad


def losses(rank):
    return {name: value_and_grad(name, arguments(name, rank), gather=True) for name in CASES}


@pytest.fixture(scope="module")
def of_processes():
    return processes.run(len(SIZES), _everything)


def _everything(rank):
    parts = losses, trained, skipped, refused
    return {part.__name__: part(rank) for part in parts}


def found_by(of_processes, part):
    for result in of_processes:
        assert isinstance(result, dict), result
    return [result[part.__name__] for result in of_processes]


@pytest.mark.parametrize("name", CASES)
def test_loss_and_gradient_are_those_of_one_process(of_processes, name):
    """Each takes its own part of the gradient, times the number of processes, by which DDP divides the sum."""
    found = [result[name] for result in found_by(of_processes, losses)]
    loss, grad = value_and_grad(name, joined([arguments(name, rank) for rank in range(len(found))]))
    for own, _ in found:
        torch.testing.assert_close(own, loss, rtol=0, atol=0)
    rtol, atol = (1e-3, 1e-6) if grad.dtype is HALF else (1e-12, 1e-15)
    torch.testing.assert_close(torch.cat([own for _, own in found]) / len(found), grad, rtol=rtol, atol=atol)
    assert grad.abs().max() > 0


def network():
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Linear(3, 8, dtype=torch.float64), torch.nn.Tanh(), torch.nn.Linear(8, 1, dtype=torch.float64)
    )


def train(net, batches, step_of):
    """Twenty steps; the parameters after them."""
    optimizer = torch.optim.SGD(net.parameters(), lr=0.3, momentum=0.5)
    for step in range(20):
        optimizer.zero_grad()
        step_of(net, batches(step))
        optimizer.step()
    inner = net.module if isinstance(net, DistributedDataParallel) else net
    return torch.cat([parameter.detach().flatten() for parameter in inner.parameters()])


def batch_of_all(count, step):
    return [torch.cat(parts) for parts in zip(*(batch(rank, step, 201) for rank in range(count)), strict=True)]


def layer(**more):
    return MoDeConstraint(order=1, strength=3, bins=8, from_logits=True, **more)


def with_both(constraint, mode):
    def step_of(net, events):
        features, target, mass, weight, _ = events
        reference = Events(net(features).detach()[::3, 0], target[::3], mass[::3, 0], weight[::3].abs())
        logit = constraint(net(features)[:, 0], target, mass[:, 0], weight.abs(), reference=reference)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logit, target.to(logit.dtype))
        (loss + mode(logit.sigmoid(), target, mass, weight)).backward()

    return step_of


def trained(rank):
    constraint, loss = layer(gather=True), MoDeLoss(order=1, bins=8, gather=True)
    net = DistributedDataParallel(network())
    parameters = train(net, lambda step: batch(rank, step, 201), with_both(constraint, loss))
    return parameters, constraint.state


def test_twenty_steps_of_ddp_with_loss_and_layer_are_those_of_one_process(of_processes):
    found = found_by(of_processes, trained)
    count, constraint = len(found), layer()
    want = train(network(), lambda step: batch_of_all(count, step), with_both(constraint, MoDeLoss(order=1, bins=8)))
    constraint.state[GRADIENT] *= count  # the norm of the gradient as it comes, of which DDP takes the mean
    for parameters, state in found:
        torch.testing.assert_close(parameters, want, rtol=1e-6, atol=1e-6)
        torch.testing.assert_close(state, constraint.state, rtol=1e-6, atol=1e-12)


def skipped(rank):
    """A batch without background anywhere, for loss and layer."""
    score = torch.rand(10, dtype=torch.float64, requires_grad=True)
    one, mass = torch.ones(10), torch.rand(10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mode, constraint = MoDeLoss(gather=True, order=0), MoDeConstraint(gather=True, order=1)
        loss = mode(score, one, mass)
        same = constraint(score, one, mass)
    return float(loss.detach()), mode.skipped, constraint.skipped, same is score


def test_batches_without_background_are_skipped_by_all(of_processes):
    assert found_by(of_processes, skipped) == [(0.0, 1, 1, True)] * len(of_processes)


def calls_with_errors(last):
    """Calls of which only the last process has a wrong one, and the errors that all are to meet."""
    score, target, mass = torch.rand(40), torch.arange(40) % 2, torch.rand(40)
    bad, nan = score.clone(), mass.clone()
    bad[36], nan[3] = torch.nan, torch.nan
    loss, layer = MoDeLoss(gather=True, on_bad_batch="raise", order=0), MoDeConstraint(gather=True, order=1)
    reference = Events(score, mass=nan if last else mass)
    return {
        "ValueError: mass has length 39, but score has length 40": lambda: loss(score, target, mass[:39] if last else mass),
        "ValueError: score is float32 on rank 0 and float64 on rank 2": lambda: loss(score.double() if last else score, target, mass),
        "ValueError: weight is None on rank 0 and float32 on rank 2": lambda: loss(score, target, mass, score if last else None),
        'the loss is MoDeLoss(order=0, gather=True) on rank 0 and MoDeLoss(order=1': lambda: MoDeLoss(gather=True, order=int(last))(score, target, mass),
        "ValueError: score[116] = NaN": lambda: loss(bad if last else score, target, mass),
        "(in training step 0, where events of all processes follow each other)": lambda: layer((bad if last else score).requires_grad_(), target, mass),
        "ValueError: mass[203] = NaN": lambda: loss(score, target, mass, reference=reference),
        "BatchError: no event selected: none of the 120 values of label": lambda: loss(score, target + 1, mass),
    }  # fmt: skip


def refused(rank):
    """The errors that a process meets."""
    found = []
    for call in calls_with_errors(last=rank == 2).values():
        with pytest.raises(Exception) as caught:
            call()
        found.append(f"{type(caught.value).__name__}: {caught.value}")
    return found


def test_an_error_of_one_is_an_error_of_all(of_processes):
    for found in found_by(of_processes, refused):
        for error, want in zip(found, calls_with_errors(last=False), strict=True):
            assert want in error
