"""Other methods of the field, to compare MoDe with."""

from .adversary import AdversaryLoss
from .disco import DisCoLoss
from .flatness import FlatnessLoss
from .planing import Planing, planing

__all__ = ["AdversaryLoss", "DisCoLoss", "FlatnessLoss", "Planing", "planing"]
