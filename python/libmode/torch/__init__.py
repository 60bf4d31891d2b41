"""The MoDe loss for PyTorch: the layer :class:`MoDeConstraint`, the module :class:`MoDeLoss`, and :func:`mode_loss`."""

from .._messages import needed

with needed("torch", by="libmode.torch", extra="torch"):
    from .._events import Events
    from .constraint import MoDeConstraint
    from .distance import distance_correlation
    from .loss import MoDeLoss, mode_loss
    from .metrics import MoDeMetrics

__all__ = ["Events", "MoDeConstraint", "MoDeLoss", "MoDeMetrics", "distance_correlation", "mode_loss"]
