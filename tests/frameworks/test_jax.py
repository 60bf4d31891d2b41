"""libmode.jax.mode_loss as a citizen of JAX: the golden cases, jit, grad, jvp, vmap, x64, and its errors."""

import sys

import error_cases
import golden
import jax
import jax.experimental.buffer_callback
import jax.numpy as jnp
import libmode
import numpy as np
import pytest
from defaults import DEFAULTS, of_signature
from libmode.jax import mode_loss
from programs import run

N = 60
WAYS = pytest.mark.parametrize("transform", [lambda f: f, jax.jit], ids=["eager", "jit"])
SMALL = pytest.mark.parametrize("dtype", [jnp.float16, jnp.bfloat16], ids=["float16", "bfloat16"])
OPTIONS = dict(order=2, bins=5, monotonic=True, moments="projection", unbiased=True)


def events(dtype=np.float32, seed=4):
    """Score, mass, weight and label; neighboring scores differ by 1/128."""
    rng = np.random.default_rng(seed)
    arrays = (rng.permutation(N) + 1) / 128, rng.random(N), rng.choice([0.5, 1.0, 2.0], N)
    return *(jnp.asarray(array.astype(dtype)) for array in arrays), jnp.arange(N) % 3 % 2


def loss_of(score, mass, weight, label):
    return mode_loss(score, mass, weight=weight, label=label, **OPTIONS)


def of_several(score, mass, weight, label):
    """Of two variables and categories."""
    options = {"bins": (4, 5), "mass_range": (None, (0.0, 1.0)), "category": jnp.arange(N) // 30}
    return mode_loss(score, jnp.stack([mass, mass**2], axis=1), weight=weight, label=label, **({"order": 0} | options))


@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-9), (np.float32, 1e-5)])
@WAYS
def test_golden(golden_case, transform, dtype, tolerance):
    arrays = golden_case.events(dtype)

    def golden_loss(score, others):
        return mode_loss(score, **others, **({"order": 0} | golden_case.options))

    with jax.enable_x64(dtype == np.float64):
        loss, grad = transform(jax.value_and_grad(golden_loss))(arrays.pop("score"), arrays)
        assert loss.dtype == grad.dtype == dtype
    golden.assert_close(loss, golden_case.loss, tolerance)
    golden.assert_close(grad, golden_case.grad, tolerance)


def test_defaults_that_are_given_are_defaults_left_out():
    score, mass, weight, label = events()
    defaults = DEFAULTS["mode"] | of_signature(mode_loss) | {"label": label, "weight": weight}
    given, left_out = (
        jax.grad(lambda s, more=more: mode_loss(s, mass, order=1, **more))(score)
        for more in (defaults, {"label": label, "weight": weight})
    )
    np.testing.assert_array_equal(given, left_out)


@WAYS
def test_disco_and_columns(transform):
    arrays = events()
    s, m, w, y = map(np.asarray, arrays)
    want, want_grad = libmode.mode_loss_and_grad(s, m, weight=w, label=y, loss="disco")
    score, mass, weight, label = (array[:, None] for array in arrays)
    both = transform(jax.value_and_grad(lambda s: mode_loss(s, mass, weight=weight, label=label, loss="disco")))
    loss, grad = both(score)
    assert loss.dtype == grad.dtype == jnp.float32
    assert loss == np.float32(want) and (grad[:, 0] == want_grad).all()


@WAYS
def test_derivatives(transform):
    score, *others = events()
    logits, direction = jnp.log(score / (1 - score)), jnp.linspace(-1, 1, N)
    grad = transform(jax.grad(lambda x: 7 * loss_of(jax.nn.sigmoid(x), *others)))(logits)
    inner = jax.grad(loss_of)(jax.nn.sigmoid(logits), *others)
    np.testing.assert_allclose(grad, 7 * inner * score * (1 - score), rtol=1e-5)
    loss, tangent = transform(lambda s: jax.jvp(lambda s: loss_of(s, *others), (s,), (direction,)))(score)
    assert loss == loss_of(score, *others)
    np.testing.assert_allclose(tangent, jnp.vdot(jax.grad(loss_of)(score, *others), direction), rtol=1e-5)
    assert not jax.grad(of_several, argnums=1)(score, *others).any()
    for twice in (jax.hessian(loss_of), jax.grad(lambda *a: jnp.sum(jax.grad(loss_of)(*a) ** 2))):
        with pytest.raises(RuntimeError, match="no second derivative.*piecewise linear"):
            transform(twice)(score, *others)


@WAYS
@pytest.mark.parametrize("loss", [loss_of, of_several])
def test_vmap_over_batches_of_equal_size(transform, loss):
    batches = [events(seed=seed) for seed in range(3)]
    stacked = [jnp.stack(arrays) for arrays in zip(*batches, strict=True)]
    losses, grads = transform(jax.vmap(jax.value_and_grad(loss)))(*stacked)
    for value, grad, arrays in zip(losses, grads, batches, strict=True):
        want, want_grad = jax.value_and_grad(loss)(*arrays)
        assert value == want
        assert (grad == want_grad).all()


@WAYS
@SMALL
def test_the_gradient_of_small_floats_is_scaled_before_it_is_rounded(transform, dtype):
    score, *others = events()
    low = score.astype(dtype)
    grad = transform(jax.grad(lambda s: 65536 * loss_of(s, *others)))
    got, want = grad(low), grad(low.astype(jnp.float32))
    assert got.dtype == dtype and jnp.isfinite(got).all()
    assert (got == want.astype(dtype)).all()


@WAYS
def test_a_strength_is_relative_to_the_gradient_of_cross_entropy(transform):
    def norms(score, mass, weight, label):
        grad = jax.grad(loss_of)(score, mass, weight, label)
        return np.linalg.norm((weight / (1 - score))[label == 0]) / N, np.linalg.norm(grad)

    def strengthened(score, mass, weight, label, **state):
        return mode_loss(score, mass, weight=weight, label=label, strength=3, **state, **OPTIONS)

    batches = [events(seed=seed) for seed in range(3)]
    entropy, mode = norms(*batches[0])
    value, grad = transform(jax.value_and_grad(strengthened))(*batches[0])
    np.testing.assert_allclose(value, 3 * entropy / mode * loss_of(*batches[0]), rtol=1e-4)
    np.testing.assert_allclose(np.linalg.norm(grad), 3 * entropy, rtol=1e-4)
    state, step = jnp.zeros(3), lambda state, *batch: strengthened(*batch, state=state)
    step = transform(jax.value_and_grad(step, argnums=1, has_aux=True))
    for batch in batches:
        (value, state), grad = step(state, *batch)
    entropy, mode = np.mean([norms(*batch) for batch in batches], axis=0)
    np.testing.assert_allclose(state, [3, entropy, mode], rtol=1e-4)
    np.testing.assert_allclose(value, 3 * entropy / mode * loss_of(*batches[-1]), rtol=1e-4)
    np.testing.assert_allclose(grad, 3 * entropy / mode * jax.grad(loss_of)(*batches[-1]), rtol=1e-4, atol=1e-7)


# On one processor JAX has one thread, and a callback that waits for JAX waits for ever.
ONE_PROCESSOR = """if True:
    import os, sys
    os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
    import jax, jax.numpy as jnp, numpy as np
    from libmode.jax import mode_loss
    assert not {'torch', 'keras', 'tensorflow'} & set(sys.modules)
    rng = np.random.default_rng(0)
    score, mass = jnp.asarray(rng.normal(size=300_000)), jnp.asarray(rng.random(300_000))
    step = jax.jit(jax.value_and_grad(lambda score: mode_loss(jax.nn.sigmoid(score), mass, order=0)))
    for _ in range(5):
        loss, grad = step(score)
    assert jnp.isfinite(grad).all()
"""


def test_on_one_processor():
    run(sys.executable, "-c", ONE_PROCESSOR, timeout=60, JAX_PLATFORMS="cpu")


# ------------------------------------------------------- errors

ARRAYS = ("score", "mass", "weight", "label", "category")
CASES = error_cases.OPTIONS + error_cases.EVENTS + error_cases.FRONT_OPTIONS + error_cases.FRONT_ARRAYS


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.function}-{case.input}")
def test_the_error_is_that_of_the_table(case):
    with jax.enable_x64(True), pytest.raises(case.error) as caught:
        mode_loss(loss=case.loss, **case.arguments())
    assert case.is_in(caught.value), str(caught.value)


#: One of each kind: what is known while tracing, and what only when the program runs.
COMPILED = [
    case
    for case in CASES
    if case.input in ("score[7] = nan", "background_label = 3", "label = np.zeros(60); label[7] = nan")
]


@pytest.mark.parametrize("case", COMPILED, ids=lambda case: case.input)
def test_inside_a_compiled_program_the_sentence_is_in_its_error(case):
    given = case.arguments()
    options = {name: given.pop(name) for name in list(given) if name not in ARRAYS}
    with jax.enable_x64(True), pytest.raises(jax.errors.JaxRuntimeError) as caught:
        jax.block_until_ready(jax.jit(lambda arrays: mode_loss(**arrays, **({"order": 0} | options)))(given))
    assert case.is_in(caught.value), str(caught.value)
