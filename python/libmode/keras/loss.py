"""The MoDe loss that users of Keras give to ``model.compile``."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
from keras import ops
from numpy.typing import NDArray

from .._bad_batches import OnBadBatch, SkipsBadBatches
from .._evaluate import loss_and_grad
from .._events import Events, is_background
from .._native import BatchError
from .._options import BATCHES, LEAST_DISTANCE, Options, check, checked_strength
from .._said import Said
from .._typing import Never, Unpack
from ..option_types import LossOptions
from .backend import loss_of
from .base import WithBase
from .events import Columns, Score, score_of


@keras.saving.register_keras_serializable(package="libmode")
class MoDeLoss(SkipsBadBatches, WithBase):
    """``base + MoDe`` (arXiv:2010.09745) for ``model.compile(loss=...)``, or for your own loss.

    Parameters
    ----------
    strength : float, optional
        Multiplies the MoDe loss, relative to the cross entropy of scores from 0 to 1; see
        :class:`libmode.torch.MoDeLoss`. Every batch that the loss is called for counts, those of a validation too, and
        on several devices each device. Left out, it is the plain loss, which is far smaller than a cross entropy.
    base : default "binary_crossentropy"
        The classifier's loss: an argument of ``keras.losses.get``, or None for MoDe alone. A function must return one
        value for each event; the mean over events is used.
    score : int or callable, optional
        Which column of ``y_pred`` is the score, or a function of ``y_pred`` that returns it, shape (n,) or (n, 1), for
        instance ``keras.ops.sigmoid`` for logits. To be saved, the function must be registered with Keras. Needed for
        several outputs.
    per_class : bool, default False
        The loss is the mean over columns of ``y_pred``, or of the result of the callable ``score``, (n, k) for k
        classes. ``background_label`` names the background classes, each with its own bins.
    background_only, on_bad_batch
        See :class:`libmode.torch.MoDeLoss`; for one-hot labels, the label is the class. ``skipped`` also counts
        batches of an evaluation, and each column with ``per_class``.
    name, dtype
        As for every loss of Keras. Outputs are cast to ``dtype``; masses are not.
    **options
        Those of :func:`libmode.mode_loss`; ``reduction`` is the one over bins of mass.

    Raises
    ------
    ValueError, TypeError
        At once for options that are out of range or unknown, and for positional arguments: all are keywords.
    BatchError, ValueError, TypeError
        When called: as :func:`libmode.mode_loss`. In a compiled program of TensorFlow or JAX bad values of a
        batch raise the framework's own error, which ends with the same sentence.

    Notes
    -----
    ``y_true`` comes from :func:`pack`. Its weights and ``sample_weight`` multiply, and weight both parts. On TensorFlow
    with a GPU, compile the model with ``jit_compile=False``.

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
    >>> score = ((mass / 300 + rng.random(4_000)) / 2).astype("float32")
    >>> print(f"{float(MoDeLoss(base=None, order=0)(pack(label, mass), score)):.3f}")  # MoDe alone
    0.025
    """

    _without_last = "a data set made with batch(..., drop_remainder=True)"
    _arguments = ("strength", "score", "per_class", "background_only", "on_bad_batch")

    def __init__(
        self,
        *positional: Never,
        strength: float | None = None,
        base: Any = "binary_crossentropy",
        score: Score = None,
        per_class: bool = False,
        background_only: bool = True,
        on_bad_batch: OnBadBatch = "raise",
        name: str | None = None,
        dtype: Any = None,
        **options: Unpack[LossOptions],
    ) -> None:
        super().__init__(positional, base, name or "mode_loss", dtype, options)
        self._set_on_bad_batch(on_bad_batch)
        self._checked, self._said = check("mode", options), Said()
        if not (score is None or callable(score) or isinstance(score, int)):
            raise TypeError(f"score = {score!r}: must be the number of an output or a function")
        self.score, self.per_class, self.background_only = score, per_class, background_only
        self.strength = None if strength is None else checked_strength(strength, self._checked, per_class=per_class)
        self._norms = np.zeros(3)

    def _loss(self, events: Columns, y_pred: Any) -> Any:
        scores = self._of_classes(y_pred) if self.per_class else [score_of(y_pred, self.score)]
        others = events.classes() if self.background_only else None, events.mass, events.weight, events.category
        losses = [loss_of(self._checked, Events(score, *others), self._evaluate) for score in scores]
        loss = ops.cast(sum(losses) / len(losses), self.dtype)
        return loss if self._base is None else self._base_loss(events, y_pred) + loss

    def _of_classes(self, y_pred: Any) -> list[Any]:
        """The outputs of each class; a ``score`` that is callable gives them."""
        if callable(self.score):
            y_pred = self.score(y_pred)
        shape = tuple(y_pred.shape)
        if len(shape) != 2 or not shape[1] or isinstance(self.score, int):
            which = f"score = {self.score} and " if isinstance(self.score, int) else ""
            raise ValueError(
                f"{which}y_pred of shape {shape}: per_class = True needs shape (n, k), a column for each class"
            )
        return [y_pred[:, k] for k in range(shape[1])]

    def _evaluate(self, options: Options, score: Any, *others: Any) -> tuple[float, NDArray[Any]]:
        """The loss and its gradient, where the core is called: bad batches are skipped in compiled programs too."""
        try:
            found = loss_and_grad(options, score, *others, said=self._said)
        except BatchError as error:
            self._skip(error)
            return 0.0, np.zeros_like(score)
        self._succeed()
        if self.strength is None:
            return found
        scale = self.strength * self._relative(found[1], score, *others)
        return scale * found[0], scale * found[1]

    def _relative(self, grad: Any, score: Any, label: Any, mass: Any, weight: Any, category: Any) -> float:
        """The norm of the gradient of cross entropy over that of MoDe, both averages over 200 batches."""
        push = np.ones(len(score)) if weight is None else np.asarray(weight, float)
        push = push / np.maximum(1 - score.astype(float), LEAST_DISTANCE)
        if label is not None:
            push = push[is_background(label, self._checked.labels)]
        self._norms[0] += 1
        rate = max(1 / self._norms[0], 1 / BATCHES)
        self._norms[1:] += rate * (
            np.array([np.linalg.norm(push) / len(score), np.linalg.norm(grad)]) - self._norms[1:]
        )
        return float(self._norms[1] / self._norms[2]) if self._norms[2] > 0 else 0.0
