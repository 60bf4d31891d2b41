"""What docs/from-modeloss.md says of modeloss 0.1.0 and of libmode in its place, line by line."""

import json
from pathlib import Path

import pytest
import torch
from libmode.compat.pytorch import MoDeLoss
from modeloss.pytorch import MoDeLoss as Theirs
from side_by_side import batch, distance, evaluate

from bench.methods import MODELOSS, PLAIN_TORCH

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "from-modeloss.md").read_text()
BOTH = pytest.mark.parametrize("make", [Theirs, MoDeLoss], ids=["modeloss", "libmode"])


def loss(make, events, *weights, **options):
    return make(**options)(*events, *weights).item()


def grad(make, events, *weights, **options):
    return evaluate(make(**options), *events, *weights)[1]


def test_a_flat_response_costs():
    score = torch.linspace(0, 1, 8, dtype=torch.float64).repeat(8)
    events = score, torch.zeros(64), torch.linspace(-1, 1, 64, dtype=torch.float64)
    theirs = loss(Theirs, events, bins=8, sbins=4096)
    assert f"{theirs:.1e}".replace("e-0", "e-") in PAGE
    assert loss(MoDeLoss, events, bins=8) < 1e-15


@BOTH
def test_the_center_of_a_bin_is_the_mean_of_its_masses(make):
    score, target, mass = batch(64)
    moved = mass.clone()
    order = mass.argsort().view(8, 8)
    inner = order[:, 1:-1]  # lowest and highest stay where they are
    moved[inner] = mass[order[:, :1]] + 0.1 * (mass[inner] - mass[order[:, :1]])
    losses = [loss(make, (score, target, m), bins=8, order=1) for m in (mass, moved)]
    assert (losses[0] == losses[1]) == (make is MoDeLoss)


@BOTH
def test_the_last_events_take_no_part(make):
    """100 = 3 * 32 + 4."""
    is_zero = grad(make, batch(100), bins=32) == 0
    assert is_zero[-4:].all() == (make is Theirs)
    assert not is_zero[:-4].any()


@BOTH
def test_equal_masses_in_several_bins(make):
    score, target, _ = batch(64)
    mass = torch.arange(64, dtype=torch.float64) // 16
    backwards = [values.flip(0) for values in (score, target, mass)]
    losses = [loss(make, events, bins=8) for events in ((score, target, mass), backwards)]
    assert (losses[0] == pytest.approx(losses[1], rel=1e-12)) == (make is MoDeLoss)


@BOTH
def test_weights_permuted_inside_bins(make):
    events = batch(64)
    weights = torch.rand(64, dtype=torch.float64, generator=torch.Generator().manual_seed(1)) + 0.5
    permuted = weights.clone()
    bins = events[2].argsort().view(8, 8)
    permuted[bins] = weights[bins.flip(1)]
    grads = [grad(make, events, w, bins=8) for w in (weights, permuted)]
    assert (distance(*grads) < 1e-12) == (make is Theirs)


@BOTH
def test_weights_times_two(make):
    ratio = 2 if make is Theirs else 1
    ones = torch.ones(64, dtype=torch.float64)
    once, twice = (evaluate(make(bins=8), *batch(64), k * ones) for k in (1, 2))
    assert twice[0] == pytest.approx(ratio * once[0])
    assert distance(twice[1], ratio * once[1]) < 1e-12


def test_the_loss_depends_on_sbins():
    assert loss(Theirs, batch(), sbins=4) != pytest.approx(loss(Theirs, batch(), sbins=4096), rel=0.02)
    with pytest.warns(UserWarning, match="sbins"):
        assert loss(MoDeLoss, batch(), sbins=4) == loss(MoDeLoss, batch())


def test_scores_outside_0_and_1():
    score, target, mass = batch()
    logits = 10 + torch.logit(score), target, mass
    assert loss(Theirs, logits) < 1e-12
    assert torch.equal(grad(Theirs, logits), grad(Theirs, batch()))
    with pytest.raises(ValueError, match=r"score\[\d+\]"):
        loss(MoDeLoss, logits)


@BOTH
def test_lambd_and_the_loss(make):
    assert distance(*(grad(make, batch(), order=1, lambd=lambd) for lambd in (None, 5))) > 0.3
    losses = [loss(make, batch(), order=1, lambd=lambd) for lambd in (None, 5)]
    assert (losses[0] == losses[1]) == (make is Theirs)


@BOTH
def test_orders_above_2(make):
    equal = torch.equal(*(grad(make, batch(), order=order) for order in (2, 3)))
    assert equal == (make is Theirs)


def test_the_gradient_at_the_kink_of_monotonic():
    """A response that is even in mass has slopes about 0."""
    _, target, mass = batch(2048, even=True)
    noise = torch.randn(2048, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    events = torch.sigmoid(noise + 1.5 * mass**2), target, mass
    free, theirs, ours = (
        grad(make, events, bins=16, order=2, monotonic=monotonic)
        for make, monotonic in ((Theirs, False), (Theirs, True), (MoDeLoss, True))
    )
    assert distance(free, grad(MoDeLoss, events, bins=16, order=2)) < 0.03
    assert distance(theirs, ours) > 0.08
    assert ((theirs - ours).abs() > 0.03 * ours.abs().max()).double().mean() < 0.05


def test_both_bounds_have_another_gradient():
    """Each alone agrees, see test_compat.py."""
    events = batch(2048, even=True)
    both = {"bins": 16, "order": 2, "max_slope": 0.3, "monotonic": True}
    assert distance(*(grad(make, events, **both) for make in (Theirs, MoDeLoss))) > 0.1


@BOTH
@pytest.mark.parametrize(
    "options, off",
    [
        (dict(order=0), 0.01),
        (dict(order=1, lambd=1.0), 0.3),
        (dict(order=1, max_slope=0.3), 0.3),
        (dict(order=2, monotonic=True), 0.3),
    ],
    ids=str,
)
def test_the_gradient_after_another_call(make, options, off):
    first, second = batch(512, 1), batch(512, 2)
    alone = grad(make, first, bins=16, **options)

    mode = make(bins=16, **options)
    pred = first[0].clone().requires_grad_()
    value = mode(pred, *first[1:])
    mode(1 - second[0], *second[1:])
    value.backward()
    change = distance(pred.grad, alone)
    assert change > off if make is Theirs else change == 0


@pytest.mark.filterwarnings("ignore:memory = True averages")
def test_memory_does_not_normalize():
    pred, target, mass = batch()
    in_gev = pred, target, 125 + 25 * mass
    assert loss(Theirs, in_gev, order=1) == pytest.approx(loss(Theirs, (pred, target, mass), order=1))
    assert loss(Theirs, in_gev, order=1, memory=True) > 1e6 * loss(Theirs, in_gev, order=1)
    assert loss(MoDeLoss, in_gev, order=1, memory=True) == pytest.approx(loss(MoDeLoss, in_gev, order=1))


def test_the_figures_are_those_of_the_benchmark():
    results = json.loads((ROOT / "bench" / "results" / "results.json").read_text())["times"]
    rows = {(row["method"], row["n"]): row for row in results}
    theirs, ours = rows[MODELOSS, 32_000], rows[PLAIN_TORCH, 32_000]
    assert f"{theirs['median']:.0f} s and {theirs['extra_bytes'] / 1e9:.0f} GB" in PAGE
    assert f"{1e3 * ours['median']:.1f} ms and {ours['extra_bytes'] / 1e6:.1f} MB" in PAGE
    for figure in ("median", "extra_bytes"):
        assert theirs[figure] / rows[MODELOSS, 10_000][figure] == pytest.approx(3.2**2, rel=0.2)
