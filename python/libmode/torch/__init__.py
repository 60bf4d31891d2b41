"""The MoDe loss for PyTorch: the layer :class:`MoDeConstraint`, the module :class:`MoDeLoss`, and :func:`mode_loss`."""

from .._missing import needed

with needed("torch", by="libmode.torch", extra="torch"):
    from .._front import Events
    from .constraint import MoDeConstraint
    from .loss import MoDeLoss, mode_loss
    from .metrics import MoDeMetrics
    from .reference import Reference

__all__ = ["Events", "MoDeConstraint", "MoDeLoss", "MoDeMetrics", "Reference", "mode_loss"]
