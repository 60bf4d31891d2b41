"""Metrics of the labels that ``pack`` has packed."""

from __future__ import annotations

from typing import Any

import keras

from .events import unpack


@keras.saving.register_keras_serializable(package="libmode")
class OnLabel(keras.metrics.Metric):
    """A metric of the labels, the result of :func:`on_label`."""

    def __init__(self, metric: Any, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(name=name or metric.name, dtype=dtype)
        self.metric = metric

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Updates the metric with the labels."""
        self.metric.update_state(unpack(y_true)[0], y_pred, sample_weight=sample_weight)

    def result(self) -> Any:
        """The result of the metric."""
        return self.metric.result()

    def reset_state(self) -> None:
        """Resets the metric."""
        self.metric.reset_state()

    def get_config(self) -> dict[str, Any]:
        """The metric in the form that Keras saves."""
        return {**super().get_config(), "metric": keras.saving.serialize_keras_object(self.metric)}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> OnLabel:
        """The metric that :meth:`get_config` describes."""
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
        A metric of Keras that passes only the labels on. It gets ``sample_weight`` as one of the
        ``weighted_metrics``, but never the weights of :func:`pack`.

    Raises
    ------
    ValueError
        For "accuracy" and "acc", and for metrics that Keras does not know.

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
