"""The squared distance correlation of two tensors, differentiable in both."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .. import _native
from .._disco import named
from .._read import together
from ._module import as_tensor
from ._op import Tied, _ready


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
    x, y : Tensors of shape (n,) or (n, 1), floating
        In any unit, on any device; half precision is computed in float32.
    weight : Tensor of shape (n,) or (n, 1), optional
        Of either sign; their sum is positive. 1 by default. They get no gradient.
    unbiased : bool, default True
        For independent x and y the mean is 0. The mean of the plain form is of order 1/n, which in a small batch
        hides dependences.

    Returns
    -------
    Tensor of shape (), float64 if x or y is, and float32 otherwise, on the device of ``x``. Where two values of x
    are equal, the derivative of their distance counts as 0, the mean of both sides; likewise for y.

    Raises
    ------
    BatchError
        If x or y has one value alone, or the weights have no positive sum, so that the result would be 0/0; and for
        fewer than 2 events, or 4 with ``unbiased``.
    ValueError, TypeError
        For values that are not finite, arrays of different lengths, and a weight that wants a gradient.

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
    value: Tensor = correlation(x, y, weight, unbiased, ("x", "y", "weight"))
    return value


@torch.compiler.disable  # type: ignore[untyped-decorator]  # a graph cannot hold the core
def correlation(x: Any, y: Any, weight: Any, unbiased: bool, names: tuple[str, str, str]) -> Tensor:
    """:func:`distance_correlation`, with other names of the arguments in errors."""
    if isinstance(weight, Tensor) and weight.requires_grad:
        raise ValueError(f"{names[2]} requires a gradient, and there is none by the weights: use {names[2]}.detach()")
    arguments = dict(zip(names, (x, y, weight), strict=True))
    if weight is None:
        del arguments[names[2]]
    arrays = together(_floating, **arguments)
    value: Tensor = _Correlation.apply(*arrays, *[None] * (3 - len(arrays)), unbiased, names)
    return value


def _floating(name: str, values: Any) -> Tensor:
    tensor = as_tensor(name, values)
    return tensor if tensor.is_floating_point() else tensor.double()


class _Correlation(torch.autograd.Function):
    """``apply(x, y, weight, unbiased, names)``."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor, weight: Tensor | None, unbiased: bool, names: Any) -> Tensor:
        kind = torch.float64 if torch.float64 in (x.dtype, y.dtype) else torch.float32
        first, second = _ready(names[0], x, kind), _ready(names[1], y, kind)
        arrays = [first, second, None if weight is None else _ready(names[2], weight, kind)]
        grads = [torch.empty_like(first) if needed else None for needed in ctx.needs_input_grad[:2]]
        try:
            value = _native.distance_correlation(
                kind is torch.float64, len(x), _addresses(arrays), unbiased, _addresses(grads), held=(arrays, grads)
            )
        except ValueError as error:
            raise named(error, names) from None
        ctx.save_for_backward(x, y, *grads)
        return torch.scalar_tensor(value, dtype=kind, device=x.device)

    @staticmethod
    def backward(ctx: Any, incoming: Tensor) -> tuple[Tensor | None, ...]:
        x, y, *grads = ctx.saved_tensors
        return _product(incoming, grads[0], x), _product(incoming, grads[1], y), None, None, None


def _product(incoming: Tensor, grad: Tensor | None, x: Tensor) -> Tensor | None:
    """The gradient by x, rounded to the type of x."""
    if grad is None:
        return None
    if torch.is_grad_enabled():  # create_graph
        grad = Tied.apply(grad, x)
    product: Tensor = incoming.to(x.device) * grad.to(x.device)
    return product.to(x.dtype)


def _addresses(tensors: list[Tensor | None]) -> list[int | None]:
    return [None if tensor is None else tensor.data_ptr() for tensor in tensors]
