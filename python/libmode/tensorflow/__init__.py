"""The losses for TensorFlow: functions of tensors, eagerly and in a ``tf.function``.

:func:`mode_constraint` adds MoDe's gradient to that of any loss, scaled to it; the others are the losses themselves.
"""

from .._missing import needed

with needed("tensorflow", by="libmode.tensorflow", extra="tensorflow"):
    from .._front import Events
    from .constraint import mode_constraint
    from .loss import mode_loss

__all__ = ["Events", "mode_constraint", "mode_loss"]
