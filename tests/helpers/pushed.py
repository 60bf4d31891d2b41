"""What a gradient is after a constraint: by libmode.mode_loss_and_grad and a few lines in float64."""

import libmode
import numpy as np

C, STEP = 0.3, 1e-6


def odds(score):
    """The transform W(s) of a constraint."""
    return C * score / (1 + C - score)


def sigmoid(logit):
    return 1 / (1 + np.exp(-logit))


def slope(function, x):
    """The derivative of a function, by differences."""
    return (function(x + STEP) - function(x - STEP)) / (2 * STEP)


def pushed(
    incoming, score, label, mass, weight=None, *, relative_strength=30, transform=odds, reference=None, **options
):
    """The gradient by scores inside (0, 1) whose logits are not near each other, of which those of background are all different, of shape (n,).

    incoming : (n,), that of the classifier's loss
    reference : score, mass and weight of further background events, or None

    All weights are positive.
    """
    incoming, score, mass = (np.asarray(array, float) for array in (incoming, score, mass))
    count = len(score)
    if reference is not None:
        score, mass = np.append(score, reference[0]), np.append(mass, reference[1])
        weight = None if weight is None else np.append(weight, reference[2])
        label = np.append(label, np.zeros(len(reference[0])))
    usual = {"order": 1} | ({"bins": 16} if np.sum(np.asarray(label) == 0) >= 128 else {})
    _, grad = libmode.mode_loss_and_grad(transform(score), mass, weight=weight, label=label, **(usual | options))
    by_logit = slope(sigmoid, np.log(score / (1 - score)))
    direction = grad * slope(transform, score) * by_logit
    background = np.flatnonzero(np.asarray(label) == 0)
    background = background[np.argsort(score[background])]
    weight = np.ones(len(score)) if weight is None else np.asarray(weight, float)
    total, below = weight[background].sum(), np.cumsum(weight[background]) - weight[background]
    parts = min(8, int(total**2 / (weight[background] ** 2).sum()) // 20)
    place = (parts * below / total).astype(int)  # ranges of equal sums of weights
    for k in range(parts):
        part = background[place == k]
        direction[part] -= weight[part] * direction[part].sum() / weight[part].sum()
    direction, by_logit = direction[:count], by_logit[:count]
    size = relative_strength * np.linalg.norm(incoming * by_logit) / np.linalg.norm(direction)
    return incoming + size * direction / by_logit
