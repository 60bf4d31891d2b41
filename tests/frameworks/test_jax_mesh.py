"""On a mesh of JAX's devices the loss is that of the events of all devices."""

import sys
from pathlib import Path

import libmode
from programs import run

ON_A_MESH = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
from libmode.jax import mode_constraint, mode_loss

jax.config.update("jax_enable_x64", True)
rng = np.random.default_rng(0)
arrays = [jnp.asarray(array) for array in (rng.normal(size=800), rng.random(800), rng.random(800), np.arange(800) % 2)]
theta = jnp.array([1.0, 0.5])
KINDS = {}, {"strength": 3}


def loss(theta, x, mass, weight, label):
    score = jax.nn.sigmoid(theta[0] * x + theta[1] * mass)
    plain, strong = (mode_loss(score, mass, weight=weight, label=label, order=1, bins=8, **k) for k in KINDS)
    return plain + strong


def compare(found):
    for got, want in zip(found, wanted):
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-13)


wanted = jax.value_and_grad(loss)(theta, *arrays)
for kind in (AxisType.Auto, AxisType.Explicit):
    mesh = jax.make_mesh((8,), ("data",), axis_types=(kind,))
    sharded = [jax.device_put(array, NamedSharding(mesh, P("data"))) for array in arrays]
    compare(jax.jit(jax.value_and_grad(loss))(theta, *sharded))

bad = jax.device_put(arrays[0].at[4].set(jnp.nan), NamedSharding(mesh, P("data")))
try:
    jax.block_until_ready(jax.jit(loss)(theta, bad, *sharded[1:]))
except jax.errors.JaxRuntimeError as error:
    print(str(error).splitlines()[-1])
"""


def on_eight_devices(program):
    """What a program prints that has eight devices."""
    settings = {"XLA_FLAGS": "--xla_force_host_platform_device_count=8", "JAX_PLATFORMS": "cpu", "KERAS_BACKEND": "jax"}
    return run(sys.executable, "-c", program, PYTHONPATH=str(Path(libmode.__file__).parents[1]), **settings)


def test_on_a_mesh_it_is_the_loss_of_the_union():
    assert "score[4] = NaN: every score of a selected event must be finite" in on_eight_devices(ON_A_MESH)
