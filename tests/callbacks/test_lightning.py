"""Layers and metrics in modules of Lightning."""

import lightning.pytorch as lightning
import numpy as np
import pytest
import torch
from libmode.torch import MoDeConstraint, MoDeMetrics
from torch.nn.functional import binary_cross_entropy
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


class Classifier(lightning.LightningModule):
    """With a layer between network and loss, and its metrics."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.network = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Sigmoid())
        self.constraints = torch.nn.ModuleList([MoDeConstraint(order=0)])
        self.metrics = MoDeMetrics(order=0)

    def training_step(self, batch, number):
        x, target, mass = batch
        score = self.network(x)[:, 0]
        for constraint in self.constraints:
            score = constraint(score, target, mass)
        return binary_cross_entropy(score, target)

    def validation_step(self, batch, number):
        x, target, mass = batch
        self.metrics.update(self.network(x)[:, 0], target, mass)

    def on_validation_epoch_end(self):
        self.log_dict(self.metrics.compute())
        self.metrics.reset()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.1)


def fit(directory, *callbacks, epochs=3, resume=None):
    """A model that was trained with 8 batches an epoch, and what callbacks see of these."""
    model = Classifier()
    trainer = lightning.Trainer(
        max_epochs=epochs,
        accelerator="cpu",
        num_sanity_val_steps=0,
        log_every_n_steps=3,
        logger=lightning.loggers.CSVLogger(directory),
        enable_progress_bar=False,
        enable_model_summary=False,
        callbacks=list(callbacks),
    )
    batches = DataLoader(TensorDataset(*events()), BATCH)
    trainer.fit(model, batches, batches, ckpt_path=resume)
    return model, {name: float(value) for name, value in trainer.callback_metrics.items()}


def test_the_metrics_are_logged(tmp_path):
    best = lightning.callbacks.ModelCheckpoint(tmp_path / "best", monitor="val_mode_sensitivity", mode="max")
    _, logged = fit(tmp_path, best)
    assert 0.5 < logged["val_mode_auc"] < 1
    assert float(best.best_model_score) >= logged["val_mode_sensitivity"] > 0


@pytest.mark.filterwarnings("ignore:The dirpath has changed")
def test_a_resumed_training_equals_one_that_went_on(tmp_path):
    went_on, _ = fit(tmp_path / "went_on", epochs=4)
    kept = lightning.callbacks.ModelCheckpoint(tmp_path / "kept", save_last=True)
    fit(tmp_path / "first", kept, epochs=2)
    again, _ = fit(tmp_path / "again", epochs=4, resume=kept.last_model_path)
    found = again.state_dict()
    for name, want in went_on.state_dict().items():
        assert torch.equal(found[name], want), name
    assert found["constraints.0.state"][1] == 32
