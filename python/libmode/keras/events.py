"""Labels, masses, weights and categories as the columns of ``y_true``, and scores as one of ``y_pred``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import keras
import numpy as np
from keras import ops
from numpy.typing import NDArray

from .._events import takes_events
from .._read import as_array, flat, missing_label, same_length, variables, vector
from ._backend import by_column

Score = int | Callable[[Any], Any] | None

# Keras casts the arrays of ``fit`` to float32, where larger integers are not exact.
_LARGEST_CATEGORY = 2**24


@takes_events
def pack(label: Any, mass: Any, weight: Any = None, category: Any = None, *, base_weight: Any = None) -> NDArray[Any]:
    """The ``y_true`` that :class:`MoDeConstraint`, :class:`MoDeLoss` and :func:`on_label` read.

    Parameters
    ----------
    label : (n,), (n, 1), or (n, k) for one-hot labels of k classes
    mass : (n,), or (n, d) for d = 1 to 3 variables, in any unit
        Keras casts arrays given to ``fit`` to its floatx, float32 by default.
    weight : (n,) or (n, 1), optional
        Event weights of either sign; 1 by default.
    base_weight : (n,) or (n, 1), optional
        Weights of the classifier's loss in the place of ``weight``, which MoDe keeps: for
        :func:`libmode.planing_weights`, and in place of the ``class_weight`` of ``fit``, which cannot read packed
        labels: ``np.where(label == 1, 2.0, 1.0)``.
    category : (n,) or (n, 1), integers or bools, optional
        As for :func:`libmode.mode_loss`, at most 2^24 and at least -2^24.

    Returns
    -------
    Array of shape (n, k + 1, d + 1), and (n, k + 1, d + 1, 2) with categories
        Labels in the first column, under them masses and weight, and ``base_weight`` beside the first label. It is
        float32 if masses and weights fit in it.
        A metric of Keras without :func:`on_label` fails at this shape, where it would compare scores with masses.

    Examples
    --------
    >>> from libmode.keras import pack
    >>> pack([0, 1, 0], [[80.0, 300.0], [120.0, 410.0], [95.0, 350.0]], weight=[1, 2, 1], category=[0, 0, 1]).shape
    (3, 2, 3, 2)
    """
    labels = as_array("label", label)
    if labels.ndim == 1:
        labels = labels[:, None]
    if labels.ndim != 2 or not labels.shape[1]:
        raise ValueError(f"label has shape {labels.shape}: expected (n,), (n, 1) or (n, classes)")
    if (missing := np.isnan(labels).any(axis=1)).any():
        raise missing_label(missing)
    masses = variables(as_array("mass", mass))
    weights = np.ones(len(labels), np.float32) if weight is None else vector("weight", weight)
    of_base = weights if base_weight is None else vector("base_weight", base_weight)
    numbers = np.zeros(len(labels)) if category is None else vector("category", category)
    columns = {"mass": masses, "weight": weights, "base_weight": of_base, "category": numbers}
    for name, column in columns.items():
        same_length(name, column, "label", labels)
    large = (numbers > _LARGEST_CATEGORY) | (numbers < -_LARGEST_CATEGORY)
    if large.any():
        at = int(np.argmax(large))
        raise ValueError(
            f"category[{at}] = {numbers[at]}: exceeds 2^24, above which float32 skips integers; "
            "number the categories, for instance by numpy.unique(category, return_inverse=True)[1]"
        )
    narrow = all(column.dtype in (np.float32, np.float16) for column in (masses, weights, of_base))
    rows = masses.reshape(len(labels), -1)
    packed = np.zeros((len(labels), labels.shape[1] + 1, rows.shape[1] + 1), np.float32 if narrow else np.float64)
    packed[:, :-1, 0], packed[:, 0, 1] = labels, of_base
    packed[:, -1] = np.column_stack([rows, weights])
    if category is None:
        return packed
    second = np.zeros_like(packed)
    second[:, 0, 0] = numbers
    return np.stack([packed, second], axis=-1)


class Columns(NamedTuple):
    """The arguments of :func:`pack`, as tensors."""

    label: Any  #: (n, k)
    mass: Any  #: (n,) or (n, d)
    weight: Any  #: (n,)
    category: Any  #: (n,) or None
    base_weight: Any  #: (n,)

    def classes(self) -> Any:
        """The label of each event, (n,); from one-hot labels the class."""
        return self.label[:, 0] if self.label.shape[1] == 1 else ops.argmax(self.label, axis=1)


def unpack(y_true: Any) -> Columns:
    """The columns of a result of :func:`pack`."""
    y_true = ops.convert_to_tensor(y_true)
    shape = tuple(y_true.shape)
    has_category = len(shape) == 4 and shape[3] == 2
    if not ((len(shape) == 3 or has_category) and None not in shape[1:] and min(shape[1:3]) >= 2):
        raise ValueError(
            f"y_true has shape {shape}: expected the columns that libmode.keras.pack(label, mass, weight, category) "
            "makes"
        )
    columns = by_column(y_true)
    category = ops.cast(columns[0, 0, 1], "int32") if has_category else None
    packed = columns[:, :, 0] if has_category else columns
    label = packed[0, 0][:, None] if shape[1] == 2 else ops.transpose(packed[:-1, 0])
    mass = packed[-1, 0] if shape[2] == 2 else ops.transpose(packed[-1, :-1])
    return Columns(label, mass, packed[-1, -1], category, packed[0, 1])


def pick_score(y_pred: Any, score: Score) -> Any:
    """The scores, (n,), from outputs of shape (n,), (n, 1) or (n, k): a column, or the result of a function."""
    if callable(score):
        return flat("the result of score(y_pred)", score(y_pred))
    shape = tuple(y_pred.shape)
    if score is None:
        if len(shape) == 2 and shape[1] != 1:
            raise ValueError(f"y_pred has shape {shape}: say which output is the score, for instance score=0")
        return flat("y_pred", y_pred)
    if len(shape) != 2 or not 0 <= score < shape[1]:
        raise ValueError(f"score = {score}: y_pred of shape {shape} has no such column")
    return y_pred[:, score]


@keras.saving.register_keras_serializable(package="libmode")
class OnLabel(keras.metrics.Metric):
    """A metric of the labels, the result of :func:`on_label`."""

    def __init__(self, metric: Any, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(name=name or metric.name, dtype=dtype)
        self.metric = metric

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        self.metric.update_state(unpack(y_true)[0], y_pred, sample_weight=sample_weight)

    def result(self) -> Any:
        return self.metric.result()

    def reset_state(self) -> None:
        self.metric.reset_state()

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "metric": keras.saving.serialize_keras_object(self.metric)}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> OnLabel:
        return cls(**{**config, "metric": keras.saving.deserialize_keras_object(config["metric"])})


def on_label(metric: Any, name: str | None = None) -> OnLabel:
    """A metric of Keras for the packed ``y_true`` of :func:`libmode.keras.pack`.

    Parameters
    ----------
    metric : Metric, function or str
        An argument of ``keras.metrics.get``, except "accuracy": Keras has several accuracies.
    name : str, optional
        By default the name of the metric.

    Returns
    -------
    OnLabel
        A metric that passes only the labels on, and ``sample_weight`` as one of the ``weighted_metrics``, but never
        the weights of :func:`pack`.

    Examples
    --------
    >>> import keras
    >>> import numpy as np
    >>> from libmode.keras import on_label, pack
    >>> metric = on_label("AUC")
    >>> metric.update_state(pack([0, 0, 1, 1], [80.0, 90.0, 120.0, 95.0]), np.array([[0.1], [0.4], [0.35], [0.8]]))
    >>> print(f"{float(metric.result()):.2f}")
    0.75
    """
    if metric in ("accuracy", "acc"):
        exact = "'binary_accuracy', 'sparse_categorical_accuracy' or 'categorical_accuracy'"
        raise ValueError(f"metric = {metric!r}: Keras has several accuracies, give {exact}")
    known = keras.metrics.get(metric)
    if not isinstance(known, keras.metrics.Metric):
        known = keras.metrics.MeanMetricWrapper(known, name=getattr(known, "__name__", None))
    return OnLabel(known, name)
