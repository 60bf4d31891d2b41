"""libmode.jax.mode_loss as a citizen of JAX: jit, grad, jvp, vmap, x64, and its errors."""

import importlib
import os
import subprocess
import sys

import jax
import jax.experimental.buffer_callback
import jax.numpy as jnp
import libmode
import numpy as np
import optax
import pytest
from libmode.jax import loss as jax_loss
from libmode.jax import mode_loss

N = 60
WAYS = pytest.mark.parametrize("transform", [lambda f: f, jax.jit], ids=["eager", "jit"])
OPTIONS = dict(order=2, bins=5, monotonic=True, moments="projection", unbiased=True)


def events(dtype=np.float32, seed=4):
    """Score, mass, weight and label; neighboring scores differ by 1/128."""
    rng = np.random.default_rng(seed)
    arrays = (rng.permutation(N) + 1) / 128, rng.random(N), rng.choice([0.5, 1.0, 2.0], N)
    return *(jnp.asarray(array.astype(dtype)) for array in arrays), jnp.arange(N) % 3 % 2


def loss_of(score, mass, weight, label):
    return mode_loss(score, mass, weight=weight, label=label, **OPTIONS)


@WAYS
def test_it_is_the_loss_of_numpy(transform):
    arrays = events()
    s, m, w, y = map(np.asarray, arrays)
    want, want_grad = libmode.mode_loss_and_grad(s, m, weight=w, label=y, **OPTIONS)
    loss, grad = transform(jax.value_and_grad(loss_of))(*arrays)
    assert loss.dtype == grad.dtype == jnp.float32
    assert loss == np.float32(want) == transform(loss_of)(*arrays)
    assert (grad == want_grad).all()


def test_the_chain_rule():
    score, *others = events()
    logits = jnp.log(score / (1 - score))
    grad = jax.jit(jax.grad(lambda x: 7 * loss_of(jax.nn.sigmoid(x), *others)))(logits)
    inner = jax.grad(loss_of)(jax.nn.sigmoid(logits), *others)
    np.testing.assert_allclose(grad, 7 * inner * score * (1 - score), rtol=1e-5)


def test_forward_mode():
    score, *others = events()
    direction = jnp.linspace(-1, 1, N)
    loss, tangent = jax.jvp(lambda s: loss_of(s, *others), (score,), (direction,))
    assert loss == loss_of(score, *others)
    np.testing.assert_allclose(tangent, jnp.vdot(jax.grad(loss_of)(score, *others), direction), rtol=1e-5)


@WAYS
def test_vmap_over_batches_of_equal_size(transform):
    batches = [events(seed=seed) for seed in range(3)]
    stacked = [jnp.stack(arrays) for arrays in zip(*batches, strict=True)]
    losses, grads = transform(jax.vmap(jax.value_and_grad(loss_of)))(*stacked)
    for loss, grad, arrays in zip(losses, grads, batches, strict=True):
        want, want_grad = jax.value_and_grad(loss_of)(*arrays)
        assert loss == want
        assert (grad == want_grad).all()


OTHERS = {
    "disco": {"unbiased": True},
    "flatness": {"bins": 5, "score_range": None},
}


@pytest.mark.parametrize("name", OTHERS)
@WAYS
def test_the_other_losses_are_those_of_numpy(name, transform):
    options = {"loss": name, **OTHERS[name]}
    score, mass, weight, label = events()
    want, want_grad = libmode.mode_loss_and_grad(*map(np.asarray, (score, mass)), weight=weight, label=label, **options)
    loss, grad = transform(jax.value_and_grad(lambda s: mode_loss(s, mass, weight=weight, label=label, **options)))(
        score
    )
    assert loss == np.float32(want) and (grad == want_grad).all()
    with pytest.raises(TypeError, match="unknown option 'order': the options are "):
        mode_loss(score, mass, loss=name, order=1)


def of_several(score, mass, weight, label, category, **options):
    options = {"bins": (4, 5), "mass_range": (None, (0.0, 1.0))} | options
    return mode_loss(score, mass, weight=weight, label=label, category=category, **options)


def several(seed=4):
    """Score, mass of two variables, weight, label and category."""
    score, mass, weight, label = events(seed=seed)
    return score, jnp.stack([mass, mass**2], axis=1), weight, label, jnp.arange(N) // 30


@WAYS
def test_several_variables_and_categories(transform):
    arrays = several()
    want, want_grad = of_several_by_numpy(*map(np.asarray, arrays))
    loss, grads = transform(jax.value_and_grad(of_several, argnums=(0, 1)))(*arrays)
    np.testing.assert_allclose(loss, want, rtol=1e-6)
    np.testing.assert_allclose(grads[0], want_grad, rtol=1e-5, atol=1e-9)
    assert grads[1].shape == (N, 2) and (grads[1] == 0).all()
    joint = transform(lambda *a: of_several(*a, joint=True, bins=2))(*arrays)
    np.testing.assert_allclose(joint, of_several_by_numpy(*map(np.asarray, arrays), joint=True, bins=2)[0], rtol=1e-6)


def of_several_by_numpy(score, mass, weight, label, category, **options):
    options = {"bins": (4, 5), "mass_range": (None, (0.0, 1.0))} | options
    return libmode.mode_loss_and_grad(score, mass, weight=weight, label=label, category=category, **options)


@WAYS
def test_vmap_of_several_variables_and_categories(transform):
    batches = [several(seed) for seed in range(3)]
    stacked = [jnp.stack(arrays) for arrays in zip(*batches, strict=True)]
    losses, grads = transform(jax.vmap(jax.value_and_grad(of_several)))(*stacked)
    for loss, grad, arrays in zip(losses, grads, batches, strict=True):
        want, want_grad = jax.value_and_grad(of_several)(*arrays)
        assert loss == want
        assert (grad == want_grad).all()


@WAYS
@pytest.mark.parametrize("dtype", [jnp.float16, jnp.bfloat16, jnp.float32], ids=["float16", "bfloat16", "float32"])
def test_events_on_a_limit_take_part(transform, dtype):
    score, mass, *_ = events()
    mass = jnp.where(jnp.arange(N) < 40, 0.8, 0.8 * mass).astype(dtype)
    # Unbiased, events that take part may have gradient 0 as well.
    limited = dict(mass_range=(0, 0.8), binning="uniform", bins=2, unbiased=False, moments="quadrature")
    grad = transform(jax.grad(lambda s: mode_loss(s, mass, **limited)))(score)
    assert jnp.count_nonzero(grad) == N
    on_limit = (score * 0 + 0.8).astype(dtype).at[:5].set(0.5)
    assert jnp.isfinite(transform(lambda s: mode_loss(s, mass, score_range=(0, 0.8), bins=1))(on_limit))


def test_without_the_experimental_callback_the_stable_one_is_used(monkeypatch):
    arrays = events()
    want = jax.jit(jax.value_and_grad(loss_of))(*arrays)
    with monkeypatch.context() as without:
        without.delattr(jax.experimental.buffer_callback, "buffer_callback")
        importlib.reload(jax_loss)
        assert jax_loss.buffer_callback is None
        loss, grad = jax.jit(
            jax.value_and_grad(lambda s, m, w, y: jax_loss.mode_loss(s, m, weight=w, label=y, **OPTIONS))
        )(*arrays)
        assert loss == want[0] and (grad == want[1]).all()
    importlib.reload(jax_loss)
    assert jax_loss.buffer_callback is not None


@WAYS
@pytest.mark.parametrize("dtype", [jnp.float16, jnp.bfloat16], ids=["float16", "bfloat16"])
def test_the_gradient_of_small_floats_is_scaled_before_it_is_rounded(transform, dtype):
    score, *others = events()
    low = score.astype(dtype)
    grad = transform(jax.grad(lambda s: 65536 * loss_of(s, *others)))
    got, want = grad(low), grad(low.astype(jnp.float32))
    assert got.dtype == dtype and jnp.isfinite(got).all()
    assert (got == want.astype(dtype)).all()


def test_columns():
    arrays = events()
    columns = [array[:, None] for array in arrays]
    assert loss_of(*columns) == loss_of(*arrays)
    assert jax.grad(loss_of)(*columns).shape == (N, 1)


X64 = """if True:
    import jax, jax.numpy as jnp, numpy as np, libmode
    jax.config.update("jax_enable_x64", True)
    from libmode.jax import mode_loss
    rng = np.random.default_rng(0)
    score, mass = rng.random(500), rng.random(500)
    want, want_grad = libmode.mode_loss_and_grad(score, mass)
    for transform in (lambda f: f, jax.jit):
        loss, grad = transform(jax.value_and_grad(mode_loss))(score, mass)
        assert loss.dtype == grad.dtype == jnp.float64
        assert loss == want and (grad == want_grad).all()
        loss, grad = transform(jax.value_and_grad(mode_loss))(score.astype("f4"), mass)
        assert loss.dtype == grad.dtype == jnp.float32
"""

# On one processor JAX has one thread, and a callback that waits for JAX waits for ever.
ONE_PROCESSOR = """if True:
    import os
    os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
    import jax, jax.numpy as jnp, numpy as np
    from libmode.jax import mode_loss
    rng = np.random.default_rng(0)
    score, mass = jnp.asarray(rng.normal(size=300_000)), jnp.asarray(rng.random(300_000))
    step = jax.jit(jax.value_and_grad(lambda score: mode_loss(jax.nn.sigmoid(score), mass)))
    for _ in range(5):
        loss, grad = step(score)
    assert jnp.isfinite(grad).all()
"""


@pytest.mark.parametrize("code", [X64, ONE_PROCESSOR], ids=["x64", "one processor"])
def test_in_a_process_of_its_own(code):
    environment = os.environ | {"JAX_PLATFORMS": "cpu"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "function",
    [jax.hessian(loss_of), jax.jit(jax.hessian(loss_of)), jax.grad(lambda *a: jnp.sum(jax.grad(loss_of)(*a) ** 2))],
)
def test_a_second_derivative_is_a_clear_error(function):
    with pytest.raises(RuntimeError, match="no second derivative.*piecewise linear"):
        function(*events())


BAD = {
    "length": (lambda s, m: mode_loss(s, m[:-1]), ValueError, "mass has length 59, but score has length 60"),
    "shape": (lambda s, m: mode_loss(s, m.reshape(6, 10)), ValueError, r"mass has shape \(6, 10\): expected"),
    "3 bins": (lambda s, m: mode_loss(s, m, bins=(1, 2, 3)), ValueError, "bins has 3 entries, but mass has 1 variable"),
    "complex": (lambda s, m: mode_loss(s, m * 1j), TypeError, "mass has dtype complex64: expected real numbers"),
    "option": (lambda s, m: mode_loss(s, m, order=17), ValueError, "order = 17"),
}


@pytest.mark.parametrize("name", BAD)
@WAYS
def test_bad_shapes_and_types_are_refused_while_tracing(name, transform):
    call, kind, message = BAD[name]
    score, mass, *_ = events()
    with pytest.raises(kind, match=message):
        transform(call)(score, mass)


def test_bad_values_in_a_compiled_program_are_an_error_when_it_runs():
    score, mass, *_ = events()
    with pytest.raises(
        jax.errors.JaxRuntimeError, match=r"score\[17\] = NaN: every score of a selected event must be finite"
    ):
        jax.block_until_ready(jax.jit(jax.grad(mode_loss))(score.at[17].set(jnp.nan), mass))


def test_training_with_optax_makes_the_score_independent_of_the_mass():
    rng = np.random.default_rng(1)
    n = 2000
    label = (rng.random(n) < 0.5).astype(np.float32)
    mass = rng.random(n).astype(np.float32)
    features = np.stack([rng.normal(label), 4 * mass], axis=1).astype(np.float32)
    parameters = {"weight": jnp.array([1.0, 1.0]), "bias": jnp.zeros(())}

    def penalty(parameters):
        return mode_loss(
            jax.nn.sigmoid(features @ parameters["weight"] + parameters["bias"]), mass, label=label, bins=8
        )

    def loss(parameters):
        logits = features @ parameters["weight"] + parameters["bias"]
        return optax.sigmoid_binary_cross_entropy(logits, label).mean() + 100 * penalty(parameters)

    optimizer = optax.adam(0.05)

    @jax.jit
    def step(parameters, state):
        updates, state = optimizer.update(jax.grad(loss)(parameters), state)
        return optax.apply_updates(parameters, updates), state

    before, state = penalty(parameters), optimizer.init(parameters)
    for _ in range(60):
        parameters, state = step(parameters, state)
    assert penalty(parameters) < 0.2 * before
    assert parameters["weight"][0] > 0.5
