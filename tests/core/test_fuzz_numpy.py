"""Whatever the functions for NumPy are given: a finite number and a gradient, or a sentence that names an argument.

``LIBMODE_FUZZ`` says how many examples; other than by default they differ from run to run.
"""

import os

import fuzzed
import libmode
import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

EXAMPLES = int(os.environ.get("LIBMODE_FUZZ", "0"))
fuzzing = settings(
    max_examples=EXAMPLES or 250,
    derandomize=not EXAMPLES,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def type_of_gradient(score):
    """As the docstring of mode_loss_and_grad says it."""
    dtype = np.asarray(score).dtype
    return np.float64 if dtype.kind != "f" else np.float32 if dtype.itemsize == 2 else dtype


def check_gradient(grad, score):
    assert isinstance(grad, np.ndarray)
    assert grad.shape == np.shape(score)
    assert grad.dtype == type_of_gradient(score)
    assert np.isfinite(grad).all()


@fuzzing
@given(fuzzed.events(), fuzzed.options())
def test_a_loss_and_its_gradient_or_a_sentence(events, options):
    try:
        loss, grad = libmode.mode_loss_and_grad(**events, **options)
    except Exception as error:
        fuzzed.sentence_of(error)
    else:
        assert type(loss) is float and np.isfinite(loss)
        check_gradient(grad, events["score"])


@fuzzing
@given(fuzzed.events(), fuzzed.options(), st.booleans())
def test_a_bias_and_a_curvature_or_a_sentence(events, options, hess):
    try:
        found = libmode.mode_evaluate(**events, hess=hess, **options)
    except Exception as error:
        fuzzed.sentence_of(error, fuzzed.NAMED_OF_HESS if hess else fuzzed.NAMED)
    else:
        assert np.isfinite(found[:3]).all()
        check_gradient(found.grad, events["score"])
        if hess:
            check_gradient(found.hess, events["score"])
            assert (found.hess >= 0).all()


@fuzzing
@given(fuzzed.events(), fuzzed.options())
def test_edges_or_a_sentence(events, options):
    events = {name: events[name] for name in ("mass", "weight", "label") if name in events}
    try:
        edges = libmode.mode_edges(**events, **options)
    except Exception as error:
        fuzzed.sentence_of(error)
    else:
        assert (np.diff(edges) > 0).all()


@fuzzing
@given(fuzzed.events(), fuzzed.options())
def test_moments_or_a_sentence(events, options):
    events.pop("category", None)
    try:
        found = libmode.mode_moments(**events, **options)
    except Exception as error:
        fuzzed.sentence_of(error)
    else:
        assert all(np.isfinite(table).all() for table in found)


@fuzzing
@given(fuzzed.events())
def test_losses_to_compare_with_or_a_sentence(events):
    for loss in ("disco", "flatness"):
        try:
            value, grad = libmode.mode_loss_and_grad(**events, loss=loss)
        except Exception as error:
            fuzzed.sentence_of(error)
        else:
            assert np.isfinite(value)
            check_gradient(grad, events["score"])
