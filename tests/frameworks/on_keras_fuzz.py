"""Whatever the loss of Keras is given, on the backend that KERAS_BACKEND names: a finite loss or a sentence; see test_keras.py."""

import fuzzed
import numpy as np
from fuzzed import fuzzing
from hypothesis import given
from keras import ops
from libmode.keras import MoDeLoss, pack


@fuzzing
@given(fuzzed.events(), fuzzed.options())
def test_a_loss_or_a_sentence(events, options):
    label = events.pop("label", None)
    try:
        score = ops.convert_to_tensor(events.pop("score"))
    except Exception:  # a model has tensors; of what cannot be one the backend says why
        return
    try:
        packed = pack(np.zeros(60) if label is None else label, **events)
        loss = MoDeLoss(base=None, **options)(packed, score)
    except Exception as error:
        fuzzed.sentence_of(error)
    else:
        assert np.isfinite(float(loss))
