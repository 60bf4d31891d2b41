"""What a classifier achieves, and what its selection does to the mass of the background.

NumPy arrays, or anything that becomes one, in; floats and frozen dataclasses
out. Labels are 1 for signal and 0 for background, and an event is selected
where ``score >= threshold``. Weights may have either sign. Numbers are read as
float64. :func:`bootstrap` needs SciPy, :func:`signal_bias` and
:func:`spurious_signal` need iminuit: ``pip install 'libmode[metrics]'``.
"""

from .bias import SignalBias, SpuriousSignal, signal_bias, spurious_signal
from .bootstrap import Estimate, bootstrap
from .cvm import cvm_correlation, cvm_flatness
from .mass import Efficiency, Flatness, efficiency, flatness, jsd
from .roc import Roc, auc, rejection, roc, threshold

__all__ = [
    "Efficiency",
    "Estimate",
    "Flatness",
    "Roc",
    "SignalBias",
    "SpuriousSignal",
    "auc",
    "bootstrap",
    "cvm_correlation",
    "cvm_flatness",
    "efficiency",
    "flatness",
    "jsd",
    "rejection",
    "roc",
    "signal_bias",
    "spurious_signal",
    "threshold",
]
