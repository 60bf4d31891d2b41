"""A network with the mass of the signal as a feature, flat at each hypothesis. python hypotheses.py

For searches over several signal masses with one network (arXiv:1601.07913). Events of background have no signal mass:
each gets one of the hypotheses by chance. ``category`` gives each hypothesis a loss of its own, because background
that is flat for all hypotheses together may have a bump at each.
"""

import numpy as np
import torch
from libmode import metrics
from libmode.torch import MoDeLoss
from toys import reached

HYPOTHESES = np.array([90, 120, 160])  # GeV


def events(count, seed):
    """Features (count, 2), label, mass in GeV, and the index of the hypothesis, which is random for background."""
    rng = np.random.default_rng(seed)
    label, which = rng.integers(0, 2, count), rng.integers(0, len(HYPOTHESES), count)
    mass = np.where(label == 1, rng.normal(HYPOTHESES[which], 10), 50 + rng.exponential(60, count))
    return np.column_stack([rng.normal(label), mass * rng.normal(1, 0.1, count)]), label, mass, which


def inputs(features, which):
    """What the network sees: the features, the second of which gives the mass away, and the mass of the hypothesis."""
    x0, measured = features.T
    return torch.tensor(np.column_stack([x0, measured / 60 - 2, HYPOTHESES[which] / 60 - 2]), dtype=torch.float32)


def train(mode):
    torch.manual_seed(1)
    network = torch.nn.Sequential(torch.nn.Linear(3, 64), torch.nn.SiLU(), torch.nn.Linear(64, 1), torch.nn.Sigmoid())
    optimizer = torch.optim.Adam(network.parameters())
    features, label, mass, which = events(60_000, 1)
    columns = inputs(features, which), *map(torch.tensor, (label, mass, which))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.02, epochs=20, steps_per_epoch=30)
    for _ in range(20):
        for batch in torch.randperm(60_000).split(2000):
            x, y, m, hypothesis = (column[batch] for column in columns)
            optimizer.zero_grad()
            score = network(x)[:, 0]
            loss = torch.nn.functional.binary_cross_entropy(score, y.float())
            if mode is not None:
                loss = loss + mode(score, y, m, category=hypothesis)
            loss.backward()
            optimizer.step()
            schedule.step()
    return network


if __name__ == "__main__":
    features, label, mass, which = events(60_000, 2)
    for name, mode in {"without": None, "with": MoDeLoss(order=0, strength=100)}.items():
        network = train(mode)
        for k, hypothesis in enumerate(HYPOTHESES):
            tested = (label == 0) | (which == k)  # all of the background, with this hypothesis
            with torch.no_grad():
                score = network(inputs(features[tested], np.full(tested.sum(), k)))[:, 0].numpy()
            print(f"{name} MoDe, {hypothesis} GeV: {reached(score, label[tested], mass[tested])}")
    print(metrics.check(score, label[tested], mass[tested], order=0))
