"""The table of errors through the losses of Keras, on the backend that KERAS_BACKEND names; see test_keras.py.

``pack`` makes columns of the arrays, so that those of other lengths, shapes and types are errors of its own (on_keras.py).
"""

import contextlib

import error_cases
import keras
import libmode.keras
import pytest
from libmode.keras import pack

BACKEND = keras.backend.backend()
CASES = [
    case for case in error_cases.OPTIONS + error_cases.EVENTS + error_cases.FRONT_OPTIONS if case.expected("keras")
]


def in_double():
    """JAX has float64 only where it is asked for."""
    if BACKEND != "jax":
        return contextlib.nullcontext()
    import jax

    return jax.enable_x64(True)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.input)
def test_the_error_is_that_of_the_table(case):
    given = case.arguments()
    score, mass, weight, label, category = (
        given.pop(name, None) for name in ("score", "mass", "weight", "label", "category")
    )
    loss = getattr(libmode.keras, case.function)
    with in_double(), pytest.raises(case.error) as caught:
        loss(pack(0 * score if label is None else label, mass, weight, category), score, **given)
    assert str(caught.value) == case.expected("keras")
