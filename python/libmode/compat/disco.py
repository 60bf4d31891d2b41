"""``distance_corr`` of ``Disco.py``, the code of the authors of arXiv:2001.05310 (gkasieczka/DisCo)."""

from __future__ import annotations

from .._messages import needed

with needed("torch", by="libmode.compat.disco", extra="torch"):
    from torch import Tensor

    from ..torch.distance import correlation


def distance_corr(var_1: Tensor, var_2: Tensor, normedweight: Tensor, power: float = 1) -> Tensor:
    """The squared distance correlation of two variables to a power (arXiv:2001.05310), with gradients to both.

    The values and gradients are those of the authors' function, in O(n log n) time and O(n) memory. It is biased. For
    new code use :func:`libmode.torch.distance_correlation`, which is unbiased by default.

    Parameters
    ----------
    var_1, var_2 : Tensors of shape (n,), floating, on any device
        Such as mass and score, or two scores.
    normedweight : Tensor of shape (n,)
        Weights of either sign, which are divided by their mean. They get no gradient.
    power : number, default 1
        1 is dCorr^2, and 2 its square.

    Returns
    -------
    Tensor of shape (), of the type of the variables, but float32 for half precision.

    Raises
    ------
    BatchError
        If a variable has but one value, where the authors' function is NaN; for fewer than 2 events, and weights
        without a positive sum.
    ValueError, TypeError
        For values that are not finite, arrays of different lengths, and weights that want a gradient.

    Examples
    --------
    >>> import torch
    >>> from libmode.compat.disco import distance_corr  # in place of: from Disco import distance_corr
    >>> _ = torch.manual_seed(1)
    >>> mass, score = torch.rand(2_000), torch.rand(2_000, requires_grad=True)
    >>> loss = distance_corr(mass, score, normedweight=torch.ones(2_000), power=1)
    >>> loss.backward()
    >>> print(f"{loss.item():.4f}")
    0.0012
    """
    value: Tensor = correlation(var_1, var_2, normedweight, False, ("var_1", "var_2", "normedweight"))
    return value if power == 1 else value**power
