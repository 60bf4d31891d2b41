"""A network in PyTorch whose selection does not carve a bump out of the background: python train_pytorch.py

The signal is a peak in mass, the background falls. One of the two features tells how far an event is from the
peak: cross entropy alone makes use of that, and what it selects of the background has a peak as well.
"""

import numpy as np
import torch
from libmode import metrics
from libmode.torch import MoDeConstraint

EVENTS, BATCH, EPOCHS, ORDER = 10_000, 1_000, 40, 0  # order 0: the score of background shall not depend on mass at all

rng = np.random.default_rng(1)
label = rng.integers(0, 2, EVENTS)  # 1 is signal
mass = np.where(label == 1, rng.normal(120, 10, EVENTS), 50 + rng.exponential(60, EVENTS))
distance = np.abs(mass - 120) / 60 + rng.normal(0, 0.2, EVENTS)
features = torch.tensor(np.column_stack([rng.normal(label), distance]), dtype=torch.float32)
target, masses = torch.tensor(label, dtype=torch.float32), torch.tensor(mass, dtype=torch.float32)


def train(constraint):
    """The scores of a network that was trained on cross entropy, with a constraint between them or without."""
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(2, 32), torch.nn.SiLU(), torch.nn.Linear(32, 1), torch.nn.Sigmoid())
    entropy = torch.nn.BCELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1, 0.01, EPOCHS)  # the learning rate falls to nearly 0
    for _ in range(EPOCHS):
        for batch in torch.randperm(EVENTS).split(BATCH):
            optimizer.zero_grad()
            score = model(features[batch])[:, 0]
            if constraint is not None:
                score = constraint(score, target[batch], masses[batch])
            entropy(score, target[batch]).backward()
            optimizer.step()
        schedule.step()
    return model(features)[:, 0].detach().numpy()


for constraint in (None, MoDeConstraint(order=ORDER)):
    score = train(constraint)
    cut = metrics.check(score, label, mass, signal_efficiency=0.5, order=ORDER).cuts[0]
    which = "without" if constraint is None else "with"
    print(f"{which} MoDe: AUC {metrics.auc(score, label):.3f}, background efficiency against mass:", end=" ")
    print(f"residual {cut.residual:.2f} (number of events alone: {cut.expected:.2f})")
print(metrics.check(score, label, mass, order=ORDER))
