"""The functions of the framework that Keras computes with: ``loss_of`` and ``constrained``, with the same arguments."""

from __future__ import annotations

import keras

_BACKEND = keras.backend.backend()
if _BACKEND == "tensorflow":
    from .._tensorflow.loss import constrained as constrained
    from .._tensorflow.loss import loss_of as loss_of
elif _BACKEND == "jax":
    from ..jax.constraint import constrained as constrained
    from ..jax.loss import loss_of as loss_of
elif _BACKEND == "torch":
    from ._torch import constrained as constrained
    from ._torch import loss_of as loss_of
else:
    raise ImportError(f"libmode.keras: Keras's backend is {_BACKEND}: expected tensorflow, jax or torch")
