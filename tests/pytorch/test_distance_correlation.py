"""The distance correlation of two tensors with both gradients, and distance_corr of the authors of DisCo."""

import libmode
import numpy as np
import pytest
import torch
from libmode.compat.disco import distance_corr
from libmode.torch import distance_correlation
from torch.autograd import gradcheck


def covariance(a, y, w, unbiased):
    """dCov^2 of distances a and of the values y, and its derivatives by y: all pairs, in long double.

    The coefficient of b_ij = |y_i - y_j| sums the weights of all pairs, triples and quadruples in which b_ij occurs.
    """
    row, total = a @ w, w @ a @ w
    sums = [np.sum(w**p) for p in range(5)]
    if unbiased:  # sums over different events of products of 2, 3 and 4 weights, by inclusion and exclusion
        s1, s2, s3, s4 = sums[1:]
        pairs, triples = s1**2 - s2, s1**3 - 3 * s1 * s2 + 2 * s3
        quadruples = s1**4 - 6 * s1**2 * s2 + 8 * s1 * s3 + 3 * s2**2 - 6 * s4
        own = w[:, None] * a.T  # w_i a_ij, of the triples in which j comes again
        of_triples = (row[:, None] - own.T) + (row - own)
        of_quadruples = total - 2 * (w * row)[:, None] - 2 * (w * row) + 2 * np.outer(w, w) * a
    else:
        pairs, triples, quadruples = sums[1] ** 2, sums[1] ** 3, sums[1] ** 4
        of_triples, of_quadruples = row[:, None] + row, total
    c = np.outer(w, w) * (a / pairs - of_triples / triples + of_quadruples / quadruples)
    np.fill_diagonal(c, 0)  # where b is 0
    apart = y[:, None] - y
    return np.sum(c * abs(apart)), 2 * np.sum(c * np.sign(apart), axis=1)


def definition(x, y, weight, unbiased):
    """dCorr^2 and its derivatives by x and y in long double."""
    x, y, w = (np.asarray(values, np.longdouble) for values in (x, y, weight))
    a, b = abs(x[:, None] - x), abs(y[:, None] - y)
    both, of_y = covariance(a, y, w, unbiased)
    _, of_x = covariance(b, x, w, unbiased)
    xx, of_xx = covariance(a, x, w, unbiased)
    yy, of_yy = covariance(b, y, w, unbiased)
    norm = np.sqrt(xx * yy)
    # Both places of x in dCov^2(x, x) contribute the same, of which covariance has one.
    return both / norm, (of_x - both / xx * of_xx) / norm, (of_y - both / yy * of_yy) / norm


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="long double is double here")
@pytest.mark.parametrize("unbiased", [False, True])
@pytest.mark.parametrize("signs", ["positive", "of either sign"])
def test_value_and_both_gradients_against_all_pairs(unbiased, signs):
    rng = np.random.default_rng(1)
    n = 2_000
    x = np.where(rng.random(n) < 0.5, rng.integers(0, 40, n), rng.normal(20, 8, n))  # half of them in ties
    y = np.round(rng.normal(size=n) + 0.01 * x, 1) + 1e4
    weight = rng.gamma(2, size=n)
    if signs == "of either sign":
        weight[rng.random(n) < 0.2] *= -0.5
    tensors = [torch.tensor(values, requires_grad=True) for values in (x, y)]
    value = distance_correlation(*tensors, weight=torch.tensor(weight), unbiased=unbiased)
    value.backward()
    expected, *grads = definition(x, y, weight, unbiased)
    assert abs(value.item() - expected) <= 1e-10 * abs(expected)
    for tensor, grad in zip(tensors, grads, strict=True):
        assert np.max(abs(tensor.grad.numpy() - grad)) <= 1e-10 * np.max(abs(grad))


@pytest.mark.parametrize("unbiased", [False, True])
def test_gradients_are_those_of_the_value(unbiased):
    generator = torch.Generator().manual_seed(2)
    x, y, weight = torch.rand(3, 12, dtype=torch.float64, generator=generator).unbind()
    x.requires_grad_(), y.requires_grad_()
    assert gradcheck(lambda x, y: distance_correlation(x, y, weight=weight, unbiased=unbiased), (x, y), eps=1e-7)


def authors(var_1, var_2, normedweight, power):
    """What gkasieczka/DisCo computes, by n x n arrays."""

    def centered(values):
        a = (values[:, None] - values).abs()
        row = (a * normedweight).mean(1)
        return a - row - row[:, None] + (row * normedweight).mean()

    def mean(products):
        return ((products * normedweight).mean(1) * normedweight).mean()

    a, b = centered(var_1), centered(var_2)
    return (mean(a * b) / (mean(a * a) * mean(b * b)).sqrt()) ** power


@pytest.mark.parametrize("power", [1, 2, 0.5])
def test_distance_corr_is_that_of_the_authors(power):
    torch.manual_seed(3)
    first = torch.rand(300, dtype=torch.float64)
    second = torch.round(first + torch.rand(300, dtype=torch.float64), decimals=1)
    weight = torch.rand(300, dtype=torch.float64)
    found = []
    for function in (distance_corr, authors):
        pair = [first.clone().requires_grad_(), second.clone().requires_grad_()]
        value = function(*pair, weight / weight.mean(), power)
        value.backward()
        found.append([value.detach(), *(tensor.grad for tensor in pair)])
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_types_and_shapes(kind):
    torch.manual_seed(5)
    x, y = torch.rand(64, 1).to(kind).requires_grad_(), torch.rand(64).to(kind)
    value = distance_correlation(x, y)
    assert value.dtype is (torch.float64 if kind is torch.float64 else torch.float32)
    assert value.shape == ()
    value.backward()
    assert (x.grad.dtype, x.grad.shape) == (kind, (64, 1))
    exact = distance_correlation(x.detach().double(), y.double())
    assert value.item() == pytest.approx(exact.item(), abs=1e-6)


def test_only_the_gradients_that_are_wanted():
    torch.manual_seed(6)
    x, y = torch.rand(64), torch.rand(64, requires_grad=True)
    distance_correlation(x, y).backward()
    assert x.grad is None
    assert y.grad.abs().max() > 0
    assert not distance_correlation(x, y.detach()).requires_grad


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")  # of PyTorch, at a graph's end
def test_compiled_and_second_derivative():
    torch.manual_seed(7)
    x, y = torch.rand(64, requires_grad=True), torch.rand(64)
    compiled = torch.compile(lambda x, y: 2 * distance_correlation(x, y), backend="eager")
    assert compiled(x, y).item() == 2 * distance_correlation(x, y).item()
    (grad,) = torch.autograd.grad(distance_correlation(x, y), x, create_graph=True)
    with pytest.raises(RuntimeError, match="differentiate"):
        grad.sum().backward()


@pytest.mark.parametrize(
    ("message", "error", "change"),
    [
        ("x: all 20 events have the same x 7, so DisCo is 0/0", libmode.BatchError, {"x": torch.full((20,), 7.0)}),
        ("y: all 20 events have the same y", libmode.BatchError, {"y": torch.zeros(20)}),
        ("3 events, and DisCo with unbiased = true needs at least 4", libmode.BatchError, "short"),
        ("weight: the 20 events have sum of weights 0", libmode.BatchError, {"weight": torch.zeros(20)}),
        (
            r"x\[3\] = NaN: every x must be finite",
            ValueError,
            {"x": torch.arange(20.0).masked_fill(torch.arange(20) == 3, float("nan"))},
        ),
        (r"weight\[0\] = \+Inf", ValueError, {"weight": torch.tensor([float("inf")] + [1.0] * 19)}),
        ("y has length 19, but x has length 20", ValueError, {"y": torch.rand(19)}),
        ("weight requires a gradient", ValueError, {"weight": torch.ones(20, requires_grad=True)}),
        ("x is list: expected a tensor", TypeError, {"x": [1.0] * 20}),
        ("x has shape", ValueError, {"x": torch.rand(20, 2)}),
    ],
)
def test_errors(message, error, change):
    torch.manual_seed(8)
    given = {"x": torch.rand(20), "y": torch.rand(20), "weight": torch.ones(20)}
    given = {name: values[:3] for name, values in given.items()} if change == "short" else {**given, **change}
    with pytest.raises(error, match=message):
        distance_correlation(**given)


def test_errors_of_distance_corr_have_its_names():
    ones = torch.ones(20)
    with pytest.raises(libmode.BatchError, match="var_2: all 20 events have the same var_2 1"):
        distance_corr(torch.rand(20), ones, ones)
    with pytest.raises(ValueError, match=r"var_1\[0\] = NaN: every var_1"):
        distance_corr(torch.full((20,), float("nan")), torch.rand(20), ones)
    with pytest.raises(ValueError, match="normedweight has length 19, but var_1 has length 20"):
        distance_corr(torch.rand(20), torch.rand(20), ones[1:])
