"""MoDe in Lightning: a module, its metrics, and two processes that train as one. python lightning_ddp.py

For trainings on several GPUs: with ``gather=True`` the loss is that of the events of all processes, since the mean of
the losses of parts is another loss. The module logs the metrics of each validation, of the events of all processes:
``EarlyStopping("val_mode_sensitivity", mode="max")`` can stop by them. Here two processes on CPUs; with GPUs say
``accelerator="gpu", strategy="ddp"``.
"""

import lightning.pytorch as lightning
import torch
from libmode import metrics
from libmode.torch import MoDeConstraint, MoDeMetrics
from torch.utils.data import DataLoader, TensorDataset
from toys import events, reached


class Classifier(lightning.LightningModule):
    def __init__(self, constraint):
        super().__init__()
        torch.manual_seed(1)
        self.network = torch.nn.Sequential(torch.nn.Linear(2, 32), torch.nn.SiLU(), torch.nn.Linear(32, 1))
        self.constraint = constraint
        # Lightning logs the numbers of each epoch, so the verdict is printed once, at the end.
        self.metrics = MoDeMetrics(order=0, search_events=10_000, verbose=False)

    def forward(self, features):
        return torch.sigmoid(self.network(features)[:, 0])

    def training_step(self, batch, number):
        features, label, mass = batch
        score = self(features)
        if self.constraint is not None:
            score = self.constraint(score, label, mass)
        return torch.nn.functional.binary_cross_entropy(score, label.float())

    def validation_step(self, batch, number):
        features, label, mass = batch
        self.metrics.update(self(features), label, mass)

    def on_validation_epoch_end(self):
        self.log_dict(self.metrics.compute(), sync_dist=self.trainer.world_size > 1)
        self.metrics.reset()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.02)


def loader(count, seed, **how):
    """Batches of 500 of each process: Lightning gives each its share of the events."""
    return DataLoader(TensorDataset(*map(torch.tensor, events(count, seed))), batch_size=500, **how)


if __name__ == "__main__":
    features, label, mass = events(20_000, 3)
    for processes, constraint in [(1, None), (2, MoDeConstraint(order=0, gather=True))]:
        trainer = lightning.Trainer(
            max_epochs=40,
            accelerator="cpu",
            devices=processes,
            strategy="ddp_spawn" if processes > 1 else "auto",
            num_sanity_val_steps=0,
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
        )
        model = Classifier(constraint)
        trainer.fit(model, loader(10_000, 1, shuffle=True), loader(5_000, 2))
        with torch.no_grad():
            score = model.eval()(torch.tensor(features)).numpy()
        logged = {
            name: round(trainer.callback_metrics[f"val_mode_{name}"].item(), 2) for name in ("auc", "sensitivity")
        }
        print(f"{processes} process(es), MoDe {constraint is not None}: {reached(score, label, mass)}, logged {logged}")
    print(metrics.check(score, label, mass, order=0))
