"""Losses to compare with the MoDe loss: DisCo and flatness, exact, with their gradients.

They take the arrays that :func:`libmode.mode_loss` takes. For PyTorch see
:mod:`libmode.torch.baselines`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from ._evaluate import loss_alone, loss_and_grad
from ._options import check

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .option_types import DisCoOptions, FlatnessOptions

__all__ = ["disco_loss", "disco_loss_and_grad", "flatness_loss", "flatness_loss_and_grad"]


def disco_loss(
    score: Any, mass: Any, *, weight: Any = None, label: Any = None, **options: Unpack[DisCoOptions]
) -> float:
    """DisCo, the squared distance correlation of mass and score.

    G. Kasieczka and D. Shih, arXiv:2001.05310, as the authors' code has it for
    power 1. With a_ij = abs(m_i - m_j) and b_ij = abs(s_i - s_j)::

        dCov^2(m, s) = <a_ij b_ij> - 2 <a_ij b_ik> + <a_ij b_kl>
        loss         = dCov^2(m, s) / sqrt(dCov^2(m, m) dCov^2(s, s))

    where <> is the mean over all events i, j, k, l, weighted with the product of
    their weights. It takes O(n log n) time and O(n) memory.

    Parameters
    ----------
    score, mass : (n,) or (n, 1) finite real numbers, in any unit and range
    weight, label, background_label
        As for :func:`libmode.mode_loss`. With several labels the loss is the sum over them.
    unbiased : bool, default False
        <> is the mean over events i, j, k, l that all differ. For equal weights
        this is the bias-corrected distance correlation of G. Szekely and
        M. Rizzo, arXiv:1310.2926 (U-centred distances). The loss may be negative.

    Returns
    -------
    float

    Raises
    ------
    BatchError
        For fewer than 2 events, or 4 with ``unbiased``; where the loss would be 0/0, as
        for scores, or masses, that are all equal; for a sum of weights that is not
        positive. It is a ValueError.
    ValueError
        For a value that is not finite.
    TypeError
        For a wrong type or an unknown option.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode.baselines import disco_loss
    >>> rng = np.random.default_rng(1)
    >>> mass, score = rng.exponential(60, 2_000), rng.random(2_000)
    >>> print(f"{disco_loss(score, mass):.4f}")  # what 2,000 independent events have by chance
    0.0014
    >>> print(f"{disco_loss(score * mass, mass):.4f}")  # no limits of the scores
    0.5627
    """
    return loss_alone(check("disco", options), score, mass, weight, label)


def disco_loss_and_grad(
    score: Any, mass: Any, *, weight: Any = None, label: Any = None, **options: Unpack[DisCoOptions]
) -> tuple[float, NDArray[Any]]:
    """DisCo and its gradient with respect to the scores.

    Takes what :func:`disco_loss` takes. The gradient is as that of
    :func:`libmode.mode_loss_and_grad`. At equal scores the derivative of
    abs(s_i - s_j) counts as 0, the mean of both sides.

    Returns
    -------
    loss : float
        As :func:`disco_loss` returns it.
    grad : array of the shape of ``score``
        d loss/d score.

    Raises
    ------
    BatchError, ValueError, TypeError
        As :func:`disco_loss`.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode.baselines import disco_loss, disco_loss_and_grad
    >>> rng = np.random.default_rng(1)
    >>> mass = rng.exponential(60, 2_000)
    >>> score = mass * rng.random(2_000)
    >>> loss, grad = disco_loss_and_grad(score, mass)
    >>> disco_loss(score - 1e4 * grad, mass) < loss
    True
    """
    return loss_and_grad(check("disco", options), score, mass, weight, label)


def flatness_loss(
    score: Any, mass: Any, *, weight: Any = None, label: Any = None, **options: Unpack[FlatnessOptions]
) -> float:
    """The flatness loss of J. Stevens and M. Williams, arXiv:1305.7248.

    As section 2.1 of arXiv:2010.09745 writes it::

        loss = sum_b share_b integral (F_b(s) - F(s))^2 ds,   F = sum_b share_b F_b

    over ``score_range``: F_b is the CDF of the scores of mass bin b, share_b the
    bin's share of the sum of weights, and F so the CDF of all. It takes
    O(n log n) time and O(n) memory, with no grid in s.

    Parameters
    ----------
    score, mass, weight, label, background_label
    bins, binning, edges, mass_range, score_range
        As for :func:`libmode.mode_loss`.

    Returns
    -------
    float

    Raises
    ------
    BatchError, ValueError, TypeError
        As :func:`libmode.mode_loss`.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode.baselines import flatness_loss
    >>> rng = np.random.default_rng(1)
    >>> mass, score = rng.exponential(60, 2_000), rng.random(2_000)
    >>> print(f"{flatness_loss(score, mass, bins=8):.5f}")
    0.00048
    >>> print(f"{flatness_loss(score * mass / (mass + 60), mass, bins=8):.5f}")
    0.02434
    """
    return loss_alone(check("flatness", options), score, mass, weight, label)


def flatness_loss_and_grad(
    score: Any, mass: Any, *, weight: Any = None, label: Any = None, **options: Unpack[FlatnessOptions]
) -> tuple[float, NDArray[Any]]:
    """The flatness loss and its gradient with respect to the scores.

    Takes what :func:`flatness_loss` takes. The gradient is as that of
    :func:`libmode.mode_loss_and_grad`.

    Returns
    -------
    loss : float
        As :func:`flatness_loss` returns it.
    grad : array of the shape of ``score``
        d loss/d score.

    Raises
    ------
    BatchError, ValueError, TypeError
        As :func:`flatness_loss`.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode.baselines import flatness_loss, flatness_loss_and_grad
    >>> rng = np.random.default_rng(1)
    >>> mass, score = rng.exponential(60, 2_000), rng.random(2_000)
    >>> loss, grad = flatness_loss_and_grad(score, mass)
    >>> flatness_loss(np.clip(score - 10 * grad, 0, 1), mass) < loss
    True
    """
    return loss_and_grad(check("flatness", options), score, mass, weight, label)
