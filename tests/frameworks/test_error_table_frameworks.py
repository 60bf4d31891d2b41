"""The table of errors through JAX and TensorFlow, where values are known; Keras: on_keras_errors.py."""

import error_cases
import jax
import libmode.jax
import libmode.tensorflow
import numpy as np
import pytest
import tensorflow as tf

ARRAYS = ("score", "mass", "weight", "label", "category")


def by_jax(case):
    with jax.enable_x64(True):
        libmode.jax.mode_loss(loss=case.loss, **case.arguments())


def by_tensorflow(case):
    libmode.tensorflow.mode_loss(loss=case.loss, **case.arguments())


CASES = [
    pytest.param(call, case, case.expected(name), id=f"{name}-{case.input}")
    for name, call in {"jax": by_jax, "tensorflow": by_tensorflow}.items()
    for case in error_cases.OPTIONS + error_cases.EVENTS + error_cases.FRONT_OPTIONS + error_cases.FRONT_ARRAYS
    if case.expected(name) is not None
]


@pytest.mark.parametrize("call, case, sentence", CASES)
def test_the_error_is_that_of_the_table(call, case, sentence):
    with pytest.raises(case.error) as caught:
        call(case)
    assert str(caught.value) == sentence


#: One of each kind: what is known while tracing, and what only when the program runs.
COMPILED = [
    case
    for case in error_cases.EVENTS
    if case.input in ("score[7] = nan", "background_label = 3", "weight[15:30] = -1")
]


@pytest.mark.parametrize("case", COMPILED, ids=lambda case: case.input)
def test_inside_a_compiled_program_the_sentence_is_the_end_of_its_error(case):
    given = case.arguments()
    options = {name: given.pop(name) for name in list(given) if name not in ARRAYS}
    with jax.enable_x64(True), pytest.raises(jax.errors.JaxRuntimeError) as caught:
        jax.block_until_ready(jax.jit(lambda arrays: libmode.jax.mode_loss(**arrays, **options))(given))
    assert str(caught.value).rstrip().endswith(case.expected("jax"))
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.function(lambda arrays: libmode.tensorflow.mode_loss(**arrays, **options))(
            {name: tf.constant(np.asarray(array)) for name, array in given.items()}
        )
    assert f"[{case.expected('tensorflow')}]" in str(caught.value)
