"""The MoDe loss that users of Keras give to ``model.compile``."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
from keras import ops
from numpy.typing import NDArray

from .._problems import OnBadBatch
from .._read import check_averages
from ..option_types import LossOptions, Unpack
from ._backend import Loss, replicas
from .base import WithBase
from .events import Columns, Score, pick_score


@keras.saving.register_keras_serializable(package="libmode")
class MoDeLoss(WithBase):
    """``base + MoDe`` (arXiv:2010.09745) for ``model.compile(loss=...)``, or for your own loss.

    Parameters
    ----------
    strength : float, optional
        See :class:`libmode.torch.MoDeLoss`. Every batch counts, also in a validation, and with ``tf.distribute`` on
        each replica. By default, the plain loss, which is far smaller than a cross entropy.
    base : default "binary_crossentropy"
        The classifier's loss: an argument of ``keras.losses.get``, or None for MoDe alone. A function must return one
        value for each event; the mean over events is used.
    score : int or callable, optional
        Which column of ``y_pred`` is the score, or a function that returns it, shape (n,) or (n, 1), for instance
        ``keras.ops.sigmoid`` for logits, which a ``base`` given by its name then takes too. To be saved, it must be
        registered with Keras.
    background_only, on_bad_batch
        See :class:`libmode.torch.MoDeLoss`; for one-hot labels, the label is the class. ``skipped`` also counts
        batches of an evaluation.
    name, dtype
        As for every loss of Keras. Outputs are cast to ``dtype``; masses are not.
    **options
        Those of :func:`libmode.mode_loss`; ``reduction`` is the one over bins of mass.

    Raises
    ------
    BatchError, ValueError, TypeError
        As :func:`libmode.mode_loss`, for options at once. In a compiled program of TensorFlow or JAX bad values of a
        batch raise the framework's own error, which has the same sentence.

    Notes
    -----
    ``y_true`` comes from :func:`pack`, whose ``weight`` weights both parts, unless the base has a ``base_weight``.
    ``sample_weight`` multiplies both. On TensorFlow with a GPU, compile the model with ``jit_compile=False``.

    Examples
    --------
    >>> import keras
    >>> import numpy as np
    >>> from libmode.keras import MoDeLoss, pack
    >>> rng = np.random.default_rng(1)
    >>> x, label, mass = rng.normal(size=(4_000, 2)), rng.integers(0, 2, 4_000), rng.uniform(50, 300, 4_000)
    >>> model = keras.Sequential([keras.layers.Dense(1, "sigmoid")])
    >>> model.compile("adam", MoDeLoss(strength=3, order=1, mass_range=(50, 300)))  # cross-entropy + MoDe[1]
    >>> history = model.fit(x, pack(label, mass), batch_size=2_000, verbose=0)
    >>> len(history.history["loss"])
    1
    """

    _layer: Loss
    score: Score

    def __init__(
        self, *, strength: float | None = None, base: Any = "binary_crossentropy", score: Score = None,
        background_only: bool = True, on_bad_batch: OnBadBatch = "skip", name: str | None = None, dtype: Any = None,
        **options: Unpack[LossOptions],
    ) -> None:  # fmt: skip
        others: dict[str, Any] = {"background_only": background_only, "on_bad_batch": on_bad_batch}
        super().__init__(name or "mode_loss", dtype, base, options, {"score": score, "strength": strength, **others})
        if not (score is None or callable(score) or isinstance(score, int)):
            raise TypeError(f"score = {score!r}: must be the number of an output or a function")
        if score in (ops.sigmoid, keras.activations.sigmoid):
            self._base_of_logits(True)
        self._layer = Loss(strength=strength, **others, monitor=False, **self.options)

    def _check_memory(self, numbers: NDArray[np.float64]) -> None:
        check_averages(numbers)

    def _loss(self, events: Columns, y_pred: Any) -> Any:
        score = pick_score(y_pred, self.score)
        loss = self._layer(score, events.classes(), events.mass, events.weight, category=events.category)
        loss = ops.cast(loss, self.dtype) / replicas()
        return loss if self._base is None else self._base_loss(events, y_pred) + loss
