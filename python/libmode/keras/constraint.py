"""The loss to whose gradient MoDe's push is added, for ``model.compile``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras
from keras import ops

from .._added import Added
from .._bad_batches import OnBadBatch
from .._constraint import USUAL_TOLERANCE, Constraint, Dependence, State
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
    """``base``, with a push in its gradient that keeps the response to background smooth in the mass.

    It goes to ``model.compile(loss=...)``. The value is that of ``base``. To its gradient G it adds a push. By the
    logit of background event i of mass m and score s it is::

        min(1, sigma) |G|/sqrt(n) w_i u(m, s)
        u = 4 r + 0.02 (sum of r sqrt(N/1024) over all batches so far)

    r is the residual of the MoDe loss (arXiv:2010.09745) as a smooth function of mass and score, ``|G|`` the norm over
    the n background events of the batch, and sigma the standard deviation of their logits, see
    :class:`libmode.torch.MoDeConstraint`. N is the number of events of a batch. The sum grows until the mean residual
    is 0, so there is no strength to guess. In an evaluation nothing is added.

    Parameters
    ----------
    base : default "binary_crossentropy"
        The classifier's loss: what ``keras.losses.get`` takes.
        A function must return one value for each event; the mean over events is used.
    relative_strength : float, optional
        K: a fixed strength, ``u = K r`` without a sum, for a scan. Left out, the sum finds the strength.
    tolerance : float, optional
        "So flat that a test with N background events sees no difference": where the dependence is below that, the
        push gets smaller and the sum leaks, within some 500 batches. It is judged by averages over 200
        batches, so it can be no larger than 200 batches can tell.
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
    The push is not the gradient of :class:`MoDeLoss`. An event's push is proportional to its weight, and events that
    take no part in the loss get none.

    ``y_true`` is what :func:`pack` makes; its weights and ``sample_weight`` are multiplied
    and weight both parts. The arguments are saved with the model. The sum and what the tolerance has learnt are not: a
    model that is loaded and trained further starts them anew. A loss of
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
    >>> loss = MoDeConstraint(order=1, mass_range=(50, 300))  # cross-entropy, with a push in its gradient
    >>> model = keras.Sequential([keras.layers.Dense(1, "sigmoid")])
    >>> model.compile("adam", loss)
    >>> history = model.fit(x, pack(label, mass), batch_size=2_000, verbose=0)
    >>> loss.skipped, loss.relative_strength, abs(loss.mode_loss) < 0.1
    (0, None, True)
    >>> rho, error = loss.dependence
    >>> MoDeConstraint.from_config(loss.get_config()).options
    {'order': 1, 'mass_range': (50.0, 300.0)}
    """

    def __init__(
        self,
        *positional: Never,
        base: Any = "binary_crossentropy",
        relative_strength: float | None = None,
        tolerance: float | None = None,
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
        self.monitor = monitor

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
    def relative_strength(self) -> float | None:
        """The fixed strength, None where the sum finds it."""
        return self._added.constraint.relative_strength

    @property
    def mode_loss(self) -> float:
        """MoDe of the last batch of the training, unbiased; NaN before the first."""
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
            "from_logits": constraint.from_logits,
            "score": self.score,
            "background_only": self.background_only,
            "on_bad_batch": self._added.on_bad_batch,
            "monitor": self.monitor,
            **{name: saved(value) for name, value in self.options.items()},
        }
