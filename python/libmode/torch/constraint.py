"""The layer that adds MoDe's gradient to whatever gradient comes in."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from .._bad_batches import OnBadBatch, SkipsBadBatches
from .._constraint import USUAL_TOLERANCE, Constraint, Dependence, ScoreTransform, State
from .._front import Events, events_of
from .._monitor import Monitor, look
from .._native import BatchError
from .._options import keywords_only
from .._plain import plain
from ._module import read
from ._op import as_numpy, in_torch_func, result_type
from .reference import joined

if TYPE_CHECKING:
    from typing_extensions import Never, Unpack

    from ..option_types import LossOptions


class MoDeConstraint(SkipsBadBatches, nn.Module):
    """A layer between network and loss that keeps the response to background smooth in the mass.

    It returns the predictions as they are. In backward it adds to the gradient G that comes in,
    of whatever loss is there, that of the MoDe loss (arXiv:2010.09745), g, scaled to it::

        G + relative_strength min(1, sigma) |G|/|g| g

    with norms over the batch and with respect to the logits, where one confident mistake does not
    stand for all; that of g is an average over 200 batches. sigma is the standard deviation of the
    background's logits, small in a network that has learned nothing yet, where MoDe's noise would be
    all that trains; it is 1 without limits of the scores. So there is no strength to guess, and no
    scale of a loss enters, that of a GradScaler among them. In evaluation mode, and without gradients,
    the layer does nothing.

    Parameters
    ----------
    relative_strength : float, default 30
        The factor. With a tolerance, the most that it may be.
    tolerance : float, optional
        "As flat as so many background events can tell": the relative strength is lowered, to no less
        than 1, while the dependence is below that, and raised again where it is above. It is
        judged by averages over ten times as many events, so that it takes about as many to settle.
    score_transform : {"odds", None}, default "odds"
        "odds" integrates over W(s) = c s/(1 + c - s), c = 0.3, in place of s (the paper's footnote 1), so that
        tight selections count too. None is the MoDe loss as it is.
    from_logits : bool, default False
        Whether predictions are logits, of any size, in place of scores from 0 to 1.
    background_only : bool, default True
        As for :class:`MoDeLoss`.
    on_bad_batch : {"raise", "skip"}, default "skip"
        "skip" adds nothing for a batch without background, or with too little for the bins, counts
        it in ``skipped`` and warns at the first. Scores that are NaN are an error all the same, with the step.
    monitor : bool, default True
        Warn, once each, if scores collapse to one, the classifier is given up, or bins have too few
        events (:class:`libmode.TrainingWarning`).
    **options
        Those of :func:`libmode.mode_loss`; ``order`` is 1 by default.

    Attributes
    ----------
    loss : float
        The MoDe loss, unbiased, of the last batch and its reference events, of W(s).
    strength : float
        What MoDe's gradient was multiplied with in the last backward pass.
    dependence : Dependence
        rho = D N/(B n), with its error: at most 1 where the dependence cannot be told from none by
        N = tolerance (by default 100,000) events. D is the average of the unbiased loss, B that of
        what was subtracted as its bias, n the number of events.

    All arguments are keywords. State is in buffers: ``state_dict`` has it.

    Examples
    --------
    >>> constraint = MoDeConstraint(order=1)
    >>> score = constraint(network(x)[:, 0], target, mass)
    >>> binary_cross_entropy(score, target).backward()
    """

    state: Tensor
    _gets = "no gradient of MoDe"

    def __init__(
        self,
        *positional: Never,
        relative_strength: float = 30.0,
        tolerance: float | None = None,
        score_transform: ScoreTransform = "odds",
        from_logits: bool = False,
        background_only: bool = True,
        on_bad_batch: OnBadBatch = "skip",
        monitor: bool = True,
        **options: Unpack[LossOptions],
    ) -> None:
        keywords_only(self, positional, "order=1")
        super().__init__()
        self._set_on_bad_batch(on_bad_batch)
        self.options = plain("mode", {"order": 1, **options})
        self._constraint = Constraint(
            self.options,
            relative_strength=relative_strength,
            tolerance=tolerance,
            score_transform=score_transform,
            from_logits=from_logits,
        )
        self.background_only = background_only
        self._monitor = Monitor() if monitor else None
        self.register_buffer("state", torch.tensor(State(), dtype=torch.float64))
        self._last: dict[str, Any] = {"loss": math.nan, "strength": math.nan}

    @property
    def relative_strength(self) -> float:
        """The factor as it is now."""
        return self._constraint.relative_strength * self._state().factor

    @property
    def strength(self) -> float:
        """What MoDe's gradient was multiplied with in the last backward pass; NaN before the first."""
        return float(self._last["strength"])

    @property
    def loss(self) -> float:
        """MoDe of the last batch and its reference events; NaN before the first."""
        return float(self._last["loss"])

    @property
    def dependence(self) -> Dependence:
        """rho and its error."""
        return self._state().dependence(self._constraint.tolerance or USUAL_TOLERANCE)

    def forward(
        self,
        pred: Tensor,
        target: Tensor,
        mass: Tensor,
        weights: Tensor | None = None,
        *,
        category: Tensor | None = None,
        reference: Events | None = None,
    ) -> Tensor:
        """Predictions of shape (n,) or (n, 1), unchanged.

        The arguments are those of :class:`MoDeLoss`. ``reference`` are further events with the
        predictions of the network as it is, which count in the distributions and get no gradient,
        see :class:`Reference`.
        """
        if not self.training:
            return pred
        call = _outside_of_the_graph if torch.compiler.is_compiling() else MoDeConstraint._constrained
        same: Tensor = call(self, pred, target, mass, weights, category, reference)
        return same

    def _constrained(
        self,
        pred: Tensor,
        target: Tensor,
        mass: Tensor,
        weights: Tensor | None,
        category: Tensor | None,
        reference: Events | None,
    ) -> Tensor:
        if not (torch.is_grad_enabled() and pred.requires_grad):
            return pred
        if in_torch_func():
            raise RuntimeError("torch.func cannot transform a MoDeConstraint, which has a state: use MoDeLoss")
        batch = events_of(read, pred.detach(), mass, weights, read("target", target), category)
        count = len(batch.score)
        if not self.background_only:
            batch = batch._replace(label=None)
        every = batch if reference is None else joined(batch, reference, self._constraint.labels)
        arrays = Events(*(None if tensor is None else as_numpy(tensor) for tensor in every))
        try:
            found = self._constraint.direction(*arrays, count=count)
        except BatchError as error:
            self._skip(error)
            return pred
        except ValueError as error:
            where = "" if reference is None else f", where events from {count} on are those of reference"
            raise ValueError(f"{error} (in training step {int(self.state[0])}{where})") from None
        self._last["loss"] = found.loss
        state = self._constraint.after(self._state(), found)
        self._remember(state)
        if self._monitor is not None and self._monitor.due():
            look(self._monitor, self._constraint, arrays, found)
        return constrained(pred, found.grad, self._constraint.per_norm(state), self._constraint, self._last)

    def _state(self) -> State:
        return State(*self.state.tolist())

    def _remember(self, state: State) -> None:
        if self.state.is_cpu:
            self.state.numpy()[:] = state  # a tenth of the time
        else:
            self.state.copy_(torch.tensor(state, dtype=self.state.dtype))

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> MoDeConstraint:
        # The state goes along to a device, but not to a type of fewer digits: losses of 1e-6 are squared in it.
        before = self.state
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        kept = torch.float32 if self.state.device.type == "mps" else torch.float64
        self.state = before.to(self.state.device, kept)
        return self

    def extra_repr(self) -> str:
        """The arguments."""
        shown = {**self.options, "relative_strength": self._constraint.relative_strength}
        if self._constraint.tolerance is not None:
            shown["tolerance"] = self._constraint.tolerance
        return ", ".join(f"{name}={value!r}" for name, value in shown.items())


# The core is not part of a graph, and what is remembered changes with every call.
_outside_of_the_graph = torch.compiler.disable(MoDeConstraint._constrained)  # type: ignore[no-untyped-call]


def constrained(
    pred: Tensor, grad: NDArray[Any], per_norm: float, constraint: Constraint, last: dict[str, Any]
) -> Tensor:
    """The predictions, to whose gradient that of shape (n,) will be added; then last["strength"] says how strongly."""
    added = torch.from_numpy(grad).to(pred.device, result_type(pred))
    same: Tensor = _Constrained.apply(pred, added, per_norm, constraint, last)
    return same


class _Constrained(torch.autograd.Function):
    """The predictions; backward adds the gradient to what comes in, scaled to it."""

    @staticmethod
    def forward(
        ctx: Any, pred: Tensor, grad: Tensor, per_norm: float, constraint: Constraint, last: dict[str, Any]
    ) -> Tensor:
        ctx.save_for_backward(pred, grad)
        ctx.per_norm, ctx.constraint, ctx.last = per_norm, constraint, last
        return pred.view_as(pred)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, incoming: Tensor) -> tuple[Tensor, None, None, None, None]:
        pred, grad = ctx.saved_tensors
        grad = grad.reshape(incoming.shape)
        of_logits = incoming.to(grad.dtype) * ctx.constraint.by_logit(pred.to(grad.dtype))
        strength = ctx.per_norm * torch.linalg.vector_norm(of_logits)
        strength = torch.nan_to_num(strength, 0.0, 0.0)  # where a GradScaler's scale was too large
        ctx.last["strength"] = strength
        return torch.addcmul(incoming.to(grad.dtype), strength, grad).to(pred.dtype), None, None, None, None
