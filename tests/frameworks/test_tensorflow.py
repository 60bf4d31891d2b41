"""libmode._tensorflow, on which Keras stands, in a tf.function.

Its numbers and errors: on_keras.py and on_keras_constraint.py.
"""

import libmode
import numpy as np
import pytest
import tensorflow as tf
from libmode._events import Events
from libmode._options import check
from libmode._tensorflow import loss as tf_loss

N = 60
OPTIONS = dict(order=2, bins=5, monotonic=True, moments="projection", unbiased=True)


def events():
    """Score, mass, weight and label."""
    rng = np.random.default_rng(4)
    arrays = (rng.permutation(N) + 1) / 128, rng.random(N), rng.choice([0.5, 1.0, 2.0], N)
    return *(tf.constant(array, tf.float32) for array in arrays), tf.range(N) % 3 % 2


def mode_loss(score, mass, weight=None, label=None, **options):
    return tf_loss.core_loss(check("mode", options or OPTIONS), Events(score, label, mass, weight))


def value_and_grad(function, score, *others):
    with tf.GradientTape() as tape:
        tape.watch(score)
        loss = function(score, *others)
    return loss, tape.gradient(loss, score)


def as_function(function):
    """In a graph that does not know how many events come."""
    signature = [tf.TensorSpec([None, *tensor.shape[1:]], tensor.dtype) for tensor in events()]
    return tf.function(function, input_signature=signature)


WAYS = pytest.mark.parametrize("way", [lambda function: function, as_function], ids=["eager", "function"])


def test_a_graph_that_knows_neither_how_many_events_nor_how_many_variables_come():
    score, mass, weight, label = events()
    signature = [tf.TensorSpec([None]), tf.TensorSpec(None), tf.TensorSpec([None]), tf.TensorSpec([None], tf.int32)]
    graph = tf.function(lambda *t: value_and_grad(mode_loss, *t), input_signature=signature)
    for masses in (mass, tf.stack([mass, mass**2], axis=1)):
        loss, grad = graph(score, masses, weight, label)
        s, m, w, y = (tensor.numpy() for tensor in (score, masses, weight, label))
        want, want_grad = libmode.mode_loss_and_grad(s, m, weight=w, label=y, **OPTIONS)
        assert loss == np.float32(want) and (grad.numpy() == want_grad).all()


@WAYS
@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16], ids=["float16", "bfloat16"])
def test_the_gradient_of_small_floats_is_scaled_before_it_is_rounded(way, dtype):
    score, *others = events()
    low = tf.cast(score, dtype)
    of_low = way(lambda s, *o: value_and_grad(lambda s, *o: 65536 * mode_loss(tf.cast(s, dtype), *o, order=0), s, *o))
    of_single = way(lambda s, *o: value_and_grad(lambda s, *o: 65536 * mode_loss(s, *o, order=0), s, *o))
    (value, got), (want_value, want) = (f(tf.cast(low, tf.float32), *others) for f in (of_low, of_single))
    assert value == want_value and np.isfinite(got).all()
    assert (got.numpy() == tf.cast(tf.cast(want, dtype), tf.float32).numpy()).all()
