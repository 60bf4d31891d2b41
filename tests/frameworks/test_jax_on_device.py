"""The loss by JAX's own operations is that of the core and of the oracle; on a mesh it is that of all devices' events."""

import os
import subprocess
import sys
from pathlib import Path

import golden
import jax
import jax.numpy as jnp
import libmode
import numpy as np
import pytest
from libmode._device.loss import loss_and_grad
from libmode._device.plan import plan_of
from libmode._options import check
from libmode.jax import mode_loss
from libmode.jax._device import JaxArrays, _x64

OPTIONS = dict(order=1, bins=8)


def events(n=600, seed=1, dtype=np.float32):
    """Score, mass, weight and label; events of label 1 take no part, and have bad values."""
    rng = np.random.default_rng(seed)
    score, mass, weight, label = rng.random(n), rng.random(n), rng.normal(1, 0.5, n), np.arange(n) % 3 % 2
    score[label == 1] = np.nan
    return *(jnp.asarray(array.astype(dtype)) for array in (score, mass, weight)), jnp.asarray(label)


def loss_of(score, mass, weight, label, **options):
    return mode_loss(score, mass, weight=weight, label=label, **OPTIONS | options)


def padded(case, n=80):
    """The events as arrays of n, so that JAX compiles its functions for one number of events: others have another label."""
    given, more = case.events(), n - len(case.score)
    others = given.pop("label")
    if others is None:
        others = np.full(len(case.score), np.ravel(case.options.get("background_label", 0))[0])
    if given["weight"] is None:
        given["weight"] = np.ones(len(case.score))
    score, mass, weight = (
        np.concatenate([given[name], np.full((more, *given[name].shape[1:]), np.nan)])
        for name in ("score", "mass", "weight")
    )
    return score, mass, weight, np.concatenate([others, np.full(more, 77)])


def one_by_one(score, mass, weight, label, options):
    """The loss by operations that are not compiled together, which would take seconds for each case."""
    checked = check("mode", options).for_events(score.dtype, mass.dtype, mass.shape)
    with _x64(True):
        arrays = (None if array is None else jnp.asarray(array) for array in (score, mass, weight, label))
        found = loss_and_grad(JaxArrays(), plan_of(checked), *arrays)
    return float(found.loss), np.asarray(found.grad), all(map(bool, found.checks))


def test_golden_cases(golden_case):
    case = golden_case
    if case.category is not None or case.options.get("joint"):
        with pytest.raises(ValueError, match="on_device = True has no such form of the loss: leave on_device out"):
            mode_loss(case.score, case.mass, category=case.category, on_device=True, **case.options)
        return
    loss, grad, ok = one_by_one(*padded(case), case.options)
    assert ok
    golden.assert_close(loss, case.loss, 1e-9)
    golden.assert_close(grad[: len(case.grad)], case.grad, 1e-9)
    assert (grad[len(case.grad) :] == 0).all()


@pytest.mark.parametrize("seed", range(3))
def test_bins_that_are_merged(seed):
    # Which the golden cases have not. All options are drawn for PyTorch's operations, which are cheaper to call.
    rng = np.random.default_rng(seed)
    events = {"score": rng.random(80), "mass": rng.random(80), "weight": rng.normal(1, 1, 80)}
    want, want_grad = libmode.mode_loss_and_grad(**events)
    loss, grad, ok = one_by_one(*events.values(), np.zeros(80), {})
    assert ok
    golden.assert_close(loss, want, 1e-9, floor=1e-9 * np.abs(want_grad).max())
    golden.assert_close(grad, want_grad, 1e-9)


@pytest.mark.parametrize("transform", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_it_is_the_core(transform):
    arrays = events()
    want, want_grad = jax.value_and_grad(loss_of)(*arrays)
    loss, grad = transform(jax.value_and_grad(lambda *a: loss_of(*a, on_device=True)))(*arrays)
    assert loss.dtype == grad.dtype == jnp.float32
    golden.assert_close(loss, want, 1e-6)
    golden.assert_close(grad, want_grad, 1e-6)
    assert (grad[arrays[3] == 1] == 0).all()


def test_vmap_jvp_and_no_second_derivative():
    on_device, core = (lambda *a, on=on: loss_of(*a, on_device=on) for on in (True, False))
    stacked = [jnp.stack(arrays) for arrays in zip(events(), events(seed=2), strict=True)]
    golden.assert_close(jax.vmap(on_device)(*stacked), jax.vmap(core)(*stacked), 1e-6)
    score, *others = events()
    direction = jnp.where(jnp.isnan(score), 0, 1.0)
    pairs = (jax.jvp(lambda s, f=f: f(s, *others), (score,), (direction,)) for f in (on_device, core))
    for got, want in zip(*pairs, strict=True):
        golden.assert_close(got, want, 1e-5)
    with pytest.raises(RuntimeError, match="no second derivative"):
        jax.grad(lambda s: jax.grad(lambda s: on_device(s, *others))(s).sum())(score)


@pytest.mark.parametrize("transform", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_errors_are_the_cores(transform):
    score, mass, weight, label = events()
    compiled = transform(lambda *a: loss_of(*a, on_device=True))
    kinds = (ValueError, jax.errors.JaxRuntimeError)
    with pytest.raises(kinds, match=r"score\[3\] = NaN: every score of a selected event must be finite"):
        jax.block_until_ready(compiled(score.at[3].set(jnp.nan), mass, weight, label))
    with pytest.raises(kinds, match="no event selected: none of the 600 values of label equals background_label = 0"):
        jax.block_until_ready(compiled(score, mass, weight, label * 0 + 5))
    if transform is jax.jit:  # and the program goes on
        assert jnp.isfinite(compiled(score, mass, weight, label))


def test_no_events():
    with pytest.raises(libmode.BatchError, match="mass is empty"):
        mode_loss(jnp.zeros(0), jnp.zeros(0), on_device=True)


ON_A_MESH = """
from functools import partial
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
from libmode.jax import mode_loss

jax.config.update("jax_enable_x64", True)
rng = np.random.default_rng(0)
arrays = [jnp.asarray(array) for array in (rng.normal(size=800), rng.random(800), rng.random(800), np.arange(800) % 2)]
theta = jnp.array([1.0, 0.5])


def loss(theta, x, mass, weight, label, **more):
    score = jax.nn.sigmoid(theta[0] * x + theta[1] * mass)
    return mode_loss(score, mass, weight=weight, label=label, order=1, bins=8, **more)


def compare(found):
    for got, want in zip(found, wanted):
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-13)


wanted = jax.value_and_grad(loss)(theta, *arrays)
specs = (P(), *[P("data")] * 4)
for kind in (AxisType.Auto, AxisType.Explicit):
    mesh = jax.make_mesh((8,), ("data",), axis_types=(kind,))
    sharded = [jax.device_put(array, NamedSharding(mesh, P("data"))) for array in arrays]
    for on_device in (True, False):
        compare(jax.jit(jax.value_and_grad(partial(loss, on_device=on_device)))(theta, *sharded))
        for check_vma in (True, False):
            if on_device and (kind, check_vma) != (AxisType.Auto, True):
                continue  # which take seconds to compile, and differ in what follows the loss alone
            union = partial(loss, on_device=on_device, axis_name="data")
            sharing = partial(jax.shard_map, mesh=mesh, in_specs=specs, check_vma=check_vma)

            @jax.jit
            @partial(sharing, out_specs=(P(), P()))
            def inside(theta, *arrays):
                value, grad = jax.value_and_grad(union)(theta, *arrays)
                return value, grad if check_vma else jax.lax.pmean(grad, "data")

            compare(inside(theta, *sharded))
            if not on_device:
                compare(jax.jit(jax.value_and_grad(sharing(union, out_specs=P())))(theta, *sharded))

bad = jax.device_put(arrays[0].at[4].set(jnp.nan), NamedSharding(mesh, P("data")))
try:
    jax.block_until_ready(jax.jit(sharing(union, out_specs=P()))(theta, bad, *sharded[1:]))
except jax.errors.JaxRuntimeError as error:
    print(str(error).splitlines()[-1])
"""

IN_KERAS = """
import keras, numpy as np
from libmode.keras import MoDeLoss, pack

rng = np.random.default_rng(0)
features, label, mass = rng.normal(size=(1600, 2)).astype("float32"), rng.integers(0, 2, 1600), rng.random(1600)


def trained(distribution):
    keras.distribution.set_distribution(distribution)
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1, "sigmoid")])
    model.compile(keras.optimizers.SGD(0.5), MoDeLoss(order=1, strength=30.0))
    model.fit(features, pack(label, mass), batch_size=800, epochs=2, verbose=0, shuffle=False)
    return np.concatenate([np.ravel(weights) for weights in model.get_weights()])


alone = trained(None)
distribution = keras.distribution.DataParallel()
assert distribution.device_mesh.shape == (8,)
np.testing.assert_allclose(trained(distribution), alone, rtol=1e-5, atol=1e-6)
"""


def on_eight_devices(program):
    """What a program prints that has eight devices."""
    settings = {"XLA_FLAGS": "--xla_force_host_platform_device_count=8", "JAX_PLATFORMS": "cpu", "KERAS_BACKEND": "jax"}
    package = {"PYTHONPATH": str(Path(libmode.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | settings | package,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_on_a_mesh_it_is_the_loss_of_the_union():
    assert "score[4] = NaN: every score of a selected event must be finite" in on_eight_devices(ON_A_MESH)


def test_keras_distribution_is_one_device_with_all_events():
    on_eight_devices(IN_KERAS)
