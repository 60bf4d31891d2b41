"""libmode: the MoDe loss (Moment Decomposition, arXiv:2010.09745), exact and fast.

The functions here take NumPy arrays, or anything that becomes one. For PyTorch
see :mod:`libmode.torch`. No framework is imported unless asked for, and the
library libmode.so is loaded at the first call.
"""

from ._functions import Moments, mode_edges, mode_loss, mode_loss_and_grad, mode_moments
from ._native import get_threads, set_threads

__version__ = "0.1.0"

__all__ = [
    "Moments",
    "get_threads",
    "mode_edges",
    "mode_loss",
    "mode_loss_and_grad",
    "mode_moments",
    "set_threads",
]
