"""Masses of several variables, categories and ``per_class``; the numbers are golden cases, test_golden.py."""

import numpy as np
import pytest
import torch
from libmode.torch import Events, MoDeLoss, mode_loss

N = 120


def events(seed=3, dtype=torch.float64):
    """Score, target, mass of two variables, weights and category."""
    rng = np.random.default_rng(seed)
    score = torch.tensor((rng.permutation(N) + 1) / (N + 2), dtype=dtype, requires_grad=True)
    mass, weights = (torch.tensor(a, dtype=dtype) for a in (rng.random((N, 2)), rng.choice([0.5, 1.0, 2.0], N)))
    return score, torch.arange(N) % 3 % 2, mass, weights, torch.arange(N) // 60


def of_function(score, target, mass, weights, category):
    return mode_loss(
        score, mass, weight=weights, label=target, category=category, bins=(4, 5), mass_range=(None, (0, 1))
    )


LAYOUTS = {
    "transposed": lambda mass: mass.t().contiguous().t(),
    "strided": lambda mass: torch.stack([mass, mass], dim=2)[..., 1],
    "requires grad": lambda mass: mass.clone().requires_grad_(),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_layout_of_mass_does_not_matter(layout):
    score, target, mass, weights, category = events()
    other = LAYOUTS[layout](mass)
    loss = of_function(score, target, other, weights, category)
    assert loss == of_function(score, target, mass, weights, category)
    loss.backward()
    assert other.grad is None


@pytest.mark.parametrize("dtype", [torch.bool, torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64], ids=str)
def test_categories_of_every_type(dtype):
    score, target, mass, weights, category = events()
    want = of_function(score, target, mass, weights, category)
    for tensor in (
        category.to(dtype),
        category.to(dtype)[:, None],
        torch.stack([category, category], 1).to(dtype)[:, 1],
    ):
        assert of_function(score, target, mass, weights, tensor) == want


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")  # opcheck's own
@pytest.mark.parametrize("given", ["both", "mass", "category"])
def test_opcheck(given):
    score, target, mass, weights, category = events()
    options = MoDeLoss(order=1, bins=4)._encoded
    mass = mass if given != "category" else mass[:, 0]
    arguments = score, mass, weights, target, category if given != "mass" else None, options
    assert set(torch.library.opcheck(torch.ops.libmode.loss.default, arguments).values()) == {"SUCCESS"}


# ------------------------------------------------------------------ per_class


def outputs(classes=3):
    """The outputs of a softmax, and targets of so many classes."""
    score, _, mass, weights, category = events()
    rng = np.random.default_rng(8)
    logits = torch.tensor(rng.normal(size=(N, classes)), requires_grad=True)
    return logits, torch.arange(N) % classes, mass, weights, category


@pytest.mark.parametrize("compile", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize("background_label", [0, (0, 2)], ids=str)
def test_per_class_is_the_mean_over_the_columns(background_label, compile):
    logits, target, mass, weights, category = outputs()
    options = {"order": 1, "bins": 3, "background_label": background_label}
    module = MoDeLoss(per_class=True, **options)
    loss = torch.compile(module, fullgraph=True, backend="aot_eager") if compile else module
    pred = logits.softmax(1).detach().requires_grad_()  # a leaf: PyTorch warns where it traces another
    value = loss(pred, target, mass, weights, category=category)
    columns = [
        mode_loss(pred[:, k], mass, weight=weights, label=target, category=category, **options) for k in range(3)
    ]
    want = torch.stack(columns).mean()
    torch.testing.assert_close(value, want, rtol=1e-12, atol=0)
    (grad,), (want_grad,) = (torch.autograd.grad(one, pred, retain_graph=True) for one in (value, want))
    torch.testing.assert_close(grad, want_grad, rtol=1e-9, atol=1e-15)


def test_per_class_with_a_transform_and_a_bad_batch():
    logits, target, mass, *_ = outputs()
    pred = logits.softmax(1)
    mode = MoDeLoss(bins=3, per_class=True, score_transform=torch.sqrt)
    want = MoDeLoss(bins=3, per_class=True)(pred.sqrt(), target, mass)
    torch.testing.assert_close(mode(pred, target, mass), want, rtol=1e-12, atol=0)
    skipping = MoDeLoss(per_class=True, on_bad_batch="skip")
    with pytest.warns(RuntimeWarning, match="gives a batch the loss 0"):
        loss = skipping(pred, target + 1, mass)
    assert loss == 0 and skipping.skipped == 1
    assert torch.autograd.grad(loss, logits)[0].eq(0).all()


# --------------------------------------------------------------------- errors

BAD = [
    (r"pred has shape \(120,\): per_class = True needs shape \(n, k\)", lambda s, t, m, w, c: MoDeLoss(per_class=True)(s, t, m)),
    (r"pred has shape \(120, 0\)", lambda s, t, m, w, c: MoDeLoss(per_class=True)(s[:, None][:, :0], t, m)),
    ("pred is list: per_class", lambda s, t, m, w, c: MoDeLoss(per_class=True)([0.5], t, m)),
    ("reference and per_class = True", lambda s, t, m, w, c: MoDeLoss(per_class=True)(s[:, None], t, m, reference=Events(s, m))),
    (r"mass has shape \(120, 4\): expected", lambda s, t, m, w, c: MoDeLoss()(s, t, torch.cat([m, m], 1))),
    ("bins has 3 entries, but mass has 2 variables", lambda s, t, m, w, c: MoDeLoss(bins=(1, 2, 3))(s, t, m)),
    ("give one for each", lambda s, t, m, w, c: MoDeLoss(mass_range=(0, 1))(s, t, m)),
    ("category is torch.float64: expected a tensor of integers", lambda s, t, m, w, c: mode_loss(s, m, category=w)),
    ("category is list: expected a tensor of integers", lambda s, t, m, w, c: mode_loss(s, m, category=[0] * N)),
    ("category has length 119", lambda s, t, m, w, c: MoDeLoss()(s, t, m, category=c[1:])),
    ("positional arguments", lambda s, t, m, w, c: MoDeLoss()(s, t, m, w, c)),
]  # fmt: skip


@pytest.mark.parametrize("message, call", BAD, ids=[message for message, _ in BAD])
def test_bad_input(message, call):
    with pytest.raises((TypeError, ValueError), match=message):
        call(*events())
