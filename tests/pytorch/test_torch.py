"""MoDeLoss, mode_loss and the operator behind them as citizens of PyTorch."""

import copy
import io
import pickle
import shutil

import numpy as np
import pytest
import torch
from libmode.torch import MoDeLoss, mode_loss

N = 60
# Where J is quadratic, which it is without bounds, events may be tied: each crosses the middle of its tie, which is the
# mean of both sides, as central differences are.
QUADRATIC = {
    "defaults": dict(bins=5),
    "edges": dict(order=1, edges=(0.0, 0.2, 0.7, 1.0)),
    "raw scores": dict(bins=5, order=1, score_range=None),
}
SETS = QUADRATIC | {
    "all": dict(bins=5, order=3, max_slope=0.5, slope_of="selected", monotonic=True, moments="projection", unbiased=True,
                slope_penalty=0.2, score_range=None, reduction="sum"),
}  # fmt: skip
EVERY = pytest.mark.parametrize("name", SETS)


def events(dtype=torch.float64, ties=False):
    """Score, mass, weight and target; neighboring scores differ by 1/128 or are equal."""
    rng = np.random.default_rng(4)
    score = (rng.permutation(N) // (3 if ties else 1) + 1) / 128
    mass, weight = rng.random(N), rng.choice([0.5, 1.0, 2.0], N)
    score, mass, weight = (torch.tensor(array, dtype=dtype) for array in (score, mass, weight))
    return score.requires_grad_(), mass, weight, torch.arange(N) % 3 % 2


def grad_of(loss, score):
    return torch.autograd.grad(loss, score)[0]


@pytest.mark.parametrize("name, ties", [*((name, False) for name in SETS), *((name, True) for name in QUADRATIC)])
def test_gradcheck(name, ties):
    score, mass, weight, target = events(ties=ties)
    loss = MoDeLoss(monitor=False, **SETS[name])
    assert torch.autograd.gradcheck(lambda pred: loss(pred, target, mass, weight), score)
    assert torch.autograd.gradcheck(lambda pred: mode_loss(pred, mass, **SETS[name]), score)


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")  # opcheck looks at it
@EVERY
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_opcheck(name, dtype):
    score, mass, weight, target = events(dtype)
    operators, encoded = torch.ops.libmode, MoDeLoss(**SETS[name])._encoded
    for given in ((weight, target, None), (None, None, None)):
        found = torch.library.opcheck(operators.loss.default, (score, mass, *given, encoded))
        assert set(found.values()) == {"SUCCESS"}
    tests, grad = ("test_schema", "test_faketensor", "test_autograd_registration"), score.detach()
    found = torch.library.opcheck(operators.loss_backward.default, (torch.tensor(2.0), grad, grad), test_utils=tests)
    assert set(found.values()) == {"SUCCESS"}


# Inductor compiles C++ for the sigmoid; without a compiler the graph is still traced whole.
BACKENDS = ["aot_eager", *["inductor"] * any(map(shutil.which, ("c++", "g++", "clang++")))]


@EVERY
@pytest.mark.parametrize("backend", BACKENDS)
def test_compiled_without_a_graph_break_it_gives_what_it_gives_eagerly(name, backend):
    if backend == "inductor" and name != "all":  # one is enough
        return
    score, mass, weight, target = events()
    loss = MoDeLoss(**SETS[name])

    def step(logits):
        return 3 * loss(torch.sigmoid(logits), target, mass, weight)

    eager, compiled = step(score), torch.compile(step, fullgraph=True, backend=backend)(score)
    # A compiled sigmoid may round differently.
    torch.testing.assert_close(compiled, eager, rtol=1e-10, atol=0)
    torch.testing.assert_close(grad_of(compiled, score), grad_of(eager, score), rtol=1e-10, atol=1e-14)


def test_compiled_once_it_takes_batches_of_any_size_and_says_what_is_wrong_with_one():
    loss = MoDeLoss(bins=2)
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager", dynamic=True)
    for n in (20, 33, 50):
        score, target, mass = torch.rand(n), torch.zeros(n), torch.rand(n)
        assert compiled(score, target, mass) == loss(score, target, mass)
    with pytest.raises(ValueError, match=r"score\[3\] = 2 lies outside"):
        compiled(torch.tensor([0.5, 0.5, 0.5, 2.0]), torch.zeros(4), torch.arange(4.0))


def test_types_may_differ_between_arguments():
    score, mass, weight, target = events(torch.float32)
    loss = MoDeLoss(bins=5)(score, target, mass.double(), weight.half())
    assert loss.dtype == grad_of(loss, score).dtype == torch.float32
    assert loss.item() == np.float32(MoDeLoss(bins=5)(score.double(), target, mass.double(), weight.double()).item())


def test_columns_and_tensors_that_are_not_contiguous_give_the_same_numbers():
    score, mass, weight, target = events()
    want = MoDeLoss(bins=5)(score, target, mass, weight)
    want_grad = grad_of(want, score)
    columns = [tensor[:, None] for tensor in (score, target, mass, weight)]
    loss = MoDeLoss(bins=5)(*columns)
    assert loss.shape == () and torch.equal(grad_of(loss, score), want_grad)
    assert MoDeLoss(bins=5)(score, *columns[1:]) == want
    table = torch.stack([score.detach(), mass, weight, target], dim=1).flip(0).requires_grad_()
    loss = MoDeLoss(bins=5)(table[:, 0], table[:, 3], table[:, 1], table[:, 2])
    assert loss == want
    grad = grad_of(loss, table)
    assert torch.equal(grad[:, 0].flip(0), want_grad) and (grad[:, 1:] == 0).all()


TARGETS = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]


@pytest.mark.parametrize("dtype", TARGETS)
@pytest.mark.parametrize("background", [0, 1])
def test_targets_of_every_type_select_the_same_events(dtype, background):
    score, mass, weight, target = events()
    mine = target == background
    loss = MoDeLoss(background_label=background, bins=5)(score, target.to(getattr(torch, dtype)), mass, weight)
    assert loss == mode_loss(score[mine], mass[mine], weight=weight[mine], bins=5)
    assert (grad_of(loss, score)[~mine] == 0).all()


def test_without_gradients_the_loss_is_the_same():
    score, mass, weight, target = events()
    loss = MoDeLoss(bins=5)(score, target, mass, weight)
    for context in (torch.no_grad(), torch.inference_mode()):
        with context:
            alone = MoDeLoss(bins=5)(score, target, mass, weight)
        assert alone == loss and not alone.requires_grad


ROUTES = {
    "module": lambda score, mass, target: MoDeLoss(bins=5)(score, target, mass),
    "function": lambda score, mass, target: mode_loss(score, mass, label=target, bins=5),
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


def saved(module):
    file = io.BytesIO()
    torch.save(module, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


@pytest.mark.parametrize("duplicate", [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy, copy.copy, saved])
def test_copies_show_the_options_and_give_the_same_loss(duplicate):
    score, mass, weight, target = events()
    original = MoDeLoss(background_label=1, **SETS["all"])
    other = duplicate(original)
    for part in ("order=3", "monotonic=True", "score_range=None", "background_label=1"):
        assert part in repr(other)
    assert repr(other) == repr(original) and repr(MoDeLoss()) == "MoDeLoss()"
    assert other(score, target, mass, weight) == original(score, target, mass, weight)
