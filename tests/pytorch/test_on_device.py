"""The loss, and the layer, by PyTorch's operations: those of the core, in few operations, none of which reads a value on the host."""

from types import SimpleNamespace

import golden
import libmode
import numpy as np
import pytest
import torch
from libmode._constraint import NUMBERS
from libmode._device import sums
from libmode._device.plan import plan_of
from libmode._device.push import push
from libmode._options import check
from libmode.torch import Events, MoDeConstraint, MoDeLoss, mode_loss
from libmode.torch import _device as of_torch
from libmode.torch._op import encode
from libmode.torch.constraint import Constrained
from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode


@pytest.fixture(autouse=True)
def one_thread():
    """Small operations are not worth a second one."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def on_device(events, options):
    """A loss and its gradient as numbers."""
    given = {name: None if array is None else torch.as_tensor(array) for name, array in events.items()}
    score = given.pop("score").clone().requires_grad_()
    loss = mode_loss(score, on_device=True, **given, **options)
    loss.backward()
    return loss.item(), score.grad.numpy()


class NotLookedAt(torch.Tensor):
    """A tensor that stands for one on a GPU: nobody looks whether there is a loss, so that the core is not called."""


def computed(events, options, skip):
    """Loss and gradient of the device, also where it has none."""
    score, *others = (None if array is None else torch.as_tensor(array) for array in events.values())
    loss, grad = of_torch.compute(score.as_subclass(NotLookedAt), *others, None, encode("mode", **options), skip)
    return float(loss), np.asarray(grad.as_subclass(torch.Tensor))


def drawn(seed):
    """Events and options that the device has, with ties, merged bins, negative weights, bins of too little and NaN."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([20, 60, 100, 300, 1000, 3000]))
    score, mass, label = rng.random(n), 50 + rng.exponential(60, n), None
    if rng.random() < 0.5:
        score = np.round(score * rng.choice([3, 20, 200])) / 256
    if rng.random() < 0.3:
        mass = np.round(mass / 20) * 20
    weights = [
        None,
        rng.exponential(1, n),
        rng.choice([1.0, -0.5, 2.0], n, p=[0.7, 0.1, 0.2]),
        rng.normal(1, 1.2, n),
        np.full(n, 2.5),
        rng.random(n) ** -1.2,  # of which few events have most
    ]
    order = int(rng.integers(4))
    options = {
        "order": order,
        "unbiased": bool(rng.integers(2)),
        "reduction": ["mean", "sum"][rng.integers(2)],
        "score_range": [(0, 1), (-1.0, 2.0)][rng.integers(2)],
    }
    if rng.random() < 0.5:
        label, options["background_label"] = rng.integers(0, 3, n), int(rng.integers(2))
        others = label != options["background_label"]
        score[others], mass[others] = np.nan, np.inf
    binning = rng.integers(3)
    if binning == 0:
        options["edges"] = [40.0, 60.0, 75.0, 100.0, 150.0, 1000.0]
    elif binning == 1:
        options["bins"] = int(rng.integers(order + 2, 12))
    if binning and rng.random() < 0.5:
        options["mass_range"] = (60.0, 200.0)
    events = {"score": score, "mass": mass, "weight": weights[rng.integers(len(weights))], "label": label}
    spoilt = events[rng.choice(["score", "mass", "weight"])]
    if rng.random() < 0.1 and spoilt is not None:
        spoilt[rng.integers(n)] = np.nan
    if rng.random() < 0.1 and not ("edges" in options or "mass_range" in options):  # far from 0, or near it
        events["mass"] = rng.choice([1e6 + mass, 1e-3 + 1e-9 * mass])
    return events, options


@pytest.fixture
def like_many(monkeypatch):
    """A function after which few events are summed as many are."""
    return lambda: monkeypatch.setattr(sums, "MANY", 0)


@pytest.mark.parametrize("part", range(4))
def test_random_calls_are_those_of_the_core(part, like_many):
    good = bad = 0
    if part % 2:
        like_many()
    for seed in range(500 * part, 500 * (part + 1)):
        events, options = drawn(seed)
        try:
            loss, grad = libmode.mode_loss_and_grad(**events, **options)
        except ValueError as error:
            with pytest.raises(type(error)) as raised:
                on_device(events, options)
            assert str(raised.value) == str(error), seed
            with pytest.raises(RuntimeError, match="on the device there is no loss"):
                computed(events, options, False)
            loss, grad = computed(events, options, True)
            assert loss == 0 and (grad == 0).all()
            bad += 1
            continue
        found, gradient = computed(events, options, False)
        # Where the bins are fitted exactly all is rounding; the loss is a sum of terms of both signs.
        golden.assert_close(gradient, grad, 1e-9, floor=1e-14)
        golden.assert_close(found, loss, 1e-9, floor=1e-12 + 1e-8 * np.abs(grad).max())
        good += 1
    assert good > 300 and bad > 80


def batch(n=2_000, dtype=torch.float32, seed=1):
    torch.manual_seed(seed)
    score, mass, weight = torch.rand(3, n, dtype=dtype).unbind()
    return score, torch.randint(0, 2, (n,)).to(dtype), 50 - 60 * torch.log(mass), -torch.log(weight)


class Operations(TorchDispatchMode):
    """Lists the operations of ATen that are no views. Each is a kernel on a GPU, which small batches wait for."""

    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if not function.is_view:
            self.names.append(str(function))
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("weighted", [True, False])
def test_the_loss_is_few_operations(weighted):
    score, target, mass, weight = batch()
    plan = plan_of(check("mode", {"order": 1}), weighted)
    events = Events(score, mass, weight if weighted else None, target)
    of_torch.loss_and_grad(plan, events)  # its constants are kept
    with Operations() as of:  # without the look at the values that a CPU takes
        found = of_torch.loss_and_grad(plan, events)
        torch._assert_async(found.good.all())
        found.grad.to(score.dtype) * found.loss.to(score.dtype)
    assert len(of.names) <= 71, of.names


@pytest.mark.parametrize("logits", [False, True])
def test_the_layer_is_few_operations(logits):
    score, target, mass, weight = batch()
    constraint = MoDeConstraint(order=1, on_device=True, from_logits=logits)
    for _ in range(2):  # the second call has a sum
        leaf, incoming = score.clone().requires_grad_(), torch.ones_like(score)
        with Operations() as of:
            constraint(leaf, target, mass, weight).backward(incoming)
    names = [name for name in of.names if "_local_scalar" not in name]  # a CPU's look at the values
    assert len(names) <= 100, names


def layers(**arguments):
    return [MoDeConstraint(on_device=chosen, monitor=False, **arguments) for chosen in (True, False)]


def stepped(constraint, pred, target, mass, weight, **more):
    """The gradient of a cross entropy with a layer in front of it."""
    leaf = pred.clone().requires_grad_()
    found = constraint(leaf, target, mass, weight, **more)
    if constraint._constraint.from_logits:
        found = torch.sigmoid(found)
    torch.nn.functional.binary_cross_entropy(found.clamp(1e-6, 1 - 1e-6), target.to(found.dtype)).backward()
    return leaf.grad


@pytest.mark.parametrize("seed", range(40))
def test_the_layer_is_that_of_the_core(seed, like_many):
    if seed % 2:
        like_many()
    rng = np.random.default_rng(seed)
    order, logits, weighted = int(rng.integers(4)), bool(rng.integers(2)), rng.random() < 0.7
    arguments = {"order": order, "from_logits": logits, "relative_strength": [None, 3.0][rng.integers(2)]}
    if rng.random() < 0.3:
        arguments["bins"] = int(rng.integers(order + 2, 12))
    if rng.random() < 0.2:
        arguments["unbiased"] = False
    if not logits and rng.random() < 0.3:
        arguments["score_range"] = (-1.0, 2.0)
    if weighted and rng.random() < 0.4:
        arguments["mass_range"] = (60.0, 200.0)
    device, core = layers(**arguments)
    for _ in range(3):
        n = int(rng.choice([640, 3200]))
        mass = 50 + rng.exponential(60, n)
        x = rng.normal(0, 1, n) + 0.01 * mass
        # Of as many events without weights as these no rank is at the limit of a cell, where rounding decides.
        target, weight = torch.arange(n) % 2, None
        if weighted:
            weight = torch.as_tensor(rng.exponential(1, n) * rng.choice([1.0, -0.3, 0.0], n, p=[0.85, 0.1, 0.05]))
        if weighted and rng.random() < 0.5:
            x, mass = np.round(x, 1), np.round(mass / 10) * 10
        events = torch.as_tensor(x if logits else 1 / (1 + np.exp(-x))), target, torch.as_tensor(mass), weight
        got, want = stepped(device, *events), stepped(core, *events)
        golden.assert_close(got, want, 1e-9)
        np.testing.assert_allclose(device.state[:NUMBERS], core.state[:NUMBERS], rtol=1e-7, atol=1e-13)
        golden.assert_close(device.state[NUMBERS:], core.state[NUMBERS:], 1e-9, floor=1e-12)
        golden.assert_close(device.strength, core.strength, 1e-9)
        golden.assert_close(device.loss, core.loss, 1e-9, floor=1e-13)
        np.testing.assert_allclose(device.dependence, core.dependence, rtol=1e-6)


def of(dtype=torch.float64, n=2_000, scale=1.0):
    score, target, mass, weight = batch(n, torch.float64 if dtype is torch.float64 else torch.float32)
    return score.to(dtype), target, mass, scale * weight


def at_the_ends(events):
    events[0][:60] = torch.logspace(-9, -4, 60)
    events[0][60:120] = 1 - events[0][:60]
    return events


# Keys need 64 bits for 40,000 times the squares of 252 numbers of bins, which tell three orders apart.
LAYERS = {
    "float32": ({}, of(torch.float32), 1e-5),
    "float16": ({}, of(torch.float16), 1e-2),
    "64 bits": ({"bins": 250}, of(n=40_000), 1e-9),
    "near the ends": ({}, at_the_ends(of()), 1e-9),
    "small weights": ({}, of(scale=1e-12), 1e-9),
    "large weights": ({}, of(scale=1e12), 1e-9),
}


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("with_reference", [False, True])
def test_the_layer_of_chosen_tensors(name, with_reference):
    arguments, events, tolerance = LAYERS[name]
    score, target, mass, weight = events
    more = {"reference": Events(score[::2], mass[::2], weight[::2], 0 * target[::2])} if with_reference else {}
    device, core = layers(**arguments)
    for _ in range(2):
        got, want = (stepped(layer, *events, **more) for layer in (device, core))
        assert got.dtype is score.dtype
        golden.assert_close(got, want, tolerance)
        golden.assert_close(device.strength, core.strength, tolerance)


def test_a_layer_goes_from_the_core_to_the_device_and_back():
    moving, core = layers()
    for step in range(6):
        moving.on_device = step % 3 == 1
        events = batch(dtype=torch.float64, seed=step)
        golden.assert_close(stepped(moving, *events), stepped(core, *events), 1e-9)
        np.testing.assert_allclose(moving.dependence, core.dependence, rtol=1e-6)
    assert list(moving.state_dict()) == list(core.state_dict())


# No PyTorch without CUDA can compute there, but a tensor that only has a shape and that device can be asked
# for all operations, and fails at any that needs a value on the host.
ON_CUDA = [
    {"order": 3, "score_range": (-1.0, 2.0)},
    {"order": 1, "mass_range": (0, 0.8), "bins": 5, "unbiased": False},
    {"edges": [0.0, 0.2, 0.5, 1.0], "order": 1, "reduction": "sum"},
]


@pytest.mark.parametrize("options", ON_CUDA, ids=str)
def test_nothing_is_read_on_the_host(options):
    with FakeTensorMode():
        score, mass, weight = (torch.rand(1000, device="cuda") for _ in range(3))
        label = torch.randint(0, 2, (1000,), device="cuda")
        with pytest.raises(DataDependentOutputException):
            bool((score > 0).all())
        events = Events(score, mass, weight, label)
        assert of_torch.is_on_device(None, encode("mode", **options), events)
        for skip in (True, False):
            loss, grad = of_torch.compute(score, mass, weight, label, None, encode("mode", **options), skip)
            assert loss.device.type == grad.device.type == "cuda"
            assert loss.shape == () and grad.shape == (1000,) and loss.dtype is grad.dtype is torch.float32
        for batch_of in (1000, 600):
            state = torch.rand(7 + 144, dtype=torch.float64, device="cuda")
            found = push(plan_of(check("mode", options), True, True), state, events, False, batch_of, None)
            assert found.push.device.type == "cuda" and found.push.shape == (batch_of,)
            kept = found.push, found.slope
            context = SimpleNamespace(saved_tensors=kept, given=(found.size, None, {}))
            added, *_ = Constrained.backward(context, score[:batch_of])
            assert added.shape == (batch_of,) and added.dtype is torch.float32


def test_an_assertion_is_short_enough_for_cuda(monkeypatch):
    """Longer messages are an error of PyTorch on a GPU, also in a good batch, and none on a CPU."""
    messages = []
    monkeypatch.setattr(torch, "_assert_async", lambda _, message: messages.append(message))
    with FakeTensorMode():
        score, mass = (torch.rand(1000, device="cuda") for _ in range(2))
        of_torch.compute(score, mass, None, None, None, encode("mode"), False)
        for choice in ("skip", "raise"):
            constraint = MoDeConstraint(on_bad_batch=choice, monitor=False)
            for _ in range(10):
                constraint(score.clone().requires_grad_(), torch.zeros_like(mass), mass)
    assert len(messages) == 1 + 1 + 10
    assert max(len(message.encode()) for message in messages) < 255


ELSEWHERE = {  # what the device has not: options, or events
    "max_slope": {"order": 1, "max_slope": 0.5},
    "order": {"order": 4},
    "binning": {"binning": "uniform"},
    "several background labels": {"background_label": (0, 1)},
    "category": lambda events: events._replace(category=events.mass.long()),
    "several variables": lambda events: events._replace(mass=torch.stack([events.mass] * 2, 1)),
}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_the_device_has_not_goes_to_the_core_and_is_refused_where_the_device_is_asked_for(name):
    change = ELSEWHERE[name]
    options, change = ({}, change) if callable(change) else (change, lambda events: events)
    with FakeTensorMode():
        events = Events(torch.rand(1000, device="cuda"), torch.rand(1000, device="cuda"))
        assert of_torch.is_on_device(None, encode("mode"), events)
        assert not of_torch.is_on_device(False, encode("mode"), events)
        assert not of_torch.is_on_device(None, encode("mode", **options), change(events))
    given = change(Events(torch.rand(9), torch.rand(9)))._asdict()
    assert not of_torch.is_on_device(None, encode("mode"), Events(**given))
    with pytest.raises(ValueError, match=f"{name}.*: on_device = True has no such form"):
        mode_loss(on_device=True, **given, **options)
    if options:
        for make in (MoDeLoss, MoDeConstraint):
            with pytest.raises(ValueError, match=f"{name}.*: on_device = True has no such form"):
                make(on_device=True, **options)


FORMS = {  # arguments of the module and of its call
    "pooled": ({"background_only": False}, {}),
    "classes": ({"per_class": True}, {}),
    "transform": ({"score_transform": "signal_efficiency"}, {}),
    "reference": ({}, {"reference": Events(torch.linspace(0.01, 0.99, 40), torch.linspace(0, 1, 40))}),
    "compiled": ({"order": 1}, {}),
}  # of half precision: test_half_precision.py


@pytest.mark.parametrize("name", FORMS)
def test_the_module(name):
    torch.manual_seed(4)
    arguments, more = FORMS[name]
    pred, target, mass = torch.rand((200, 3) if name == "classes" else 200), torch.arange(200) % 2, torch.rand(200)
    results = []
    for chosen in (False, True):
        leaf, mode = pred.clone().requires_grad_(), MoDeLoss(on_device=chosen, **arguments)
        if chosen and name == "compiled":
            mode = torch.compile(mode, fullgraph=True, backend="aot_eager")
        loss = mode(leaf, target, mass, **more)
        (100 * loss).backward()
        results.append((loss.detach(), leaf.grad))
    torch.testing.assert_close(*results)


def test_a_bad_batch_on_the_cpu_is_skipped_as_usual():
    score, mass = torch.rand(4, requires_grad=True), torch.ones(4)
    mode = MoDeLoss(on_bad_batch="skip", on_device=True)
    with pytest.warns(RuntimeWarning, match="gives a batch the loss 0"):
        loss = mode(score, torch.zeros(4), mass)
    loss.backward()
    assert loss == 0 and (score.grad == 0).all() and mode.skipped == 1
    with pytest.raises(libmode.BatchError, match="mass is empty"):
        mode_loss(torch.zeros(0), torch.zeros(0), on_device=True)
    constraint = MoDeConstraint(on_device=True, monitor=False)
    with pytest.warns(RuntimeWarning, match="gives a batch no gradient of MoDe"):
        constraint(score, torch.zeros(4), mass)
    assert constraint.skipped == 1
    with pytest.raises(ValueError, match=r"score\[1\] = NaN.*training step 0"):
        constraint(torch.tensor([0.5, torch.nan, 0.1], requires_grad=True), torch.zeros(3), torch.rand(3))


def test_a_batch_without_a_loss_changes_no_state_and_pushes_nothing():
    score, target, mass, weight = batch(dtype=torch.float64)
    plan = plan_of(check("mode", {"order": 1}), True, True)
    state = torch.rand(7 + 144, dtype=torch.float64)
    before = state.clone()
    for label, weights in ((target + 5, weight), (target, -weight), (target, weight * (torch.arange(2000) < 3))):
        found = push(plan, state, Events(score, mass, weights, label), False, 2000, None)
        assert not found.good and found.size == 0 and found.push.isfinite().all()
        assert torch.equal(state, before)


def test_what_else_is_refused():
    with pytest.raises(ValueError, match="tolerance = 1000.0: on_device = True has no such form"):
        MoDeConstraint(on_device=True, tolerance=1000)
    with pytest.raises(ValueError, match="tensors on cpu and meta: on_device = True has no such form"):
        mode_loss(torch.rand(9), torch.rand(9, device="meta"), on_device=True)
    assert "on_device=True" in repr(MoDeLoss(order=1, on_device=True))
    assert "on_device=False" in repr(MoDeConstraint(on_device=False))
