"""The table of errors through JAX, where values are known; Keras, and so TensorFlow: on_keras_errors.py."""

import error_cases
import jax
import libmode.jax
import pytest

ARRAYS = ("score", "mass", "weight", "label", "category")
CASES = error_cases.OPTIONS + error_cases.EVENTS + error_cases.FRONT_OPTIONS + error_cases.FRONT_ARRAYS


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.function}-{case.input}")
def test_the_error_is_that_of_the_table(case):
    with jax.enable_x64(True), pytest.raises(case.error) as caught:
        libmode.jax.mode_loss(loss=case.loss, **case.arguments())
    assert case.is_in(caught.value), str(caught.value)


#: One of each kind: what is known while tracing, and what only when the program runs.
COMPILED = [
    case
    for case in error_cases.EVENTS
    if case.input in ("score[7] = nan", "background_label = 3", "weight[15:30] = -1")
]


@pytest.mark.parametrize("case", COMPILED, ids=lambda case: case.input)
def test_inside_a_compiled_program_the_sentence_is_in_its_error(case):
    given = case.arguments()
    options = {name: given.pop(name) for name in list(given) if name not in ARRAYS}
    with jax.enable_x64(True), pytest.raises(jax.errors.JaxRuntimeError) as caught:
        jax.block_until_ready(jax.jit(lambda arrays: libmode.jax.mode_loss(**arrays, **options))(given))
    assert case.is_in(caught.value), str(caught.value)
