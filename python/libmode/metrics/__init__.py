"""What a classifier achieves, and what its selection does to the mass of the background.

NumPy arrays, or anything that becomes one, in; floats and frozen dataclasses
out. Labels are 1 for signal and 0 for background, and an event is selected
where ``score >= threshold``. Weights may have either sign. Numbers are read as
float64. :func:`bootstrap`, :func:`cvm_knn` and :func:`sde_knn` need SciPy,
:func:`signal_bias` and :func:`spurious_signal` need iminuit:
``pip install 'libmode[metrics]'``.
"""

from .bias import SignalBias, SpuriousSignal, signal_bias, spurious_signal
from .bootstrap import Estimate, bootstrap
from .cvm import cvm_correlation, cvm_flatness, cvm_knn
from .dependence import Dependence, dependence
from .maps import EfficiencyMap, ResidualMap, efficiency_map, residual_map
from .mass import Efficiency, Flatness, Residual, blind_jsd, efficiency, flatness, jsd, residual
from .roc import Roc, auc, rejection, roc, threshold
from .sde import sde, sde_knn
from .summary import sensitivity, summary

__all__ = [
    "Dependence",
    "Efficiency",
    "EfficiencyMap",
    "Estimate",
    "Flatness",
    "Residual",
    "ResidualMap",
    "Roc",
    "SignalBias",
    "SpuriousSignal",
    "auc",
    "blind_jsd",
    "bootstrap",
    "cvm_correlation",
    "cvm_flatness",
    "cvm_knn",
    "dependence",
    "efficiency",
    "efficiency_map",
    "flatness",
    "jsd",
    "rejection",
    "residual",
    "residual_map",
    "roc",
    "sde",
    "sde_knn",
    "sensitivity",
    "signal_bias",
    "spurious_signal",
    "summary",
    "threshold",
]
