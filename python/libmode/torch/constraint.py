"""The layer that adds MoDe's gradient to whatever gradient comes in."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from .._bad_batches import OnBadBatch, SkipsBadBatches
from .._constraint import USUAL_TOLERANCE, Constraint, Dependence, Direction, ScoreTransform, State
from .._front import Events, events_of, takes_events
from .._monitor import Monitor, look
from .._native import BatchError
from .._options import keywords_only
from .._plain import plain
from ._gather import Found, Given, Group, checked_group, norm_of_all, of_all, only_a_part, processes
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
    gather : bool, default False
    process_group : ProcessGroup, optional
        As for :class:`MoDeLoss`: the direction, the norms, the tolerance and the state are those of the events of all
        processes. In backward they exchange a number.
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

    Raises
    ------
    ValueError, TypeError
        For options that are out of range or unknown, and for positional arguments: all are keywords.
    BatchError, ValueError, TypeError
        When called: as :func:`libmode.mode_loss`, a ValueError with the training step; BatchError only with
        ``on_bad_batch="raise"``.

    Notes
    -----
    The direction g is not the gradient of :class:`MoDeLoss`: it is that of the loss over W(s), without what moves all
    events of a score together. On a falling spectrum it had a cosine of 0.6 to 0.9 with that gradient. An event's push
    is proportional to its weight, and events that take no part in the loss get none.

    State is in buffers: ``state_dict`` has it.

    Examples
    --------
    >>> import torch
    >>> from libmode.torch import MoDeConstraint
    >>> _ = torch.manual_seed(1)
    >>> target, mass = torch.randint(0, 2, (2_000,)).float(), 50 + 250 * torch.rand(2_000)  # 0 is background
    >>> x = torch.stack([mass / 300, torch.randn(2_000) + target], 1)
    >>> network = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Sigmoid())
    >>> weight, constraint = torch.rand(2_000), MoDeConstraint(order=1, mass_range=(50, 300))
    >>> constraint
    MoDeConstraint(order=1, mass_range=(50.0, 300.0), relative_strength=30.0)
    >>> score = constraint(network(x)[:, 0], target, mass, weight)  # the one line
    >>> torch.nn.functional.binary_cross_entropy(score, target, weight).backward()
    >>> constraint.loss < 0.1, constraint.strength > 0, constraint.relative_strength, constraint.skipped
    (True, True, 30.0, 0)
    >>> rho, error = constraint.dependence  # of one batch, whose error is not known yet
    >>> bool(rho > 1), error
    (True, inf)
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
        gather: bool = False,
        process_group: Group = None,
        **options: Unpack[LossOptions],
    ) -> None:
        keywords_only(self, positional, "order=1")
        super().__init__()
        self.gather, self.process_group = checked_group(gather, process_group)
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

    @takes_events
    def forward(
        self,
        pred: Tensor,
        target: Tensor,
        mass: Tensor,
        weight: Tensor | None = None,
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
        same: Tensor = call(self, pred, target, mass, weight, category, reference)
        return same

    def _constrained(
        self,
        pred: Tensor,
        target: Tensor,
        mass: Tensor,
        weight: Tensor | None,
        category: Tensor | None,
        reference: Events | None,
    ) -> Tensor:
        if not (torch.is_grad_enabled() and pred.requires_grad):
            return pred
        if in_torch_func():
            raise RuntimeError("torch.func cannot transform a MoDeConstraint, which has a state: use MoDeLoss")
        make = partial(self._given, pred.detach(), target, mass, weight, category, reference)
        try:
            own, found = self._direction(make, reference is not None)
        except BatchError as error:
            self._skip(error)
            return pred
        self._last["loss"] = found.loss
        state = self._constraint.after(self._state(), found)
        self._remember(state)
        if self._monitor is not None:
            if not self.gather:
                only_a_part(self._monitor, type(self).__name__)
            if self._monitor.due():
                look(self._monitor, self._constraint, own, found)
        group = (self.process_group,) if self._gathers else None
        return constrained(pred, found.grad, self._constraint.per_norm(state), self._constraint, self._last, group)

    def _given(
        self,
        pred: Tensor,
        target: Tensor,
        mass: Tensor,
        weight: Tensor | None,
        category: Tensor | None,
        reference: Events | None,
    ) -> Given:
        batch = events_of(read, pred, mass, weight, read("target", target), category)
        size = len(batch.score)
        if not self.background_only:
            batch = batch._replace(label=None)
        return Given(batch if reference is None else joined(batch, reference, self._constraint.labels), size)

    @property
    def _gathers(self) -> bool:
        return self.gather and processes(self.process_group) > 1

    def _direction(self, make: Callable[[], Given], has_reference: bool) -> tuple[Events, Direction]:
        """The arrays of this process, and where its batch is pushed."""
        where = ""
        try:
            if self._gathers:
                return self._direction_of_all(make)
            given = make()
            where = f", where events from {given.batch} on are those of reference" if has_reference else ""
            arrays = _arrays(given.events)
            return arrays, self._constraint.direction(*arrays, count=given.batch)
        except BatchError:
            raise
        except ValueError as error:
            raise ValueError(f"{error} (in training step {int(self.state[0])}{where})") from None

    def _direction_of_all(self, make: Callable[[], Given]) -> tuple[Events, Direction]:
        """The same, by the events of all processes."""
        own: list[Events] = []

        def kept() -> Given:
            given = make()
            own.append(_arrays(given.events))
            return given

        def compute(given: Given) -> Found:
            grad, *numbers = self._constraint.direction(*_arrays(given.events), count=given.batch)
            return Found(numbers, torch.from_numpy(grad))

        labels = self._constraint.labels if self.background_only else None
        found = of_all(kept, labels, repr(self), self.process_group, compute)
        assert found.grad is not None
        # The norm over all batches will be that of gradients as they come, see constrained.
        return own[0], Direction(as_numpy(found.grad) / processes(self.process_group), *found.numbers)

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
        if self.gather:
            shown["gather"] = True
        return ", ".join(f"{name}={value!r}" for name, value in shown.items())


# The core is not part of a graph, and what is remembered changes with every call.
_outside_of_the_graph = torch.compiler.disable(MoDeConstraint._constrained)  # type: ignore[no-untyped-call]


def _arrays(events: Events) -> Events:
    return Events(*(None if tensor is None else as_numpy(tensor) for tensor in events))


def constrained(
    pred: Tensor,
    grad: NDArray[Any],
    per_norm: float,
    constraint: Constraint,
    last: dict[str, Any],
    group: tuple[Group] | None = None,
) -> Tensor:
    """The predictions, to whose gradient that of shape (n,) will be added; then last["strength"] says how strongly.

    Among several processes, with their ``group``, the size follows the norm over all of their batches, as they
    come: the mean over the processes, which DistributedDataParallel takes afterwards, divides both parts alike.
    """
    added = torch.from_numpy(grad).to(pred.device, result_type(pred))
    same: Tensor = _Constrained.apply(pred, added, per_norm, constraint, last, group)
    return same


class _Constrained(torch.autograd.Function):
    """The predictions; backward adds the gradient to what comes in, scaled to it."""

    @staticmethod
    def forward(
        ctx: Any,
        pred: Tensor,
        grad: Tensor,
        per_norm: float,
        constraint: Constraint,
        last: dict[str, Any],
        group: tuple[Group] | None,
    ) -> Tensor:
        ctx.save_for_backward(pred, grad)
        ctx.per_norm, ctx.constraint, ctx.last, ctx.group = per_norm, constraint, last, group
        return pred.view_as(pred)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, incoming: Tensor) -> tuple[Tensor | None, ...]:
        pred, grad = ctx.saved_tensors
        grad = grad.reshape(incoming.shape)
        of_logits = incoming.to(grad.dtype) * ctx.constraint.by_logit(pred.to(grad.dtype))
        norm = torch.linalg.vector_norm(of_logits)
        if ctx.group is not None:
            norm = norm_of_all(norm, *ctx.group)
        strength = torch.nan_to_num(ctx.per_norm * norm, 0.0, 0.0)  # where a GradScaler's scale was too large
        ctx.last["strength"] = strength
        added = torch.addcmul(incoming.to(grad.dtype), strength, grad).to(pred.dtype)
        return added, None, None, None, None, None
