"""The loss to whose gradient MoDe's push is added, for ``model.compile``."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
from keras import ops
from numpy.typing import NDArray

from .._problems import OnBadBatch
from ..option_types import LayerOptions, Unpack
from ._backend import Layer, devices
from .base import WithBase
from .events import Columns, pick_score


@keras.saving.register_keras_serializable(package="libmode")
class MoDeConstraint(WithBase):
    """``base``, with a gradient that keeps the response to background smooth in the mass.

    Pass it to ``model.compile(loss=...)``. Its value is the value of ``base``. It changes the gradient like
    :class:`libmode.torch.MoDeConstraint`. An evaluation changes nothing.

    Parameters
    ----------
    base, background_only, name, dtype
        As for :class:`MoDeLoss`; the default base is "binary_crossentropy".
    on_bad_batch, monitor, **options
        See :class:`libmode.torch.MoDeConstraint`. A ``base`` given by its name has the same ``from_logits``, and an
        object must have it.
    score : int, optional
        The column of ``y_pred`` that is the score, if each output is an independent score or logit.
    signal : int, default -1
        The column of signal among the outputs of a softmax, for several outputs without ``score``.

    Notes
    -----
    A saved model has the arguments and the state; a file of its weights has neither. Keras has no place for reference
    events: use batches of thousands of events. The notes of :class:`MoDeLoss` apply too.

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
    >>> loss.skipped
    0
    """

    _layer: Layer
    from_logits: bool
    score: int | None

    def __init__(
        self, *, base: Any = "binary_crossentropy", score: int | None = None, signal: int = -1,
        background_only: bool = True, on_bad_batch: OnBadBatch = "skip", monitor: bool = True, name: str | None = None,
        dtype: Any = None, **options: Unpack[LayerOptions],
    ) -> None:  # fmt: skip
        arguments: dict[str, Any] = {"signal": signal, "background_only": background_only}
        arguments |= {"on_bad_batch": on_bad_batch, "monitor": monitor}
        super().__init__(name or "mode_constraint", dtype, base, options, {"score": score, **arguments})
        if self._base is None:
            raise ValueError("base = None: MoDeConstraint adds to the gradient of another loss, give that loss as base")
        if isinstance(score, bool) or not (score is None or isinstance(score, int)):
            raise TypeError(f"score = {score!r}: must be the number of an output")
        self._layer = Layer(**arguments, **self.options)

    def _loss(self, events: Columns, y_pred: Any) -> Any:
        self._base_of_logits(bool(self.from_logits))
        if devices() > 1:
            raise ValueError(
                f"MoDeConstraint and {devices()} devices of a distribution: each device would count each batch, or "
                "its part, in the same state. Train on one device, or with MoDeLoss"
            )
        score = y_pred if self.score is None else pick_score(y_pred, self.score)
        score = self._layer(score, events.classes(), events.mass, events.weight, category=events.category)
        if self.score is not None:
            before, after = y_pred[:, : self.score], y_pred[:, self.score + 1 :]
            score = ops.concatenate([before, score[:, None], after], axis=1)
        return self._base_loss(events, score)

    def _check_memory(self, numbers: NDArray[np.float64]) -> None:
        self._layer._constraint.check_state(numbers)
