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

    The number of background events, with those of the reference, must be a multiple of eight.
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
    assert len(background) % 8 == 0
    for part in np.split(background[np.argsort(score[background])], 8):
        direction[part] -= direction[part].mean()
    direction, by_logit = direction[:count], by_logit[:count]
    size = relative_strength * np.linalg.norm(incoming * by_logit) / np.linalg.norm(direction)
    return incoming + size * direction / by_logit
