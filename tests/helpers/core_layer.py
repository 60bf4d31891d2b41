"""Events and gradients for the tests of the layers of JAX and Keras, and the law of the core for them."""

import numpy as np
from law import Core

N = 512  # half of them background


def events(seed=0, n=N):
    """Score, label, mass and weight."""
    rng = np.random.default_rng(seed)
    label, mass = np.arange(n) % 2, rng.random(n).astype(np.float32)
    score = np.clip(0.75 * rng.random(n) + 0.2 * mass + 0.05 * label, 0.01, 0.99).astype(np.float32)
    return score, label, mass, rng.uniform(0.5, 2, n).astype(np.float32)


def entropy_and_gradient(score, label, weight=1.0):
    """The mean of the weighted cross entropies, and its gradient."""
    score = score.astype(float)
    values = -(label * np.log(score) + (1 - label) * np.log(1 - score))
    return np.mean(weight * values), weight * (score - label) / (score * (1 - score)) / len(score)


def assert_close(grad, want, rtol=2e-5):
    np.testing.assert_allclose(grad, want, rtol=0, atol=rtol * np.abs(want).max())


def by_the_core(
    incoming, score, label, mass, weight=None, category=None, reference=None, steps=4, forget=False, **options
):
    """The gradients of some batches that are alike, and the state after them.

    With ``forget`` the average of the incoming gradient is that of each batch, as in a function of JAX.
    """
    core, grads = Core(**{"order": 1, "from_logits": False} | options), []
    given = [score, label, mass, weight, category]
    if reference is not None:
        given = [None if a is None else np.concatenate([a, b]) for a, b in zip(given, [*reference, None], strict=True)]
    for _ in range(steps):
        core.forward(*given, count=len(score))
        if forget:
            grads.append(core.constraint.apply(incoming, core.rows, core.lesson, None))
            core.backward(None)
        else:
            grads.append(core.backward(incoming.astype(score.dtype)))
    return grads, core.state
