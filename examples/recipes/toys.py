"""The toy events of most recipes, and the numbers that the recipes print."""

import numpy as np
from libmode import metrics


def events(count, seed):
    """Features (count, 2), float32; label, 1 for signal; and mass in GeV: a peak at 120 over a falling background.

    The second feature tells how far an event is from the peak, so that a classifier which makes use of it carves
    a peak out of the background.
    """
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, count)
    mass = np.where(label == 1, rng.normal(120, 10, count), 50 + rng.exponential(60, count))
    distance = np.abs(mass - 120) / 60 + rng.normal(0, 0.2, count)
    return np.column_stack([rng.normal(label), distance]).astype("float32"), label, mass


def common_mode(count, seed):
    """Features (count, 4), two for each classifier, and labels; the second of each pair follows a common mode."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, count)
    common = rng.normal(1.5 * label)
    own = [rng.normal(label) for _ in range(2)]
    seen = [common + rng.normal(0, 0.5, count) for _ in range(2)]
    return np.column_stack([own[0], seen[0], own[1], seen[1]]), label


def closure(first, second, label, fraction):
    """ABCD's background in A, where cuts on both scores keep the root of a fraction: predicted over true, its error."""
    scores = first[label == 0], second[label == 0]
    above = [score >= np.quantile(score, 1 - fraction**0.5) for score in scores]
    a, b, c, d = (np.count_nonzero(one & other) for one in (above[0], ~above[0]) for other in (above[1], ~above[1]))
    return b * c / d / a, b * c / d / a * np.sqrt(1 / a + 1 / b + 1 / c + 1 / d)


def reached(score, label, mass):
    """AUC, and the residual of the background efficiency against mass; 0 is flat."""
    cut = metrics.check(score, label, mass, signal_efficiency=0.5, order=0).cuts[0]
    return f"AUC {metrics.auc(score, label):.3f}, residual {cut.residual:.2f} (by chance {cut.expected:.2f})"
