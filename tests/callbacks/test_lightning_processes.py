"""Lightning's own start of two processes, ``ddp_spawn``, against one process with twice the batch."""

import lightning.pytorch as lightning
import pytest
import torch
from libmode.torch import MoDeConstraint, MoDeLoss
from torch.nn.functional import binary_cross_entropy
from torch.utils.data import DataLoader, TensorDataset

pytestmark = [
    pytest.mark.filterwarnings("ignore:.isinstance.treespec, LeafSpec.. is deprecated"),
    pytest.mark.filterwarnings("ignore:The '.*_dataloader' does not have many workers"),
    pytest.mark.filterwarnings("ignore:.*tensorboardX.*"),
]
N, BATCH, STEPS = 4000, 200, 10


def events():
    """Features (n, 2), targets and masses, float64."""
    generator = torch.Generator().manual_seed(0)
    target = torch.randint(0, 2, (N,), generator=generator)
    mass = torch.rand(N, dtype=torch.float64, generator=generator)
    noise = torch.randn(N, 2, dtype=torch.float64, generator=generator)
    return torch.stack([noise[:, 0] + target, noise[:, 1] + mass], 1), target, mass


class Classifier(lightning.LightningModule):
    def __init__(self, gather, batch, first=0, every=1):
        super().__init__()
        self.batch, self.first, self.every = batch, first, every
        torch.manual_seed(1)
        self.network = torch.nn.Linear(2, 1, dtype=torch.float64)
        self.mode = MoDeLoss(order=1, bins=8, gather=gather, monitor=False)
        self.constraint = MoDeConstraint(order=1, gather=gather, monitor=False)

    def train_dataloader(self):
        """The own events: of two processes every second one."""
        count = self.trainer.world_size * self.every
        own = slice(self.first + self.trainer.global_rank, None, count)
        return DataLoader(TensorDataset(*(tensor[own] for tensor in events())), self.batch)

    def training_step(self, batch, number):
        features, target, mass = batch
        score = self.constraint(self.network(features)[:, 0].sigmoid(), target, mass)
        loss = self.mode(score, target, mass)
        self.log("mode", loss)
        return binary_cross_entropy(score, target.double()) + loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def trained(folder, model, **how):
    """The parameters after ten steps."""
    trainer = lightning.Trainer(
        max_steps=STEPS,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=folder,
        use_distributed_sampler=False,
        **how,
    )
    trainer.fit(model)
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


def test_two_processes_train_as_one(tmp_path):
    two = trained(tmp_path, Classifier(True, BATCH), strategy="ddp_spawn", devices=2)
    one = trained(tmp_path, Classifier(False, 2 * BATCH))
    torch.testing.assert_close(two, one, rtol=1e-6, atol=1e-7)
    half = trained(tmp_path, Classifier(False, BATCH, every=2))
    assert (half - one).abs().max() > 1e-4
