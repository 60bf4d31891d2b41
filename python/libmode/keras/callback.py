"""A callback that scores validation events at the end of each epoch."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from .._constraint import sigmoid
from .._events import takes_events
from .._read import as_array, same_length, together
from ..metrics._judge import Check, Judge, Settings
from ..option_types import CheckOptions, Unpack
from .constraint import MoDeConstraint
from .events import Score, pick_score


class MoDeCallback(keras.callbacks.Callback):
    """Adds the AUC and the numbers of :func:`libmode.metrics.check` to the ``logs`` of each epoch.

    It prints the verdict, unless ``fit`` is silent. History, ``CSVLogger`` and ``TensorBoard`` read the logs. So do
    ``EarlyStopping`` and ``ModelCheckpoint``, if they come after this callback in the list. The end of ``fit`` warns if
    a :class:`MoDeConstraint` has not made the response flat.

    Parameters
    ----------
    x : argument of ``model.predict``
        The validation events.
    label, mass, weight : (n,) or (n, 1), weight optional
    **settings
        ``order``, as for the loss, and other arguments of :func:`libmode.metrics.check`, such as your working point.
    score : int or callable, optional
        The output that is the score, or a function of the outputs, as for :class:`MoDeLoss`; by default what a
        :class:`MoDeConstraint` of the model takes, also from logits.
    batch_size : int, optional
        The argument of ``model.predict``.
    prefix : str, by default ``"val_mode_"``
        As for :class:`libmode.torch.MoDeMetrics`.

    Attributes
    ----------
    check : :class:`libmode.metrics.Check` or None
        Of the last epoch: print it for the verdict. In the logs unknown numbers are NaN.

    Examples
    --------
    >>> import keras
    >>> import numpy as np
    >>> from libmode.keras import MoDeCallback, MoDeConstraint, pack
    >>> rng = np.random.default_rng(1)
    >>> label, mass = rng.integers(0, 2, 8_000), rng.uniform(50, 300, 8_000)  # 0 is background
    >>> x = np.column_stack([mass / 300, rng.normal(label)])
    >>> model = keras.Sequential([keras.layers.Dense(1, "sigmoid")])
    >>> model.compile("adam", MoDeConstraint(order=1))
    >>> judge = MoDeCallback(x[4_000:], label[4_000:], mass[4_000:], order=1)
    >>> target = pack(label[:4_000], mass[:4_000])
    >>> history = model.fit(x[:4_000], target, batch_size=2_000, verbose=0, callbacks=[judge])
    >>> len(history.history["val_mode_rank"])
    1
    """

    @takes_events
    def __init__(
        self, x: Any, label: Any, mass: Any, weight: Any = None, *, score: Score = None, batch_size: int | None = None,
        prefix: str = "val_mode_", **settings: Unpack[CheckOptions],
    ) -> None:  # fmt: skip
        super().__init__()
        self._label, self._mass, self._weight = together(
            as_array, label=as_array("label", label), mass=mass, weight=weight
        )
        self._judge = Judge(Settings(**settings), self._label, self._mass, self._weight)
        self._x, self._score, self._batch_size, self._prefix = x, score, batch_size, prefix
        self.check: Check | None = None

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Scores the events, and adds the numbers to ``logs``."""
        outputs = self.model.predict(self._x, batch_size=self._batch_size, verbose=0)
        layer = self.model.loss if self._score is None and isinstance(self.model.loss, MoDeConstraint) else None
        chosen = layer.score if layer else self._score
        scores = ops.convert_to_numpy(pick_score(ops.convert_to_tensor(outputs), chosen))
        scores = sigmoid(scores) if layer and layer.from_logits else scores
        same_length("the prediction for x", scores, "label", self._label)
        self.check, values = self._judge.log(scores)
        if (self.params or {}).get("verbose"):  # None before a training
            print(f"Epoch {epoch + 1}: {self.check.why}")
        if logs is not None:
            logs.update({self._prefix + name: value for name, value in values.items()})
