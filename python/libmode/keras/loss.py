"""The losses that users of Keras give to ``model.compile``, and the same as functions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypedDict

import keras
from keras import ops

from .._bad_batches import OnBadBatch
from .._options import EXAMPLE, check, keywords_only
from .._plain import plain
from ..option_types import DisCoOptions, FlatnessOptions, Loss, LossOptions
from . import backend
from .base import Score, WithBase, class_of, columns, saved, score_of

if TYPE_CHECKING:
    from typing_extensions import Never, Unpack


class _FunctionArguments(TypedDict, total=False):
    weight: Any
    score: Score
    per_class: bool
    background_only: bool


class _Arguments(TypedDict, total=False):
    strength: float
    base: Any
    score: Score
    per_class: bool
    background_only: bool
    on_bad_batch: OnBadBatch
    name: str
    dtype: Any


class _ModeFunction(_FunctionArguments, LossOptions, total=False): ...


class _ModeArguments(_Arguments, LossOptions, total=False): ...


class _DisCoArguments(_Arguments, DisCoOptions, total=False): ...


class _FlatnessArguments(_Arguments, FlatnessOptions, total=False): ...


def mode_loss(y_true: Any, y_pred: Any, *, loss: Loss = "mode", **arguments: Unpack[_ModeFunction]) -> Any:
    """The MoDe loss alone, a scalar, to be added to others in a custom loss.

    ``y_true`` is what :func:`pack` makes, ``y_pred`` the output of the model, (n,),
    (n, 1) or (n, k). The arguments are given by name: ``weight``, with which the weights of
    :func:`pack` are multiplied, and of those of :class:`MoDeLoss` ``score``, ``per_class``,
    ``background_only`` and the options; and ``loss``, as for :func:`libmode.mode_loss`: "mode", "disco" or
    "flatness". Keras does not give its ``sample_weight`` to a function that is
    handed to ``model.compile``, but multiplies the result by its mean: give the weights to
    :func:`pack`, or use the class.

    Returns
    -------
    Tensor of shape (), of the backend of Keras.

    Raises
    ------
    BatchError, ValueError, TypeError
        As :class:`MoDeLoss`.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode.keras import mode_loss, pack
    >>> rng = np.random.default_rng(1)
    >>> label, mass = rng.integers(0, 2, 4_000), rng.uniform(50, 300, 4_000)  # 0 is background
    >>> score = ((mass / 300 + rng.random(4_000)) / 2).astype("float32")
    >>> print(f"{float(mode_loss(pack(label, mass), score, order=0)):.4f}")
    0.0234
    >>> print(f"{float(mode_loss(pack(label, mass), score, loss='disco')):.3f}")
    0.341
    """
    return _loss(None, loss, y_true, y_pred, **arguments)


def _loss(
    module: CoreLoss | None,
    kind: Loss,
    y_true: Any,
    y_pred: Any,
    *,
    weight: Any = None,
    score: Score = None,
    per_class: bool = False,
    background_only: bool = True,
    **options: Any,
) -> Any:
    y_pred = ops.convert_to_tensor(y_pred)
    labels, mass, every, category = columns(y_true, y_pred, weight, "weight" if module is None else "sample_weight")
    scores = _classes(y_pred, score) if per_class else [score_of(y_pred, score)]
    label = class_of(labels) if background_only else None
    losses = [backend.loss(module, kind, options, one, mass, every, label, category) for one in scores]
    return losses[0] if len(losses) == 1 else ops.mean(ops.stack(losses))


def _classes(y_pred: Any, score: Score) -> list[Any]:
    """The outputs of each class; a ``score`` that is callable gives them."""
    if callable(score):
        y_pred = score(y_pred)
    shape = tuple(y_pred.shape)
    if len(shape) != 2 or not shape[1] or isinstance(score, int):
        which = f"score = {score} and " if isinstance(score, int) else ""
        raise ValueError(
            f"{which}y_pred of shape {shape}: per_class = True needs shape (n, k), a column for each class"
        )
    return [y_pred[:, k] for k in range(shape[1])]


class CoreLoss(backend.SkippingLoss, WithBase):
    """``base + strength *`` a loss of the core."""

    def __init__(
        self,
        kind: Loss,
        positional: tuple[object, ...],
        *,
        strength: float = 1.0,
        base: Any = "binary_crossentropy",
        score: Score = None,
        per_class: bool = False,
        background_only: bool = True,
        on_bad_batch: OnBadBatch = "raise",
        name: str | None = None,
        dtype: Any = None,
        **options: Any,
    ) -> None:
        keywords_only(self, positional, EXAMPLE[kind])
        super().__init__(base, name=name or f"{kind}_loss", dtype=dtype)
        self._set_on_bad_batch(on_bad_batch)
        self._kind, self.strength = kind, float(strength)
        if not math.isfinite(self.strength):
            raise ValueError(f"strength = {strength}: must be finite")
        if not (score is None or callable(score) or isinstance(score, int)):
            raise TypeError(f"score = {score!r}: must be the number of an output or a function")
        check(kind, options)  # now, not at the first batch
        self.score, self.per_class = score, per_class
        self.background_only = background_only
        self.options = plain(kind, options)

    # Not call: Keras would cast the masses, and multiply the sum of both parts by the mean of sample_weight.
    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """The loss of a batch, a scalar."""
        y_pred = ops.convert_to_tensor(y_pred, dtype=self.dtype)
        chosen: dict[str, Any] = {
            "score": self.score,
            "per_class": self.per_class,
            "background_only": self.background_only,
        }
        loss = _loss(self, self._kind, y_true, y_pred, weight=sample_weight, **chosen, **self.options)
        loss = self.strength * ops.cast(loss, self.dtype)
        return loss if self._base is None else self._base_loss(y_true, y_pred, sample_weight) + loss

    def get_config(self) -> dict[str, Any]:
        """The arguments, as Keras saves them."""
        return {
            **super().get_config(),
            "strength": self.strength,
            "score": saved(self.score),
            "per_class": self.per_class,
            "background_only": self.background_only,
            "on_bad_batch": self.on_bad_batch,
            **{name: saved(value) for name, value in self.options.items()},
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> CoreLoss:
        """The loss that :meth:`get_config` describes."""
        loss: CoreLoss = super().from_config(
            {**config, "score": keras.saving.deserialize_keras_object(config["score"])}
        )
        return loss


@keras.saving.register_keras_serializable(package="libmode")
class MoDeLoss(CoreLoss):
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
    per_class : bool, default False
        The loss is the mean of those of each column of ``y_pred``, or of what the callable
        ``score`` returns, (n, k) for k classes. ``background_label`` says which classes are
        background, one or several, each with bins of its own.
    background_only : bool, default True
        False pools all events, whatever their label. Otherwise the loss sees the events
        whose label, or class where labels are one-hot, is ``background_label``.
    on_bad_batch : {"raise", "skip"}, default "raise"
        What to do with a batch for which :func:`libmode.mode_loss` raises
        :class:`libmode.BatchError`, for instance one that has no background. "skip"
        makes its MoDe loss 0, with gradient 0, leaves the base as it is, counts the
        batch in the attribute ``skipped``, and warns (RuntimeWarning) at the first one.
        Batches of an evaluation are counted too, and with ``per_class`` each column. Other
        errors, as for scores that are NaN, are raised all the same.
    name, dtype
        As for every loss of Keras. Outputs are cast to ``dtype``; masses are not.
    **options
        Those of :func:`libmode.mode_loss`; ``reduction`` is the one over bins of mass.

    Raises
    ------
    ValueError, TypeError
        At once for options that are out of range or unknown, and for positional arguments: all are keywords.
    BatchError, ValueError, TypeError
        When called: as :func:`libmode.mode_loss`. In a compiled program of TensorFlow or JAX what is wrong with the
        values of a batch is an error of that framework, which ends with the same sentence.

    Notes
    -----
    ``y_true`` is what :func:`pack` makes. The weights of :func:`pack` and ``sample_weight``
    are multiplied and weight both parts. On TensorFlow with a GPU compile the model with
    ``jit_compile=False``.

    Examples
    --------
    >>> import keras
    >>> import numpy as np
    >>> from libmode.keras import MoDeLoss, pack
    >>> rng = np.random.default_rng(1)
    >>> x, label, mass = rng.normal(size=(4_000, 2)), rng.integers(0, 2, 4_000), rng.uniform(50, 300, 4_000)
    >>> model = keras.Sequential([keras.layers.Dense(1, "sigmoid")])
    >>> model.compile("adam", MoDeLoss(strength=100, order=1, mass_range=(50, 300)))  # cross-entropy + 100 MoDe[1]
    >>> history = model.fit(x, pack(label, mass), batch_size=2_000, verbose=0)
    >>> len(history.history["loss"])
    1
    >>> config = MoDeLoss(strength=100, order=1).get_config()  # what Keras saves with a model
    >>> MoDeLoss.from_config(config).options
    {'order': 1}
    """

    def __init__(self, *positional: Never, **arguments: Unpack[_ModeArguments]) -> None:
        super().__init__("mode", positional, **arguments)


@keras.saving.register_keras_serializable(package="libmode")
class DisCoLoss(CoreLoss):
    """``base + strength * DisCo`` for ``model.compile(loss=...)``, to compare with.

    DisCo is what :func:`libmode.mode_loss` computes with ``loss="disco"``, whose options it takes. All else
    is as for :class:`MoDeLoss`.

    Raises
    ------
    BatchError, ValueError, TypeError
        As :class:`MoDeLoss`.

    Examples
    --------
    >>> import keras
    >>> import numpy as np
    >>> from libmode.keras import DisCoLoss, pack
    >>> rng = np.random.default_rng(1)
    >>> label, mass = rng.integers(0, 2, 4_000), rng.uniform(50, 300, 4_000)
    >>> score = ((mass / 300 + rng.random(4_000)) / 2).astype("float32")[:, None]
    >>> disco = DisCoLoss(strength=10)
    >>> print(f"{float(disco(pack(label, mass), score)):.2f}")  # cross-entropy + 10 DisCo
    4.20
    """

    def __init__(self, *positional: Never, **arguments: Unpack[_DisCoArguments]) -> None:
        super().__init__("disco", positional, **arguments)


@keras.saving.register_keras_serializable(package="libmode")
class FlatnessLoss(CoreLoss):
    """``base + strength * flatness`` for ``model.compile(loss=...)``, to compare with.

    The flatness loss is what :func:`libmode.mode_loss` computes with ``loss="flatness"``, whose options
    it takes. All else is as for :class:`MoDeLoss`.

    Raises
    ------
    BatchError, ValueError, TypeError
        As :class:`MoDeLoss`.

    Examples
    --------
    >>> import keras
    >>> import numpy as np
    >>> from libmode.keras import FlatnessLoss, pack
    >>> rng = np.random.default_rng(1)
    >>> label, mass = rng.integers(0, 2, 4_000), rng.uniform(50, 300, 4_000)
    >>> score = ((mass / 300 + rng.random(4_000)) / 2).astype("float32")[:, None]
    >>> flatness = FlatnessLoss(strength=100, bins=20)
    >>> print(f"{float(flatness(pack(label, mass), score)):.2f}")  # cross-entropy + 100 times the flatness loss
    3.22
    """

    def __init__(self, *positional: Never, **arguments: Unpack[_FlatnessArguments]) -> None:
        super().__init__("flatness", positional, **arguments)
