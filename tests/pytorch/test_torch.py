"""MoDeLoss, mode_loss and the operator behind them as citizens of PyTorch."""

import copy
import io
import pickle
import shutil

import libmode
import numpy as np
import pytest
import torch
from libmode.torch import MoDeLoss, _op, mode_loss
from torch._subclasses.fake_tensor import FakeTensorMode

N = 60

# Every option, each with a value that is not its default.
SETS = {
    "defaults": dict(),
    "order": dict(order=3),
    "uniform": dict(order=1, binning="uniform", bins=4),
    "edges": dict(order=1, edges=(0.0, 0.2, 0.7, 1.0)),
    "mass_range": dict(order=1, mass_range=(0.25, 0.75), bins=4),
    "max_slope": dict(order=1, max_slope=0.3),
    "slope_of": dict(order=1, max_slope=0.3, slope_of="selected"),
    "monotonic": dict(order=2, monotonic=True),
    "projection": dict(order=2, moments="projection"),
    "unbiased": dict(order=1, unbiased=True),
    "slope_penalty": dict(order=1, slope_penalty=2.0),
    "score_range": dict(score_range=(-1, 2)),
    "raw scores": dict(order=1, score_range=None),
    "sum": dict(reduction="sum"),
    "all": dict(order=3, max_slope=0.5, slope_of="selected", monotonic=True, moments="projection", unbiased=True,
                slope_penalty=0.2, score_range=None, reduction="sum"),
}  # fmt: skip
FEW = ("defaults", "edges", "raw scores", "all")


def events(dtype=torch.float64, ties=False):
    """Score, mass, weight and target; neighboring scores differ by 1/128 or are equal."""
    rng = np.random.default_rng(4)
    score = (rng.permutation(N) // (3 if ties else 1) + 1) / 128
    mass, weight = rng.random(N), rng.choice([0.5, 1.0, 2.0], N)
    score, mass, weight = (torch.tensor(array, dtype=dtype) for array in (score, mass, weight))
    return score.requires_grad_(), mass, weight, torch.arange(N) % 3 % 2


def options_of(name):
    """The options of a set, with bins that forty events fill."""
    return {"bins": 5} | SETS[name] if "edges" not in SETS[name] else SETS[name]


def grad_of(loss, score):
    return torch.autograd.grad(loss, score)[0]


# Each tied event crosses the middle of its tie. Where J is quadratic, which it is without bounds, that is the mean of both
# sides, as central differences are; tests of the core compare bounds with the definition.
BOUNDED = {name for name, options in SETS.items() if {"max_slope", "monotonic"} & set(options)}


@pytest.mark.parametrize(
    "name, ties", [*((name, False) for name in SETS), *((name, True) for name in SETS if name not in BOUNDED)]
)
def test_gradcheck(name, ties):
    score, mass, weight, target = events(ties=ties)
    loss = MoDeLoss(monitor=False, **options_of(name))
    assert torch.autograd.gradcheck(lambda pred: loss(pred, target, mass, weight), score)
    assert torch.autograd.gradcheck(lambda pred: mode_loss(pred, mass, **options_of(name)), score)


# What opcheck does itself: it looks at .grad of the copies of its inputs.
looks_at_copies = pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")


def opcheck(*arguments):
    results = torch.library.opcheck(torch.ops.libmode.loss.default, arguments)
    assert set(results.values()) == {"SUCCESS"}


@looks_at_copies
@pytest.mark.parametrize("name", FEW)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_opcheck_on_inputs_that_require_grad(name, dtype):
    score, mass, weight, target = events(dtype)
    encoded = MoDeLoss(**options_of(name))._encoded
    opcheck(score, mass, weight, target, None, encoded)
    opcheck(score, mass, None, None, None, encoded)


def test_opcheck_of_the_backward_operator():
    grad = torch.linspace(-1, 1, N)
    results = torch.library.opcheck(
        torch.ops.libmode.loss_backward.default,
        (torch.tensor(2.0), grad, grad),
        test_utils=("test_schema", "test_faketensor", "test_autograd_registration"),
    )
    assert set(results.values()) == {"SUCCESS"}


# Inductor compiles C++ for the sigmoid; without a compiler the graph is still traced whole.
BACKEND = "inductor" if any(map(shutil.which, ("c++", "g++", "clang++"))) else "aot_eager"


@pytest.mark.parametrize("name, backend", [*((name, "aot_eager") for name in FEW), ("all", BACKEND)])
def test_compiled_without_a_graph_break_it_gives_what_it_gives_eagerly(name, backend):
    score, mass, weight, target = events()
    loss = MoDeLoss(**options_of(name))

    def step(logits):
        return 3 * loss(torch.sigmoid(logits), target, mass, weight)

    eager, compiled = step(score), torch.compile(step, fullgraph=True, backend=backend)(score)
    # A compiled sigmoid may round differently.
    torch.testing.assert_close(compiled, eager, rtol=1e-10, atol=0)
    torch.testing.assert_close(grad_of(compiled, score), grad_of(eager, score), rtol=1e-10, atol=1e-14)


def test_without_a_private_name_of_torch_only_torch_func_is_lost(monkeypatch):
    monkeypatch.setattr(_op, "in_torch_func", bool)
    score, mass, weight, target = events()
    loss = MoDeLoss(bins=5)
    assert (grad_of(loss(score, target, mass, weight), score) != 0).any()
    with pytest.raises(RuntimeError, match="setup_context"):
        torch.func.grad(loss)(score.detach(), target, mass, weight)


def test_compiled_once_it_takes_batches_of_any_size():
    loss = MoDeLoss(bins=4)
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager", dynamic=True)
    for n in (20, 33, 50):
        score, target, mass = torch.rand(n), torch.zeros(n), torch.rand(n)
        assert compiled(score, target, mass) == loss(score, target, mass)


def test_fake_tensors_have_the_shape_type_and_device_of_real_ones():
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        score, mass, *_ = events(dtype)
        real = torch.ops.libmode.loss(score.detach(), mass, None, None, None, MoDeLoss(bins=2)._encoded)
        mode = FakeTensorMode()
        fakes = [mode.from_tensor(tensor) for tensor in (score.detach(), mass)]
        with mode:
            fake = torch.ops.libmode.loss(*fakes, None, None, None, MoDeLoss(bins=2)._encoded)
        for f, r in zip(fake, real, strict=True):
            assert (f.shape, f.dtype, f.device, f.stride()) == (r.shape, r.dtype, r.device, r.stride())


def test_types_may_differ_between_arguments():
    score, mass, weight, target = events(torch.float32)
    loss = MoDeLoss(bins=5)(score, target, mass.double(), weight.half())
    assert loss.dtype == torch.float32
    assert loss.item() == np.float32(MoDeLoss(bins=5)(score.double(), target, mass.double(), weight.double()).item())
    assert grad_of(loss, score).dtype == torch.float32


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_autocast_leaves_the_loss_in_single_precision(dtype):
    torch.manual_seed(1)
    network = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Sigmoid())
    _, mass, weight, target = events(torch.float32)
    x = torch.randn(N, 2)
    loss = MoDeLoss(bins=5, order=1)
    with torch.autocast("cpu", dtype=dtype):
        score = network(x)
        value = loss(score, target, mass, weight)
        assert score.dtype == dtype
    assert value.dtype == torch.float32
    assert value == loss(score.float(), target, mass, weight)
    value.backward()
    assert all(torch.isfinite(p.grad).all() and (p.grad != 0).any() for p in network.parameters())


@pytest.mark.parametrize("column", ["score", "mass", "weight", "target", "all"])
def test_columns_of_shape_n_1_are_taken_as_n(column):
    score, mass, weight, target = events()
    given = {"score": score, "target": target, "mass": mass, "weight": weight}
    want = grad_of(MoDeLoss(bins=5)(*given.values()), score)
    for name in given if column == "all" else [column]:
        given[name] = given[name][:, None]
    loss = MoDeLoss(bins=5)(*given.values())
    assert loss.shape == ()
    assert torch.equal(grad_of(loss, score), want)


def test_non_contiguous_tensors_give_the_same_numbers():
    score, mass, weight, target = events()
    table = torch.stack([score.detach(), mass, weight, target], dim=1)
    table = table.flip(0).requires_grad_()
    loss = MoDeLoss(bins=5)(table[:, 0], table[:, 3], table[:, 1], table[:, 2])
    want = MoDeLoss(bins=5)(score, target, mass, weight)
    assert loss == want
    grad = grad_of(loss, table)
    assert torch.equal(grad[:, 0].flip(0), grad_of(want, score))
    assert (grad[:, 1:] == 0).all()


TARGETS = [
    torch.bool,
    torch.uint8,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.float16,
    torch.float32,
    torch.float64,
]


@pytest.mark.parametrize("dtype", TARGETS, ids=str)
@pytest.mark.parametrize("background", [0, 1])
def test_targets_of_every_type_select_the_same_events(dtype, background):
    score, mass, weight, target = events()
    mine = target == background
    loss = MoDeLoss(background_label=background, bins=5)(score, target.to(dtype), mass, weight)
    assert loss == mode_loss(score[mine], mass[mine], weight=weight[mine], bins=5)
    assert (grad_of(loss, score)[~mine] == 0).all()


def test_background_only_false_pools_all_events():
    score, mass, weight, target = events()
    loss = MoDeLoss(background_only=False, bins=5)(score, target, mass, weight)
    assert loss == mode_loss(score, mass, weight=weight, bins=5)
    assert (grad_of(loss, score) != 0).any()


def test_it_is_the_loss_of_numpy():
    score, mass, weight, target = events()
    s, m, w, label = (tensor.detach().numpy() for tensor in (score, mass, weight, target))
    want, want_grad = libmode.mode_loss_and_grad(s, m, weight=w, label=label, **options_of("all"))
    loss = mode_loss(score, mass, weight=weight, label=target, **options_of("all"))
    assert loss.item() == want
    assert (grad_of(loss, score).numpy() == want_grad).all()


def test_only_the_score_gets_a_gradient():
    score, mass, weight, target = events()
    mass.requires_grad_(), weight.requires_grad_()
    MoDeLoss(bins=5)(score, target, mass, weight).backward()
    assert (score.grad != 0).any()
    assert mass.grad is None
    assert weight.grad is None


def test_the_gradient_is_scaled_and_accumulated():
    score, mass, weight, target = events()
    loss = MoDeLoss(bins=5)(score, target, mass, weight)
    (7 * loss).backward(retain_graph=True)
    first = score.grad.clone()
    loss.backward()
    torch.testing.assert_close(score.grad, first * 8 / 7, rtol=1e-14, atol=0)
    with pytest.raises(RuntimeError, match="second time"):
        loss.backward()


def test_no_grad_gives_the_loss_alone():
    score, mass, weight, target = events()
    want = MoDeLoss(bins=5)(score, target, mass, weight)
    for context in (torch.no_grad(), torch.inference_mode()):
        with context:
            loss = MoDeLoss(bins=5)(score, target, mass, weight)
        assert not loss.requires_grad
        assert loss == want


ROUTES = {
    "MoDeLoss": lambda score, mass, target: MoDeLoss(bins=5)(score, target, mass),
    "mode_loss": lambda score, mass, target: mode_loss(score, mass, label=target, bins=5),
    "operator": lambda score, mass, target: torch.ops.libmode.loss(
        score, mass, None, target, None, MoDeLoss(bins=5)._encoded
    )[0],
}


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("through", [lambda x: 1 * x, torch.sigmoid], ids=["directly", "through a sigmoid"])
def test_a_second_derivative_is_a_clear_error(route, through):
    score, mass, _, target = events()
    (grad,) = torch.autograd.grad(ROUTES[route](through(score), mass, target), score, create_graph=True)
    with pytest.raises(RuntimeError, match="no second derivative.*piecewise linear"):
        torch.autograd.grad(grad.square().sum(), score)


def test_the_gradient_that_the_operator_returns_is_not_differentiable():
    score, mass, _, target = events()
    _, grad = torch.ops.libmode.loss(score, mass, None, target, None, MoDeLoss(bins=5)._encoded)
    assert not grad.requires_grad


def test_repr_shows_the_options():
    assert repr(MoDeLoss()) == "MoDeLoss()"
    shown = repr(MoDeLoss(order=2, monotonic=True, score_range=None, background_only=False, background_label=(1, 2)))
    for part in ("order=2", "monotonic=True", "score_range=None", "background_only=False", "background_label=(1, 2)"):
        assert part in shown


def saved(module):
    file = io.BytesIO()
    torch.save(module, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


@pytest.mark.parametrize("duplicate", [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy, copy.copy, saved])
def test_copies_give_the_same_loss(duplicate):
    score, mass, weight, target = events()
    original = MoDeLoss(background_label=1, **options_of("all"))
    other = duplicate(original)
    assert repr(other) == repr(original)
    assert other(score, target, mass, weight) == original(score, target, mass, weight)


def test_an_error_of_the_core_comes_through_compiled_code():
    compiled = torch.compile(MoDeLoss(bins=2), fullgraph=True, backend="aot_eager")
    with pytest.raises(ValueError, match=r"score\[3\] = 2 lies outside"):
        compiled(torch.tensor([0.5, 0.5, 0.5, 2.0]), torch.zeros(4), torch.arange(4.0))


def test_training_makes_the_score_independent_of_the_mass():
    torch.manual_seed(2)
    n = 2000
    target = (torch.rand(n) < 0.5).long()
    mass = torch.rand(n)
    x = torch.stack([torch.randn(n) + target, mass + 0.1 * torch.randn(n)], dim=1)
    network = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1), torch.nn.Sigmoid())
    with torch.no_grad():  # begin with a score that follows the mass
        network[0].weight[:, 1] += 2
    mode = MoDeLoss(bins=8)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    history = []
    for _ in range(60):
        optimizer.zero_grad()
        score = network(x)
        penalty = mode(score, target, mass)
        (torch.nn.functional.binary_cross_entropy(score[:, 0], target.float()) + 100 * penalty).backward()
        optimizer.step()
        history.append(penalty.item())
    assert history[-1] < 0.2 * history[0]
