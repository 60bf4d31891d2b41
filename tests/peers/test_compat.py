"""libmode.compat.pytorch.MoDeLoss beside modeloss.pytorch.MoDeLoss, whose place it takes."""

import inspect

import numpy as np
import pytest
import torch
from libmode import torch as libmode_torch
from libmode.compat.pytorch import MoDeLoss
from modeloss.pytorch import MoDeLoss as Theirs
from torch import Tensor

N = 320  # a multiple of 32 bins


def batch(n: int = N, seed: int = 0, even: bool = False) -> tuple[Tensor, Tensor, Tensor]:
    """Scores that depend on mass, targets 0, and masses in [-1, 1], evenly spaced or drawn."""
    rng = np.random.default_rng(seed)
    mass = rng.permutation(np.linspace(-1, 1, n)) if even else rng.uniform(-1, 1, n)
    score = 1 / (1 + np.exp(-rng.normal(1.5 * mass + mass**2)))
    return torch.from_numpy(score), torch.zeros(n, dtype=torch.float64), torch.from_numpy(mass)


def evaluate(mode, pred: Tensor, *rest) -> tuple[float, Tensor]:
    """The loss, and its gradient with respect to ``pred``, flat."""
    pred = pred.clone().requires_grad_()
    loss = mode(pred, *rest)
    loss.backward()
    return loss.item(), pred.grad.flatten()


def distance(grad: Tensor, other: Tensor) -> float:
    """The largest difference over the largest element."""
    return ((grad - other).abs().max() / other.abs().max()).item()


def differences(n, **options):
    """Theirs from ours: of the losses, relative; of the gradients, the distance and 1 - the correlation. Means of three."""
    options = {"bins": 16, "sbins": 1024} | options  # their default of 32 steps of the integral is coarse
    found = []
    for seed in range(3):
        events = batch(n, seed, even=True)
        theirs, ours = (evaluate(make(**options), *events) for make in (Theirs, MoDeLoss))
        correlation = np.corrcoef(theirs[1], ours[1])[0, 1]
        found.append((abs(theirs[0] / ours[0] - 1), distance(theirs[1], ours[1]), 1 - correlation))
    return np.mean(found, axis=0)


@pytest.mark.parametrize("method, name", [("__init__", "__init__"), ("__call__", "forward")])
def test_the_arguments_are_theirs(method, name):
    def arguments(function):
        return [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()]

    assert arguments(getattr(MoDeLoss, name)) == arguments(getattr(Theirs, method))


@pytest.mark.filterwarnings("ignore:sbins = 1024 has no effect")
@pytest.mark.parametrize(
    "options",
    [dict(order=0), dict(order=1), dict(order=2), dict(order=2, max_slope=0.3), dict(order=2, monotonic=True)],
    ids=str,
)
def test_loss_and_gradient_agree_and_the_difference_halves_when_n_doubles(options):
    middle = differences(1024, **options)
    assert (middle < [0.06, 0.03, 1e-3]).all()
    if len(options) == 1:  # their bins lack the gaps between them, one part in n / bins
        assert (middle[:2] < differences(512, **options)[:2] / 2).all()


@pytest.mark.parametrize(
    "theirs, ours",
    [
        (dict(order=1, lambd=0.5), dict(order=1, slope_penalty=0.5)),
        (dict(order=1, max_slope=0.5), dict(order=1, max_slope=0.5)),
        (dict(order=2, monotonic=True), dict(order=2, monotonic=True)),
        (dict(max_slope=0.5, monotonic=True), dict()),  # of no slope
        (dict(order=1, monotonic=True), dict(order=1)),
        (dict(order=1, dynamicbins=False), dict(order=1, binning="uniform")),
        (dict(order=1, normalize=False), dict(order=1, mass_range=(-1, 1))),
        (dict(background_label=1.0), dict(background_label=1)),
        (dict(background_only=False), dict(background_only=False)),
        (dict(power=2.0, sign_func="tanh"), dict()),
    ],
    ids=str,
)
def test_it_is_libmode_with_these_options(theirs, ours):
    pred, target, mass = batch(1000)
    target[::3] = 1
    events = pred, target, 0.9 * mass, torch.rand(1000, dtype=torch.float64)
    mode = MoDeLoss(**{"bins": 8} | theirs)
    plain = libmode_torch.MoDeLoss(**{"order": 0, "bins": 8, "moments": "quadrature", "unbiased": False} | ours)
    of_repr = eval(repr(mode), {"MoDeLoss": libmode_torch.MoDeLoss})
    got, *wanted = (evaluate(module, *events) for module in (mode, plain, of_repr))
    for want in wanted:
        assert got[0] == want[0] and torch.equal(got[1], want[1])


@pytest.mark.parametrize("name, value", [("sbins", 128), ("eps", 1e-8)])
def test_an_option_without_effect_says_so(name, value):
    with pytest.warns(UserWarning, match=f"{name} = {value!r} has no effect") as caught:
        mode = MoDeLoss(**{name: value})
    assert [warning.filename for warning in caught] == [__file__]
    assert mode(*batch()) == MoDeLoss()(*batch())


@pytest.mark.parametrize(
    "options, error, message",
    [
        (dict(power=1), ValueError, "power = 1: must be 2"),
        (dict(sign_func="sigmoid"), ValueError, "sign_func = 'sigmoid': must be 'tanh'"),
        (dict(lambd=1.0), ValueError, "slope_penalty"),
        (dict(order="1"), TypeError, "order = '1'"),
        (dict(background_label=(0, 1)), TypeError, r"background_label = \(0, 1\): must be an integer"),
    ],
    ids=str,
)
def test_what_cannot_be_honored_is_an_error(options, error, message):
    with pytest.raises(error, match=message):
        MoDeLoss(**options)


def test_masses_that_are_not_normalized_are_an_error():
    pred, target, mass = batch()
    mode = MoDeLoss(bins=8, normalize=False)
    mass[7] = 1.5
    with pytest.raises(ValueError, match=r"x_biased\[7\] = 1\.5: .*\[-1, 1\]"):
        mode(pred, target, mass)
    with pytest.raises(ValueError, match="x_biased"):
        MoDeLoss(bins=8, normalize=False, background_only=False)(pred, None, mass)
    target[7] = 1  # not looked at
    assert mode(pred, target, mass) > 0


@pytest.mark.parametrize(
    "change, error, message",
    [
        (dict(target=torch.zeros(N - 1)), ValueError, r"target has shape \(319,\), but pred has shape \(320,\)"),
        (dict(weights=torch.ones(1)), ValueError, r"weights has shape \(1,\)"),
        (dict(x_biased=[0.0] * N), TypeError, "x_biased is list: expected a tensor"),
        (dict(pred=None), TypeError, "pred is NoneType: expected a tensor"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else None,
)
def test_arguments_that_do_not_fit_are_errors(change, error, message):
    arguments = dict(zip(("pred", "target", "x_biased"), batch(), strict=True))
    with pytest.raises(error, match=message):
        MoDeLoss()(**arguments | change)


@pytest.mark.filterwarnings("ignore:memory = True averages")
def test_memory_counts_what_earlier_batches_had():
    mode = MoDeLoss(bins=8, order=1, memory=True)
    batches = [(*batch(seed=seed), 1 + torch.rand(N, dtype=torch.float64)) for seed in range(3)]
    for events in batches:
        events[1][:: len(events[1]) // 7] = 1
        value, _ = evaluate(mode, *events)
    every = [torch.cat(values) for values in zip(*batches, strict=True)]
    assert value == evaluate(MoDeLoss(bins=8, order=1), *every)[0]
    mode.reset()
    assert mode(*batches[0]) == MoDeLoss(bins=8, order=1)(*batches[0])
