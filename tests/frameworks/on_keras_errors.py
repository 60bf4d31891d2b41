"""The table of errors through the losses of Keras, on the backend that KERAS_BACKEND names; see test_keras.py.

``pack`` makes columns of the arrays, so that those of other lengths, shapes and types are errors of its own (on_keras.py).
"""

import contextlib

import error_cases
import keras
import pytest
from libmode.keras import MoDeLoss, pack

BACKEND = keras.backend.backend()
CASES = [case for case in error_cases.OPTIONS + error_cases.EVENTS + error_cases.FRONT_OPTIONS if case.loss == "mode"]


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
    with in_double(), pytest.raises(case.error) as caught:
        y_true = pack(0 * score if label is None else label, mass, weight, category)
        MoDeLoss(base=None, dtype="float64", **given)(y_true, score)
    assert case.is_in(caught.value), str(caught.value)


@pytest.mark.parametrize(
    "label, error, message",
    [
        (["0", "1"], TypeError, "label has dtype <U1: expected real numbers"),
        ([1j, 0], TypeError, "label has dtype complex128: expected real numbers"),
        ([[[0.0]], [[1.0]]], ValueError, r"label has shape (2, 1, 1): expected (n,), (n, 1) or (n, classes)"),
        ([[], []], ValueError, r"label has shape (2, 0): expected (n,), (n, 1) or (n, classes)"),
    ],
)
def test_labels_that_are_none(label, error, message):
    with pytest.raises(error) as caught:
        pack(label, [80.0, 90.0])
    assert str(caught.value) == message
