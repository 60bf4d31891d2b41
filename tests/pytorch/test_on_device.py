"""The loss by PyTorch's operations: those of the core, in few operations, none of which reads a value on the host."""

import golden
import libmode
import numpy as np
import pytest
import torch
from libmode._device import sums
from libmode._device.plan import plan_of
from libmode._options import check
from libmode.torch import Events, MoDeConstraint, MoDeLoss, mode_loss
from libmode.torch import _device as of_torch
from libmode.torch._op import encode
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
    loss = mode_loss(score, on_device=True, **given, **({"order": 0} | options))
    loss.backward()
    return loss.item(), score.grad.numpy()


class NotLookedAt(torch.Tensor):
    """A tensor that stands for one on a GPU: nobody looks whether there is a loss, so that the core is not called."""


def computed(events, options, skip):
    """Loss and gradient of the device, also where it has none."""
    score, *others = (
        None if events[name] is None else torch.as_tensor(events[name]) for name in ("score", "label", "mass", "weight")
    )
    loss, grad = of_torch.compute(
        score.as_subclass(NotLookedAt), *others, None, encode("mode", **({"order": 0} | options)), skip
    )
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
        (np.abs(mass - np.median(mass)) > rng.choice([10, 40])).astype(float),  # a bin may have only 0
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


FEW_BINS = {
    "edges": {"order": 2, "edges": [50.0, 100.0, 300.0]},
    "one": {"order": 1, "bins": 1},
    "bins": {"order": 2, "bins": 2},
    "order 3": {"order": 3, "edges": [50.0, 100.0, 200.0, 300.0], "unbiased": False},
}


@pytest.mark.parametrize("name", FEW_BINS)
@pytest.mark.parametrize("form", ["function", "skip", "compiled"])
def test_fewer_bins_than_coefficients_are_the_error_of_the_core(name, form):
    options, score = FEW_BINS[name], torch.linspace(0.1, 0.9, 200, requires_grad=True)
    mass, target = torch.linspace(50, 300, 200), torch.zeros(200)
    with pytest.raises(ValueError, match="fits [234] coefficients, but there are only [123] bins"):
        if form == "function":
            mode_loss(score, mass, on_device=True, **({"order": 0} | options))
        else:
            mode = MoDeLoss(
                on_device=True, **({"order": 0} | options), on_bad_batch="skip" if form == "skip" else "raise"
            )
            if form == "compiled":
                mode = torch.compile(mode, fullgraph=True, backend="aot_eager")
            mode(score, target, mass)


@pytest.mark.parametrize("order, options", [(0, {"bins": 1}), (0, {"edges": [50.0, 300.0]}), (1, {"bins": 2})])
def test_a_response_that_any_fit_describes_has_no_loss(order, options):
    score, mass = torch.rand(200, dtype=torch.float64), torch.linspace(50, 300, 200)
    assert abs(mode_loss(score, mass, order=order, on_device=True, **options)) < 1e-15


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("which", [0, 1, 2])
def test_a_given_bin_whose_weights_are_all_zero_is_a_bad_batch(which, many, like_many):
    """Bins of equal masses, since a bin of the quantiles of all masses has other events too."""
    if many:
        like_many()
    rng = np.random.default_rng(1)
    mass, score = np.repeat([60.0, 80.0, 100.0], [50, 50, 100]), rng.random(200)
    label = np.ones(200)  # and of a signal that lies where it likes, and has weights
    label[rng.permutation(200) < 150] = 0
    weight = np.where((mass == [60, 80, 100][which]) & (label == 0), 0.0, 1.0)
    events, options = {"score": score, "mass": mass, "weight": weight, "label": label}, {"order": 1, "bins": 3}
    with pytest.raises(libmode.BatchError, match=f"bin {which} of 3.* has sum of weights 0"):
        on_device(events, options)
    with pytest.raises(RuntimeError, match="on the device there is no loss"):
        computed(events, options, False)
    weight[(mass == [60, 80, 100][which]) & (label == 0)] = 1e-30  # of which any is enough
    golden.assert_close(
        computed(events, options, False)[0], libmode.mode_loss(**events, **({"order": 0} | options)), 1e-9
    )


def test_masses_whose_squares_are_zero_are_no_loss_on_the_device():
    rng = np.random.default_rng(1)
    events = {"score": rng.random(200), "mass": 1e-300 * rng.random(200), "weight": None, "label": None}
    golden.assert_close(on_device(events, {"order": 1})[0], libmode.mode_loss(**events, order=1), 1e-9)
    with pytest.raises(RuntimeError, match="on the device there is no loss"):
        computed(events, {"order": 1}, False)


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
            loss, grad = libmode.mode_loss_and_grad(**events, **({"order": 0} | options))
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
    events = Events(score, target, mass, weight if weighted else None)
    of_torch.loss_and_grad(plan, events)  # its constants are kept
    with Operations() as of:  # without the look at the values that a CPU takes
        found = of_torch.loss_and_grad(plan, events)
        torch._assert_async(found.good.all() & torch.eq(found.loss, found.loss))
        found.grad.to(score.dtype) * found.loss.to(score.dtype)
    assert len(of.names) <= 73, of.names


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
        events = Events(score, label, mass, weight)
        assert of_torch.is_on_device(None, encode("mode", **({"order": 0} | options)), events)
        for skip in (True, False):
            loss, grad = of_torch.compute(
                score, label, mass, weight, None, encode("mode", **({"order": 0} | options)), skip
            )
            assert loss.device.type == grad.device.type == "cuda"
            assert loss.shape == () and grad.shape == (1000,) and loss.dtype is grad.dtype is torch.float32


def test_an_assertion_is_short_enough_for_cuda(monkeypatch):
    """Longer messages are an error of PyTorch on a GPU, also in a good batch, and none on a CPU."""
    messages = []
    monkeypatch.setattr(torch, "_assert_async", lambda _, message: messages.append(message))
    with FakeTensorMode():
        score, mass = (torch.rand(1000, device="cuda") for _ in range(2))
        of_torch.compute(score, None, mass, None, None, encode("mode", order=0), False)
    assert len(messages) == 1 and len(messages[0].encode()) < 255


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
        events = Events(torch.rand(1000, device="cuda"), None, torch.rand(1000, device="cuda"))
        assert of_torch.is_on_device(None, encode("mode", order=0), events)
        assert not of_torch.is_on_device(False, encode("mode", order=0), events)
        assert not of_torch.is_on_device(None, encode("mode", **({"order": 0} | options)), change(events))
    given = change(Events(torch.rand(9), None, torch.rand(9)))._asdict()
    assert not of_torch.is_on_device(None, encode("mode", order=0), Events(**given))
    with pytest.raises(ValueError, match=f"{name}.*: on_device = True has no such form"):
        mode_loss(on_device=True, **given, **({"order": 0} | options))
    if options:
        with pytest.raises(ValueError, match=f"{name}.*: on_device = True has no such form"):
            MoDeLoss(on_device=True, **({"order": 0} | options))


FORMS = {  # arguments of the module and of its call
    "pooled": ({"background_only": False}, {}),
    "classes": ({"per_class": True}, {}),
    "transform": ({"score_transform": "signal_efficiency"}, {}),
    "reference": ({}, {"reference": Events(torch.linspace(0.01, 0.99, 40), mass=torch.linspace(0, 1, 40))}),
    "compiled": ({"order": 1}, {}),
}  # of half precision: test_half_precision.py


@pytest.mark.parametrize("name", FORMS)
def test_the_module(name):
    torch.manual_seed(4)
    arguments, more = FORMS[name]
    pred, target, mass = torch.rand((200, 3) if name == "classes" else 200), torch.arange(200) % 2, torch.rand(200)
    results = []
    for chosen in (False, True):
        leaf, mode = pred.clone().requires_grad_(), MoDeLoss(on_device=chosen, **({"order": 0} | arguments))
        if chosen and name == "compiled":
            mode = torch.compile(mode, fullgraph=True, backend="aot_eager")
        loss = mode(leaf, target, mass, **more)
        (100 * loss).backward()
        results.append((loss.detach(), leaf.grad))
    torch.testing.assert_close(*results)


def test_a_bad_batch_on_the_cpu_is_skipped_as_usual():
    score, mass = torch.rand(4, requires_grad=True), torch.ones(4)
    mode = MoDeLoss(on_bad_batch="skip", on_device=True, order=0)
    with pytest.warns(RuntimeWarning, match="gives a batch the loss 0"):
        loss = mode(score, torch.zeros(4), mass)
    loss.backward()
    assert loss == 0 and (score.grad == 0).all() and mode.skipped == 1
    with pytest.raises(libmode.BatchError, match="mass is empty"):
        mode_loss(torch.zeros(0), torch.zeros(0), on_device=True, order=0)


def test_what_else_is_refused():
    with pytest.raises(ValueError, match="tensors on cpu and meta: on_device = True has no such form"):
        mode_loss(torch.rand(9), torch.rand(9, device="meta"), on_device=True, order=0)
    assert "on_device=True" in repr(MoDeLoss(order=1, on_device=True))


def test_a_constraint_has_no_form_on_the_device():
    with pytest.raises(ValueError, match="on_device = True: MoDeConstraint has no form on the device in this version"):
        MoDeConstraint(on_device=True, order=1)
    score, target, mass, weight = batch()
    grads = []
    for arguments in ({}, {"on_device": None}, {"on_device": False}):
        leaf = score.clone().requires_grad_()
        constrained = MoDeConstraint(order=1, **arguments)(leaf, target, mass, weight)
        torch.nn.functional.binary_cross_entropy(constrained, target).backward()
        grads.append(leaf.grad)
    assert torch.equal(grads[0], grads[1]) and torch.equal(grads[0], grads[2])
