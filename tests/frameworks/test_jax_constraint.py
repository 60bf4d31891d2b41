"""libmode.jax.mode_constraint: what is added to a gradient, under jit, vmap and scan; its state; a training."""

import os
import subprocess
import sys
from functools import partial

import jax
import jax.numpy as jnp
import libmode
import numpy as np
import optax
import pandas as pd
import pytest
from libmode import metrics
from libmode._constraint import NUMBERS
from libmode.jax import Events, State, mode_constraint
from libmode.jax import loss as jax_loss
from pushed import pushed
from torch_layer import layered

N = 512  # half of them background; no rank of these is at the limit of a cell, where rounding decides
WAYS = pytest.mark.parametrize("way", [lambda f: f, jax.jit], ids=["eager", "jit"])


def events(seed=0, n=N):
    """Score, label, mass and weight."""
    rng = np.random.default_rng(seed)
    label, mass = np.arange(n) % 2, rng.random(n).astype(np.float32)
    score = np.clip(0.75 * rng.random(n) + 0.2 * mass + 0.05 * label, 0.01, 0.99).astype(np.float32)
    return score, label, mass, rng.uniform(0.5, 2, n).astype(np.float32)


def entropy(score, label):
    return -jnp.mean(jnp.where(label == 1, jnp.log(score), jnp.log1p(-score)))


def gradient(way=lambda f: f, loss=entropy, **arguments):
    """Of the cross entropy after the layer, as a function of score, label, mass and weight."""

    def of_constrained(score, label, mass, weight=None):
        return loss(mode_constraint(score, label, mass, weight, **arguments), label)

    return way(jax.grad(of_constrained))


def assert_close(grad, want, rtol=2e-5):
    np.testing.assert_allclose(grad, want, rtol=0, atol=rtol * np.abs(want).max())


@WAYS
@pytest.mark.parametrize("shape", [(N,), (N, 1)])
@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16], ids=["float32", "bfloat16"])
def test_the_scores_are_unchanged(way, shape, dtype):
    score, label, mass, _ = events()
    score = jnp.asarray(score, dtype).reshape(shape)
    same, pullback = jax.vjp(way(lambda s: mode_constraint(s, label, mass)), score)
    assert same.dtype == dtype and same.shape == shape and (same == score).all()
    (grad,) = pullback(same)
    assert grad.dtype == dtype and grad.shape == shape and jnp.isfinite(grad).all()
    assert (grad != same).any()


ARGUMENTS = {
    "defaults": {},
    "order 0": {"order": 0, "bins": 8},
    "order 2, monotonic": {"order": 2, "monotonic": True, "relative_strength": 3},
}


@WAYS
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weights"])
@pytest.mark.parametrize("name", ARGUMENTS)
def test_the_gradient_has_a_push(way, name, weighted):
    arguments = ARGUMENTS[name]
    score, label, mass, weight = events()
    weight = weight if weighted else None
    incoming = jax.grad(entropy)(score, label)
    want = pushed(incoming, score, label, mass, weight, **arguments)
    grad = gradient(way, **arguments)(score, label, mass, weight)
    assert_close(grad, want)
    assert (grad == incoming)[label == 1].all()


def test_logits():
    score, label, mass, _ = events()
    logit = jnp.log(score / (1 - score))
    by_logits = gradient(loss=lambda x, y: entropy(jax.nn.sigmoid(x), y), from_logits=True)(logit, label, mass)
    assert_close(by_logits, gradient()(score, label, mass) * score * (1 - score), rtol=1e-4)


@WAYS
def test_it_has_the_scale_of_the_loss(way):
    score, label, mass, _ = events()
    grad = gradient(way)(score, label, mass)
    for scale in (1024.0, 2.0**-10):
        scaled = gradient(way, loss=lambda s, y, scale=scale: scale * entropy(s, y))(score, label, mass)
        assert_close(scaled / scale, grad, rtol=1e-6)


@WAYS
def test_nothing_is_added_to_what_is_0_or_not_finite(way):
    score, label, mass, _ = events()
    assert (gradient(way, loss=lambda s, y: 0 * s.sum())(score, label, mass) == 0).all()
    assert (gradient(way, loss=lambda s, y: jnp.inf * s.sum())(score, label, mass) == jnp.inf).all()


@WAYS
def test_where_nothing_is_differentiated_nothing_is_computed(way):
    score, label, mass, _ = events()
    same, state = way(lambda s: mode_constraint(s, label, mass, state=State()))(score * np.nan)
    assert jnp.isnan(same).all()
    jax.tree.map(np.testing.assert_array_equal, state, State.start())


def test_the_other_arguments_have_derivative_0():
    score, label, mass, weight = events()
    grads = jax.grad(lambda m, w: entropy(mode_constraint(score, label, m, w), label), argnums=(0, 1))(mass, weight)
    assert not np.any(grads)
    reference = jax.grad(
        lambda r: entropy(mode_constraint(score, label, mass, reference=Events(r, mass)), label),
    )(jnp.asarray(score))
    assert not np.any(reference)


def test_vmap_over_batches_of_equal_size():
    batches = [events(seed) for seed in range(3)]
    grads = jax.jit(jax.vmap(gradient()))(*(jnp.stack(arrays) for arrays in zip(*batches, strict=True)))
    for grad, batch in zip(grads, batches, strict=True):
        assert_close(grad, gradient()(*batch), rtol=1e-6)


@pytest.mark.parametrize("transform", [jax.hessian, lambda f: jax.jit(jax.hessian(f))], ids=["eager", "jit"])
def test_a_second_derivative_is_a_clear_error(transform):
    score, label, mass, _ = events()
    with pytest.raises(RuntimeError, match="no second derivative"):
        transform(lambda s: entropy(mode_constraint(s, label, mass), label))(jnp.asarray(score))


def test_without_the_experimental_callback_the_stable_one_is_used(monkeypatch):
    want, want_state = pushes(2, tolerance=1e6)
    monkeypatch.setattr(jax_loss, "buffer_callback", None)
    grads, state = pushes(2, tolerance=1e6)
    assert_close(np.stack(grads), np.stack(want), rtol=1e-6)
    assert_same(state, want_state)


def test_several_variables_and_categories():
    score, label, mass, _ = events()
    both, category = np.stack([mass, mass**2], axis=1), np.arange(N) // 2 % 2
    grad = gradient(jax.jit, category=category, bins=4)(score, label, both)
    want = pushed(jax.grad(entropy)(score, label), score, label, both, category=category, bins=4)
    assert_close(grad, want)


X64 = """if True:
    import jax, jax.numpy as jnp, numpy as np
    jax.config.update("jax_enable_x64", True)
    from libmode.jax import State, mode_constraint
    from pushed import pushed
    from test_jax_constraint import entropy, events
    score, label, mass, _ = events()
    score, mass = score.astype(float), mass.astype(float)

    @jax.jit
    def step(score, state):
        def loss(score):
            same, after = mode_constraint(score, label, mass, state=state)
            return entropy(same, label), after
        return jax.grad(loss, has_aux=True)(score)

    grad, state = step(score, State())
    assert grad.dtype == state.loss.dtype == jnp.float64
    want = pushed(jax.grad(entropy)(score, label), score, label, mass, relative_strength=4)  # of the first batch
    np.testing.assert_allclose(grad, want, rtol=0, atol=1e-8 * np.abs(want).max())
"""


def test_float64():
    here = os.path.dirname(__file__)
    path = os.pathsep.join([here, os.path.join(here, "..", "helpers"), *sys.path])
    environment = os.environ | {"JAX_PLATFORMS": "cpu", "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", X64], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


# ------------------------------------------------------- reference events


@WAYS
@pytest.mark.parametrize("labeled", [False, True])
def test_reference_events_count_and_get_no_gradient(way, labeled):
    score, label, mass, weight = events()
    further = [array[::2] for array in events(seed=1, n=2000)]  # background
    reference = Events(further[0], further[2], further[3], further[1] if labeled else None)
    incoming = jax.grad(entropy)(score, label)
    want = pushed(incoming, score, label, mass, weight, reference=(further[0], further[2], further[3]))

    def loss(score, reference):
        return entropy(mode_constraint(score, label, mass, weight, reference=reference), label)

    grad = way(jax.grad(loss))(score, reference)
    assert grad.shape == (N,)
    assert_close(grad, want)
    assert not np.allclose(grad, gradient()(score, label, mass, weight), rtol=0.01)


BAD_REFERENCES = {
    "kind": (lambda s, m, w: (s, m), TypeError, "reference is tuple: give Events"),
    "length": (lambda s, m, w: Events(s, m[1:]), ValueError, "reference.mass has length 511, but score has length 512"),
    "weights": (lambda s, m, w: Events(s, m, w), ValueError, "reference has weight, and the batch has none"),
    "type": (lambda s, m, w: Events(s.astype(int), m), TypeError, r"reference\.score has dtype int"),
    "variables": (lambda s, m, w: Events(s, np.stack([m, m], 1)), ValueError, r"reference.mass has shape \(512, 2\)"),
    "NaN": (lambda s, m, w: Events(s * np.nan, m), ValueError, r"score\[512\] = NaN.*events from 512 on are those of reference"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_REFERENCES)
def test_a_reference_that_does_not_fit(name):
    reference, kind, message = BAD_REFERENCES[name]
    score, label, mass, weight = events()
    with pytest.raises(kind, match=message):
        gradient(reference=reference(score, mass, weight))(score, label, mass)


# ------------------------------------------------------- bad input


@WAYS
def test_a_batch_without_background_adds_nothing_and_is_said_once(way):
    score, _, mass, _ = events()
    signal, options = np.ones(N), {"bins": 7 if way is jax.jit else 6}  # a function says it once for the same options
    grad = gradient(way, **options)
    with pytest.warns(
        RuntimeWarning, match="mode_constraint gives a batch no gradient of MoDe: no event selected"
    ) as caught:
        for _ in range(3):
            assert (grad(score, signal, mass) == jax.grad(entropy)(score, signal)).all()
    assert len(caught) == 1


def test_a_bad_batch_may_be_an_error():
    score, _, mass, _ = events()
    with pytest.raises(libmode.BatchError, match="no event selected.*gives every such batch no gradient of MoDe"):
        gradient(on_bad_batch="raise")(score, np.ones(N), mass)


def test_bad_scores_are_an_error():
    score, label, mass, _ = events()
    score[16] = np.nan
    with pytest.raises(ValueError, match=r"^score\[16\] = NaN: every score of a selected event must be finite"):
        gradient()(score, label, mass)
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"score\[16\] = NaN"):
        jax.block_until_ready(gradient(jax.jit)(score, label, mass))
    with pytest.raises(ValueError, match=r"score\[16\] = NaN.* \(in training step 3\)"):
        gradient(loss=lambda s, y: entropy(s[0], y), state=State(steps=3.0))(score, label, mass)
    with pytest.raises(ValueError, match=r"score\[0\] = 3.*score_range"):
        gradient()(np.full(N, 3, np.float32), label, mass)


BAD_ARGUMENTS = [
    ({"relative_strength": -1}, ValueError, "relative_strength = -1: must be positive and finite"),
    ({"relative_strength": "high"}, TypeError, "relative_strength = 'high': must be a number"),
    ({"tolerance": 1000}, ValueError, "tolerance = 1000 and state = None.*State"),
    ({"state": (0.0,)}, TypeError, r"state is tuple: give libmode.jax.State\(\)"),
    ({"orders": 1}, TypeError, "unknown option 'orders'"),
    ({"on_bad_batch": "pass"}, ValueError, "on_bad_batch = 'pass'"),
    ({"category": np.ones(N)}, TypeError, "category has dtype float..: expected integers"),
    ({"tolerance": 0, "state": State()}, ValueError, "tolerance = 0: must be positive"),
    ({"tolerance": 1e5, "relative_strength": 3, "state": State()}, ValueError, "relative_strength = 3.0 and tolerance = 1"),
    ({"state": State.start(2)}, ValueError, r"state.sums has shape \(300,\): expected \(144,\) for 1 variables of mass"),
    ({"state": State.start(), "background_label": (0, 1)}, ValueError, r"\(288,\) for 1 variables of mass and 2 back"),
]  # fmt: skip


@WAYS
@pytest.mark.parametrize("arguments, kind, message", BAD_ARGUMENTS, ids=lambda value: str(value)[:40])
def test_bad_arguments(way, arguments, kind, message):
    score, label, mass, _ = events()
    with pytest.raises(kind, match=message):
        way(lambda s: mode_constraint(s, label, mass, **arguments))(score)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((4,), "variables = 4: must be 1 to 3"),
        ((0,), "variables = 0: must be 1 to 3"),
        ((1, 0), "labels = 0: must be an integer, at least 1"),
        ((1, 1.5), "labels = 1.5: must be an integer, at least 1"),
    ],
)
def test_a_state_of_no_such_size(arguments, message):
    with pytest.raises(ValueError, match=message):
        State.start(*arguments)


def test_the_label_must_be_given():
    score, _, mass, _ = events()
    with pytest.raises(TypeError, match="label is None"):
        mode_constraint(score, None, mass)


# ------------------------------------------------------- state


def numbers(state):
    """All that a state has, as one array."""
    return np.concatenate([np.ravel(number) for number in state])


def assert_same(state, want, rtol=1e-6):
    """All numbers but those of the sum to a relative precision, and those to one of the largest."""
    np.testing.assert_allclose(numbers(state)[:NUMBERS], numbers(want)[:NUMBERS], rtol=rtol)
    assert_close(numbers(state)[NUMBERS:], numbers(want)[NUMBERS:], rtol=10 * rtol)


def pushes(states, way=jax.jit, **arguments):
    """A gradient and the state after it, for batches of the same scores, some of which depend on mass more."""

    @way
    def step(state, score, label, mass):
        def loss(score):
            same, after = mode_constraint(score, label, mass, state=state, **arguments)
            return entropy(same, label), after

        return jax.grad(loss, has_aux=True)(score)

    grads, state = [], State()
    for seed in range(states):
        score, label, mass, _ = events(seed, 4000)
        grad, state = step(state, score, label, mass)
        grads.append(grad)
    return grads, state


@pytest.mark.parametrize(
    "arguments", [{}, {"tolerance": 100.0}, {"tolerance": 1e6}, {"relative_strength": 3.0}], ids=str
)
def test_it_is_the_layer_of_pytorch(arguments, tmp_path):
    grads, state = pushes(6, **arguments)
    batches = [events(seed, 4000)[:3] for seed in range(6)]
    want, want_state = layered(batches, tmp_path, **arguments)
    for grad, theirs in zip(grads, want, strict=True):
        assert_close(grad, theirs, rtol=1e-5)
    if "relative_strength" in arguments:  # no batch has made a sum, and there its length is not known
        want_state = np.append(want_state, np.zeros(144))
    assert_same(state, [want_state], rtol=1e-4)
    assert ("relative_strength" in arguments) == (not np.any(state.sums))


@pytest.mark.parametrize("variables", [1, 3])
def test_a_state_of_its_final_size_changes_nothing(variables):
    score, label, mass, _ = events()
    masses = np.stack([mass**k for k in range(1, variables + 1)], axis=1)

    @jax.jit
    @partial(jax.grad, has_aux=True)
    def step(score, state):
        same, after = mode_constraint(
            score, label, masses, state=state, bins=3, background_label=(0, 1), background_only=True
        )
        return entropy(same, label), after

    grad, state = step(score, State())
    other, other_state = step(score, State.start(variables, labels=2))
    assert (grad == other).all()
    jax.tree.map(np.testing.assert_array_equal, state, other_state)
    again, state = step(score, state)
    assert (again != grad).any() and state.steps == 2


@WAYS
def test_a_batch_without_background_leaves_the_state(way):
    _, state = pushes(2, way)
    score, _, mass, _ = events()
    bins = 5 if way is jax.jit else 4  # a function says it once for the same options

    def loss(score):
        same, after = mode_constraint(score, np.ones(N), mass, state=state, bins=bins)
        return entropy(same, 1), after

    with pytest.warns(RuntimeWarning, match="no event selected"):
        grad, after = way(jax.grad(loss, has_aux=True))(score)
    assert_close(grad, jax.grad(entropy)(score, 1), rtol=1e-7)
    jax.tree.map(np.testing.assert_array_equal, state, after)


def test_a_tolerance_lowers_the_strength_where_nothing_can_be_told():
    _, strict = pushes(20, tolerance=1e9)
    _, loose = pushes(20, tolerance=1000.0)
    assert strict.factor == 1 > 0.9 > loose.factor >= 0.01
    assert np.linalg.norm(loose.sums) < np.linalg.norm(strict.sums)
    rho, error = loose.dependence(1000.0)
    assert rho < 1 and 0 < error < 1


def test_the_state_in_a_scan():
    batches = [events(seed, 4000)[:3] for seed in range(4)]

    def step(state, batch):
        score, label, mass = batch

        def loss(score):
            same, after = mode_constraint(score, label, mass, state=state, tolerance=1e6)
            return entropy(same, label), after

        grad, after = jax.grad(loss, has_aux=True)(score)
        return after, grad

    stacked = [jnp.stack(arrays) for arrays in zip(*batches, strict=True)]
    state, grads = jax.jit(lambda stacked: jax.lax.scan(step, State.start(), stacked))(stacked)
    want, want_state = pushes(4, tolerance=1e6)
    assert_close(grads, np.stack(want), rtol=1e-6)
    assert_same(state, want_state)
    with pytest.raises(TypeError, match="carry"):  # a sum of no length yet
        jax.lax.scan(step, State(), stacked)


# ------------------------------------------------------- training


def toy(n, seed):
    """Features, one of which gives the mass away, label and mass: the signal is a peak."""
    rng = np.random.default_rng(seed)
    label = np.arange(n) % 2
    mass = np.where(label == 1, rng.normal(0.5, 0.05, n), rng.random(n)).astype(np.float32)
    x = np.stack([rng.normal(1.5 * label, 1), np.abs(mass - 0.5) * 4 - 1], axis=1).astype(np.float32)
    return x, label, mass


def trained(constrained, tolerance=None, steps=300):
    """AUC and MoDe of events that were not trained on, and the last state."""
    x, label, mass = map(jnp.asarray, toy(4000, 0))
    keys = jax.random.split(jax.random.key(1), 2)
    parameters = {
        "in": jax.random.normal(keys[0], (2, 16)),
        "bias": jnp.zeros(16),
        "out": 0.1 * jax.random.normal(keys[1], 16),
    }
    optimizer = optax.adam(0.01)

    def logits(parameters, x):
        return jax.nn.silu(x @ parameters["in"] + parameters["bias"]) @ parameters["out"]

    def loss(parameters, state, batch):
        out = logits(parameters, x[batch])
        if constrained:
            arguments = dict(order=0, from_logits=True, state=state, tolerance=tolerance)
            out, state = mode_constraint(out, label[batch], mass[batch], **arguments)
        return optax.sigmoid_binary_cross_entropy(out, label[batch]).mean(), state

    @jax.jit
    def step(carry, batch):
        parameters, momenta, state = carry
        grad, state = jax.grad(loss, has_aux=True)(parameters, state, batch)
        updates, momenta = optimizer.update(grad, momenta)
        return (optax.apply_updates(parameters, updates), momenta, state), None

    batches = np.random.default_rng(2).integers(0, len(x), (steps, 1000))
    (parameters, _, state), _ = jax.lax.scan(step, (parameters, optimizer.init(parameters), State.start()), batches)
    x, label, mass = toy(20_000, 3)
    score = np.asarray(jax.nn.sigmoid(logits(parameters, x)))
    return metrics.auc(score, label), libmode.mode_loss(score, mass, label=label, bins=16, order=0), state


def test_training_makes_the_response_flat_and_keeps_the_classifier():
    carved_auc, carved, _ = trained(False)
    auc, flat, state = trained(True)
    assert flat < carved / 30
    assert 0.8 < auc < carved_auc
    assert state.steps == 300 and state.factor == 1
    loose_auc, loose, state = trained(True, tolerance=100.0)
    assert state.factor < 0.5 and flat < loose < carved
    assert loose_auc > 0.8


def test_series_of_another_index_and_other_names_of_weight_are_errors():
    score, label, mass = np.linspace(0.1, 0.9, 512), np.arange(512) % 2, np.arange(512.0)
    for wrong in (pd.Series(label, index=np.arange(512)[::-1]), pd.Series(label, index=np.arange(1, 513))):
        with pytest.raises(ValueError, match="label and score have different indexes"):
            mode_constraint(pd.Series(score), wrong, pd.Series(mass))
    with pytest.raises(TypeError, match="'weights' of mode_constraint: did you mean weight"):
        mode_constraint(score, label, mass, weights=mass)
