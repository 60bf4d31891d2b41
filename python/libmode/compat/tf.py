"""The MoDe loss with the constructor and the call of ``modeloss.tf.MoDeLoss``.

``modeloss`` 0.1.0 is the package of the authors of arXiv:2010.09745.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

from numpy.typing import NDArray

from .._evaluate import loss_and_grad
from .._events import Events, of_one_index
from .._messages import needed
from .._options import check
from .._said import Said
from ..option_types import LossOptions
from ._arguments import Arguments, described, without_options

with needed("tensorflow", by="libmode.compat.tf", extra="tensorflow"):
    import tensorflow as tf

    from .._tensorflow.loss import core_loss, read


class MoDeLoss(Arguments):
    __doc__ = described(
        """The MoDe loss of tensors, eagerly and in a ``tf.function``, for programs written for ``modeloss``.""",
        memory="Has no effect, as in ``modeloss.tf``: a warning says so for True.",
        examples=""">>> import numpy as np
    >>> from libmode.compat.tf import MoDeLoss  # in place of modeloss.tf
    >>> rng = np.random.default_rng(1)
    >>> target, mass = rng.integers(0, 2, 4_000).astype("float32"), rng.uniform(50, 300, 4_000)
    >>> score = (mass / 300 + rng.random(4_000)) / 2
    >>> mode = MoDeLoss(bins=16, order=0)
    >>> print(f"{float(mode(score, target, mass)):.4f}")
    0.0242""",
    )

    def _make(self, options: LossOptions, memory: bool, background_only: bool) -> None:
        if memory:
            warnings.warn("memory = True has no effect: the loss is that of the batch", stacklevel=3)
        self._options, self.background_only, self._said = check("mode", options), background_only, Said()

    def __call__(self, pred: Any, target: Any, x_biased: Any, weights: Any = None) -> Any:
        """The loss of a batch, shape (). All arguments have the same shape, up to a last dimension of 1."""
        of_one_index({"pred": pred, "target": target, "x_biased": x_biased, "weights": weights})
        like = read("pred", pred)
        label = _flat("target", target, like) if self.background_only else None
        mass = _flat("x_biased", x_biased, like)
        weight = None if weights is None else _flat("weights", weights, like)
        if not self.normalize:
            mass = self._checked(mass, label)
        return core_loss(
            self._options, Events(_flat("pred", like, like), label, mass, weight), partial(_evaluate, self._said)
        )

    def _checked(self, mass: Any, label: Any) -> Any:
        """The masses; an error in the graph if a mass of a selected event is outside [-1, 1]."""
        seen = mass if label is None else mass[label == tf.cast(self._label, label.dtype)]
        message = "x_biased: with normalize=False every mass must be inside [-1, 1]"
        with tf.control_dependencies([tf.debugging.Assert(tf.reduce_all(tf.abs(seen) <= 1), [message, seen])]):
            return tf.identity(mass)


def _evaluate(said: Said, *arguments: Any) -> tuple[float, NDArray[Any]]:
    try:
        return loss_and_grad(*arguments, said=said)
    except ValueError as error:
        raise without_options(error) from None


def _flat(name: str, values: Any, pred: Any) -> Any:
    """All elements of a tensor with the shape of ``pred``, up to a last dimension of 1."""
    tensor = read(name, values)
    shape, wanted = (
        each.shape[:-1] if each.shape.rank and each.shape[-1] == 1 else each.shape for each in (tensor, pred)
    )
    if not shape.is_compatible_with(wanted):
        raise ValueError(f"{name} has shape {tuple(tensor.shape)}, but pred has shape {tuple(pred.shape)}")
    return tf.reshape(tensor, [-1])
