"""MoDeLoss, mode_loss and the operator behind them as citizens of PyTorch; the numbers are golden cases, test_golden.py."""

import numpy as np
import pytest
import torch
from libmode.torch import MoDeConstraint, MoDeLoss, distance_correlation, mode_loss

N = 120


def events(dtype=torch.float64):
    """Score, target, mass of two variables, weight and category."""
    rng = np.random.default_rng(3)
    score = torch.tensor((rng.permutation(N) + 1) / (N + 2), dtype=dtype, requires_grad=True)
    mass, weight = (torch.tensor(a, dtype=dtype) for a in (rng.random((N, 2)), rng.choice([0.5, 1.0, 2.0], N)))
    return score, torch.arange(N) % 3 % 2, mass, weight, torch.arange(N) // 60


def grad_of(loss, score):
    return torch.autograd.grad(loss, score)[0]


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")  # opcheck looks at it
@pytest.mark.parametrize("everything", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_opcheck(everything, dtype):
    score, target, mass, weight, category = events(dtype)
    given = [score.detach(), *((target, mass, weight, category) if everything else (None, mass[:, 0], None, None))]
    loss = MoDeLoss(order=1, bins=4, strength=3)
    layer = MoDeConstraint(order=1, bins=4, monitor=False, categories=2 if everything else None)
    loss.background_only = layer.background_only = everything
    state = layer.state
    lesson, rows = layer._run(state, *given)
    called = {
        "run": [(loss.key, 0, loss.norms, given, None), (layer.key, 4, state, given, None)],
        "outgoing": [(layer.key, score.detach(), lesson, rows, score)],
    }
    for name, every in called.items():
        for arguments in every:
            first = name == "run"  # the other is a derivative, which has none of its own
            tests = (
                "test_schema",
                "test_faketensor",
                "test_autograd_registration",
                *["test_aot_dispatch_dynamic"] * first,
            )
            found = torch.library.opcheck(getattr(torch.ops.libmode, name).default, arguments, test_utils=tests)
            assert set(found.values()) == {"SUCCESS"}


def test_tensors_of_the_host_stay_there_whatever_the_default_device_is():
    score, mass, target = torch.rand(500, requires_grad=True), torch.rand(500), (torch.arange(500) % 2).float()
    loss, constraint = MoDeLoss(order=0), MoDeConstraint(order=1)
    with torch.device("meta"):
        loss(constraint(score, target, mass), target, mass).backward()
    assert score.grad.isfinite().all() and constraint.state[1] == 1


def test_columns_and_tensors_that_are_not_contiguous_give_the_same_numbers():
    score, target, mass, weight, category = events()
    loss = MoDeLoss(bins=5, order=0)
    column, *columns = (tensor[:, None] for tensor in (score, target, mass[:, 0], weight))
    of_columns, want = (
        loss(column, *columns, category=category[:, None]),
        loss(score, target, mass[:, 0], weight, category=category),
    )
    assert of_columns == want and of_columns.shape == ()
    assert torch.equal(grad_of(of_columns, score), grad_of(want, score))
    want = loss(score, target, mass, weight, category=category)
    assert loss(score, target, mass.t().contiguous().t(), weight, category=category) == want
    table = torch.stack([score.detach(), target, weight, category, *mass.t()], dim=1).requires_grad_()
    found = loss(table[:, 0], table[:, 1], table[:, 4:], table[:, 2], category=table[:, 3].long())
    assert found == want
    grad = grad_of(found, table)
    assert torch.equal(grad[:, 0], grad_of(want, score)) and (grad[:, 1:] == 0).all()


TYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("background", [0, 1])
def test_targets_and_categories_of_every_type_select_the_same_events(name, background):
    score, target, mass, weight, category = events()
    dtype, mine = getattr(torch, name), target == background
    categories = category if dtype.is_floating_point else category.to(dtype)
    loss = MoDeLoss(background_label=background, bins=4, order=0)(
        score, target.to(dtype), mass, weight, category=categories
    )
    assert loss == mode_loss(score[mine], mass[mine], weight=weight[mine], category=category[mine], bins=4, order=0)
    assert (grad_of(loss, score)[~mine] == 0).all()


ROUTES = {
    "module": lambda score, mass, target: MoDeLoss(bins=5, order=0)(score, target, mass),
    "function": lambda score, mass, target: mode_loss(score, mass, label=target, bins=5, order=0),
    "disco": lambda score, mass, target: mode_loss(score, mass[:, 0], label=target, loss="disco"),
    "correlation": lambda score, mass, target: distance_correlation(score, mass[:, 0]),
}


@pytest.mark.parametrize("route", ROUTES)
def test_a_second_derivative_is_a_clear_error(route):
    score, target, mass, *_ = events()
    (grad,) = torch.autograd.grad(ROUTES[route](torch.sigmoid(score), mass, target), score, create_graph=True)
    with pytest.raises(RuntimeError, match="no second derivative.*piecewise linear"):
        torch.autograd.grad(grad.square().sum(), score)
