"""MoDeConstraint: predictions pass unchanged, and MoDe's gradient is added to the one that comes in."""

import copy
import io
import math
import pickle

import libmode
import numpy as np
import pytest
import torch
from law import assert_law
from libmode.torch import Events, MoDeConstraint, MoDeLoss
from libmode.torch.constraint import _Last
from push import push
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn.functional import binary_cross_entropy, binary_cross_entropy_with_logits

N = 800


def events(n=N, seed=1, dtype=torch.float64):
    """Scores that depend on the mass, targets, masses and weights. Masses of signal are unknown.

    The multiplier then starts from 1, and the push can be seen by itself.
    """
    rng = np.random.default_rng(seed)
    mass, target = rng.exponential(1, n), rng.integers(0, 2, n)
    score = 1 / (1 + np.exp(-(rng.normal(0, 1, n) + 0.5 * mass + target)))
    mass[target == 1] = np.nan
    score, mass, weight = (torch.tensor(array).to(dtype) for array in (score, mass, rng.uniform(0.5, 1.5, n)))
    return score.requires_grad_(), torch.tensor(target), mass, weight


def added(constraint, batch, loss=binary_cross_entropy, **arguments):
    """What a constraint adds to the gradient of a loss by the predictions, and that gradient."""
    pred, target, *others = batch
    truth = target.to(pred.dtype)
    (bare,) = torch.autograd.grad(loss(pred, truth), pred)
    (both,) = torch.autograd.grad(loss(constraint(pred, target, *others, **arguments), truth), pred)
    return both - bare, bare


def smoothed(score, mass, background, weight=None, **options):
    """The push of a factor 1 at each event of a batch, and what multiplies its gradient, (n,): by definition."""
    s, m = score[background], mass[background]
    w = np.ones(len(s)) if weight is None else weight[background]
    _, grad = libmode.mode_loss_and_grad(s, m, weight=w, **({"order": 0} | options))
    pushes, lift = np.zeros(len(score)), np.ones(len(score))
    pushes[background], lift[background] = push(grad, s, m[:, None], w, **options)
    return pushes, lift


@pytest.mark.parametrize("order", [0, 1, 2])
def test_a_fixed_strength_is_a_factor_of_the_residual(order):  # without weights ranks may lie on borders of cells
    score, target, mass, weight = events(n=1600)
    constraint = MoDeConstraint(order=order, strength=7)
    assert all(map(math.isnan, (constraint.loss, constraint.scale, constraint.dependence.value)))
    assert constraint.strength == 7
    assert repr(constraint) == f"MoDeConstraint(order={order}, strength=7.0)"
    extra, bare = added(constraint, (score, target, mass, weight))
    s, background = score.detach().numpy(), target.numpy() == 0
    want, lift = smoothed(s, mass.numpy(), background, weight.numpy(), order=order, bins=24)
    extra, by_logit = extra.numpy() - (lift - 1) * bare.numpy(), s * (1 - s)
    of_base = np.linalg.norm((bare.numpy() * by_logit)[background]) / np.sqrt(background.sum())
    np.testing.assert_allclose(extra * by_logit, 7 * of_base * want, rtol=1e-8, atol=1e-12)
    assert constraint.scale == pytest.approx(of_base, rel=1e-9)


def test_predictions_pass_unchanged_and_in_evaluation_nothing_happens():
    constraint = MoDeConstraint(order=1)
    score, target, mass, _ = events()
    out = constraint(score, target, mass)
    assert torch.equal(out, score) and out is not score
    with torch.no_grad():
        assert constraint(score, target, mass) is score
    constraint.eval()
    assert constraint(score, target, mass) is score
    assert constraint.state[0] == 1


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_types_scales_and_limits(dtype):
    score, target, mass, _ = events(dtype=dtype)
    if dtype is torch.float32:  # of which the gradient of a cross entropy is finite there
        score.data[::7], score.data[1::7] = 0, 1
    found = []
    for scale in (2.0**10, 2.0**-4):
        constraint = MoDeConstraint(order=1)
        out = constraint(score, target, mass.float())
        assert out.dtype is dtype
        (grad,) = torch.autograd.grad(scale * binary_cross_entropy(out.float(), target.float()), score)
        assert grad.dtype is dtype and grad.isfinite().all() and constraint.scale > 0
        found.append(grad.double() / scale)
    torch.testing.assert_close(*found, rtol=1e-6 if dtype is torch.float32 else 0.02, atol=1e-5)


def test_logits_and_columns_are_taken_as_their_scores():
    score, target, mass, _ = events()
    of_score, bare = added(MoDeConstraint(order=1), (score, target, mass))
    slope = (score * (1 - score)).detach()
    logit = score.detach().logit().requires_grad_()
    found = added(MoDeConstraint(from_logits=True, order=1), (logit, target, mass), binary_cross_entropy_with_logits)
    torch.testing.assert_close(found, (of_score * slope, bare * slope), rtol=1e-6, atol=1e-12)
    column = score.detach()[:, None].requires_grad_()
    out = MoDeConstraint(order=1)(column, target[:, None], mass[:, None])
    assert out.shape == (N, 1)
    binary_cross_entropy(out, target[:, None].double()).backward()
    torch.testing.assert_close(column.grad[:, 0], bare + of_score, rtol=1e-9, atol=1e-15)


# ---------------------------------------------------------------- reference events


def test_reference_events_count_and_get_no_gradient():  # without weights ranks may lie on borders of cells
    score, target, mass, weight = events()
    further = events(n=3000, seed=2)
    reference = Events(further[0].detach(), *further[1:])
    constraint = MoDeConstraint(order=1)
    extra, bare = added(constraint, (score, target, mass, weight), reference=reference)
    all_scores, all_masses = np.append(score.detach(), further[0].detach()), np.append(mass, further[2])
    labels, weights = np.append(target, further[1]), np.append(weight, further[3])
    want = libmode.mode_evaluate(all_scores, all_masses, label=labels, weight=weights, order=1)
    assert constraint.loss == pytest.approx(want.loss, rel=1e-10)
    push, lift = smoothed(all_scores, all_masses, labels == 0, weights, order=1, bins=24)
    slope, background = (score * (1 - score)).detach(), target == 0
    size = (bare * slope)[background].norm() / background.sum().double().sqrt()
    extra = extra.numpy() - (lift[:N] - 1) * bare.numpy()
    np.testing.assert_allclose(extra * slope.numpy(), size.item() * 4 * push[:N], rtol=1e-8, atol=1e-12)


# ---------------------------------------------------------------- what may go wrong in a run of hours


def test_a_score_that_is_nan_is_an_error_with_its_step():
    constraint = MoDeConstraint(order=1)
    score, target, mass, _ = events()
    for _ in range(2):
        constraint(score, target, mass)
    place = int((target == 0).nonzero()[3])
    bad = score.detach().clone().requires_grad_()
    bad.data[place] = math.nan
    with pytest.raises(ValueError, match=rf"score\[{place}\] = NaN: .*\(in training step 2\)"):
        constraint(bad, target, mass)
    logits = MoDeConstraint(order=1)
    with pytest.raises(ValueError, match=r"give from_logits=True for raw outputs.*in training step 0"):
        logits(3 * bad.nan_to_num().logit(), target, mass)


def test_a_gradient_that_is_not_finite_passes_as_it_is():
    constraint = MoDeConstraint(order=1)
    score, target, mass, _ = events()
    out = constraint(score, target, mass)
    incoming = torch.ones_like(out)
    incoming[2] = math.inf
    (grad,) = torch.autograd.grad(out, score, incoming)
    assert torch.equal(grad, incoming) and constraint.scale == 0


BAD = [
    ("strength = inf: must be positive and finite", {"strength": math.inf}),
    ("tolerance = 'many': must be a number", {"tolerance": "many"}),
    ("on_bad_batch = 'pass'", {"on_bad_batch": "pass"}),
    ("a fixed strength ignores the tolerance", {"strength": 3, "tolerance": 9}),
    (r"score_range = \(0.0, 2.0\) and from_logits = True", {"from_logits": True, "score_range": (0, 2)}),
]


@pytest.mark.parametrize("message, arguments", BAD, ids=[message for message, _ in BAD])
def test_bad_arguments(message, arguments):
    with pytest.raises((TypeError, ValueError), match=message):
        MoDeConstraint(**({"order": 1} | arguments))


BAD_REFERENCES = [
    (r"reference is tuple: give Events\(score, label, mass, weight\)", lambda s, m: (s, m)),
    ("reference has weight, and the batch has none", lambda s, m: Events(s, None, m, torch.ones_like(s))),
    ("reference.mass has shape", lambda s, m: Events(s, None, torch.stack([m, m], 1))),
    ("reference.score is on meta, but the batch on cpu", lambda s, m: Events(s.to("meta"), None, m)),
    ("where events from 800 on are reference events", lambda s, m: Events(s + 1, None, m)),
]


@pytest.mark.parametrize("message, reference", BAD_REFERENCES, ids=[message for message, _ in BAD_REFERENCES])
def test_bad_reference_events(message, reference):
    score, target, mass, _ = events()
    with pytest.raises((TypeError, ValueError), match=message):
        MoDeConstraint(order=1)(score, target, mass, reference=reference(score.detach(), mass))


# ---------------------------------------------------------------- state and tolerance


def test_the_state_is_saved_copied_and_moved():
    constraint = MoDeConstraint(tolerance=1e4, order=1)
    for seed in range(5):
        constraint(*events(seed=seed)[:3])
    again = MoDeConstraint(tolerance=1e4, order=1)
    again.load_state_dict(constraint.state_dict())
    copies = copy.deepcopy(constraint), pickle.loads(pickle.dumps(constraint)), copy.deepcopy(constraint).half().float()
    for other in (again, *copies):
        assert torch.equal(other.state, constraint.state) and other.state.dtype is torch.float64
        assert other.dependence == constraint.dependence


def test_dependence_is_what_the_events_tell():
    """Of one batch, rho of mode_evaluate. tests/core/test_state.py has its error."""
    constraint = MoDeConstraint(monitor=False, order=1)
    score, target, mass, _ = events()
    constraint(score, target, mass)
    found = libmode.mode_evaluate(score.detach(), mass, label=target, order=1)
    assert constraint.dependence.value == pytest.approx(found.loss / (found.bias * found.events / 1e5), rel=1e-9)
    plain = MoDeConstraint(monitor=False, unbiased=False, order=1)
    plain(score, target, mass)
    assert plain.dependence.value == pytest.approx(constraint.dependence.value, rel=1e-9)


# ---------------------------------------------------------------- PyTorch


def test_what_cannot_be_transformed_says_so():
    score, target, mass, _ = events()
    with pytest.raises(RuntimeError, match="torch.func cannot transform a MoDeConstraint"):
        torch.func.grad(lambda s: MoDeConstraint(order=1)(s, target, mass).sum())(score.detach())
    out = MoDeConstraint(order=1)(score, target, mass)
    (grad,) = torch.autograd.grad(binary_cross_entropy(out, target.double()), score, create_graph=True)
    with pytest.raises(RuntimeError, match="constraint has no second derivative"):
        grad.sum().backward()
    (grad,) = torch.autograd.grad((2 * MoDeConstraint(order=1)(score, target, mass)).sum(), score, create_graph=True)
    with pytest.raises(RuntimeError, match="constraint has no second derivative"):  # also of a loss without one
        grad.sum().backward()


class Calling(torch.nn.Module):
    """A network that calls a layer or a loss where Python runs."""

    def __init__(self, held):
        super().__init__()
        self.network, self.held = torch.nn.Linear(3, 1), held

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        score = torch.sigmoid(self.network(x))[:, 0]
        if not torch.jit.is_scripting():
            score = self.held(score, torch.zeros(len(score)), torch.rand(len(score)))
        return score


@pytest.mark.filterwarnings("ignore:`torch.jit.* is deprecated")
@pytest.mark.parametrize("held", [MoDeConstraint(order=1), MoDeLoss(order=1)], ids=lambda one: type(one).__name__)
def test_torch_script(held):
    x, file, network = torch.randn(100, 3), io.BytesIO(), Calling(held).eval()
    torch.jit.save(torch.jit.script(network), file)
    file.seek(0)
    assert torch.equal(torch.jit.load(file)(x), torch.sigmoid(network.network(x))[:, 0])
    assert network.held is held


@pytest.mark.parametrize("gradient", [False, True])
def test_scores_without_values_pass_in_evaluation_mode(gradient):
    layer = MoDeConstraint(order=1).eval()
    for where in (torch.device("meta"), FakeTensorMode()):
        with where:
            batch = torch.rand(100, requires_grad=gradient), torch.zeros(100), torch.rand(100)
            assert layer(*batch) is batch[0]


@pytest.mark.parametrize("shape", [(3,), (3, 1)])
def test_the_law_of_the_outgoing_gradient(shape):
    def outgoing(incoming, rows, size):
        return _Last().outgoing((), torch.tensor(incoming).reshape(shape), torch.tensor(rows), size).numpy().ravel()

    assert_law(outgoing)
