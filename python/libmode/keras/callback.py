"""A callback that scores validation events at the end of each epoch."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from .._arrays import read
from .._events import same_length, takes_events, together
from .._typing import Unpack
from ..metrics import summary
from ..metrics._arguments import numbers
from ..metrics.summary import Settings
from ..option_types import SummaryOptions
from .constraint import MoDeConstraint
from .events import Score, score_of


class MoDeCallback(keras.callbacks.Callback):
    """Puts the numbers of :func:`libmode.metrics.summary` into the ``logs`` of each epoch.

    History, ``CSVLogger`` and ``TensorBoard`` have them from there, and, if this callback stands before them in the
    list, ``EarlyStopping`` and ``ModelCheckpoint``. The end of ``fit`` warns if a :class:`MoDeConstraint` has not made
    the response flat.

    Parameters
    ----------
    x : what ``model.predict`` takes
        The events of a validation.
    label, mass, weight : (n,) or (n, 1), weight optional
    **settings
        ``order``, which is that of the loss, and all else that :func:`libmode.metrics.summary` takes.
    score : int or callable, optional
        Which output is the score, or a function of them, as for :class:`MoDeLoss`.
    batch_size : int, optional
        Of ``model.predict``.
    prefix : str, by default ``"val_mode_"``
        Of the names: ``val_mode_sensitivity``.

    Raises
    ------
    ValueError, TypeError
        At once for bad options and arrays that do not fit each other, and at the end of an epoch as
        :func:`libmode.metrics.summary`.

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
    >>> stop = keras.callbacks.EarlyStopping(monitor="val_mode_sensitivity", mode="max", patience=5)
    >>> target = pack(label[:4_000], mass[:4_000])
    >>> history = model.fit(x[:4_000], target, batch_size=2_000, verbose=0, callbacks=[judge, stop])
    >>> len(history.history["val_mode_sensitivity"]), len(history.history["val_mode_auc"])
    (1, 1)
    """

    @takes_events
    def __init__(
        self,
        x: Any,
        label: Any,
        mass: Any,
        weight: Any = None,
        *,
        score: Score = None,
        batch_size: int | None = None,
        prefix: str = "val_mode_",
        **settings: Unpack[SummaryOptions],
    ) -> None:
        super().__init__()
        Settings.checked(**settings)
        self._label, self._mass, self._weight = together(read, label=read("label", label), mass=mass, weight=weight)
        numbers("mass", self._mass)  # now, not after an epoch
        self._x, self._score, self._batch_size, self._prefix = x, score, batch_size, prefix
        self._settings: Any = settings

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Scores the events, and adds the numbers to ``logs``."""
        outputs = self.model.predict(self._x, batch_size=self._batch_size, verbose=0)
        scores = ops.convert_to_numpy(score_of(ops.convert_to_tensor(outputs), self._score))
        same_length("the prediction for x", scores, "label", self._label)
        found = summary(scores, self._label, self._mass, weight=self._weight, **self._settings)
        if logs is not None:
            logs.update({self._prefix + name: value for name, value in found.items()})

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        """Lets the constraint say whether the response has become flat."""
        loss = self.model.loss
        if isinstance(loss, MoDeConstraint) and loss._layer._statement is not None:
            loss._layer._statement.say()
