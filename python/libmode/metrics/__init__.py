"""How well a classifier separates, and how far its selection sculpts the mass of the background.

Functions take ``(score, label, mass)`` in this order and ``weight`` by keyword: NumPy arrays, or anything that becomes
one. Labels are 1 for signal and 0 for background, and weights may have either sign. A working point says which events
are selected; :func:`efficiency` explains its keywords. ``order``, the degree of the polynomial in mass that the
analysis allows, has no default. Results are floats and frozen dataclasses in float64. A bad value is a ValueError or a
TypeError that names the argument, the value and the place.

A histogram can replace the events, for samples that do not fit into memory, in all functions but :func:`closure`:

- a ``hist.Hist`` with axes named ``mass`` and ``score``, and ``label`` if it has signal: a bin for 0, background,
  and one for 1, signal, or the categories "background" and "signal". Weighted events need a storage
  of weights and variances, ``hist.storage.Weight()``;
- a histogram of boost_histogram or uproot, with these axes in this order;
- arrays, as ``numpy.histogram2d`` returns them: ``(values, mass edges, score edges)``, or for weighted events
  ``(values, variances, mass edges, score edges)``. Without variances, values are numbers of events: fractions are an
  error, and integer weights give wrong errors and p-values. Values are (mass bins, score bins), or (mass bins, score
  bins, 2) of background and signal.

Without ``label`` all events are background. A threshold is an edge of the score axis, and ``bins`` are edges of the
mass axis. The overflow of score counts as the highest scores; the overflow of mass counts in the ROC curve alone.

:func:`signal_bias` and :func:`spurious_signal` need iminuit and SciPy: ``pip install 'libmode[metrics]'``, a part of
``libmode[report]``.
"""

from ._result import Check
from .bias import signal_bias, spurious_signal
from .check import check
from .closure import closure
from .dependence import dependence
from .mass import efficiency, flatness
from .roc import auc, rejection, roc, threshold
from .scorer import scorer

__all__ = [
    "Check",
    "auc",
    "check",
    "closure",
    "dependence",
    "efficiency",
    "flatness",
    "rejection",
    "roc",
    "scorer",
    "signal_bias",
    "spurious_signal",
    "threshold",
]
