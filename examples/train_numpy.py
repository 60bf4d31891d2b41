"""A logistic regression in NumPy whose selection does not follow the mass: python train_numpy.py

The signal is a peak in mass, the background falls. One of the two features gives the mass away. The chain rule
takes libmode's gradient, which is by the scores, to the weights: so it goes with any program of your own.
"""

import libmode
import numpy as np
from libmode import metrics

EVENTS, STEPS, ORDER = 20_000, 500, 0  # order 0: the score of background shall not depend on mass at all

rng = np.random.default_rng(1)
label = rng.integers(0, 2, EVENTS)  # 1 is signal
mass = np.where(label == 1, rng.normal(120, 10, EVENTS), 50 + rng.exponential(60, EVENTS))
features = np.column_stack([rng.normal(label), (mass - 110) / 60 + rng.normal(0, 0.5, EVENTS), np.ones(EVENTS)])


def scores(weights):
    return 1 / (1 + np.exp(-features @ weights))


def train(strength):
    """The weights that gradient descent on cross entropy + strength * MoDe finds."""
    weights = np.zeros(3)
    for _ in range(STEPS):
        score = scores(weights)
        _, by_score = libmode.mode_loss_and_grad(score, mass, label=label, order=ORDER)
        by_logit = (score - label) / EVENTS + strength * by_score * score * (1 - score)
        weights -= 0.3 * features.T @ by_logit
    return weights


for strength in (0, 10):
    weights = train(strength)
    score = scores(weights)
    cut = metrics.check(score, label, mass, signal_efficiency=0.5, order=ORDER).cuts[0]
    print(f"strength {strength:2}: weights {weights[0]:.2f} and {weights[1]:.2f}, AUC {metrics.auc(score, label):.3f},")
    print("  background efficiency against mass:", end=" ")
    print(f"residual {cut.residual:.2f} (number of events alone: {cut.expected:.2f})")
print(metrics.check(score, label, mass, order=ORDER))
