"""What the classes for ``model.compile(loss=...)`` have in common: the classifier's own loss, and what they read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from .._front import flat, same_length
from .events import Columns, unpack

Score = int | Callable[[Any], Any] | None


class WithBase(keras.losses.Loss):
    """A loss beside that of the classifier, which is what ``keras.losses.get`` takes, or None."""

    def __init__(self, base: Any, *, name: str, dtype: Any) -> None:
        super().__init__(name=name, dtype=dtype)
        self.base, self._base = base, keras.losses.get(base)

    def _base_loss(self, y_true: Any, y_pred: Any, sample_weight: Any) -> Any:
        """The classifier's own loss of a batch, a scalar, with both weights; a function's mean over the events."""
        labels, _, weight, _ = unpack(y_true)
        labels, weight = ops.cast(labels, self.dtype), ops.cast(weight, self.dtype)
        if sample_weight is not None:
            weight = weight * weights_of(sample_weight, weight)
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
        return {"name": self.name, "dtype": self.dtype, "base": saved(self.base)}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """The loss that :meth:`get_config` describes."""
        return cls(**{**config, "base": keras.saving.deserialize_keras_object(config["base"])})


def saved(value: Any) -> Any:
    """A value that survives JSON."""
    if isinstance(value, tuple):
        return [saved(one) for one in value]
    return keras.saving.serialize_keras_object(value) if callable(value) else value


def columns(y_true: Any, y_pred: Any, further: Any, name: str = "sample_weight") -> Columns:
    """The columns of what :func:`pack` made, as many as there are outputs, with further weights of this name."""
    found = unpack(y_true)
    if further is not None:
        found = found._replace(weight=found.weight * weights_of(further, found.weight, name))
    for name in ("mass", "weight"):
        same_length(name, getattr(found, name), "y_pred", y_pred)
    return found


def class_of(labels: Any) -> Any:
    """The label of each event, (n,), of labels of shape (n, 1), or (n, k) for one-hot ones."""
    return labels[:, 0] if labels.shape[1] == 1 else ops.argmax(labels, axis=1)


def score_of(y_pred: Any, score: Score) -> Any:
    """The scores, (n,), of outputs of shape (n,), (n, 1) or (n, k): a column, or what a function makes of them."""
    if callable(score):
        return flat("what score(y_pred) returns", score(y_pred))
    shape = tuple(y_pred.shape)
    if score is None:
        if len(shape) == 2 and shape[1] != 1:
            raise ValueError(f"y_pred has shape {shape}: say which output is the score, for instance score=0")
        return flat("y_pred", y_pred)
    if len(shape) != 2 or not 0 <= score < shape[1]:
        raise ValueError(f"score = {score}: y_pred of shape {shape} has no such column")
    return y_pred[:, score]


def weights_of(further: Any, weight: Any, name: str = "sample_weight") -> Any:
    """Further weights beside the packed ones."""
    further = flat(name, ops.convert_to_tensor(further, dtype=weight.dtype))
    same_length(name, further, "y_true", weight)
    return further
