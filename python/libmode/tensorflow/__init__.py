"""The losses for TensorFlow: functions of tensors, eagerly and in a ``tf.function``."""

from .._missing import needed

with needed("tensorflow", by="libmode.tensorflow", extra="tensorflow"):
    from .loss import disco_loss, flatness_loss, mode_loss

__all__ = ["disco_loss", "flatness_loss", "mode_loss"]
