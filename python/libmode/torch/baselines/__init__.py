"""Other methods of the field, to compare MoDe with."""

from .adversary import AdversaryLoss
from .planing import Planing, planing

__all__ = ["AdversaryLoss", "Planing", "planing"]
