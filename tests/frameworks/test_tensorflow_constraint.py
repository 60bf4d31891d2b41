"""libmode.tensorflow.mode_constraint: what is added to a gradient, eagerly and in a tf.function."""

import warnings

import libmode
import numpy as np
import pandas as pd
import pytest
import tensorflow as tf
from libmode.tensorflow import Events, mode_constraint
from pushed import pushed
from torch_layer import layered

N = 512  # half of them background; no rank of these is at the limit of a cell, where rounding decides


def events(seed=0, n=N):
    """Score, label, mass and weight."""
    rng = np.random.default_rng(seed)
    label, mass = np.arange(n) % 2, rng.random(n).astype(np.float32)
    score = np.clip(0.75 * rng.random(n) + 0.2 * mass + 0.05 * label, 0.01, 0.99).astype(np.float32)
    return score, label, mass, rng.uniform(0.5, 2, n).astype(np.float32)


def entropy(score, label):
    return -tf.reduce_mean(tf.where(label == 1, tf.math.log(score), tf.math.log1p(-score)))


def gradient(way, score, label, *others, scale=1.0, **arguments):
    """Of the cross entropy after the layer, in a graph that does not know how many events come."""

    def of_constrained(score, label, *others):
        with tf.GradientTape() as tape:
            tape.watch(score)
            same = mode_constraint(score, label, *others, **arguments)
            loss = scale * entropy(tf.cast(same, tf.float32), label)
        return tape.gradient(loss, score)

    tensors = [tf.constant(array) for array in (score, label, *others)]
    if way == "function":
        signature = [tf.TensorSpec([None, *tensor.shape[1:]], tensor.dtype) for tensor in tensors]
        of_constrained = tf.function(of_constrained, input_signature=signature)
    return of_constrained(*tensors).numpy()


def incoming(score, label):
    with tf.GradientTape() as tape:
        score = tf.constant(score)
        tape.watch(score)
        loss = entropy(score, label)
    return tape.gradient(loss, score).numpy()


def assert_close(grad, want, rtol=2e-5):
    np.testing.assert_allclose(grad, want, rtol=0, atol=rtol * np.abs(want).max())


WAYS = pytest.mark.parametrize("way", ["eager", "function"])


@WAYS
@pytest.mark.parametrize("options", [{}, {"order": 0, "bins": 8, "relative_strength": 3}], ids=str)
def test_the_gradient_has_a_push(way, options):
    arrays = events()
    want = pushed(incoming(*arrays[:2]), *arrays, **options)
    assert_close(gradient(way, *arrays, **options), want)
    scaled = gradient(way, *arrays, scale=1024.0, **options) / 1024
    assert_close(scaled, want)


def test_it_is_the_layer_of_pytorch_before_its_first_batch(tmp_path):
    score, label, mass, _ = events()
    (want,), _ = layered([(score, label, mass)], tmp_path, relative_strength=10.0)
    assert_close(gradient("function", score, label, mass), want, rtol=1e-5)


@WAYS
def test_the_scores_are_unchanged_and_nothing_is_computed_without_a_gradient(way):
    score, label, mass, _ = events()

    def same(score):
        return mode_constraint(score, label, mass)

    for given in (score, score[:, None], score.astype(np.float16), score * np.nan):
        got = (tf.function(same) if way == "function" else same)(tf.constant(given))
        np.testing.assert_array_equal(got.numpy(), given)
        assert got.dtype == given.dtype and got.shape == given.shape


@WAYS
def test_small_floats_and_columns(way):
    score, label, mass, _ = events()
    half = np.round(score * 1024).astype(np.float16) / 1024  # which float16 has
    grad = gradient(way, half, label, mass)
    assert grad.dtype == np.float16
    np.testing.assert_allclose(grad, gradient(way, half.astype(np.float32), label, mass), rtol=2e-3, atol=1e-6)
    columns = gradient(way, score[:, None], label[:, None], mass[:, None])
    assert columns.shape == (N, 1) and (columns[:, 0] == gradient(way, score, label, mass)).all()


@WAYS
def test_reference_events_count_and_get_no_gradient(way):
    score, label, mass, weight = events()
    further = [array[::2] for array in events(seed=1, n=2000)]  # background
    reference = Events(tf.constant(further[0]), further[2], further[3])
    want = pushed(incoming(score, label), score, label, mass, weight, reference=(further[0], *further[2:]))
    assert_close(gradient(way, score, label, mass, weight, reference=reference), want)
    with pytest.raises(
        (ValueError, tf.errors.InvalidArgumentError), match="the batch has weight, and reference has none"
    ):
        gradient(way, score, label, mass, weight, reference=reference._replace(weight=None))
    with pytest.raises(TypeError, match="reference.score has dtype int64: expected a floating type"):
        gradient(way, score, label, mass, reference=reference._replace(score=further[1]))
    with pytest.raises(TypeError, match="reference is tuple: give Events"):
        gradient(way, score, label, mass, reference=tuple(reference))


@WAYS
def test_a_batch_without_background_adds_nothing_and_is_said_once(way):
    score, _, mass, _ = events()
    signal, options = np.ones(N, int), {"bins": 8 if way == "eager" else 9}  # it is said once for the same options
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")  # what TensorFlow's compiler makes Python 3.13 say
        warnings.simplefilter("always", RuntimeWarning)
        for _ in range(3):
            assert (gradient(way, score, signal, mass, **options) == incoming(score, signal)).all()
    (said,) = caught
    assert "mode_constraint gives a batch no gradient of MoDe: no event" in str(said.message)
    with pytest.raises((libmode.BatchError, tf.errors.InvalidArgumentError), match="no event selected"):
        gradient(way, score, signal, mass, on_bad_batch="raise")


@WAYS
def test_bad_input(way):
    score, label, mass, _ = events()
    score[16] = np.nan
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=r"score\[16\] = NaN: every score"):
        gradient(way, score, label, mass)
    score, *_ = events()
    with pytest.raises(
        (ValueError, tf.errors.InvalidArgumentError), match="mass has length 511, but score has length 512"
    ):
        gradient(way, score, label, mass[1:])
    with pytest.raises(TypeError, match="label is None"):
        mode_constraint(score, None, mass)
    with pytest.raises(ValueError, match="relative_strength = 0: must be positive"):
        mode_constraint(score, label, mass, relative_strength=0)
    with pytest.raises(TypeError, match="unknown option 'tolerance'"):  # nothing is remembered
        mode_constraint(score, label, mass, tolerance=1e5)


def test_xla_is_refused_by_name():
    score, label, mass, _ = (tf.constant(array) for array in events())

    @tf.function(jit_compile=True)
    def step(score):
        with tf.GradientTape() as tape:
            tape.watch(score)
            loss = entropy(mode_constraint(score, label, mass), label)
        return tape.gradient(loss, score)

    with pytest.raises(RuntimeError, match="jit_compile=False"):
        step(score)


@WAYS
def test_a_second_derivative_is_a_clear_error(way):
    score, label, mass, _ = (tf.constant(array) for array in events())

    def twice(score):
        with tf.GradientTape() as outer:
            outer.watch(score)
            with tf.GradientTape() as inner:
                inner.watch(score)
                loss = entropy(mode_constraint(score, label, mass), label)
            grad = inner.gradient(loss, score)
        return outer.gradient(grad, score)

    with pytest.raises(RuntimeError, match="no second derivative"):
        (tf.function(twice) if way == "function" else twice)(score)


def test_series_of_another_index_and_other_names_of_weight_are_errors():
    score, label, mass = np.linspace(0.1, 0.9, 512), np.arange(512) % 2, np.arange(512.0)
    for wrong in (pd.Series(label, index=np.arange(512)[::-1]), pd.Series(label, index=np.arange(1, 513))):
        with pytest.raises(ValueError, match="label has another index than score"):
            mode_constraint(pd.Series(score), wrong, pd.Series(mass))
    with pytest.raises(TypeError, match="'weights' of mode_constraint: did you mean weight"):
        mode_constraint(score, label, mass, weights=mass)
