"""libmode.torch.lightning, and what TensorBoard shows of it, read from the event files."""

import math
import subprocess
import sys

import lightning.pytorch as lightning
import numpy as np
import pytest
import pytorch_lightning
import torch
from libmode import metrics
from libmode.torch import MoDeConstraint, MoDeMetrics
from libmode.torch.lightning import MoDeCallback
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from torch.nn.functional import binary_cross_entropy
from torch.utils.data import DataLoader, TensorDataset

# What Lightning and PyTorch do between themselves.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.isinstance.treespec, LeafSpec.. is deprecated"),
    pytest.mark.filterwarnings("ignore:The '.*_dataloader' does not have many workers"),
]
N, BATCH = 4000, 500
EACH = ["loss", "strength", "factor", "dependence", "dependence_error"]


def events():
    """Features, label and mass, (n, 2), (n,) and (n,)."""
    rng = np.random.default_rng(0)
    label, mass = rng.integers(0, 2, N), rng.random(N)
    features = np.stack([rng.normal(label), rng.normal(label + np.exp(-0.5 * ((mass - 0.5) / 0.1) ** 2))], axis=1)
    return [torch.tensor(array, dtype=torch.float32) for array in (features, label, mass)]


class Classifier:
    """What the LightningModules of both packages have; it keeps what it logs of itself."""

    def __init__(self, layers=1, returned=lambda found: found):
        super().__init__()
        torch.manual_seed(1)
        self.network = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Sigmoid())
        self.constraints = torch.nn.ModuleList([MoDeConstraint(order=0, tolerance=10) for _ in range(layers)])
        self.steps, self.scores, self.returned = [], {}, returned

    def training_step(self, batch, number):
        x, target, mass = batch
        score = self.network(x)[:, 0]
        for constraint in self.constraints:
            score = constraint(score, target, mass)
        return binary_cross_entropy(score, target)

    def on_train_batch_end(self, *_):
        one = self.constraints[0]
        values = one.loss, one.strength, one.factor, *one.dependence
        self.steps.append(dict(zip(EACH, values, strict=True)))

    def validation_step(self, batch, number):
        x, target, mass = batch
        score = self.network(x)[:, 0]
        if not self.trainer.sanity_checking:
            self.scores.setdefault(self.current_epoch, []).append(score)
        return self.returned({"loss": score.mean(), "score": score, "target": target, "mass": mass})

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.1)


def module_of(package, **arguments):
    return type("Module", (Classifier, package.LightningModule), {})(**arguments)


def fit(model, directory, *callbacks, package=lightning, epochs=3):
    """A trainer that has trained, 8 batches an epoch, with logs every 3 steps."""
    trainer = package.Trainer(
        max_epochs=epochs,
        accelerator="cpu",
        log_every_n_steps=3,
        logger=package.loggers.TensorBoardLogger(directory),
        enable_progress_bar=False,
        enable_model_summary=False,
        callbacks=list(callbacks),
    )
    batches = DataLoader(TensorDataset(*events()), BATCH)
    trainer.fit(model, batches, batches)
    return trainer


def scalars(directory):
    """Of each tag, the values that TensorBoard shows, by their steps."""
    shown = EventAccumulator(str(directory))
    shown.Reload()
    return {tag: {one.step: one.value for one in shown.Scalars(tag)} for tag in shown.Tags()["scalars"]}


def of_numpy(scores):
    """The metrics of the scores of all batches."""
    _, label, mass = events()
    found = metrics.summary(torch.cat(scores), label, mass, order=0)
    return {f"val_mode_{name}": value for name, value in found.items()}


@pytest.mark.parametrize("package", [lightning, pytorch_lightning], ids=["lightning", "pytorch_lightning"])
def test_tensorboard_shows_the_layer_and_the_metrics(package, tmp_path):
    model = module_of(package)
    best = package.callbacks.ModelCheckpoint(tmp_path / "best", monitor="val_mode_sensitivity", mode="max")
    trainer = fit(model, tmp_path, MoDeCallback(MoDeMetrics(order=0)), best, package=package)
    shown = scalars(trainer.log_dir)
    for name in EACH:
        want = {step: model.steps[step][name] for step in range(2, 24, 3) if math.isfinite(model.steps[step][name])}
        assert len(want) > 3
        assert shown[f"mode_{name}"] == pytest.approx(want, rel=1e-6)
    assert min(shown["mode_factor"].values()) < 1
    of_epochs = {8 * epoch + 7: of_numpy(scores) for epoch, scores in model.scores.items()}
    assert list(of_epochs) == [7, 15, 23]
    for name in of_epochs[7]:
        assert shown[name] == pytest.approx({step: found[name] for step, found in of_epochs.items()}, rel=1e-6)
    sensitivities = [found["val_mode_sensitivity"] for found in of_epochs.values()]
    assert len(set(sensitivities)) > 1
    assert float(best.best_model_score) == pytest.approx(max(sensitivities), rel=1e-6)


def test_several_layers_have_their_names_and_a_function_gives_the_events(tmp_path):
    model = module_of(lightning, layers=2, returned=lambda found: found["score"])
    given = dict(events=lambda outputs, batch: {"score": outputs, "target": batch[1], "mass": batch[2], "weight": None})
    trainer = fit(model, tmp_path, MoDeCallback(MoDeMetrics(order=0), **given), epochs=1)
    assert {"mode_loss/constraints.0", "mode_loss/constraints.1"} <= set(scalars(trainer.log_dir))
    want = of_numpy(model.scores[0])
    assert {name: float(trainer.callback_metrics[name]) for name in want} == pytest.approx(want, rel=1e-6)


@pytest.mark.parametrize(
    ("outputs", "sentence"),
    [
        (lambda found: None, "validation_step returned NoneType: expected a dict with the entries score, target and"),
        (lambda found: {**found, "weights": found["mass"]}, "unknown argument 'weights' .*: did you mean weight"),
        (lambda found: {"score": found["score"]}, r"validation_step returned \['score'\]: expected a dict"),
    ],
)
def test_a_validation_step_that_returns_no_such_events(outputs, sentence, tmp_path):
    model = module_of(lightning, returned=outputs)
    with pytest.raises(TypeError, match=sentence):
        fit(model, tmp_path, MoDeCallback(MoDeMetrics(order=0)), epochs=1)


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
