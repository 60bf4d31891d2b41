"""Other methods of the field, to compare MoDe with."""

from .disco import DisCoLoss
from .flatness import FlatnessLoss
from .planing import Planing

__all__ = ["DisCoLoss", "FlatnessLoss", "Planing"]
