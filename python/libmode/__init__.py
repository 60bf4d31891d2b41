"""libmode: the MoDe loss (Moment Decomposition, arXiv:2010.09745), exact and fast.

The functions here take NumPy arrays, or anything that becomes one. Each framework has a module: :mod:`libmode.torch`,
:mod:`libmode.keras` and :mod:`libmode.jax`. Only the import of such a module imports its framework, and an error says
how to install a missing one. The first call loads the library libmode.so.
"""

from typing import Any

from ._functions import mode_edges, mode_evaluate, mode_loss, mode_loss_and_grad, mode_moments
from ._native import BatchError, set_threads
from ._planing import planing_weights
from ._problems import TrainingWarning

__all__ = [
    "BatchError",
    "TrainingWarning",
    "mode_edges",
    "mode_evaluate",
    "mode_loss",
    "mode_loss_and_grad",
    "mode_moments",
    "planing_weights",
    "set_threads",
]

__version__: str


def __getattr__(name: str) -> Any:
    # When asked for: importlib.metadata costs as much time as the rest of libmode.
    if name == "__version__":
        from importlib.metadata import version

        return version("libmode")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
