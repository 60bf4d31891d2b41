"""Whatever the functions for NumPy are given: a finite number and a gradient, or a sentence that names an argument.

``LIBMODE_FUZZ`` says how many examples; other than by default they differ from run to run.
"""

import warnings

import fuzzed
import libmode
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

fuzzing = settings(fuzzed.fuzzing, max_examples=fuzzed.EXAMPLES or 250)


def found_or_sentence(function, named=fuzzed.NAMED, **given):
    """What a function finds; None where it raises what names an argument. Masses in half precision may be warned of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", libmode.TrainingWarning)
        try:
            return function(**given)
        except Exception as error:
            fuzzed.sentence_of(error, named)
            return None


def check_gradient(grad, score):
    """Its type is as the docstring of mode_loss_and_grad says."""
    dtype = np.asarray(score).dtype
    assert isinstance(grad, np.ndarray)
    assert grad.shape == np.shape(score)
    assert grad.dtype == (np.float64 if dtype.kind != "f" else np.float32 if dtype.itemsize == 2 else dtype)
    assert np.isfinite(grad).all()


@fuzzing
@given(fuzzed.events(), fuzzed.options(), st.sampled_from(["mode", "mode", "disco"]))
def test_a_loss_and_its_gradient_or_a_sentence(events, options, loss):
    found = found_or_sentence(libmode.mode_loss_and_grad, loss=loss, **events, **options if loss == "mode" else {})
    if found is not None:
        assert type(found[0]) is float and np.isfinite(found[0])
        check_gradient(found[1], events["score"])


@fuzzing
@given(fuzzed.events(), fuzzed.options(), st.booleans())
def test_a_bias_and_a_curvature_or_a_sentence(events, options, hess):
    named = fuzzed.NAMED_OF_HESS if hess else fuzzed.NAMED
    found = found_or_sentence(libmode.mode_evaluate, named, **events, hess=hess, **options)
    if found is not None:
        assert np.isfinite([found.loss, found.events]).all()
        assert np.isfinite(found.bias) or not options.get("unbiased", True) and np.isnan(found.bias)
        check_gradient(found.grad, events["score"])
        if hess:
            check_gradient(found.hess, events["score"])
            assert (found.hess >= 0).all()


@fuzzing
@given(fuzzed.events(), fuzzed.options())
def test_edges_and_moments_or_a_sentence(events, options):
    of_edges = {name: events[name] for name in ("mass", "weight", "label") if name in events}
    edges = found_or_sentence(libmode.mode_edges, **of_edges, **options)
    assert edges is None or (np.diff(edges) > 0).all()
    events.pop("category", None)
    found = found_or_sentence(libmode.mode_moments, **events, **options)
    assert found is None or all(np.isfinite(table).all() for table in found)
