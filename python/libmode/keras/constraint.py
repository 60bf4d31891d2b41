"""The loss whose gradient has MoDe's added, for ``model.compile``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras
from keras import ops

from .._added import Added
from .._bad_batches import OnBadBatch
from .._constraint import USUAL_TOLERANCE, Constraint, Dependence, ScoreTransform, State
from .._monitor import Monitor
from .._options import keywords_only
from .._plain import plain
from . import backend
from .base import WithBase, class_of, columns, saved, score_of

if TYPE_CHECKING:
    from typing_extensions import Never, Unpack

    from ..option_types import LossOptions


@keras.saving.register_keras_serializable(package="libmode")
class MoDeConstraint(WithBase):
    """``base``, to whose gradient that of MoDe (arXiv:2010.09745) is added, for ``model.compile(loss=...)``.

    The value is that of ``base``. To its gradient G by the scores is added that of the MoDe loss, g, scaled to it::

        G + relative_strength min(1, sigma) |G|/|g| g

    with norms over the batch and with respect to the logits, where one confident mistake does not stand for
    all, and sigma the standard deviation of the background's logits, small in a network that has learned
    nothing yet. So there is no strength to guess, and no scale of a loss enters. In an evaluation nothing is
    added.

    Parameters
    ----------
    base : default "binary_crossentropy"
        The classifier's loss: what ``keras.losses.get`` takes.
        A function must return one value for each event; the mean over events is used.
    relative_strength : float, default 30
        The factor. With a tolerance, the most that it may be.
    tolerance : float, optional
        "As flat as so many background events can tell": the relative strength is lowered, to no less
        than 1, while the dependence is below that, and raised again where it is above. It is
        judged by averages over ten times as many events, so that it takes about as many to settle.
    score_transform : {"odds", None}, default "odds"
        "odds" integrates over W(s) = c s/(1 + c - s), c = 0.3, in place of s (the paper's footnote 1), so that
        tight selections count too. None is the MoDe loss as it is.
    from_logits : bool, default False
        Whether outputs are logits, of any size, in place of scores from 0 to 1; ``base`` must be told too.
    score : int, optional
        Which column of ``y_pred`` is the score. Needed for several outputs.
    background_only : bool, default True
        As for :class:`MoDeLoss`.
    on_bad_batch : {"raise", "skip"}, default "skip"
        "skip" adds nothing for a batch without background, or with too little for the bins, counts
        it in ``skipped`` and warns (RuntimeWarning) at the first. Scores that are NaN are an error all the same.
    monitor : bool, default True
        Warn, once each, if scores collapse to one, the classifier is given up, or bins have too few
        events (:class:`libmode.TrainingWarning`).
    name, dtype
        As for every loss of Keras. Outputs are cast to ``dtype``; masses are not.
    **options
        Those of :func:`libmode.mode_loss`; ``order`` is 1 by default.

    Attributes
    ----------
    skipped : int
        How many batches of the training were skipped.

    Raises
    ------
    ValueError, TypeError
        At once for options that are out of range or unknown, and for positional arguments: all are keywords.
    BatchError, ValueError, TypeError
        In a training: as :class:`MoDeLoss`; BatchError only with ``on_bad_batch="raise"``.

    Notes
    -----
    The direction g is not the gradient of :class:`MoDeLoss`: it is that of the loss over W(s), without what moves all
    events of a score together. On a falling spectrum it had a cosine of 0.6 to 0.9 with that gradient. An event's push
    is proportional to its weight, and events that take no part in the loss get none.

    ``y_true`` is what :func:`pack` makes; its weights and ``sample_weight`` are multiplied
    and weight both parts. The arguments are saved with the model, what the tolerance has learnt is not. A loss of
    Keras has no place for reference events: take batches of thousands instead. On TensorFlow with a GPU
    compile the model with ``jit_compile=False``.

    Examples
    --------
    >>> import keras
    >>> import numpy as np
    >>> from libmode.keras import MoDeConstraint, pack
    >>> rng = np.random.default_rng(1)
    >>> label, mass = rng.integers(0, 2, 4_000), rng.uniform(50, 300, 4_000)  # 0 is background
    >>> x = np.column_stack([mass / 300, rng.normal(label)])
    >>> loss = MoDeConstraint(order=1, mass_range=(50, 300))  # cross-entropy, to whose gradient MoDe's is added
    >>> model = keras.Sequential([keras.layers.Dense(1, "sigmoid")])
    >>> model.compile("adam", loss)
    >>> history = model.fit(x, pack(label, mass), batch_size=2_000, verbose=0)
    >>> loss.skipped, loss.relative_strength, abs(loss.mode_loss) < 0.1
    (0, 30.0, True)
    >>> rho, error = loss.dependence
    >>> MoDeConstraint.from_config(loss.get_config()).options
    {'order': 1, 'mass_range': (50.0, 300.0)}
    """

    def __init__(
        self,
        *positional: Never,
        base: Any = "binary_crossentropy",
        relative_strength: float = 30.0,
        tolerance: float | None = None,
        score_transform: ScoreTransform = "odds",
        from_logits: bool = False,
        score: int | None = None,
        background_only: bool = True,
        on_bad_batch: OnBadBatch = "skip",
        monitor: bool = True,
        name: str | None = None,
        dtype: Any = None,
        **options: Unpack[LossOptions],
    ) -> None:
        keywords_only(self, positional, "order=1")
        super().__init__(base, name=name or "mode_constraint", dtype=dtype)
        if self._base is None:
            raise ValueError("base = None: a MoDeConstraint adds to the gradient of a loss, which base must be")
        if isinstance(score, bool) or not (score is None or isinstance(score, int)):
            raise TypeError(f"score = {score!r}: must be the number of an output")
        self.options = plain("mode", {"order": 1, **options})
        constraint = Constraint(
            self.options,
            relative_strength=relative_strength,
            tolerance=tolerance,
            score_transform=score_transform,
            from_logits=from_logits,
        )
        self._added = Added(
            constraint,
            name=type(self).__name__,
            on_bad_batch=on_bad_batch,
            state=State(),
            monitor=Monitor() if monitor else None,
        )
        self.score, self.background_only = score, background_only
        self.score_transform, self.monitor = score_transform, monitor

    # Not call: Keras would cast the masses, and multiply the loss by the mean of sample_weight.
    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """The loss of a batch, a scalar."""
        y_pred = ops.convert_to_tensor(y_pred, dtype=self.dtype)
        return self._base_loss(y_true, self._constrained(y_true, y_pred, sample_weight), sample_weight)

    def _constrained(self, y_true: Any, y_pred: Any, sample_weight: Any) -> Any:
        labels, mass, weight, category = columns(y_true, y_pred, sample_weight)
        label = class_of(labels) if self.background_only else None
        score = backend.same(self._added, score_of(y_pred, self.score), mass, weight, label, category)
        if self.score is None:
            return score
        return ops.concatenate([y_pred[:, : self.score], score[:, None], y_pred[:, self.score + 1 :]], axis=1)

    @property
    def skipped(self) -> int:
        """How many batches were skipped."""
        return self._added.skipped

    @property
    def relative_strength(self) -> float:
        """The factor as it is now."""
        return self._added.constraint.relative_strength * self._state().factor

    @property
    def mode_loss(self) -> float:
        """MoDe of the last batch of the training, unbiased, of W(s); NaN before the first."""
        return self._added.loss

    @property
    def dependence(self) -> Dependence:
        """rho and its error, see :class:`libmode.torch.MoDeConstraint`; NaN before the first batch."""
        return self._state().dependence(self._added.constraint.tolerance or USUAL_TOLERANCE)

    def _state(self) -> State:
        assert self._added.state is not None
        return self._added.state

    def get_config(self) -> dict[str, Any]:
        """The arguments, as Keras saves them."""
        constraint = self._added.constraint
        return {
            **super().get_config(),
            "relative_strength": constraint.relative_strength,
            "tolerance": constraint.tolerance,
            "score_transform": self.score_transform,
            "from_logits": constraint.from_logits,
            "score": self.score,
            "background_only": self.background_only,
            "on_bad_batch": self._added.on_bad_batch,
            "monitor": self.monitor,
            **{name: saved(value) for name, value in self.options.items()},
        }
