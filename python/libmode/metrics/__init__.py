"""What a classifier achieves, and what its selection does to the mass of the background.

NumPy arrays, or anything that becomes one, in; floats and frozen dataclasses
out. Labels are 1 for signal and 0 for background, and an event is selected
where ``score >= threshold``. Weights may have either sign. Numbers are read as
float64.

:func:`efficiency`, :func:`residual`, :func:`flatness`, :func:`jsd`, :func:`roc`, :func:`auc`,
:func:`threshold`, :func:`rejection`, :func:`signal_bias` and :func:`spurious_signal` also take a histogram in the
place of events, for samples that do not fit into memory:

- a ``hist.Hist`` with axes named ``mass`` and ``score``, and ``label`` where signal is in it: a bin for 0, background,
  and one for 1, signal, or the categories "background" and "signal". Weighted events need a storage
  of weights and variances, ``hist.storage.Weight()``;
- a histogram of boost_histogram or uproot, with these axes in this order;
- arrays, as ``numpy.histogram2d`` returns them: ``(values, mass edges, score edges)``, or for weighted events
  ``(values, variances, mass edges, score edges)``. Values are (mass bins, score bins), or (mass bins, score
  bins, 2) of background and signal.

Without ``label`` all events are background. A cut is an edge of the score axis, and ``bins`` are edges of the
mass axis. The overflow of score counts as the highest scores; that of mass counts in the ROC curve alone.

:func:`signal_bias` and :func:`spurious_signal` need SciPy: ``pip install 'libmode[metrics]'``.
What a function returns is described with it.
"""

from .bias import signal_bias, spurious_signal
from .closure import closure
from .cvm import cvm_flatness
from .dependence import dependence
from .maps import efficiency_map, residual_map
from .mass import efficiency, flatness, jsd, residual
from .roc import auc, rejection, roc, threshold
from .summary import sensitivity, summary

__all__ = [
    "auc",
    "closure",
    "cvm_flatness",
    "dependence",
    "efficiency",
    "efficiency_map",
    "flatness",
    "jsd",
    "rejection",
    "residual",
    "residual_map",
    "roc",
    "sensitivity",
    "signal_bias",
    "spurious_signal",
    "summary",
    "threshold",
]
