"""A softmax of three classes whose selection follows the mass of neither background: python train_classes.py

The signal is a peak in mass, background A falls, background B is a hump. One of the three features tells how far an
event is from the signal's peak: cross entropy alone makes use of that, and carves a peak out of both backgrounds.
"""

import numpy as np
import torch
from libmode import metrics
from libmode.torch import MoDeLoss

SIGNAL, A, B = 0, 1, 2
EVENTS, STEPS, ORDER = 15_000, 200, 0  # order 0: the score of each background shall not depend on mass at all

rng = np.random.default_rng(1)
label = rng.integers(0, 3, EVENTS)
mass = np.choose(label, [rng.normal(120, 10, EVENTS), 50 + rng.exponential(60, EVENTS), rng.normal(160, 25, EVENTS)])
distance = np.abs(mass - 120) / 60 + rng.normal(0, 0.2, EVENTS)
columns = [rng.normal(label == SIGNAL), rng.normal(2 * (label == B)), distance]
features = torch.tensor(np.column_stack(columns), dtype=torch.float32)
target, masses = torch.tensor(label), torch.tensor(mass, dtype=torch.float32)


def discriminant(logits):
    """log(p_signal / (p_A + p_B)), without taking the logarithm of a probability that was rounded to 0."""
    return logits[:, SIGNAL] - torch.logsumexp(logits[:, [A, B]], 1)


def train(strength):
    """The discriminant of a network that was trained on cross entropy + strength * MoDe."""
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(3, 32), torch.nn.SiLU(), torch.nn.Linear(32, 3))
    entropy, mode = torch.nn.CrossEntropyLoss(), MoDeLoss(order=ORDER, score_range=None, background_label=(A, B))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(STEPS):
        optimizer.zero_grad()
        logits = model(features)
        loss = entropy(logits, target) + strength * mode(discriminant(logits), target, masses)
        loss.backward()
        optimizer.step()
    return discriminant(model(features)).detach().numpy()


for strength in (0, 30):
    score = train(strength)
    print(
        f"strength {strength:2}: AUC {metrics.auc(score, label == SIGNAL):.3f}, efficiency of background against mass:"
    )
    cut = metrics.threshold(score, label == SIGNAL, signal_efficiency=0.5)
    for name, background in (("A", label == A), ("B", label == B)):
        one = metrics.check(score[background], None, mass[background], threshold=cut, order=ORDER).cuts[0]
        print(f"  {name}: residual {one.residual:.2f} (number of events alone: {one.expected:.2f})")
