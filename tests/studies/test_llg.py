"""The study of the events of arXiv:2401.00428: its loss is proper, and each method trains."""

import numpy as np
import pytest
import torch

from studies import llg


@pytest.mark.parametrize("share", [0.05, 0.3, 0.8])
def test_the_extreme_loss_is_least_at_the_share_of_signal(share):
    score = torch.linspace(0.002, 0.998, 997, dtype=torch.float64)
    loss = share * llg.extreme(score, torch.ones_like(score)) + (1 - share) * llg.extreme(
        score, torch.zeros_like(score)
    )
    assert score[loss.argmin()].item() == pytest.approx(share, abs=1e-3)


@pytest.mark.parametrize("name", llg.METHODS)
def test_a_method_separates(name, monkeypatch):
    monkeypatch.setattr(llg, "EPOCHS", 10)
    rng = np.random.default_rng(1)
    label = rng.integers(0, 2, 4_000)
    mass = np.where(label == 1, rng.normal(125, 2, 4_000), rng.uniform(100, 180, 4_000))
    x = rng.normal(2.0 * label[:, None], 1, (4_000, 3)).astype("float32")
    tensors = torch.from_numpy(x), torch.from_numpy(label.astype("float32")), torch.from_numpy(mass)
    score = llg.trained(*tensors, *llg.METHODS[name], 1)(tensors[0])[:, 0].detach().numpy()
    assert score[label == 1].mean() - score[label == 0].mean() > 0.3
