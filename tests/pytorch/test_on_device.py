"""The loss by PyTorch's own operations is that of the core and of the oracle, and reads nothing on the host."""

import cases
import golden
import libmode
import numpy as np
import pytest
import torch
from drawn import draw
from hypothesis import given, settings
from libmode._device.merging import kept_edges
from libmode.torch import Events, MoDeLoss, mode_loss
from libmode.torch import _device as of_torch
from libmode.torch._op import encode
from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensorMode


@pytest.fixture(autouse=True)
def one_thread():
    """Hundreds of small operations are not worth a second one."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


ON_CPU = of_torch.TorchArrays(torch.device("cpu"))


def tensors(events):
    return {name: None if array is None else torch.as_tensor(array) for name, array in events.items()}


def both(function, events, options):
    """A loss and its gradient as numbers."""
    given = tensors(events)
    score = given.pop("score").clone().requires_grad_()
    loss = function(score, given.pop("mass"), **given, **options)
    loss.backward()
    return loss.item(), score.grad.numpy()


def on_device(score, mass, **arguments):
    return mode_loss(score, mass, on_device=True, **arguments)


def is_there(options, category=None):
    return category is None and not options.get("joint")


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=lambda dtype: dtype.__name__)
def test_golden_cases(golden_case, dtype):
    case = golden_case
    if not is_there(case.options, case.category):
        with pytest.raises(ValueError, match="on_device = True has no such form of the loss: leave on_device out"):
            both(on_device, case.events(dtype), case.options)
        return
    tolerance = 1e-9 if dtype is np.float64 else 1e-5
    loss, grad = both(on_device, case.events(dtype), case.options)
    assert grad.dtype == dtype
    golden.assert_close(loss, case.loss, tolerance)
    golden.assert_close(grad, case.grad, tolerance)


def test_random_calls_are_those_of_the_core():
    good = bad = 0
    for seed in range(200):
        call = draw(seed)
        try:
            loss, grad = libmode.mode_loss_and_grad(**call.events(), **call.options)
        except ValueError as error:
            with pytest.raises(type(error)) as raised:
                both(on_device, call.events(), call.options)
            assert str(raised.value) == str(error), seed
            bad += 1
            continue
        # Where the bins are fitted exactly all is rounding.
        found, gradient = both(on_device, call.events(), call.options)
        golden.assert_close(gradient, grad, 1e-9, floor=1e-14)
        golden.assert_close(found, loss, 1e-9, floor=1e-9 * np.abs(grad).max() + 1e-13)
        good += 1
    assert good > 80 and bad > 40


@settings(max_examples=40)
@given(cases.cases())
def test_calls_of_every_order_are_those_of_the_core(case):
    loss, grad = case.evaluate(libmode.mode_loss_and_grad)
    events = {name: getattr(case, name) for name in ("score", "mass", "weight", "label")}
    found, gradient = both(on_device, events, case.options)
    golden.assert_close(gradient, grad, 1e-9, floor=1e-12)
    golden.assert_close(found, loss, 1e-9, floor=1e-12)


@pytest.mark.parametrize("options", [{"order": 1}, {"order": 2, "monotonic": True, "max_slope": 0.5}], ids=str)
def test_many_events(options):
    rng = np.random.default_rng(5)
    n = 100_000
    score, mass = rng.random(n, dtype=np.float32), rng.exponential(60, n).astype(np.float32)
    events = {"score": np.round(score, 4), "mass": mass, "weight": rng.normal(1, 0.5, n).astype(np.float32)}
    want, want_grad = libmode.mode_loss_and_grad(**{k: v.astype(float) for k, v in events.items()}, **options)
    loss, grad = both(on_device, {k: v.astype(float) for k, v in events.items()}, options)
    golden.assert_close(grad, want_grad, 1e-9)
    golden.assert_close(loss, want, 1e-9)
    loss, grad = both(on_device, events, options)  # sums are in float64 of float32 too
    golden.assert_close(loss, libmode.mode_loss(**events, **options), 1e-6)
    assert grad.dtype == np.float32


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_half_precision(dtype):
    torch.manual_seed(1)
    score, mass, weight = torch.rand(3, 500).to(dtype).unbind()
    results = []
    for chosen in (False, True):
        leaf = score.clone().requires_grad_()
        loss = mode_loss(leaf, 0.8 * mass, weight=weight, order=1, mass_range=(0, 0.8), on_device=chosen)
        (1000 * loss).backward()
        assert loss.dtype is torch.float32 and leaf.grad.dtype is dtype
        results.append((loss.detach(), leaf.grad))
    for got, want in zip(*results, strict=True):
        torch.testing.assert_close(got, want, rtol=1e-5 if dtype is torch.float32 else 1e-2, atol=1e-6)


def test_merging_is_that_of_one_bin_after_the_other():
    def merged(rows):
        """The bins, greedily from the lowest on, and what is left joins the last ones."""
        bins, now = [], []
        enough = lambda group: group and (w := sum(r[0] for r in group)) > 0 and w * w >= 4 * sum(r[1] for r in group)  # noqa: E731
        for row in rows:
            now.append(row)
            if enough(now):
                bins, now = [*bins, now], []
        while now and bins and not enough(now):
            bins, now = bins[:-1], bins[-1] + now
        return [len(group) for group in ([*bins, now] if now else bins)]

    rng = np.random.default_rng(3)
    for _ in range(300):
        used, most = int(rng.integers(1, 12)), 12
        weights = [rng.choice([1.0, -1.0, 2.0, 0.5], rng.integers(1, 6), p=[0.5, 0.2, 0.2, 0.1]) for _ in range(used)]
        rows = [(w.sum(), (w * w).sum()) for w in weights]
        sums = torch.zeros((2, most), dtype=torch.float64)
        sums[:, :used] = torch.tensor(rows).T
        kept = kept_edges(ON_CPU, sums, torch.tensor(used)).numpy()[: used - 1]
        ends = np.flatnonzero(kept) + 1
        assert np.diff([0, *ends, used]).tolist() == merged(rows)


@pytest.mark.parametrize(
    "weight", [None, np.full(24, 2.5), np.r_[np.full(23, 2.5), 1.0]], ids=["none", "equal", "other"]
)
def test_bins_of_equal_weights_are_not_merged(weight):
    # The first of three bins has one event, since a rank inside a run of equal masses moves down to its start.
    mass = np.r_[0.0, np.ones(14), np.arange(2, 11)]
    events = {"score": np.random.default_rng(1).random(24), "mass": mass, "weight": weight}
    loss, grad = libmode.mode_loss_and_grad(**events, unbiased=False)
    found, gradient = both(on_device, events, {"unbiased": False})
    golden.assert_close(found, loss, 1e-9)
    golden.assert_close(gradient, grad, 1e-9)


# No PyTorch without CUDA can compute there, but a tensor that only has a shape and that device can be asked
# for all operations, and fails at any that needs a value on the host.
ON_CUDA = [
    {"order": 0},
    {"order": 2, "monotonic": True, "max_slope": 0.5, "slope_penalty": 1.0},
    {"order": 1, "moments": "quadrature", "score_range": None, "missing": "ignore"},
    {"binning": "uniform", "mass_range": (0, 100), "bins": 4},
    {"binning": "uniform"},
    {"edges": [0.0, 0.2, 0.5, 1.0]},
    {"binning": "values", "background_label": (0, 1)},
    {"knots": [0.5]},
]


@pytest.mark.parametrize("options", ON_CUDA, ids=str)
def test_nothing_is_read_on_the_host(options):
    with FakeTensorMode():
        score, mass, weight = (torch.rand(1000, device="cuda") for _ in range(3))
        label = torch.randint(0, 2, (1000,), device="cuda")
        with pytest.raises(DataDependentOutputException):
            bool((score > 0).all())
        for masses in (
            (mass, torch.stack([mass, mass], 1)) if not {"edges", "knots", "mass_range"} & {*options} else (mass,)
        ):
            loss, grad = of_torch.compute(score, masses, weight, label, None, encode("mode", **options), True)
            assert loss.device.type == grad.device.type == "cuda"
            assert loss.shape == () and grad.shape == (1000,) and loss.dtype is grad.dtype is torch.float32


@pytest.mark.parametrize("argument", ["score", "mass", "weight", "batch"])
def test_what_the_device_says_of_bad_events(argument):
    rng = np.random.default_rng(1)
    events = {name: rng.random(100) for name in ("score", "mass", "weight")}
    if argument == "batch":
        events["mass"][:] = 3.0
    else:
        events[argument][7] = np.nan
    plan = of_torch._plan(*(torch.tensor(events[name]) for name in events), None, None, encode("mode", bins=4))
    found = of_torch.loss_and_grad(ON_CPU, plan, *(torch.tensor(events[name]) for name in events), None)
    with pytest.raises(RuntimeError, match=f"^(the )?{argument}"):
        of_torch._asserted(found, False)
    if argument == "batch":
        skipped = of_torch._asserted(found, True)
        assert skipped.loss == 0 and (skipped.grad == 0).all()
    else:
        with pytest.raises(RuntimeError, match=f"^{argument}"):
            of_torch._asserted(found, True)


def test_compiled():
    torch.manual_seed(2)
    score, mass, weight = torch.rand(3, 200).unbind()
    mode = MoDeLoss(order=1, on_device=True)
    results = []
    for form in (torch.compile(mode, fullgraph=True, backend="aot_eager"), MoDeLoss(order=1)):
        leaf = score.clone().requires_grad_()
        loss = form(leaf, torch.zeros(200), mass, weight)
        (3 * loss).backward()
        results.append((loss.detach(), leaf.grad))
    torch.testing.assert_close(*results)


# PyTorch's own forward mode compiles a few functions with its old compiler.
@pytest.mark.filterwarnings("ignore:`torch.jit.script` is:FutureWarning", "ignore::DeprecationWarning:torch")
def test_torch_func():
    torch.manual_seed(2)
    scores, mass = torch.rand(2, 100), torch.rand(100)
    device, core = (lambda score, on=on: mode_loss(score, mass, bins=4, on_device=on) for on in (True, False))
    torch.testing.assert_close(torch.func.vmap(device)(scores), torch.stack([core(score) for score in scores]))
    torch.testing.assert_close(torch.func.grad(device)(scores[0]), torch.func.grad(core)(scores[0]))
    found = torch.func.jvp(device, (scores[0],), (scores[1],))
    torch.testing.assert_close(found, torch.func.jvp(core, (scores[0],), (scores[1],)))
    leaf = scores[0].clone().requires_grad_()
    (first,) = torch.autograd.grad(device(leaf), leaf, create_graph=True)
    with pytest.raises(RuntimeError, match="no second derivative"):
        first.sum().backward()


FORMS = {
    "labels": ({"order": 1, "background_label": (0, 1)}, {}),
    "pooled": ({"background_only": False}, {}),
    "classes": ({"per_class": True}, {}),
    "transform": ({"score_transform": torch.square}, {}),
    "signal": ({"score_transform": "signal_efficiency"}, {}),
    "reference": ({}, {"reference": Events(torch.linspace(0.01, 0.99, 40), torch.linspace(0, 1, 40))}),
}


@pytest.mark.parametrize("name", FORMS)
def test_the_module(name):
    torch.manual_seed(4)
    arguments, more = FORMS[name]
    pred = torch.rand((200, 3) if name == "classes" else 200)
    target, mass = torch.randint(0, 2, (200,)), torch.rand(200)
    results = []
    for chosen in (False, True):
        leaf = pred.clone().requires_grad_()
        loss = MoDeLoss(on_device=chosen, **arguments)(leaf, target, mass, **more)
        loss.backward()
        results.append((loss.detach(), leaf.grad))
    torch.testing.assert_close(*results)


def test_a_bad_batch_on_the_cpu_is_skipped_as_usual():
    score, mass = torch.rand(4, requires_grad=True), torch.ones(4)
    mode = MoDeLoss(on_bad_batch="skip", on_device=True)
    with pytest.warns(RuntimeWarning, match="gives a batch the loss 0"):
        loss = mode(score, torch.zeros(4), mass)
    loss.backward()
    assert loss == 0 and (score.grad == 0).all() and mode.skipped == 1
    with pytest.raises(libmode.BatchError, match="all 4 selected events have the same mass 1"):
        MoDeLoss(on_device=True)(score, torch.zeros(4), mass)
    with pytest.raises(libmode.BatchError, match="mass is empty"):
        mode_loss(torch.zeros(0), torch.zeros(0), on_device=True)


def test_what_is_not_there():
    with pytest.raises(ValueError, match="joint = True: on_device = True has no such form"):
        MoDeLoss(joint=True, on_device=True)
    with pytest.raises(ValueError, match="mass is on meta, but score on cpu: on_device = True needs them together"):
        mode_loss(torch.rand(9), torch.rand(9, device="meta"), on_device=True)
    assert "on_device=True" in repr(MoDeLoss(order=1, on_device=True))
