"""Other methods of the field, to compare MoDe with."""

from .losses import DisCoLoss, FlatnessLoss
from .planing import Planing

__all__ = ["DisCoLoss", "FlatnessLoss", "Planing"]
