"""The common part of the classes for ``model.compile(loss=...)``: the classifier's own loss, and reading ``y_true``."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import keras
import numpy as np
from keras import ops

from .._messages import shown
from .._options import OF_LAYER, check
from .._read import as_python, flat, same_length
from ._backend import replicas
from .events import Columns, unpack

#: Losses of Keras that take the number of a class, and an output for each class; others take a label for each output.
_OF_ONE_INTEGER = {"sparse_categorical_crossentropy", "categorical_generalized_cross_entropy", "circle"}


class WithBase(keras.losses.Loss):
    """A loss with a base: the classifier's own loss, an argument of ``keras.losses.get``, or None."""

    _layer: Any

    def __init__(
        self, name: str, dtype: Any, base: Any, options: Mapping[str, Any], arguments: Mapping[str, Any]
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        self.base, self._base = base, keras.losses.get(base)
        more = OF_LAYER if "signal" in arguments else ()
        checked = check("mode", options, type(self).__init__, more)
        self.options = {name: checked.values[name] for name in options}
        self.__dict__.update({name: checked.values[name] for name in more})
        self._arguments = {"base": base, **arguments}
        self.__dict__.update(arguments)
        self._more: dict[str, bool] = {}

    def _base_of_logits(self, from_logits: bool) -> None:
        """Tells a base that is given by name whether outputs are logits; raises if another base says the opposite."""
        own = takes_logits(self._base)
        if own is None or own == from_logits:
            return
        if isinstance(self.base, str) and not isinstance(self._base, keras.losses.Loss):
            self._more = {"from_logits": from_logits}
            return
        raise ValueError(
            f"base = {shown(self.base)} has from_logits = {own}, and {type(self).__name__} has from_logits = "
            f"{from_logits}: both read the same outputs, so give both from_logits=True for logits, and False for "
            "scores from 0 to 1"
        )

    @property
    def skipped(self) -> int:
        """The number of skipped batches."""
        count: int = self._layer.skipped
        return count

    # Keras's __call__ would cast the masses, and multiply the sum of both parts by the mean of sample_weight.
    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """The loss of a batch, a scalar."""
        y_pred, events = ops.convert_to_tensor(y_pred, dtype=self.dtype), unpack(y_true)
        same_length("mass", events.mass, "y_pred", y_pred)
        if sample_weight is not None:
            sample_weight = flat("sample_weight", ops.convert_to_tensor(sample_weight, dtype=events.weight.dtype))
            same_length("sample_weight", sample_weight, "y_true", events.weight)
            of_base = events.base_weight * sample_weight
            events = events._replace(weight=events.weight * sample_weight, base_weight=of_base)
        self._check_columns(tuple(y_pred.shape), events.label.shape[1])
        return self._loss(events, y_pred)

    def _check_columns(self, shape: Sequence[int], classes: int) -> None:
        """Raises ValueError if a loss of Keras would broadcast outputs and labels, or learn nothing."""
        function = getattr(self._base, "fn", self._base)  # classes of Keras have one
        if not getattr(function, "__module__", "").startswith("keras."):
            return
        columns, outputs = shape[-1] if len(shape) > 1 else 1, f"base = {shown(self.base)} and y_pred of shape {shape}"
        if function.__name__ in _OF_ONE_INTEGER:
            if columns < 2:
                raise ValueError(
                    f"{outputs}: a softmax has an output for each class. Give base='binary_crossentropy' for one output"
                )
        elif columns != classes:
            raise ValueError(
                f"{outputs}: label has {classes} column{'s' * (classes > 1)}. Give "
                "base='sparse_categorical_crossentropy' for several outputs of a softmax, 'categorical_crossentropy' "
                "with one-hot labels, or one label for one output"
            )

    def _loss(self, events: Columns, y_pred: Any) -> Any:
        raise NotImplementedError

    def _base_loss(self, events: Columns, y_pred: Any) -> Any:
        """The classifier's own weighted loss of a batch, a scalar; of a function the mean over events of all replicas.

        A loss of Keras divides by the number of replicas itself.
        """
        labels, weight = ops.cast(events.label, self.dtype), ops.cast(events.base_weight, self.dtype)
        if len(y_pred.shape) == 1:
            y_pred = y_pred[:, None]
        if isinstance(self._base, keras.losses.Loss):
            loss = self._base(labels, y_pred, sample_weight=weight)
            if len(loss.shape):
                raise ValueError(f"base returned shape {tuple(loss.shape)}: give it a reduction")
            return loss
        values = self._base(labels, y_pred, **self._more)
        if len(values.shape) != 1:
            raise ValueError(f"base returned shape {tuple(values.shape)}: expected one value for each event")
        return ops.mean(values * weight) / replicas()

    def get_config(self) -> dict[str, Any]:
        """The arguments, as Keras saves them, and what the loss remembers of earlier batches."""
        arguments = {"name": self.name, "dtype": self.dtype, **self._arguments, **self.options}
        config = {name: _saved(value) for name, value in arguments.items()}
        numbers = self._layer._memory
        return config if numbers is None or not numbers.any() else {**config, "memory": numbers.tolist()}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """The loss that :meth:`get_config` describes, with what it remembers of earlier batches."""
        objects = {name: keras.saving.deserialize_keras_object(config[name]) for name in ("base", "score")}
        loss = cls(**{name: value for name, value in {**config, **objects}.items() if name != "memory"})
        if "memory" in config:
            numbers = np.array(config["memory"], np.float64)
            loss._check_memory(numbers)
            loss._layer._memory = numbers
        return loss


def takes_logits(base: Any) -> bool | None:
    """Whether a loss of Keras takes outputs for logits; None if it does not say so."""
    if isinstance(base, keras.losses.Loss):
        own = getattr(base, "from_logits", None)
    else:
        try:
            argument = inspect.signature(base).parameters.get("from_logits")
        except (TypeError, ValueError):  # no function of Python
            return None
        own = None if argument is None else argument.default
    return own if isinstance(own, bool) else None


def _saved(value: Any) -> Any:
    """A value that survives JSON."""
    if isinstance(value, tuple):
        return [_saved(one) for one in value]
    return keras.saving.serialize_keras_object(value) if callable(value) else as_python(value)
