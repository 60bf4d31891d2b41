"""MoDeConstraint: predictions pass unchanged, and their gradient becomes the core's (tests/core/test_law.py)."""

import math

import numpy as np
import pytest
import torch
from law import GRADIENT, PUSH, Core
from libmode.torch import Events, MoDeConstraint
from torch.nn.functional import binary_cross_entropy_with_logits

N = 800


def events(n=N, seed=1, dtype=torch.float64):
    """Scores that depend on the mass, targets, masses and weights."""
    rng = np.random.default_rng(seed)
    mass, target = rng.exponential(1, n), rng.integers(0, 2, n)
    score = 1 / (1 + np.exp(-(rng.normal(0, 1, n) + 0.5 * mass + target)))
    score, mass, weight = (torch.tensor(array).to(dtype) for array in (score, mass, rng.uniform(0.5, 1.5, n)))
    return score.requires_grad_(), torch.tensor(target), mass, weight


def incoming(seed, like):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(like.shape, generator=generator, dtype=torch.float64).to(like.dtype)


def arrays(*tensors):
    return [None if tensor is None else tensor.detach().numpy() for tensor in tensors]


CASES = {
    "scores": {},
    "logits": {"from_logits": True, "strength": 3, "floor": 0.5},
    "unlimited": {"score_range": None, "training_events": 1e5},
    "labels": {"background_label": (0, 1)},
    "categories": {"categories": 2, "bins": 5},
    "masses": {"bins": 5},
    "pooled": {"background_only": False},
    "reference": {},
}
#: The types of scores, and the digits of a gradient.
TYPES = {torch.float64: 1e-12, torch.float32: 1e-6, torch.float16: 1e-3, torch.bfloat16: 1e-2}


@pytest.mark.parametrize("kind", TYPES, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_three_batches_have_the_gradients_and_the_state_of_the_core(name, kind):
    options = {"order": 1} | CASES[name]
    layer = MoDeConstraint(**options)
    core = Core(**{"from_logits": False} | {key: value for key, value in options.items() if key != "background_only"})
    for step in range(3):
        score, target, mass, weight = events(seed=step)
        score = (score.detach().logit() if name in ("logits", "unlimited") else score.detach()).to(kind)
        category = torch.arange(N) % 2 if name == "categories" else None
        if kind is not torch.float64:
            mass, weight = mass.float(), weight.float()
        if name == "masses":
            mass = torch.stack([mass, mass**2], 1)
        label = 0 * target if name == "pooled" else target
        known = [score if kind is torch.float64 else score.float(), label, mass, weight, category]
        given, more = (score.requires_grad_(), target, mass, weight), {"category": category}
        if name == "reference":
            more["reference"] = Events(score.detach()[::3], target[::3], mass[::3], weight[::3])
            known = [None if one is None else torch.cat([one, one[::3]]) for one in known]
        out = layer(*given, **more)
        assert torch.equal(out, score) and out is not score and out.dtype is kind
        gradient = incoming(step, score)
        out.backward(gradient)
        wide = gradient.to(known[0].dtype).numpy()
        core.forward(*arrays(*known[:4]), *arrays(category), count=N)
        want = torch.tensor(core.backward(wide))
        assert score.grad.dtype is kind and (score.grad - gradient).abs().max() > 0.1
        torch.testing.assert_close(score.grad.to(want.dtype), want, rtol=TYPES[kind], atol=TYPES[kind])
    np.testing.assert_array_equal(layer.state, core.state)


def test_without_a_backward_pass_nothing_happens():
    layer = MoDeConstraint(order=1)
    batch = events()[:3]
    layer(*batch)
    with torch.no_grad():
        assert layer(*batch) is batch[0]
    assert layer.eval()(*batch) is batch[0]
    assert not layer.state.any()


def test_gradients_of_several_batches_are_accumulated():
    """All forward passes come before the backward passes, or each has its own: each batch counts once."""
    batches = [events(seed=seed) for seed in range(3)]
    layers = [MoDeConstraint(order=1) for _ in range(2)]
    for layer in layers:
        layer(*events(seed=9)).backward(incoming(9, batches[0][0]))  # so that all know the same cells of mass
    together = [layers[0](*batch) for batch in batches]
    for k, batch in enumerate(batches):
        together[k].backward(incoming(k, batch[0]))
        layers[1](*batch).backward(incoming(k, batch[0]))
    both = torch.stack([layer.state for layer in layers])
    both[:, GRADIENT] = 0  # the average of |G|, after starts that know more of the mass spectrum from batch to batch
    torch.testing.assert_close(*both, rtol=1e-12, atol=1e-15)
    assert layers[0].state[1] == 4


def test_a_backward_pass_in_parts_and_twice():
    score, *others = events()
    layer = MoDeConstraint(order=1)
    out = layer(score, *others)
    out[: N // 2].square().sum().backward(retain_graph=True)
    out.sum().backward()
    assert layer.state[1] == 2 and score.grad.isfinite().all()


def test_a_grad_scaler_changes_no_training():
    """Some steps overflow, and it repeats them at half its scale. In between it doubles the scale."""

    def trained(scaler, overflows=()):
        torch.manual_seed(1)
        network, layer = torch.nn.Linear(3, 1), MoDeConstraint(order=1, from_logits=True)
        optimizer, step, scale = torch.optim.SGD(network.parameters(), 0.1), 0, 1.0
        for attempt in range(8 + len(overflows)):
            _, target, mass, _ = events(seed=step, dtype=torch.float32)
            x = torch.stack([mass, mass.sin(), target + incoming(step, mass)], 1)
            loss = binary_cross_entropy_with_logits(layer(network(x)[:, 0], target, mass), target.float())
            optimizer.zero_grad()
            scaler.scale(loss * math.inf if attempt in overflows else loss).backward()
            scale = scale if attempt in overflows else scaler.get_scale()
            scaler.step(optimizer)
            scaler.update()
            step += attempt not in overflows
        return *network.parameters(), layer.state[[1, PUSH, GRADIENT]] / torch.tensor([1, 1, scale])

    plain = trained(torch.amp.GradScaler("cpu", enabled=False))
    scaled = trained(torch.amp.GradScaler("cpu", init_scale=2.0**16, growth_interval=2), overflows=(0, 1, 5, 10))
    for one, other in zip(plain, scaled, strict=True):
        assert torch.equal(one, other)


# ---------------------------------------------------------------- what may go wrong in a run of hours


def test_a_score_that_is_nan_is_an_error_with_its_step():
    layer = MoDeConstraint(order=1)
    score, target, mass, _ = events()
    for _ in range(2):
        layer(score, target, mass).sum().backward()
    place, before = int((target == 0).nonzero()[3]), layer.state.clone()
    bad = score.detach().clone()
    bad[place] = math.nan
    with pytest.raises(ValueError, match=rf"score\[{place}\] = NaN: .*\(in training step 2\)"):
        layer(bad.requires_grad_(), target, mass)
    assert torch.equal(layer.state, before)


# ---------------------------------------------------------------- PyTorch


def test_a_second_derivative_says_so():
    score, target, mass, _ = events()
    for loss in (torch.square, lambda out: 2 * out):  # also of a loss without a second derivative
        out = loss(MoDeConstraint(order=1)(score, target, mass)).sum()
        (grad,) = torch.autograd.grad(out, score, create_graph=True)
        with pytest.raises(RuntimeError, match="constraint has no second derivative"):
            grad.sum().backward()
