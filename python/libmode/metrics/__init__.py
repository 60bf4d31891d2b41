"""How well a classifier separates, and how far its selection sculpts the mass of the background.

Functions take ``(score, label, mass)`` in this order and ``weight`` by keyword: NumPy arrays, or anything that becomes
one. Labels are 1 for signal and 0 for background, and weights may have either sign. A working point says which events
are selected; :func:`efficiency` explains its keywords. ``order``, the degree of the polynomial in mass that the
analysis allows, has no default. Results are floats and frozen dataclasses in float64. A bad value is a ValueError or a
TypeError that names the argument, the value and the place.
"""

from ._result import Check
from .check import check, events_needed
from .mass import efficiency
from .roc import auc, rejection, roc, threshold

__all__ = ["Check", "auc", "check", "efficiency", "events_needed", "rejection", "roc", "threshold"]
