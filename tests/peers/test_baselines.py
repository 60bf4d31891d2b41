"""DisCo and the flatness loss against their definitions, and as citizens of NumPy and PyTorch."""

import warnings
from functools import partial

import libmode
import numpy as np
import pytest
import torch
from libmode.torch.baselines import DisCoLoss, FlatnessLoss

from bench.peers import disco_loss as all_pairs

disco_loss = partial(libmode.mode_loss, loss="disco")
disco_loss_and_grad = partial(libmode.mode_loss_and_grad, loss="disco")
flatness_loss = partial(libmode.mode_loss, loss="flatness")
flatness_loss_and_grad = partial(libmode.mode_loss_and_grad, loss="flatness")


def events(n=300, weights="positive", ties=False, seed=0):
    """Score, mass and weight in float64, where the score hangs on the mass."""
    rng = np.random.default_rng(seed)
    mass = 50 + rng.exponential(60, n)
    score = 1 / (1 + np.exp(-rng.normal(0.005 * mass)))
    weight = None if weights is None else rng.uniform(0.5, 2, n)
    if weights == "negative":
        weight[::7] *= -0.4
    if ties:
        score, mass = np.round(score, 1), np.round(mass, -1)
    return score, mass, weight


def assert_close(got, want, tolerance=1e-9):
    """Relative to the largest element."""
    np.testing.assert_allclose(got, want, rtol=0, atol=tolerance * np.abs(want).max())


def derived(function, score):
    """The value and the gradient of a function of a tensor; abs has derivative 0 at 0."""
    leaf = torch.tensor(score, requires_grad=True)
    value = function(leaf)
    value.backward()
    return value.item(), leaf.grad.numpy()


def authors(score, mass, weight):
    """The authors' distance_corr for power 1, in which weights have mean 1, in float64."""
    weight = np.ones(len(score)) if weight is None else weight
    mass, weight = torch.tensor(mass), torch.tensor(weight / weight.mean())
    return derived(lambda leaf: all_pairs(leaf, mass, weight), score)


def u_statistic(score, mass, weight):
    """The unbiased form from its definition, over all pairs, triples and quadruples of different events."""
    n = len(score)
    weight = torch.ones(n, dtype=torch.float64) if weight is None else torch.tensor(weight)
    other = 1 - torch.eye(n, dtype=torch.float64)
    pairs = torch.einsum("i,j,ij->ij", weight, weight, other)
    triples = torch.einsum("ij,k,ik,jk->ijk", pairs, weight, other, other)
    quadruples = torch.einsum("ijk,l,il,jl,kl->ijkl", triples, weight, other, other, other)

    def distances(z):
        return (z[:, None] - z[None, :]).abs()

    def covariance(a, b):
        two = (pairs * a * b).sum() / pairs.sum()
        three = torch.einsum("ijk,ij,ik->", triples, a, b) / triples.sum()
        return two - 2 * three + torch.einsum("ijkl,ij,kl->", quadruples, a, b) / quadruples.sum()

    a = distances(torch.tensor(mass))

    def loss(leaf):
        b = distances(leaf)
        return covariance(a, b) / (covariance(a, a) * covariance(b, b)).sqrt()

    return derived(loss, score)


@pytest.mark.parametrize("ties", [False, True], ids=["distinct", "ties"])
@pytest.mark.parametrize("weights", [None, "positive", "negative"])
@pytest.mark.parametrize("n", [5, 300])
def test_disco_is_that_of_the_authors(n, weights, ties):
    score, mass, weight = events(n, weights, ties, seed=n)
    want, want_grad = authors(score, mass, weight)
    value, grad = disco_loss_and_grad(score, mass, weight=weight)
    assert value == disco_loss(score, mass, weight=weight) == pytest.approx(want, rel=1e-9)
    assert_close(grad, want_grad)


@pytest.mark.parametrize("ties", [False, True], ids=["distinct", "ties"])
@pytest.mark.parametrize("weights", [None, "positive", "negative"])
def test_unbiased_disco_is_the_u_statistic(weights, ties):
    score, mass, weight = events(20, weights, ties, seed=1)
    want, want_grad = u_statistic(score, mass, weight)
    value, grad = disco_loss_and_grad(score, mass, weight=weight, unbiased=True)
    assert value == pytest.approx(want, rel=1e-9)
    assert_close(grad, want_grad)


def test_unbiased_disco_of_independent_events_has_mean_0():
    rng = np.random.default_rng(3)
    batches = [(rng.random(50), rng.random(50), rng.exponential(1, 50)) for _ in range(400)]
    plain, unbiased = ([disco_loss(s, m, weight=w, unbiased=flag) for s, m, w in batches] for flag in (False, True))
    error = np.std(unbiased) / 20
    assert abs(np.mean(unbiased)) < 3 * error
    assert np.mean(plain) > 10 * error


def test_disco_does_not_mind_where_masses_lie():
    score, mass, weight = events()
    mass = np.round(mass * 2**20) / 2**20
    want, want_grad = disco_loss_and_grad(score, mass, weight=weight)
    value, grad = disco_loss_and_grad(score, mass + 2**31, weight=weight)  # exact
    assert value == pytest.approx(want, rel=1e-12)
    assert_close(grad, want_grad, 1e-12)


@pytest.mark.parametrize("unbiased", [False, True])
def test_the_gradient_of_many_events_is_their_slope(unbiased):
    score, mass, weight = events(20_000)
    _, grad = disco_loss_and_grad(score, mass, weight=weight, unbiased=unbiased)
    direction = np.random.default_rng(5).normal(size=len(score))
    h = 1e-6
    up, down = (disco_loss(score + sign * h * direction, mass, weight=weight, unbiased=unbiased) for sign in (1, -1))
    assert (up - down) / (2 * h) == pytest.approx(grad @ direction, rel=1e-4)


def flatness_by_definition(score, mass, weight, edges, low, high):
    """The flatness loss, with CDFs counted from scratch between all scores."""
    weight = np.ones(len(score)) if weight is None else weight
    bins = np.clip(np.searchsorted(edges, mass, side="right") - 1, 0, len(edges) - 2)
    each = [bins == b for b in range(len(edges) - 1)]
    grid = np.sort(np.concatenate([[low], score, [high]]))
    loss = 0.0
    for lower, upper in zip(grid[:-1], grid[1:], strict=True):
        below = weight * (score <= lower)
        cdf = below.sum() / weight.sum()
        loss += (upper - lower) * sum(
            weight[b].sum() / weight.sum() * (below[b].sum() / weight[b].sum() - cdf) ** 2 for b in each
        )
    return loss


@pytest.mark.parametrize("weights", [None, "positive", "negative"])
@pytest.mark.parametrize(
    "options", [{"bins": 4}, {"edges": (50, 70, 100, 1000)}, {"bins": 4, "score_range": (-1, 3)}], ids=str
)
def test_flatness_is_what_its_formula_says(options, weights):
    score, mass, weight = events(200, weights, ties=True)
    edges = libmode.mode_edges(mass, **options)
    low, high = options.get("score_range", (0, 1))
    want = flatness_by_definition(score, mass, weight, edges, low, high)
    value, grad = flatness_loss_and_grad(score, mass, weight=weight, **options)
    assert value == flatness_loss(score, mass, weight=weight, **options) == pytest.approx(want, rel=1e-9)

    # At ties the gradient is the mean of both sides: so are central differences.
    h = 1e-3
    for i in range(0, 200, 20):
        moved = [score + sign * h * (np.arange(200) == i) for sign in (1, -1)]
        if min(map(np.min, moved)) < low or max(map(np.max, moved)) > high:
            continue
        up, down = (flatness_by_definition(s, mass, weight, edges, low, high) for s in moved)
        assert grad[i] == pytest.approx((up - down) / (2 * h), abs=1e-9 * np.abs(grad).max())


def test_flatness_of_hep_ml_has_the_same_gradient():
    # hep_ml takes the mean over two sets of bins, half a bin apart, and counts an event
    # in its own CDF once instead of half: of order 1/n.
    import pandas
    from hep_ml.losses import BinFlatnessLossFunction

    rng = np.random.default_rng(6)
    mass, n, bins = rng.uniform(0, 1, 20_000), 20_000, 5
    score = 1 / (1 + np.exp(-rng.normal(mass)))
    loss = BinFlatnessLossFunction(["mass"], uniform_label=0, n_bins=bins)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loss.fit(pandas.DataFrame({"mass": mass}), np.zeros(n), np.ones(n))
    theirs = loss._compute_fl_derivatives(score)
    limits = np.linspace(mass.min(), mass.max(), 2 * bins + 1)
    ours = 0
    for inner in (limits[1:-1:2], limits[2:-1:2]):
        ours = ours - flatness_loss_and_grad(score, mass, edges=[limits[0], *inner, limits[-1]])[1]
    assert np.corrcoef(theirs, ours)[0, 1] > 0.9999


@pytest.mark.parametrize("function", [disco_loss_and_grad, flatness_loss_and_grad])
def test_labels_select_events_and_several_add_up(function):
    score, mass, weight = events()
    label = np.arange(len(score)) % 3
    masked = np.where(label == 1, np.nan, score)  # not looked at
    parts = [function(score[label == k], mass[label == k], weight=weight[label == k]) for k in (0, 2)]
    value, grad = function(masked, mass, weight=weight, label=label, background_label=(0, 2))
    assert value == pytest.approx(parts[0][0] + parts[1][0], rel=1e-14)
    assert not grad[label == 1].any()
    for k, (_, part) in zip((0, 2), parts, strict=True):
        assert_close(grad[label == k], part, 1e-14)
    value, grad = function(masked, mass, weight=weight, label=label)
    assert value == parts[0][0]


@pytest.mark.parametrize("function", [disco_loss_and_grad, flatness_loss_and_grad])
def test_float32_is_read_exactly_and_summed_in_float64(function):
    score, mass, weight = (array.astype(np.float32) for array in events(5000))
    want, want_grad = function(score.astype(float), mass.astype(float), weight=weight.astype(float))
    value, grad = function(score, mass, weight=weight)
    assert grad.dtype == np.float32
    assert value == pytest.approx(want, rel=1e-12)
    assert_close(grad, want_grad, 1e-7)


MODULES = {
    "disco": (DisCoLoss(), disco_loss_and_grad, {}),
    "unbiased disco": (DisCoLoss(unbiased=True), disco_loss_and_grad, {"unbiased": True}),
    "flatness": (FlatnessLoss(bins=5), flatness_loss_and_grad, {"bins": 5}),
    "flatness of raw scores": (FlatnessLoss(bins=5, score_range=None), flatness_loss_and_grad, {"bins": 5, "score_range": None}),
    "two labels": (DisCoLoss(background_label=(0, 2)), disco_loss_and_grad, {"background_label": (0, 2)}),
}  # fmt: skip


@pytest.mark.parametrize("loss", ["disco", "flatness"])
def test_categories_count_by_their_share_of_the_weights(loss):
    score, mass, weight = events(100)
    category = np.arange(100) % 2
    each = [libmode.mode_loss(score[k::2], mass[k::2], weight=weight[k::2], loss=loss) for k in (0, 1)]
    shares = np.array([weight[0::2].sum(), weight[1::2].sum()]) / weight.sum()
    assert libmode.mode_loss(score, mass, weight=weight, category=category, loss=loss) == pytest.approx(shares @ each)


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
def test_modules_give_what_numpy_gives(name, dtype):
    module, function, options = MODULES[name]
    score, mass, weight = (torch.tensor(array, dtype=dtype) for array in events(100))
    target = torch.arange(100) % 4
    score.requires_grad_()
    loss = module(score[:, None], target, mass, weight)
    kind = torch.float64 if dtype == torch.float64 else torch.float32
    assert loss.shape == () and loss.dtype == kind
    loss.backward()
    assert score.grad.dtype == dtype
    s, m, w = (tensor.detach().to(kind).numpy() for tensor in (score, mass, weight))
    want, want_grad = function(s, m, weight=w, label=target.numpy(), **options)
    assert loss.item() == pytest.approx(want, rel=1e-6)
    torch.testing.assert_close(score.grad, torch.tensor(want_grad).to(dtype), rtol=0, atol=0)


@pytest.mark.parametrize("module", [DisCoLoss(), FlatnessLoss(bins=4)], ids=repr)
def test_the_second_derivative_is_refused(module):
    score, mass, _ = (torch.tensor(array) for array in events(40))
    score.requires_grad_()
    (grad,) = torch.autograd.grad(module(score, torch.zeros(40), mass), score, create_graph=True)
    with pytest.raises(RuntimeError, match="no second derivative"):
        grad.square().sum().backward()
