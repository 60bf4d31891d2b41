"""The squared distance correlation of two tensors, differentiable in both."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from .._evaluate import correlation
from .._native import DOUBLE, FLOAT
from .._read import together
from ._op import Linked, register, run_by_operator
from ._tensors import as_tensor, is_traced, ready, result_type


def distance_correlation(x: Tensor, y: Tensor, *, weight: Tensor | None = None, unbiased: bool = True) -> Tensor:
    r"""The squared distance correlation dCorr^2(x, y), differentiable in both.

    .. math::

        \mathrm{dCov}^2(x, y) = \langle a_{ij} b_{ij} \rangle - 2 \langle a_{ij} b_{ik} \rangle
        + \langle a_{ij} b_{kl} \rangle, \quad a_{ij} = |x_i - x_j|, \ b_{ij} = |y_i - y_j|

    and dCorr^2(x, y) = dCov^2(x, y) / sqrt(dCov^2(x, x) dCov^2(y, y)) (Szekely, Rizzo, Bakirov, arXiv:0803.4101), in
    O(n log n) time and O(n) memory, on the CPU. A mean runs over all events, weighted with the product of their
    weights; with ``unbiased`` over events that all differ (Szekely, Rizzo, arXiv:1310.2926).

    Parameters
    ----------
    x, y, weight : Tensors of shape (n,) or (n, 1), floating, weight optional
        In any unit, on any device; half precision is computed in float32. Weights of either sign get no gradient.
    unbiased : bool, default True
        For independent x and y the mean is 0. The mean of the plain form is of order 1/n, which in a small batch
        hides dependences.

    Returns
    -------
    Tensor of shape (), float64 if x or y is, and float32 otherwise. The derivative of a distance of 0 counts as 0.

    Raises
    ------
    BatchError, ValueError, TypeError
        As DisCo of :func:`libmode.mode_loss`; ValueError too for a weight that wants a gradient.

    Examples
    --------
    >>> import torch
    >>> from libmode.torch import distance_correlation
    >>> _ = torch.manual_seed(1)
    >>> x = torch.randn(2_000, requires_grad=True)
    >>> y = (0.5 * x.detach() + torch.randn(2_000)).requires_grad_()
    >>> value = distance_correlation(x, y, weight=torch.rand(2_000), unbiased=True)
    >>> value.backward()
    >>> print(f"{value.item():.3f}", x.grad.shape, y.grad.shape)
    0.163 torch.Size([2000]) torch.Size([2000])
    """
    if isinstance(weight, Tensor) and weight.requires_grad:
        raise ValueError("weight requires a gradient, and there is none by the weights: use weight.detach()")
    first, second, *weights = together(_floating, x=x, y=y, **{} if weight is None else {"weight": weight})
    function = _function(bool(unbiased), first.requires_grad, second.requires_grad)
    if is_traced(first):
        kind = torch.promote_types(result_type(first), result_type(second))
        number, grads = run_by_operator(function, None, *(one.to(kind) for one in (first, second, *weights)), rows=2)
    else:
        number, grads = function._run(None, first, second, *weights)
    value: Tensor = Linked.apply(number, first, grads[0], second, grads[1])
    return value


class _Function:
    """The correlation, and its derivatives by x and y as far as they are wanted; others are 0."""

    def __init__(self, unbiased: bool, *wanted: bool) -> None:
        self.unbiased, self.wanted = unbiased, wanted
        self.key = register(self)

    def _run(self, state: None, x: Tensor, y: Tensor, weight: Tensor | None = None) -> tuple[float, Tensor]:
        """The correlation, and its gradients, (2, n)."""
        double = torch.float64 in (x.dtype, y.dtype)
        kind, named = torch.float64 if double else torch.float32, {"x": x, "y": y, "weight": weight}
        arrays = [None if array is None else ready(name, array, kind) for name, array in named.items()]
        grads = x.new_zeros((2, len(x)), dtype=kind, device="cpu")
        addresses = [None if array is None else array.data_ptr() for array in arrays]
        addresses += [grad.data_ptr() if needed else None for grad, needed in zip(grads, self.wanted, strict=True)]
        value = correlation(DOUBLE if double else FLOAT, len(x), addresses, self.unbiased)
        return value, grads.to(x.device)


_kept = lru_cache(maxsize=None)(_Function)  # a compiled program has the key alone


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def _function(*arguments: Any) -> _Function:
    return _kept(*arguments)


def _floating(name: str, values: Any) -> Tensor:
    tensor = as_tensor(name, values)
    return tensor if tensor.is_floating_point() else tensor.double()
