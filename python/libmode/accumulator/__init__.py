"""The loss, its moments and what a selection does to the mass, of more events than fit into memory."""

from .accumulator import Accumulator
from .sweep import Accumulated

__all__ = ["Accumulated", "Accumulator"]
