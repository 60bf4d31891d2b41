"""Whatever the loss for JAX is given: a finite loss and gradient, or a sentence that names an argument. Keras: on_keras_fuzz.py.

``LIBMODE_FUZZ`` says how many examples; other than by default they differ from run to run.
"""

import warnings

import fuzzed
import jax
import libmode.jax
import numpy as np
from fuzzed import fuzzing
from hypothesis import given
from hypothesis import strategies as st

KINDS = ["float32", "float64", "float16", "bfloat16", "int32", "uint8", "bool", "complex64"]


@st.composite
def arrays(draw):
    """The arguments of a loss; where JAX can make an array of one, it most often is one."""
    given = draw(fuzzed.events())
    for name, values in given.items():
        if draw(st.integers(0, 3)) == 0 or not isinstance(values, np.ndarray):
            continue
        kind = draw(st.sampled_from([values.dtype.name] * 6 + KINDS))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of numbers beyond the type
                given[name] = jax.numpy.asarray(values).astype(kind)
        except Exception:  # of some arrays there is no such thing, as JAX says in its own way
            pass
    return given


@fuzzing
@given(arrays(), fuzzed.options(), st.booleans())
def test_a_loss_or_a_sentence(events, options, wide):
    with jax.enable_x64(wide):
        try:
            loss = libmode.jax.mode_loss(**events, **options)
        except Exception as error:
            fuzzed.sentence_of(error)
            return
        assert loss.shape == () and np.isfinite(loss)
        score = events["score"]
        if isinstance(score, jax.Array) and jax.numpy.issubdtype(score.dtype, jax.numpy.floating):
            rest = {name: values for name, values in events.items() if name != "score"}
            try:
                grad = jax.grad(lambda s: libmode.jax.mode_loss(s, **rest, **options))(score)
            except jax.errors.JaxRuntimeError as error:  # of a gradient beyond the type of the scores
                assert "overflows its type" in str(error)
                return
            assert grad.shape == score.shape and grad.dtype == score.dtype
            assert np.isfinite(grad).all() or score.dtype.itemsize < 4
