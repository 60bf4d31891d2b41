"""The loss and the layer of Keras's backend. All backends have the same arguments and attributes."""

from __future__ import annotations

from typing import Any

import keras

__all__ = ["Layer", "Loss", "by_column", "devices", "replicas"]

_BACKEND = keras.backend.backend()
if _BACKEND == "torch":
    from ..torch.constraint import MoDeConstraint as Layer
    from ..torch.loss import MoDeLoss as Loss

    def by_column(packed: Any) -> Any:
        """The array with the events on its last axis: one copy, so that the core reads each column without another."""
        return packed.movedim(0, -1).contiguous()
elif _BACKEND in ("tensorflow", "jax"):
    from ._host import Layer, Loss  # type: ignore[assignment]

    def by_column(packed: Any) -> Any:
        """The array with the events on its last axis: one copy for all columns."""
        return keras.ops.moveaxis(packed, 0, -1)
else:
    raise ImportError(f"libmode.keras: Keras's backend is {_BACKEND}: expected tensorflow, jax or torch")


def replicas() -> int:
    """The number of copies of the model among which tf.distribute divides a batch, and whose gradients it adds."""
    if _BACKEND != "tensorflow":
        return 1
    import tensorflow

    count: int = tensorflow.distribute.get_strategy().num_replicas_in_sync
    return count


def devices() -> int:
    """The number of devices that compute the loss of a batch, by tf.distribute or keras.distribution."""
    distribution = keras.distribution.distribution()
    return replicas() if distribution is None else int(distribution.device_mesh.devices.size)
