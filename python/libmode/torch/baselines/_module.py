"""What DisCoLoss and FlatnessLoss share: the function behind them and its arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor, nn
from torch.autograd import Function

from ..._native import Loss
from .._op import compute, encode, product
from ..loss import _checked


class BaselineFunction(Function):
    """A loss of the core with its backward: the core returns the gradient with the loss."""

    @staticmethod
    def forward(
        ctx: Any, score: Tensor, mass: Tensor, weight: Tensor | None, label: Tensor | None, options: str, which: Loss
    ) -> Tensor:
        loss, grad = compute(score, mass, weight, label, options, which)
        ctx.save_for_backward(score, grad)
        return loss

    @staticmethod
    def backward(ctx: Any, incoming: Tensor) -> tuple[Tensor, None, None, None, None, None]:
        score, grad = ctx.saved_tensors
        return _Product.apply(incoming, grad, score), None, None, None, None, None


class _Product(Function):
    """The product. The score takes no part; it ties the result to what it must not be derived by."""

    @staticmethod
    def forward(ctx: Any, incoming: Tensor, grad: Tensor, score: Tensor) -> Tensor:
        return product(incoming, grad)

    @staticmethod
    def backward(ctx: Any, incoming: Tensor) -> Any:
        raise RuntimeError(
            "DisCoLoss and FlatnessLoss have no second derivative here. "
            "Leave them out of what is differentiated twice (create_graph=True, Hessians, gradient penalties)"
        )


class BaselineLoss(nn.Module):
    """A loss of the core as a module without parameters."""

    which: Loss

    def __init__(self, background_label: int | Sequence[int], background_only: bool, given: dict[str, Any]) -> None:
        super().__init__()
        self.background_label = background_label
        self.background_only = background_only
        self.options = given
        self._encoded = encode(background_label, **given)

    def forward(self, pred: Tensor, target: Tensor, mass: Tensor, weights: Tensor | None = None) -> Tensor:
        """The loss of a batch, shape (); each argument has shape (n,) or (n, 1)."""
        events = _checked(pred, mass, weights, target if self.background_only else None)
        loss: Tensor = BaselineFunction.apply(*events, self._encoded, self.which)
        return loss

    def extra_repr(self) -> str:
        """The arguments that are not the defaults."""
        shown = {name: value for name, value in self.options.items() if value is not False}
        if self.background_label != 0:
            shown["background_label"] = self.background_label
        if not self.background_only:
            shown["background_only"] = False
        return ", ".join(f"{name}={value!r}" for name, value in shown.items())
