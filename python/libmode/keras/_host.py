"""The loss and the layer on TensorFlow and JAX, whose compiled programs call back to NumPy."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
from keras import ops
from numpy.typing import NDArray

from .. import _softmax
from .._constraint import Constraint, HostConstraint
from .._evaluate import loss_and_grad
from .._events import Events
from .._native import BatchError
from .._options import Options, check_scaled
from .._problems import OnBadBatch, Said, SkipsBadBatches
from .._read import flat, whole

if keras.backend.backend() == "jax":
    from jax import dtypes

    from ..jax.constraint import constrained
    from ..jax.loss import core_loss

    WIDE = str(dtypes.canonicalize_dtype("float64"))
else:
    from .._tensorflow.loss import constrained, core_loss

    WIDE = "float64"

_OPS = _softmax.Ops(
    *(ops.where, ops.stack, ops.log, ops.logsumexp, ops.max, ops.stop_gradient, ops.cast),
    lambda column: ops.cast(column, WIDE),
)


class Loss(SkipsBadBatches):
    """The loss of a batch, like :class:`libmode.torch.MoDeLoss`."""

    _called = "MoDeLoss"

    def __init__(
        self, *, strength: float | None, background_only: bool, on_bad_batch: OnBadBatch, monitor: bool, **options: Any
    ) -> None:
        self._set_on_bad_batch(on_bad_batch)
        self._options, self._said = check_scaled("mode", options, strength), Said()
        self._memory = np.zeros(3)
        self.strength = self._options.values["strength"]
        self._background_only = background_only

    def __call__(self, score: Any, label: Any, mass: Any, weight: Any, *, category: Any) -> Any:
        """The loss of scores of shape (n,)."""
        events = Events(score, label if self._background_only else None, mass, weight, category)
        return core_loss(self._options, events, self._evaluate)

    def _evaluate(self, options: Options, score: Any, *others: Any) -> tuple[float, NDArray[Any]]:
        """The loss and its gradient on the host, where bad batches are skipped in compiled programs too."""
        try:
            after = None if self.strength is None else self._memory.copy()
            loss, grad = loss_and_grad(options, score, *others, said=self._said, averages=after)
        except BatchError as error:
            self._skip(error)
            return 0.0, np.zeros_like(score)
        self._succeed()
        self._memory = self._memory if after is None else after
        return loss, grad


class Layer(HostConstraint):
    """The predictions with the push in their gradient, like :class:`libmode.torch.MoDeConstraint`."""

    def __init__(
        self, *, signal: int, background_only: bool, on_bad_batch: OnBadBatch, monitor: bool, **arguments: Any
    ) -> None:
        constraint = Constraint(arguments)
        memory = np.zeros(constraint.size)
        super().__init__(constraint, name="MoDeConstraint", on_bad_batch=on_bad_batch, memory=memory, monitor=monitor)
        self.signal, self._background_only = whole("signal", signal), background_only

    def __call__(self, score: Any, label: Any, mass: Any, weight: Any, *, category: Any) -> Any:
        """Predictions of shape (n,) or (n, k), unchanged."""
        others = label if self._background_only else None, mass, weight, category

        def constrain(score: Any) -> Any:
            return constrained(self, Events(score, *others))

        shape = tuple(score.shape)
        if len(shape) != 2 or shape[1] == 1:
            self._constraint.odds = False
            return constrain(flat("y_pred", score))
        signal, background = self._constraint.classes(self.signal, shape)
        return _softmax.constrained(_OPS, score, signal, background, self._constraint.from_logits, constrain)
