"""The loss by the kernels of the device, in Triton's interpreter: that of the core, in few calls."""

import sys
from pathlib import Path

import golden
import interpreted
import libmode
import numpy as np
import pytest
import torch
from libmode._device import calls
from libmode._device.plan import make_plan, refused
from libmode._options import TAKEN, check
from libmode.torch import Events, MoDeLoss, mode_loss
from libmode.torch import _device as of_torch
from programs import run
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode


@pytest.fixture(autouse=True, scope="module")
def one_thread(interpreter):
    """Small operations are not worth a second one."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def blocks(monkeypatch):
    """Sets how many events a program has at a time, and how many programs there are at most."""

    def set_to(block, programs):
        monkeypatch.setattr(calls, "BLOCK", block)
        monkeypatch.setattr(calls, "PROGRAMS", programs)

    return set_to


def on_device(events, options):
    """A loss and its gradient as numbers."""
    given = {name: None if array is None else torch.as_tensor(array) for name, array in events.items()}
    score = given.pop("score").clone().requires_grad_()
    loss = mode_loss(score, on_device=True, **given, **({"order": 0} | options))
    loss.backward()
    return loss.item(), score.grad.numpy()


def computed(events, options):
    """Loss and gradient of the kernels, which the core does not replace, and whether there is a loss."""
    tensors = {name: None if array is None else torch.as_tensor(array) for name, array in events.items()}
    options = {"order": 0} | options
    plan = make_plan(check("mode", options).rounded_to(torch.float64, torch.float64))
    loss, grad, good = calls.loss_and_grad(plan, Events(**tensors), torch.float64)
    return loss.item(), grad.numpy(), good.item()


def drawn(seed):
    """Events and options that the device has, with ties, merged bins, negative weights, bins of too little and NaN."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([20, 60, 100, 200, 1000], p=[0.3, 0.3, 0.3, 0.08, 0.02]))
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


@pytest.mark.parametrize("unit", [1e-300, 1e-9, 1e300])
def test_masses_and_weights_of_any_size(unit):
    rng = np.random.default_rng(1)
    events = {"score": rng.random(200), "mass": unit * rng.random(200), "weight": unit * rng.random(200), "label": None}
    loss, _, good = computed(events, {"order": 1})
    golden.assert_close(loss, libmode.mode_loss(**events, order=1), 1e-9)
    assert good


def test_large_integers_keep_their_digits():
    rng = np.random.default_rng(1)
    score, mass = rng.random(200).astype("f"), 1_700_000_000 + np.arange(200)
    for dtype in ("i4", "i8"):
        events = {"score": score, "mass": mass.astype(dtype)}
        want = libmode.mode_loss(**events, order=1, bins=8)
        assert on_device(events, {"order": 1, "bins": 8})[0] == pytest.approx(want, rel=1e-6)


@pytest.mark.parametrize("part", [0, *(pytest.param(k, marks=pytest.mark.full) for k in range(1, 8))])
def test_random_calls_are_those_of_the_core(part, blocks):
    good = bad = 0
    for seed in range(100 * part, 100 * (part + 1)):
        events, options = drawn(seed)
        # Most calls in large blocks, which take the interpreter less time; some in many blocks of several programs.
        blocks(*[(256, 256), (256, 256), (64, 2), (32, 256)][seed % 4 if len(events["score"]) <= 100 else 0])
        try:
            loss, grad = libmode.mode_loss_and_grad(**events, **options)
        except ValueError as error:
            with pytest.raises(type(error)) as raised:
                on_device(events, options)
            assert str(raised.value) == str(error), seed
            if seed % 5 == 0 and options.get("bins", 9) > options["order"]:
                loss, grad, there = computed(events, options)
                assert (loss, there) == (0, False) and (grad == 0).all()
            bad += 1
            continue
        found, gradient, there = computed(events, options)
        assert there, seed
        # Where the bins are fitted exactly all is rounding; the loss is a sum of terms of both signs.
        golden.assert_close(gradient, grad, 1e-9, floor=1e-14)
        golden.assert_close(found, loss, 1e-9, floor=1e-12 + 1e-8 * np.abs(grad).max())
        good += 1
    assert good > 40 and bad > 12


def test_long_ties_and_many_blocks(blocks):
    """Ties that go on over blocks and programs, of float32 scores and of few masses."""
    blocks(32, 3)
    rng = np.random.default_rng(3)
    score, mass = rng.choice([0.25, 0.5, 0.75], 400, p=[0.1, 0.8, 0.1]).astype(np.float32), rng.integers(0, 9, 400)
    events = {"score": score, "mass": mass.astype(np.float32), "weight": None, "label": rng.integers(0, 2, 400)}
    loss, grad = libmode.mode_loss_and_grad(**events, order=1)
    found, gradient = on_device(events, {"order": 1})
    golden.assert_close(gradient, grad, 1e-6)
    golden.assert_close(found, loss, 1e-6)
    twice = [on_device(events, {"order": 1})[1] for _ in range(2)]
    assert np.array_equal(*twice)


def batch(n=2_000, dtype=torch.float32, seed=1):
    torch.manual_seed(seed)
    score, mass, weight = torch.rand(3, n, dtype=dtype).unbind()
    return score, torch.randint(0, 2, (n,)).to(dtype), 50 - 60 * torch.log(mass), -torch.log(weight)


class Calls(TorchDispatchMode):
    """Lists the launches of kernels, and the operations of ATen that are no views and take more than memory."""

    def __init__(self, monkeypatch):
        super().__init__()
        self.names, self.inside, run = [], False, calls.run

        def listed(kernel, *arguments):
            self.names.append(kernel.fn.__name__)
            self.inside = True  # where the interpreter copies
            run(kernel, *arguments)
            self.inside = False

        monkeypatch.setattr(calls, "run", listed)

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if not (function.is_view or self.inside or "empty" in str(function)):
            self.names.append(str(function))
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("n, most", [(2_000, 10), (9_000, 14)])
def test_a_batch_is_few_calls(n, most, blocks, monkeypatch):
    """Forward and backward. On a GPU an assertion stands for the look at the host."""
    blocks(1024, 256)
    score, *others = batch(n)
    score.requires_grad_()
    mode = MoDeLoss(order=1, on_device=True)
    incoming = torch.ones_like(mode(score, *others))  # a first call, whose constants are kept
    with Calls(monkeypatch) as of:
        mode(score, *others).backward(incoming)
    assert len(of.names) <= most, "\n".join(of.names)
    assert of.names.count("aten._local_scalar_dense.default") == 1, of.names


def test_nothing_is_read_on_the_host(monkeypatch):
    score, label, mass, weight = batch(300)
    plan = make_plan(check("mode", {"order": 1}))
    with Calls(monkeypatch) as of:
        calls.loss_and_grad(plan, Events(score, label, mass, weight), torch.float32)
    assert set(of.names) == {"select", "aten.sort.stable", "add", "count", "fit", "walk", "finish"}


@pytest.mark.full
def test_the_kernels_compile_for_gpus_that_are_not_here(tmp_path):
    """Down to the machine code of sm_80 and sm_90."""
    program = Path(interpreted.__file__).with_name("compiled.py")
    printed = run(sys.executable, program, TRITON_CACHE_DIR=str(tmp_path))
    for name in ("select", "add", "count", "fit", "walk", "finish"):
        for target in ("sm_80", "sm_90"):
            assert f"{name} {target}" in printed


def test_an_assertion_is_short_enough_for_cuda():
    """Longer messages are an error of PyTorch on a GPU, also in a good batch, and none on a CPU."""
    assert len(of_torch.NO_LOSS.encode()) < 255


ELSEWHERE = {  # what the device has not beside the options below: values of options, or events
    "max_slope": {"order": 1, "max_slope": 0.5},
    "order": {"order": 4},
    "bins": {"bins": 65},
    "edges": {"edges": np.linspace(0, 1, 67)},
    "category": lambda events: events._replace(category=events.mass.long()),
    "several variables": lambda events: events._replace(mass=torch.stack([events.mass] * 2, 1)),
}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_the_device_has_not_is_refused(name):
    change = ELSEWHERE[name]
    options, change = ({}, change) if callable(change) else (change, lambda events: events)
    options = {"order": 0} | options
    given = change(Events(torch.rand(9), mass=torch.rand(9)))._asdict()
    with pytest.raises(ValueError, match=f"{name}.*: on_device = True has no such form"):
        mode_loss(on_device=True, **given, **options)
    if len(options) > 1 or options["order"]:
        with pytest.raises(ValueError, match=f"{name}.*: on_device = True has no such form"):
            MoDeLoss(on_device=True, **options)


NOT_BY_DEFAULT = {  # of every option
    "order": 2, "bins": 64, "binning": "uniform", "edges": np.linspace(0, 1, 65), "mass_range": (0.2, 0.7),
    "joint": True, "missing": "ignore", "max_slope": 0.5, "slope_of": "selected", "monotonic": True,
    "moments": "quadrature", "unbiased": False, "slope_penalty": 1.0, "score_range": (-1.0, 2.0), "reduction": "sum",
    "background_label": 1,
}  # fmt: skip


@pytest.mark.parametrize("name", TAKEN["mode"])
def test_each_option_is_computed_or_refused(name):
    rng = np.random.default_rng(5)
    options = {"order": 2 if name == "monotonic" else 1, name: NOT_BY_DEFAULT[name]}
    events = {"score": rng.random(900), "mass": rng.random(900), "weight": None, "label": rng.integers(0, 2, 900)}
    if refused(check("mode", options)):
        with pytest.raises(ValueError, match=f"{name} = .*: on_device = True has no such form"):
            on_device(events, options)
    else:
        loss, grad = libmode.mode_loss_and_grad(**events, **options)
        found, gradient, there = computed(events, options)
        assert there
        golden.assert_close(found, loss, 1e-9)
        golden.assert_close(gradient, grad, 1e-9)


def test_the_core_computes_by_default_and_without_triton(monkeypatch):
    monkeypatch.setattr(calls, "run", None)  # which a launch calls
    score, _, mass, _ = batch(200)
    want = mode_loss(score, mass, order=1)
    with pytest.raises(TypeError):
        mode_loss(score, mass, order=1, on_device=True)
    monkeypatch.setattr(of_torch, "find_spec", lambda name: None)
    assert mode_loss(score, mass, order=1, on_device=True) == want
    with FakeTensorMode():
        events = Events(torch.rand(1000, device="cuda"), mass=torch.rand(1000, device="cuda"))
        assert not of_torch.is_on_device(check("mode", {"order": 0}), events)


FORMS = {  # arguments of the module and of its call
    "pooled": ({"background_only": False}, {}),
    "reference": ({}, {"reference": Events(torch.linspace(0.01, 0.99, 40), mass=torch.linspace(0, 1, 40))}),
    "compiled": ({"order": 1}, {}),
}


@pytest.mark.parametrize("name", FORMS)
def test_the_module(name):
    torch.manual_seed(4)
    arguments, more = FORMS[name]
    score, label, mass = torch.rand(200), torch.arange(200) % 2, torch.rand(200)
    results = []
    for chosen in (False, True):
        leaf, mode = score.clone().requires_grad_(), MoDeLoss(on_device=chosen, **({"order": 0} | arguments))
        if chosen and name == "compiled":
            mode = torch.compile(mode, fullgraph=True, backend="aot_eager")
        loss = mode(leaf, label, mass, **more)
        (100 * loss).backward()
        results.append((loss.detach(), leaf.grad))
    torch.testing.assert_close(*results)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_the_gradient_of_half_precision_is_that_of_float32_rounded_once(dtype):
    mode, (score, *others) = MoDeLoss(order=1, on_device=True), batch(300)
    grads = []
    for given in (score.to(dtype), score.to(dtype).float()):
        leaf = given.clone().requires_grad_()
        (65536 * mode(leaf, *others)).backward()
        grads.append(leaf.grad)
    assert grads[0].dtype is dtype and torch.equal(grads[0], grads[1].to(dtype))
