"""The MoDe loss of whichever framework Keras computes with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import keras
import numpy as np
from numpy.typing import NDArray

from .._bad_batches import SkipsBadBatches
from .._functions import Evaluate, loss_and_grad
from .._native import BatchError
from .._options import Options, options

_BACKEND = keras.backend.backend()
if _BACKEND == "tensorflow":
    from ..tensorflow import loss_of
elif _BACKEND == "jax":
    from ..jax import loss_of
elif _BACKEND == "torch":
    from ..torch import mode_loss as _torch_mode_loss
    from ..torch._skip import or_skip
else:
    raise ImportError(f"libmode.keras: Keras's backend is {_BACKEND}: expected tensorflow, jax or torch")


class SkippingLoss(SkipsBadBatches):
    """The part of a loss that raises or skips where the core is called: in compiled programs too."""

    _without_last = "a data set made with batch(..., drop_remainder=True)"

    def _evaluate(self, chosen: Options, score: Any, *others: Any) -> tuple[float, NDArray[Any]]:
        try:
            return loss_and_grad(chosen, score, *others)
        except BatchError as error:
            self._skip(error)
            return 0.0, np.zeros_like(score)


def mode_loss(
    module: SkippingLoss | None,
    score: Any,
    mass: Any,
    weight: Any,
    label: Any,
    background_label: Any,
    given: Mapping[str, Any],
) -> Any:
    """The loss of tensors of shape (n,); ``module`` says what to do with a bad batch, None that it is an error."""
    if _BACKEND == "torch":

        def loss(score: Any) -> Any:
            return _torch_mode_loss(score, mass, weight=weight, label=label, background_label=background_label, **given)

        return loss(score) if module is None else or_skip(module, loss, score)
    evaluate: Evaluate = loss_and_grad if module is None else module._evaluate
    return loss_of(score, mass, weight, label, options(background_label, given), evaluate)
