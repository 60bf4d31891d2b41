"""libmode.weaver, by weaver's own command on the jets of examples/weaver."""

import shutil
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest
import torch
from libmode import metrics
from libmode import weaver as hooks
from libmode._of_classes import MoDeOfClasses
from libmode.torch import MoDeConstraint
from programs import run

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "weaver"
CLASSES = ["label_X", "label_QCD_bb", "label_QCD_cc", "label_QCD_b", "label_QCD_others"]
SHORT = ["--num-epochs", "1", "--steps-per-epoch", "12", "--steps-per-epoch-val", "4", "--batch-size", "1000"]
ORDER_0 = {"order": 0, "signal_class": "label_X"}
LAYER = "{'order': 0, 'signal_class': 'label_X'}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Jets, and the example's files. The network's file seeds what weaver draws."""
    made = tmp_path_factory.mktemp("weaver")
    run(sys.executable, EXAMPLE / "toy.py", made, 60_000)
    shutil.copy(EXAMPLE / "data.yaml", made)
    seeds = "import numpy\nimport torch\nnumpy.random.seed(1)\ntorch.manual_seed(1)\n"
    (made / "network.py").write_text(seeds + (EXAMPLE / "network.py").read_text())
    return made


def weaver(folder, mode, *arguments, network="network.py", data="data.yaml"):
    """weaver's command, with the log in one file of text."""
    command = [Path(sys.executable).with_name("weaver"), "--data-train", "train.parquet", "--data-val", "valid.parquet"]
    command += ["--data-config", data, "--network-config", network, "--gpus=", "--num-workers", "0", "--in-memory"]
    command += ["--fetch-step", "1", "--optimizer", "Adam", "--start-lr", "0.005", "--lr-scheduler", "flat+cos"]
    command += [] if mode is None else ["--network-option", "mode", mode]
    done = subprocess.run([*map(str, command), *arguments], cwd=folder, capture_output=True, text=True, timeout=1200)
    return done.returncode, done.stdout + done.stderr


def trained(*arguments, **named):
    status, log = weaver(*arguments, **named)
    assert status == 0, log
    return log


def scores(path):
    import awkward as ak

    file = ak.from_parquet(path)
    return tuple(ak.to_numpy(file[name]) for name in ("scores", "_label_", "jet_mass"))


def judged(path, order=0):
    score, label, mass = scores(path)
    odds = np.log(score[:, 0]) - np.log(score[:, 1:].sum(axis=1))
    return metrics.check(odds, label, mass, order=order, background_label=(1, 2, 3, 4), training_events=36_000)


@pytest.fixture(scope="module")
def log(folder):
    """Of a training with the layer, in two parts, each of two epochs."""
    more = ["--steps-per-epoch", "200", "--steps-per-epoch-val", "15", "--batch-size", "2000"]
    more += ["--model-prefix", "on/network"]
    first = trained(folder, LAYER, *more, "--num-epochs", "2")
    test = ["--data-test", "test.parquet", "--predict-output", "scores.parquet"]
    return first, trained(folder, LAYER, *more, *test, "--num-epochs", "4", "--load-epoch", "1", "--auto-clean")


@pytest.mark.full
def test_the_response_is_flat_with_mode(folder, log):
    mode = LAYER[:-1] + ", 'method': 'none'}"
    more = ["--data-test", "test.parquet", "--predict-output", "scores.parquet", "--model-prefix", "off/network"]
    without = trained(folder, mode, *SHORT, "--steps-per-epoch", "150", *more)
    assert "MoDe is off, label_X against label_QCD_bb + label_QCD_cc" in without and "validation not flat" in without
    sculpted, flat = (judged(folder / name / "predict_output" / "scores.parquet") for name in ("off", "on"))
    assert sculpted.flat is False and sculpted.cuts[0].residual > 4 * sculpted.cuts[0].expected
    assert flat.flat is not False and flat.cuts[0].residual < 1.6 * flat.cuts[0].expected, str(flat)
    assert flat.cuts[0].background_efficiency < 0.15  # and it still separates


@pytest.mark.full
def test_the_state_of_the_layer_goes_on(folder, log):
    assert "MoDe goes on from on/network_mode_epoch-1.pt" in log[1] and "goes on from" not in log[0]
    files = sorted(path.name for path in (folder / "on").glob("network_mode*"))
    assert files == ["network_mode_epoch-2.pt", "network_mode_epoch-3.pt"]  # --auto-clean
    classes = MoDeOfClasses(CLASSES, order=0, signal_class="label_X")
    classes.load_state_dict(torch.load(folder / "on" / "network_mode_epoch-3.pt"))
    assert classes.mode.state[1] == 800
    for kind in ("state", "optimizer"):
        shutil.copy(folder / "on" / f"network_epoch-3_{kind}.pt", folder / f"alone_epoch-3_{kind}.pt")
    begun = trained(folder, LAYER, *SHORT, "--num-epochs", "5", "--load-epoch", "3", "--model-prefix", "alone")
    assert "MoDe begins a new push, since there is no file alone_mode_epoch-3.pt" in begun


def test_a_short_training_keeps_the_state_of_the_layer(folder):
    assert "MoDe is on (layer, order=0), label_X against" in trained(folder, LAYER, *SHORT, "--model-prefix", "few")
    assert torch.load(folder / "few_mode_epoch-0.pt")["mode.state"][1] == 12


@pytest.mark.full
def test_the_exported_network_has_no_mass(folder, log):
    import onnxruntime

    network = folder / "on" / "network_best_epoch_state.pt"
    trained(folder, None, "--model-prefix", str(network), "--export-onnx", str(folder / "network.onnx"))
    session = onnxruntime.InferenceSession(folder / "network.onnx")
    assert [one.name for one in session.get_inputs()] == ["jet_features"]
    score, *_ = scores(folder / "on" / "predict_output" / "scores.parquet")
    test = ["--predict", "--data-test", "test.parquet", "--predict-output", str(folder / "again.parquet")]
    trained(folder, None, *test, "--model-prefix", str(network))
    assert np.array_equal(scores(folder / "again.parquet")[0], score)  # a test needs no option mode


@pytest.mark.parametrize(
    "removed, message",
    [
        ("get_train_fn", "weaver trains without MoDe, the network's file lacks a hook: from libmode.weaver import"),
        ("get_evaluate_fn", "the network's file has no get_evaluate_fn, and weaver would train without MoDe"),
    ],
)
def test_a_file_without_a_hook_is_an_error(folder, removed, message):
    name = f"without_{removed}.py"
    (folder / name).write_text((folder / "network.py").read_text().replace(removed, "get_loss", 1))
    status, log = weaver(folder, LAYER, *SHORT, "--model-prefix", "half/network", network=name)
    assert status and f"RuntimeError: {message}" in log


def config(**changed):
    """What weaver's data config has, as far as hooks read it."""
    usual = {"label_type": "simple", "label_value": CLASSES, "preprocess_params": {}}
    usual |= {"monitor_variables": ("jet_mass",)}
    return types.SimpleNamespace(**usual | changed)


@pytest.mark.parametrize(
    "mode, changed, error, message",
    [
        (None, {}, ValueError, "the network's option mode is None: expected a dict, such as --network-option mode"),
        ({"order": 0, "signal_class": "X"}, {}, ValueError, r"signal_class = 'X': expected one of the classes \['label_X'"),
        ({"order": 0, "background_classes": ["label_QCD_b"]}, {}, ValueError, r"signal_class is missing: .* leave one of \['label_X', "),
        ({"order": 0, "signal_class": "label_X", "method": "leyer"}, {}, ValueError, "method = 'leyer': expected one of layer"),
        (ORDER_0, {"monitor_variables": ("a", "b")}, ValueError, r"mass = None: expected one of .*\['a', 'b'\]"),
        (ORDER_0 | {"weight": "w"}, {}, ValueError, r"mode: weight = 'w': expected one of monitor_variables, \['jet_mass'\]"),
        (ORDER_0, {"preprocess_params": {"jet_mass": {"center": 1.0}}}, ValueError, "mass = 'jet_mass' is a scaled input"),
        (ORDER_0, {"label_type": "complex"}, ValueError, "labels are of type 'complex', and MoDe needs classes"),
    ],
)  # fmt: skip
def test_a_bad_setting_is_an_error_that_names_it(mode, changed, error, message):
    loader = types.SimpleNamespace(dataset=types.SimpleNamespace(config=config(**changed)))
    args = types.SimpleNamespace(model_prefix="network", load_epoch=None, local_rank=None, auto_clean=False)
    train = hooks.get_train_fn(None, mode=mode)
    with pytest.raises(error, match=message):
        train(None, None, None, None, loader, None, 0, extra_args={"args": args})


def drawn(count=4_000, seed=1):
    rng = np.random.default_rng(seed)
    label = torch.tensor(rng.integers(0, 4, count))
    mass = torch.tensor(50 + rng.exponential(60, count))
    logits = torch.tensor(rng.normal(size=(count, 4)) + 0.01 * mass.numpy()[:, None] * [1, 0, 0, 0], requires_grad=True)
    return logits, label, mass


def test_one_background_class_gets_the_push_of_the_layer_for_a_softmax():
    gradients = []
    for make in (
        lambda logits, label, mass: MoDeOfClasses("ABCD", order=1, signal_class="A", background_classes=["C"])(
            logits, label, mass
        )[0],
        MoDeConstraint(order=1, from_logits=True, signal=0, background_label=2),
    ):
        logits, label, mass = drawn()
        both = (label == 0) | (label == 2)
        logits, label, mass = logits.detach()[both].requires_grad_(), label[both], mass[both]
        out = make(logits, label, mass)
        assert torch.equal(out, logits)
        torch.nn.functional.cross_entropy(out, label).backward()
        gradients.append(logits.grad)
    assert torch.allclose(*gradients, rtol=1e-6, atol=1e-12) and gradients[0].abs().max() > 0


def test_classes_that_take_no_part_get_no_push():
    classes = MoDeOfClasses("ABCD", order=0, signal_class="A", background_classes=["B", "C"])
    (logits, label, mass), (same, *_) = drawn(), drawn()
    label[:10] = -1  # labels that a loss ignores
    for out in (classes(logits, label, mass)[0], same):
        torch.nn.functional.cross_entropy(out, label, ignore_index=-1).backward()
    pushed = (logits.grad - same.grad).abs().sum(1) > 0
    assert pushed[(label == 1) | (label == 2)].float().mean() > 0.99 and not pushed[(label == 3) | (label == -1)].any()
