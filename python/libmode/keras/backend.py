"""The losses of whichever framework Keras computes with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import keras
import numpy as np
from numpy.typing import NDArray

from .._bad_batches import SkipsBadBatches
from .._evaluate import Evaluate, loss_and_grad
from .._native import BatchError
from .._options import Options, check
from ..option_types import Loss

_BACKEND = keras.backend.backend()
if _BACKEND == "tensorflow":
    from ..tensorflow.loss import loss_of
elif _BACKEND == "jax":
    from ..jax.loss import loss_of
elif _BACKEND == "torch":
    from ..torch._module import events
    from ..torch._op import core_loss, encode
    from ..torch._skip import or_skip
else:
    raise ImportError(f"libmode.keras: Keras's backend is {_BACKEND}: expected tensorflow, jax or torch")


class SkippingLoss(SkipsBadBatches):
    """The part of a loss that raises or skips where the core is called: in compiled programs too."""

    _without_last = "a data set made with batch(..., drop_remainder=True)"

    def _evaluate(self, options: Options, score: Any, *others: Any) -> tuple[float, NDArray[Any]]:
        try:
            return loss_and_grad(options, score, *others)
        except BatchError as error:
            self._skip(error)
            return 0.0, np.zeros_like(score)


def loss(module: SkippingLoss | None, kind: Loss, options: Mapping[str, Any], score: Any, *others: Any) -> Any:
    """The loss of score, mass, weight, label and category.

    ``module`` says what to do with a bad batch; None: it is an error.
    """
    if _BACKEND == "torch":

        def of_score(score: Any) -> Any:
            return core_loss(events(score, *others), encode(kind, **options))

        return of_score(score) if module is None else or_skip(module, of_score, score)
    evaluate: Evaluate = loss_and_grad if module is None else module._evaluate
    return loss_of(check(kind, options), score, *others, evaluate)
