"""Labels, masses and weights as the columns of ``y_true``."""

from __future__ import annotations

from typing import Any

import numpy as np
from keras import ops
from numpy.typing import NDArray

from .._arrays import vector
from .._front import same_length


def pack(label: Any, mass: Any, weight: Any = None) -> NDArray[Any]:
    """The ``y_true`` that :class:`MoDeLoss`, :func:`mode_loss` and :func:`on_label` read.

    Parameters
    ----------
    label : (n,), (n, 1), or (n, k) for one-hot labels of k classes
    mass : (n,) or (n, 1), in any unit
        Keras casts arrays given to ``fit`` to its floatx, float32 by default.
    weight : (n,) or (n, 1), optional
        Event weights of either sign; 1 by default.

    Returns
    -------
    Array of shape (n, k + 2): label, mass, weight; float32 if mass and weight fit in it.
    """
    labels = np.asarray(label)
    if labels.dtype.kind not in "fiub":
        raise TypeError(f"label has dtype {labels.dtype}: expected real numbers")
    if labels.ndim == 1:
        labels = labels[:, None]
    if labels.ndim != 2 or not labels.shape[1]:
        raise ValueError(f"label has shape {labels.shape}: expected (n,), (n, 1) or (n, classes)")
    columns = [vector("mass", mass), np.ones(len(labels), np.float32) if weight is None else vector("weight", weight)]
    for name, column in zip(("mass", "weight"), columns, strict=True):
        same_length(name, column, "label", labels)
    small = all(column.dtype in (np.float32, np.float16) for column in columns)
    packed: NDArray[Any] = np.column_stack([labels, *columns])
    return packed.astype(np.float32 if small else np.float64)


def unpack(y_true: Any) -> tuple[Any, Any, Any]:
    """The labels, shape (n, k), masses and weights, (n,), of what :func:`pack` made."""
    y_true = ops.convert_to_tensor(y_true)
    shape = tuple(y_true.shape)
    if len(shape) != 2 or shape[1] is None or shape[1] < 3:
        raise ValueError(
            f"y_true has shape {shape}: expected the columns that libmode.keras.pack(label, mass, weight) makes"
        )
    return y_true[:, :-2], y_true[:, -2], y_true[:, -1]
