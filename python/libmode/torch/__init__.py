"""The MoDe loss for PyTorch: :class:`MoDeLoss`, a module, and :func:`mode_loss`."""

from .loss import MoDeLoss, mode_loss

__all__ = ["MoDeLoss", "mode_loss"]
