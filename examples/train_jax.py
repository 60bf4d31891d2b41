"""A classifier in JAX whose selection does not carve a bump out of the background: python train_jax.py

The signal is a peak in mass, the background falls. One of the two features tells how far an event is from the
peak: cross entropy alone makes use of that, and what it selects of the background has a peak as well.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from libmode import metrics
from libmode.jax import State, mode_constraint

EVENTS, STEPS, ORDER = 10_000, 300, 0  # order 0: the score of background shall not depend on mass at all

rng = np.random.default_rng(1)
label = rng.integers(0, 2, EVENTS)  # 1 is signal
mass = np.where(label == 1, rng.normal(120, 10, EVENTS), 50 + rng.exponential(60, EVENTS))
distance = np.abs(mass - 120) / 60 + rng.normal(0, 0.2, EVENTS)
features = jnp.array(np.column_stack([rng.normal(label), distance]))


def scores(parameters):
    hidden = jax.nn.silu(features @ parameters["in"] + parameters["bias"])
    return jax.nn.sigmoid(hidden @ parameters["out"])


@partial(jax.jit, static_argnames="constrained")
def step(parameters, speed, state, constrained):
    """One step of gradient descent with momentum on cross entropy, to whose gradient MoDe's push is added."""

    def loss(parameters):
        score, after = scores(parameters), state
        if constrained:
            score, after = mode_constraint(score, label, mass, order=ORDER, state=state)
        return -jnp.mean(jnp.log(jnp.clip(jnp.where(label == 1, score, 1 - score), 1e-6))), after

    gradient, state = jax.grad(loss, has_aux=True)(parameters)
    speed = jax.tree.map(lambda v, g: 0.9 * v - 0.05 * g, speed, gradient)
    return jax.tree.map(jnp.add, parameters, speed), speed, state


for name in ("without MoDe", "with MoDe"):
    keys = jax.random.split(jax.random.key(1), 2)
    parameters = {"in": jax.random.normal(keys[0], (2, 16)), "out": 0.1 * jax.random.normal(keys[1], 16)}
    parameters["bias"] = jnp.zeros(16)
    speed, state = jax.tree.map(jnp.zeros_like, parameters), State()
    for _ in range(STEPS):
        parameters, speed, state = step(parameters, speed, state, constrained=name == "with MoDe")
    score = np.asarray(scores(parameters))
    cut = metrics.check(score, label, mass, signal_efficiency=0.5, order=ORDER).cuts[0]
    print(f"{name}: AUC {metrics.auc(score, label):.3f}, background efficiency against mass:", end=" ")
    print(f"residual {cut.residual:.2f} (number of events alone: {cut.expected:.2f})")
print(metrics.check(score, label, mass, order=ORDER))
