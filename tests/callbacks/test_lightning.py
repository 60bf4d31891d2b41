"""libmode.torch.lightning: what its callback logs is what the layers have, and the metrics of all events."""

import math
import subprocess
import sys

import lightning.pytorch as lightning
import numpy as np
import pytest
import pytorch_lightning
import torch
from libmode import TrainingWarning, metrics
from libmode.torch import MoDeConstraint, MoDeMetrics
from libmode.torch.lightning import MoDeCallback
from torch.nn.functional import binary_cross_entropy
from torch.optim.swa_utils import get_ema_avg_fn
from torch.utils.data import DataLoader, TensorDataset

# What Lightning and PyTorch do between themselves.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.isinstance.treespec, LeafSpec.. is deprecated"),
    pytest.mark.filterwarnings("ignore:The '.*_dataloader' does not have many workers"),
]
N, BATCH = 4000, 500


def events():
    """Features, label and mass, (n, 2), (n,) and (n,)."""
    rng = np.random.default_rng(0)
    label, mass = rng.integers(0, 2, N), rng.random(N)
    features = np.stack([rng.normal(label), rng.normal(label + np.exp(-0.5 * ((mass - 0.5) / 0.1) ** 2))], axis=1)
    return [torch.tensor(array, dtype=torch.float32) for array in (features, label, mass)]


class Classifier:
    """What the LightningModules of both packages have; it keeps its scores of each validation."""

    def __init__(self, layers=1, returned=lambda found: found):
        super().__init__()
        torch.manual_seed(1)
        self.network = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Sigmoid())
        self.constraints = torch.nn.ModuleList([MoDeConstraint(order=0, tolerance=10) for _ in range(layers)])
        self.scores, self.returned = {}, returned

    def training_step(self, batch, number):
        x, target, mass = batch
        score = self.network(x)[:, 0]
        for constraint in self.constraints:
            score = constraint(score, target, mass)
        return binary_cross_entropy(score, target)

    def validation_step(self, batch, number):
        x, target, mass = batch
        score = self.network(x)[:, 0]
        if not self.trainer.sanity_checking:
            self.scores.setdefault(self.current_epoch, []).append(score)
        return self.returned({"loss": score.mean(), "score": score, "label": target, "mass": mass})

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.1)


def fit(directory, *callbacks, package=lightning, epochs=3, **arguments):
    """A model that was trained with 8 batches an epoch and logs every 3 steps, and what callbacks see of these."""
    model = type("Module", (Classifier, package.LightningModule), {})(**arguments)
    trainer = package.Trainer(
        max_epochs=epochs,
        accelerator="cpu",
        log_every_n_steps=3,
        logger=package.loggers.CSVLogger(directory),
        enable_progress_bar=False,
        enable_model_summary=False,
        callbacks=list(callbacks),
    )
    batches = DataLoader(TensorDataset(*events()), BATCH)
    trainer.fit(model, batches, batches)
    return model, {name: float(value) for name, value in trainer.callback_metrics.items()}


def of_numpy(scores):
    """The metrics of the scores of all batches."""
    _, label, mass = events()
    score = torch.cat(scores).numpy()
    found = {"auc": metrics.auc(score, label), **metrics.check(score, label, mass, order=0).to_dict()}
    return {f"val_mode_{name}": math.nan if value is None else float(value) for name, value in found.items()}


@pytest.mark.parametrize("package", [lightning, pytorch_lightning], ids=["lightning", "pytorch_lightning"])
def test_the_numbers_of_the_layer_and_the_metrics_are_logged(package, tmp_path):
    best = package.callbacks.ModelCheckpoint(tmp_path / "best", monitor="val_mode_sensitivity", mode="max")
    model, logged = fit(tmp_path, MoDeCallback(MoDeMetrics(order=0)), best, package=package)
    (layer,) = model.constraints
    numbers = layer.loss, layer.scale, layer.factor, *layer.dependence
    of_layer = dict(zip(("loss", "scale", "factor", "dependence", "dependence_error"), numbers, strict=True))
    of_layer, of_epochs = (
        {f"mode_{name}": value for name, value in of_layer.items()},
        list(map(of_numpy, model.scores.values())),
    )
    assert logged == pytest.approx(of_layer | of_epochs[-1], rel=1e-6, nan_ok=True)
    assert layer.factor < 1
    sensitivities = [found["val_mode_sensitivity"] for found in of_epochs]
    assert len(set(sensitivities)) == 3
    assert float(best.best_model_score) == pytest.approx(max(sensitivities), rel=1e-6)


def test_several_layers_have_their_names(tmp_path):
    _, logged = fit(tmp_path, MoDeCallback(), epochs=1, layers=2)
    assert {"mode_loss/constraints.0", "mode_loss/constraints.1", "mode_scale/constraints.1"} <= set(logged)
    assert not any(name.startswith("val_mode") for name in logged)


def test_events_of_a_function(tmp_path):
    given = dict(events=lambda outputs, batch: {"score": outputs, "label": batch[1], "mass": batch[2], "weight": None})
    callback = MoDeCallback(MoDeMetrics(order=0), **given)
    model, logged = fit(tmp_path, callback, epochs=1, returned=lambda found: found["score"])
    want = of_numpy(model.scores[0])
    assert {name: logged[name] for name in want} == pytest.approx(want, rel=1e-6)


@pytest.mark.parametrize(
    ("outputs", "sentence"),
    [
        (lambda found: None, "validation_step returned NoneType: expected a dict with the entries score, label and"),
        (lambda found: {**found, "weights": found["mass"]}, "unknown argument 'weights' .*: did you mean weight"),
    ],
)
def test_a_validation_step_that_returns_no_such_events(outputs, sentence, tmp_path):
    with pytest.raises(TypeError, match=sentence):
        fit(tmp_path, MoDeCallback(MoDeMetrics(order=0)), epochs=1, returned=outputs)
    with pytest.raises(TypeError, match="metrics is dict: expected libmode.torch.MoDeMetrics or None"):
        MoDeCallback({"order": 0})


def test_what_to_install_where_lightning_is_missing(tmp_path):
    hidden = "import sys; find = sys.meta_path[-1].find_spec; "
    hidden += "sys.meta_path[-1].find_spec = lambda name, *more: None if 'lightning' in name and 'libmode' not in name "
    hidden += "else find(name, *more); import libmode.torch.lightning"
    done = subprocess.run([sys.executable, "-c", hidden], capture_output=True, text=True)
    want = "libmode.torch.lightning needs lightning, which is not installed: pip install 'libmode[lightning]'"
    assert done.stderr.splitlines()[-1] == f"ImportError: {want}"


def test_pytorch_lightning_alone_is_enough():
    code = "import sys; sys.modules.update(lightning=None); import libmode.torch.lightning as own, pytorch_lightning; "
    code += "assert issubclass(own.MoDeCallback, pytorch_lightning.Callback)"
    subprocess.run([sys.executable, "-c", code], check=True)


AVERAGES = {
    "mean": {},
    "EMA": {"avg_fn": get_ema_avg_fn(0.9)},
    "parameters": {"use_buffers": False},
}


@pytest.mark.parametrize("name", AVERAGES)
@pytest.mark.parametrize("package", [lightning, pytorch_lightning], ids=["lightning", "pytorch_lightning"])
def test_averages_of_weights(package, name, tmp_path):
    """Which swap all buffers with those of the average for a validation, and save both."""
    average = package.callbacks.WeightAveraging(**AVERAGES[name])
    kept = package.callbacks.ModelCheckpoint(tmp_path / "kept")
    model, _ = fit(tmp_path, average, kept, package=package, epochs=2)
    (layer,) = model.constraints
    assert layer.state[0] > 1 or name == "parameters"
    saved = torch.load(kept.best_model_path, weights_only=True)
    assert saved["current_model_state"]["constraints.0.state"][0] == 16
    model.load_state_dict(saved["state_dict"])


@pytest.mark.parametrize("package", [lightning, pytorch_lightning], ids=["lightning", "pytorch_lightning"])
def test_the_callback_for_moving_averages(package, tmp_path):
    model, _ = fit(tmp_path, package.callbacks.EMAWeightAveraging(decay=0.5), package=package, epochs=1)
    assert 1 < model.constraints[0].state[0] < 8


def test_the_end_of_a_fit_says_what_is_not_flat():
    """Validations between epochs say nothing, and the end says it once, of each layer that is not flat."""

    class Still(Classifier, lightning.LightningModule):
        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.0)  # a network that leaks the mass, and does not learn

    model = Still()
    model.constraints = torch.nn.ModuleList([MoDeConstraint(order=0)])
    features, label, mass = events()
    features[:, 1] += 4 * mass
    batches = DataLoader(TensorDataset(features, label, mass), BATCH)
    trainer = lightning.Trainer(
        max_epochs=10, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
        enable_model_summary=False, callbacks=[MoDeCallback()],
    )  # fmt: skip
    with pytest.warns(TrainingWarning, match="has not become flat: after 80 batches") as caught:
        trainer.fit(model, batches, batches)
    assert sum(one.category is TrainingWarning for one in caught) == 1
