"""The layer that adds MoDe's gradient to whatever gradient comes in."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from .._bad_batches import OnBadBatch, SkipsBadBatches
from .._constraint import NUMBERS, USUAL_TOLERANCE, Constraint, Dependence, Direction, State, share_of
from .._front import Events, events_of, takes_events
from .._monitor import EVERY, MOST_WAITING, Monitor, look
from .._native import BatchError
from .._options import keywords_only
from .._plain import plain
from ._device import NO_LOSS, OnDevice, Pushing, buffers_of, is_on_device, refused_options
from ._gather import Given, Group, checked_group, naming_ranks, norm_of_all, of_all, only_a_part, processes
from ._module import read
from ._op import as_numpy, encode, in_torch_func, result_type
from ._pinned import back_to, on_host
from .reference import joined

if TYPE_CHECKING:
    from typing_extensions import Never, Unpack

    from ..option_types import LossOptions


class MoDeConstraint(SkipsBadBatches, nn.Module):
    """A layer between network and loss that keeps the response to background smooth in the mass.

    It returns the predictions as they are. In backward it adds a push u to the gradient G that comes in, of whatever
    loss is there. By the logit of background event i of mass m and score s::

        min(1, sigma) |G|/sqrt(n) w_i u(m, s)
        u = 4 r + 0.02 (sum of r sqrt(N/1024) over all batches so far)

    r is the residual of the MoDe loss (arXiv:2010.09745): how far the CDF of the scores at this mass is from the
    polynomial that is allowed, as a smooth function of mass and score, in units of the noise of a batch. Before it is
    smoothed, its mean square is at most 1. The sum over batches, of N events each, grows until the mean residual is 0,
    so there is no strength to guess. ``|G|`` is the norm over the n background events of the batch: no scale of the
    loss enters, a GradScaler's among them, and no weight of the signal. sigma is the standard deviation of the
    background's logits, small in a network that has learned nothing yet. In evaluation mode, and without gradients, the
    layer does nothing.

    Parameters
    ----------
    relative_strength : float, optional
        K: a fixed strength, ``u = K r`` without a sum, for a scan. Left out, the sum finds the strength.
    tolerance : float, optional
        "So flat that a test with N background events sees no difference": where the dependence is below that, the
        push gets smaller and the sum leaks, within some 500 batches. It is judged by averages over 200
        batches, so it can be no larger than 200 batches can tell.
    from_logits : bool, default False
        Whether predictions are logits, of any size, in place of scores from 0 to 1.
    background_only : bool, default True
        As for :class:`MoDeLoss`.
    on_bad_batch : {"raise", "skip"}, default "skip"
        "skip" adds nothing for a batch without background, or with too little for the bins, counts
        it in ``skipped`` and warns at the first. The tenth before any had a loss, and the hundredth in a row, are
        an error. Scores that are NaN are an error all the same, with the step.
    monitor : bool, default True
        Warn, once each, if scores collapse to one, the classifier is given up or loses half of its AUC, bins have too
        few events, or nothing is pushed: the result of a call goes to no loss, say (:class:`libmode.TrainingWarning`).
    gather : bool, default False
    process_group : ProcessGroup, optional
        As for :class:`MoDeLoss`: the direction, the norms, the tolerance and the state are those of the events of all
        processes. In backward they exchange a number.
    on_device : bool, optional
        As for :class:`MoDeLoss`; the state is on the device too. By default on a GPU, if the device has the options,
        which ``tolerance`` and ``gather`` are not: a step waits for nothing, and CUDA graphs capture it. Bins are not
        merged there: in a batch of less than 128 weighted background events each needs two in effect. Bad
        batches are counted without a warning, and an error says, a few batches late, that the layer does nothing.
    order : int, default 1
        Degree of the polynomial in mass that the background efficiency may follow: 0 constant, 1 linear, 2 quadratic.
    mass_range : pair of float, optional
        In the unit of the masses. Events outside take no part. By default the range of the batch.
    bins : int, optional
        Number of mass bins. By default as many as the events of the batch allow, at most 32.
    binning : {"quantile", "uniform", "edges", "values"}, default "quantile"
        Bins of equal numbers of events, of equal widths, between ``edges``, or one for each mass that occurs.
    edges : sequence of float, optional
        Increasing edges of the bins, in the unit of the masses.
    max_slope, monotonic : float, bool
        A bound on the relative slope (order >= 1); forbid a response that rises and falls (order >= 2).
    joint : bool, default False
        Of several masses, protect all combinations, in place of each mass by itself.
    missing : {"error", "ignore"}, default "error"
        Whether a mass that is NaN is an error, or its event takes no part.
    background_label : int or sequence of int, default 0
        The label of background. With several labels, each background is constrained by itself.
    **options
        The further options of :func:`libmode.mode_loss`: ``slope_of``, ``knots``, ``unbiased``, ``score_range`` and
        others.

    Attributes
    ----------
    loss : float
        The MoDe loss, unbiased, of the last batch and its reference events.
    strength : float
        ``min(1, sigma) |G|/sqrt(n)`` of the last backward pass.
    factor : float
        What a tolerance has made of the push and the sum: 0.01 to 1, and 1 without a tolerance.
    relative_strength : float or None
        As given.
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
    The push is not the gradient of :class:`MoDeLoss`. It counts each working point by what can be seen at it, and what
    would move all events of a score together is taken out. An event's push is proportional to its weight, and events
    that take no part in the loss get none. Several background labels have a sum each; categories share one.

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
    MoDeConstraint(order=1, mass_range=(50.0, 300.0))
    >>> score = constraint(network(x)[:, 0], target, mass, weight)  # the one line
    >>> torch.nn.functional.binary_cross_entropy(score, target, weight).backward()
    >>> constraint.loss < 0.1, constraint.strength > 0, constraint.skipped
    (True, True, 0)
    >>> rho, error = constraint.dependence  # of one batch, whose error is not known yet
    >>> bool(rho > 1), error
    (True, inf)
    >>> fixed = MoDeConstraint(order=1, mass_range=(50, 300), relative_strength=3)  # one point of a scan
    >>> fixed.relative_strength, constraint.relative_strength, constraint.factor
    (3.0, None, 1.0)
    """

    state: Tensor
    sums: Tensor
    _gets = "no gradient of MoDe"

    def __init__(
        self,
        *positional: Never,
        relative_strength: float | None = None,
        tolerance: float | None = None,
        from_logits: bool = False,
        background_only: bool = True,
        on_bad_batch: OnBadBatch = "skip",
        monitor: bool = True,
        gather: bool = False,
        process_group: Group = None,
        on_device: bool | None = None,
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
            from_logits=from_logits,
        )
        self.background_only = background_only
        self._monitor = Monitor() if monitor else None
        self.register_buffer("state", torch.tensor(State()[:NUMBERS], dtype=torch.float64))
        self.register_buffer("sums", torch.empty(0, dtype=torch.float64))
        self._last: dict[str, Any] = {"loss": math.nan, "strength": math.nan, "waiting": 0}
        self._known: tuple[Any, ...] | None = None  # the state, and what the buffers were when it was written
        self.on_device, self._encoded, self._device = on_device, encode("mode", **self.options), OnDevice()
        if on_device and (why := self._refused()):
            raise ValueError(f"{why}: on_device = True has no such form; leave on_device out, and the core computes it")

    @property
    def relative_strength(self) -> float | None:
        """The fixed strength, None where the sum finds it."""
        return self._constraint.relative_strength

    @property
    def strength(self) -> float:
        """What the push was multiplied with in the last backward pass; NaN before the first."""
        strength, events = self._last["strength"], self._last.get("events", 1.0)
        return float(strength) / float(events) if float(events) else 0.0

    @property
    def skipped(self) -> int:
        """How many batches were skipped."""
        return self._skipped + self._device.skipped(self.state)

    @skipped.setter
    def skipped(self, count: int) -> None:
        self._skipped = count - (self._device.skipped(self.state) if hasattr(self, "_device") else 0)

    @property
    def factor(self) -> float:
        """What a tolerance multiplies the push with."""
        return float(self._state().factor)

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
        if not self._refused() and (self.on_device or self.on_device is None and pred.is_cuda):
            pushed = self._on_device(pred, make())
            if pushed is not None:
                return pushed
        try:
            before = self._state()
            own, found = self._direction(make, before, reference is not None)
        except BatchError as error:
            self._skip(error)
            return pred
        self._succeed()
        self._last.update(loss=found.loss, events=1.0)
        self._remember(self._constraint.after(before, found))
        if self._monitor is not None:
            if not self.gather:
                only_a_part(self._monitor, type(self).__name__)
            if self._monitor.due():
                look(self._monitor, self._constraint, own, found, self.strength)
        self._say_if_lost()
        self._last["waiting"] += 1
        group = (self.process_group,) if self._gathers else None
        return constrained(pred, found, self._constraint, self._last, group)

    def _refused(self) -> str | None:
        """What of the options the device has not."""
        for name, given in (("tolerance", self._constraint.tolerance), ("gather", self._gathers or None)):
            if given is not None:
                return f"{name} = {given}"
        why: str | None = refused_options(self._encoded)
        return why

    def _on_device(self, pred: Tensor, given: Given) -> Tensor | None:
        """The predictions, pushed without a look at a value; None where the core is asked, also for bad ones."""
        if not len(given.events.score) or not is_on_device(self.on_device, self._encoded, given.events):
            return None
        buffers = buffers_of(self.state, self.sums, pred.device)
        self.state, self.sums = buffers
        found = self._device.find(self._constraint, buffers, self._encoded, given.events, given.batch)
        if pred.is_cpu and not found.good:
            self._device.calls -= 1
            return None
        if self.on_bad_batch == "raise" and not pred.is_cpu:
            torch._assert_async(found.good, f"MoDeConstraint: {NO_LOSS}")
        if self._device.calls % EVERY == 0:
            self._device.look(self.state, EVERY)
        self._last.update(loss=found.loss, events=found.events, waiting=self._last["waiting"] + 1)
        self._say_if_lost()
        strength = self._device.strength
        assert strength is not None
        self._last["strength"] = strength
        same: Tensor = Pushing.apply(pred, found, strength, self._received)
        return same

    def _received(self) -> None:
        self._last["waiting"] = 0

    def _say_if_lost(self) -> None:
        if self._monitor is not None and self._last["waiting"] >= MOST_WAITING:
            self._monitor.say(
                "result lost",
                f"{MOST_WAITING} calls in a row had no backward pass, in which the push is added: give the loss "
                "what the call RETURNS, score = constraint(score, target, mass, weight), and not what went into it",
            )

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

    def _direction(self, make: Callable[[], Given], state: State, has_reference: bool) -> tuple[Events, Direction]:
        """The arrays of all events, and where the batch of this process is pushed."""
        where = ""
        try:
            given = of_all(make, repr(self), self.process_group) if self._gathers else make()
            if has_reference and not self._gathers:
                where = f", where events from {given.batch} on are those of reference"
            arrays = _arrays(given.events)
            with naming_ranks(given):
                found = self._constraint.direction(state, *arrays, count=given.batch)
            return arrays, found._replace(push=found.push[given.own])
        except BatchError:
            raise
        except ValueError as error:
            raise ValueError(f"{error} (in training step {int(state.steps)}{where})") from None

    def _state(self) -> State:
        """What is remembered: as the host knows it, or as the buffers have it, where they have changed since."""
        if self._known is not None and self._known[1:] == self._versions():
            known: State = self._known[0]
            return known
        state = State._make([*self.state.tolist(), as_numpy(self.sums)])
        return state._replace(share=share_of(state.steps))  # which the device does not write

    def _remember(self, state: State) -> None:
        numbers = torch.tensor(state[:NUMBERS], dtype=self.state.dtype)
        self.state.copy_(numbers, non_blocking=True)
        sums = torch.as_tensor(state.sums, dtype=self.sums.dtype)
        if len(sums) == len(self.sums):
            self.sums.copy_(sums, non_blocking=True)
        else:  # the first batch tells how many variables the mass has
            self.sums = sums.to(self.sums.device, non_blocking=True)
        self._known = (state, *self._versions())

    def _versions(self) -> tuple[int, ...]:
        return id(self.state), self.state._version, id(self.sums), self.sums._version

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *others: Any) -> None:
        saved = state_dict.get(prefix + "sums")
        if saved is not None:
            self.sums = self.sums.new_zeros(saved.shape)
        super()._load_from_state_dict(state_dict, prefix, *others)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> MoDeConstraint:
        # The state goes along to a device, but not to a type of fewer digits: losses of 1e-6 are squared in it.
        before = self.state, self.sums
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        kept = torch.float32 if self.state.device.type == "mps" else torch.float64
        self.state, self.sums = (tensor.to(self.state.device, kept) for tensor in before)
        return self

    def extra_repr(self) -> str:
        """The arguments."""
        shown = dict(self.options)
        for name in ("relative_strength", "tolerance"):
            if (value := getattr(self._constraint, name)) is not None:
                shown[name] = value
        if self.gather:
            shown["gather"] = True
        if self.on_device is not None:
            shown["on_device"] = self.on_device
        return ", ".join(f"{name}={value!r}" for name, value in shown.items())


# The core is not part of a graph, and what is remembered changes with every call.
_outside_of_the_graph = torch.compiler.disable(MoDeConstraint._constrained)  # type: ignore[no-untyped-call]


def _arrays(events: Events) -> Events:
    return Events(*(None if tensor is None else as_numpy(tensor) for tensor in on_host(events)))


def constrained(
    pred: Tensor, found: Direction, constraint: Constraint, last: dict[str, Any], group: tuple[Group] | None = None
) -> Tensor:
    """The predictions, to whose gradient the push will be added; then last["strength"] says how strongly.

    Among several processes, with their ``group``, the size follows the norm over all of their batches, as they
    come: the mean over the processes, which DistributedDataParallel takes afterwards, divides both parts alike.
    """
    push = back_to(pred.device, result_type(pred), found.push)
    same: Tensor = _Constrained.apply(pred, push, constraint.per_norm(found), constraint, last, group)
    return same


class _Constrained(torch.autograd.Function):
    """The predictions; backward adds the push to what comes in, scaled to it."""

    @staticmethod
    def forward(
        ctx: Any,
        pred: Tensor,
        push: Tensor,
        per_norm: float,
        constraint: Constraint,
        last: dict[str, Any],
        group: tuple[Group] | None,
    ) -> Tensor:
        ctx.save_for_backward(pred, push)
        ctx.per_norm, ctx.constraint, ctx.last, ctx.group = per_norm, constraint, last, group
        return pred.view_as(pred)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, incoming: Tensor) -> tuple[Tensor | None, ...]:
        pred, push = ctx.saved_tensors
        push = push.reshape(incoming.shape)
        of_logits = incoming.to(push.dtype) * ctx.constraint.by_logit(pred.to(push.dtype))
        norm = torch.linalg.vector_norm(of_logits * (push != 0))
        if ctx.group is not None:
            norm = norm_of_all(norm, *ctx.group)
        strength = torch.nan_to_num(ctx.per_norm * norm, 0.0, 0.0)  # where a GradScaler's scale was too large
        ctx.last.update(strength=strength, waiting=0)
        added = torch.addcmul(incoming.to(push.dtype), strength, push).to(pred.dtype)
        return added, None, None, None, None, None
