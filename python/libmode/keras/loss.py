"""The loss that users of Keras give to ``model.compile``, and the same as a function."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import keras
from keras import ops

from .._bad_batches import OnBadBatch
from .._options import LossOptions, keywords_only, options, plain, plain_background_label
from . import backend
from .events import column, unpack

if TYPE_CHECKING:
    from typing_extensions import Never, Unpack


def mode_loss(
    y_true: Any,
    y_pred: Any,
    *,
    sample_weight: Any = None,
    score: int | Callable[[Any], Any] | None = None,
    background_label: int | Sequence[int] = 0,
    background_only: bool = True,
    **options: Unpack[LossOptions],
) -> Any:
    """The MoDe loss alone, a scalar, to be added to others in a custom loss.

    ``y_true`` is what :func:`pack` makes, ``y_pred`` the output of the model, (n,),
    (n, 1) or (n, k). Arguments and options are those of :class:`MoDeLoss`. Keras does
    not give ``sample_weight`` to a function that is handed to ``model.compile``, but
    multiplies the result by its mean: give the weights to :func:`pack`, or use the class.
    """
    return _mode(None, y_true, y_pred, sample_weight, score, background_label, background_only, options)


def _mode(
    module: MoDeLoss | None,
    y_true: Any,
    y_pred: Any,
    sample_weight: Any,
    score: int | Callable[[Any], Any] | None,
    background_label: Any,
    background_only: bool,
    options: Mapping[str, Any],
) -> Any:
    labels, mass, weight = unpack(y_true)
    if sample_weight is not None:
        weight = weight * _weights(sample_weight, weight)
    scores = _score(ops.convert_to_tensor(y_pred), score)
    for name, length in (("mass", mass.shape[0]), ("weight", weight.shape[0])):
        if None not in (length, scores.shape[0]) and length != scores.shape[0]:
            raise ValueError(f"{name} has length {length}, but y_pred has length {scores.shape[0]}")
    label = None
    if background_only:
        label = labels[:, 0] if labels.shape[1] == 1 else ops.argmax(labels, axis=1)
    return backend.mode_loss(module, scores, mass, weight, label, background_label, options)


def _score(y_pred: Any, score: int | Callable[[Any], Any] | None) -> Any:
    if callable(score):
        return column("what score(y_pred) returns", score(y_pred))
    shape = tuple(y_pred.shape)
    if score is None:
        if len(shape) == 2 and shape[1] != 1:
            raise ValueError(f"y_pred has shape {shape}: say which output is the score, for instance score=0")
        return column("y_pred", y_pred)
    if len(shape) != 2 or not 0 <= score < shape[1]:
        raise ValueError(f"score = {score}: y_pred of shape {shape} has no such column")
    return y_pred[:, score]


def _weights(sample_weight: Any, weight: Any) -> Any:
    """sample_weight beside the packed weight."""
    sample_weight = column("sample_weight", ops.convert_to_tensor(sample_weight, dtype=weight.dtype))
    lengths = sample_weight.shape[0], weight.shape[0]
    if None not in lengths and lengths[0] != lengths[1]:
        raise ValueError(f"sample_weight has length {lengths[0]}, but y_true has length {lengths[1]}")
    return sample_weight


@keras.saving.register_keras_serializable(package="libmode")
class MoDeLoss(backend.SkippingLoss, keras.losses.Loss):
    """``base + strength * MoDe`` (arXiv:2010.09745) for ``model.compile(loss=...)``.

    Parameters
    ----------
    strength : float, default 1
        Factor of the MoDe loss; some 100 to 3000 beside a cross-entropy.
    base : default "binary_crossentropy"
        The classifier's loss: what ``keras.losses.get`` takes, or None for MoDe alone.
        A function must return one value for each event; the mean over events is used.
    score : int or callable, optional
        Which column of ``y_pred`` is the score, or a function of ``y_pred`` that returns
        it, shape (n,) or (n, 1), for instance ``keras.ops.sigmoid`` for logits. To be
        saved, the function must be registered with Keras. Needed for several outputs.
    background_label : int or sequence of int, default 0
        The loss sees the events with this label, or class where labels are one-hot. With
        several, it is the sum over them, each with its own bins.
    background_only : bool, default True
        False pools all events, whatever their label.
    on_bad_batch : {"raise", "skip"}, default "raise"
        What to do with a batch for which :func:`libmode.mode_loss` raises
        :class:`libmode.BatchError`, for instance one that has no background. "skip"
        makes its MoDe loss 0, with gradient 0, leaves the base as it is, counts the
        batch in the attribute ``skipped``, and warns (RuntimeWarning) at the first one.
        Batches of an evaluation are counted too. Other errors, as for scores that are
        NaN, are raised all the same.
    name, dtype
        As for every loss of Keras. Outputs are cast to ``dtype``; masses are not.
    **options
        Those of :func:`libmode.mode_loss`: order, bins, binning, edges, mass_range,
        max_slope, slope_of, monotonic, moments, unbiased, slope_penalty, score_range,
        reduction, which here is the one over bins of mass.

    ``y_true`` is what :func:`pack` makes. The weights of :func:`pack` and ``sample_weight``
    are multiplied and weight both parts. On TensorFlow with a GPU compile the model with
    ``jit_compile=False``. What is wrong with the events of a batch is an error that
    ends with the sentence of :func:`libmode.mode_loss`.
    """

    def __init__(
        self,
        *positional: Never,
        strength: float = 1.0,
        base: Any = "binary_crossentropy",
        score: int | Callable[[Any], Any] | None = None,
        background_label: int | Sequence[int] = 0,
        background_only: bool = True,
        on_bad_batch: OnBadBatch = "raise",
        name: str = "mode_loss",
        dtype: Any = None,
        **given: Unpack[LossOptions],
    ) -> None:
        keywords_only(self, positional, "order=1")
        super().__init__(name=name, dtype=dtype)
        self._set_on_bad_batch(on_bad_batch)
        self.strength = float(strength)
        if not math.isfinite(self.strength):
            raise ValueError(f"strength = {strength}: must be finite")
        if not (score is None or callable(score) or isinstance(score, int)):
            raise TypeError(f"score = {score!r}: must be the number of an output or a function")
        options(background_label, given)  # checked now, not at the first batch
        self.base, self._base = base, keras.losses.get(base)
        self.score = score
        self.background_label = plain_background_label(background_label)
        self.background_only = background_only
        self.options = plain(given)

    # Not call: Keras would cast the masses, and multiply the sum of both parts by the mean of sample_weight.
    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """The loss of a batch, a scalar."""
        y_pred = ops.convert_to_tensor(y_pred, dtype=self.dtype)
        mode = _mode(
            self,
            y_true,
            y_pred,
            sample_weight,
            self.score,
            self.background_label,
            self.background_only,
            self.options,
        )
        loss = self.strength * ops.cast(mode, self.dtype)
        return loss if self._base is None else self._base_loss(y_true, y_pred, sample_weight) + loss

    def _base_loss(self, y_true: Any, y_pred: Any, sample_weight: Any) -> Any:
        labels, _, weight = unpack(y_true)
        labels, weight = ops.cast(labels, self.dtype), ops.cast(weight, self.dtype)
        if sample_weight is not None:
            weight = weight * _weights(sample_weight, weight)
        if len(y_pred.shape) == 1:
            y_pred = y_pred[:, None]
        if isinstance(self._base, keras.losses.Loss):
            loss = self._base(labels, y_pred, sample_weight=weight)
            if len(loss.shape):
                raise ValueError(f"base returned shape {tuple(loss.shape)}: give it a reduction")
            return loss
        values = self._base(labels, y_pred)
        if len(values.shape) != 1:
            raise ValueError(f"base returned shape {tuple(values.shape)}: expected one value for each event")
        return ops.mean(values * weight)

    def get_config(self) -> dict[str, Any]:
        """The arguments, as Keras saves them."""
        return {
            "name": self.name,
            "dtype": self.dtype,
            "strength": self.strength,
            "base": _saved(self.base),
            "score": _saved(self.score),
            "background_label": _saved(self.background_label),
            "background_only": self.background_only,
            "on_bad_batch": self.on_bad_batch,
            **{name: _saved(value) for name, value in self.options.items()},
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> MoDeLoss:
        """The loss that :meth:`get_config` describes."""
        objects = {name: keras.saving.deserialize_keras_object(config[name]) for name in ("base", "score")}
        return cls(**{**config, **objects})


def _saved(value: Any) -> Any:
    """A value that survives JSON."""
    if isinstance(value, tuple):
        return list(value)
    return keras.saving.serialize_keras_object(value) if callable(value) else value
