"""The MoDe loss for PyTorch: :class:`MoDeLoss`, a module, and :func:`mode_loss`."""

from .._missing import needed

with needed("torch", by="libmode.torch", extra="torch"):
    from .loss import MoDeLoss, mode_loss

__all__ = ["MoDeLoss", "mode_loss"]
