"""The losses of whichever framework Keras computes with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import keras
import numpy as np
from numpy.typing import NDArray

from .._added import Added
from .._bad_batches import SkipsBadBatches
from .._evaluate import Evaluate, loss_and_grad
from .._native import BatchError
from .._options import Options, check
from ..option_types import Loss

_BACKEND = keras.backend.backend()
if _BACKEND == "tensorflow":
    from ..tensorflow.constraint import constrained
    from ..tensorflow.loss import loss_of
elif _BACKEND == "jax":
    from ..jax.constraint import constrained
    from ..jax.loss import loss_of
elif _BACKEND == "torch":
    import torch

    from .._front import Events
    from ..torch._module import events
    from ..torch._op import as_numpy, core_loss, encode
    from ..torch._skip import or_skip
    from ..torch.constraint import constrained
else:
    raise ImportError(f"libmode.keras: Keras's backend is {_BACKEND}: expected tensorflow, jax or torch")


class SkippingLoss(SkipsBadBatches):
    """The part of a loss that raises or skips where the core is called: in compiled programs too."""

    _without_last = "a data set made with batch(..., drop_remainder=True)"

    def _evaluate(self, options: Options, score: Any, *others: Any) -> tuple[float, NDArray[Any]]:
        try:
            found = loss_and_grad(options, score, *others)
        except BatchError as error:
            self._skip(error)
            return 0.0, np.zeros_like(score)
        self._succeed()
        return found


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


def same(added: Added, score: Any, *others: Any) -> Any:
    """The scores, to whose gradient will be added what ``added`` finds for them, mass, weight, label and category."""
    if _BACKEND == "torch":
        if score.is_meta or not (torch.is_grad_enabled() and score.requires_grad):
            return score
        return _same_in_torch(added, score, *others)
    if _BACKEND == "jax":
        return constrained(added, score, *others)[0]
    return constrained(added, score, *others)


if _BACKEND == "torch":

    @torch.compiler.disable  # the core is not part of a graph
    def _same_in_torch(added: Added, score: Any, *others: Any) -> Any:
        batch = events(score.detach(), *others)
        found = added.direction(Events(*(None if tensor is None else as_numpy(tensor) for tensor in batch)))
        return score if found is None else constrained(score, found, added.constraint, {})
