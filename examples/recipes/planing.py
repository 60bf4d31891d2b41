"""The paper's loss from a planed start: in cross entropy, background has the mass spectrum of signal. python planing.py

Here signal lies on the tail of a steep background. So a classifier first learns the mass, and MoDe must take it out
again. With ``planing_weights`` the mass says nothing, and MoDe starts closer (S. Chang, T. Cohen and B. Ostdiek,
arXiv:1709.10106). Planing alone is not flat: a feature still follows the mass.
"""

import numpy as np
import torch
from libmode import metrics, planing_weights
from libmode.torch import MoDeLoss

SIGNAL = 50_000


def events(seed):
    """Features, label and mass in TeV: a resonance at 2, with a width of 0.1, in a background that falls as mass^-5."""
    rng, label = np.random.default_rng(seed), np.repeat([1, 0], [SIGNAL, 3 * SIGNAL])
    falling = (1 - rng.random(3 * SIGNAL) * (1 - 8.0**-4)) ** -0.25
    mass = np.concatenate([rng.normal(2, 0.1, SIGNAL), falling])
    leak = np.log(mass) + rng.normal(0, 0.05, len(label))
    return np.column_stack([rng.normal(1.5 * label), rng.normal(label), leak]).astype("float32"), label, mass


def train(strength, planed):
    torch.manual_seed(1)
    network = torch.nn.Sequential(torch.nn.Linear(3, 32), torch.nn.SiLU(), torch.nn.Linear(32, 1), torch.nn.Sigmoid())
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    mode = MoDeLoss(order=1, strength=strength) if strength else None
    x, label, mass = events(1)
    weight = planing_weights(label, mass) if planed else np.ones(len(label))
    x, y, m, w = (torch.tensor(array).float() for array in (x, label, mass, weight))
    for _ in range(8):
        for batch in torch.randperm(len(y)).split(2_000):
            score = network(x[batch])[:, 0]
            loss = torch.nn.functional.binary_cross_entropy(score, y[batch], w[batch])
            if mode is not None:
                loss = loss + mode(score, y[batch], m[batch])  # without the planing weights
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return network


if __name__ == "__main__":
    x, label, mass = events(2)
    for name, strength, planed in (
        ("nothing", 0, False),
        ("planing", 0, True),
        ("MoDe", 30, False),
        ("planing and MoDe", 30, True),
    ):
        network = train(strength, planed)
        with torch.no_grad():
            score = network(torch.tensor(x))[:, 0].double().numpy()
        flat = metrics.flatness(score, label, mass, signal_efficiency=0.5, order=1)
        rejection = metrics.rejection(score, label, signal_efficiency=0.5)
        print(f"{name}: R50 {rejection:.1f}, residual {flat.rms:.2f} (by chance {flat.expected:.2f})")
