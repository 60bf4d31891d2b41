"""The layer that adds MoDe's push to the gradient of any loss."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from .. import _softmax
from .._bad_batches import OnBadBatch
from .._constraint import Constraint, State, outgoing, training_step, unpack_state
from .._events import Events
from .._native import BatchError
from .._option_values import plain
from .._options import parse_options
from .._problems import MOST_WAITING, Learns, Statement
from .._read import flag, whole
from .._typing import Unpack
from ..option_types import LossOptions
from ._gather import Group, checked_group, gather_events, naming_ranks, norm_of_all, only_a_part, processes, read_batch
from ._module import NO_LABELS, CoreModule, as_arguments, in_python
from ._op import Tied, find_owner, in_torch_func, no_second_derivative, run_by_operator
from ._tensors import TENSORS, as_arrays, as_numpy, as_tensor, back_to, has_values, is_traced, on_host, result_type

_OPS = _softmax.Ops(
    *(torch.where, torch.stack, torch.log, torch.logsumexp, torch.amax, Tensor.detach, Tensor.to),
    lambda column: column.float() if column.device.type == "mps" else column.double(),
)
_AS_THEY_ARE = nullcontext()  # errors of a process by itself


class MoDeConstraint(CoreModule, Learns):
    """A layer between network and loss that keeps the response to background smooth in the mass.

    It returns the predictions unchanged. In the backward pass it changes the incoming gradient G of your loss. With
    respect to the logit of background event i, of mass m and score s, the gradient becomes::

        multiplier(m, s) G_i + min(1, sigma) |G|/sqrt(n) w_i u(m, s)
        u = 4 r + 0.02 (sum of r sqrt(n/512) over all batches so far)
        multiplier = start exp(v) for v > 0, start + v max(start, 1) for v < 0

    r is the residual of the MoDe loss (arXiv:2010.09745), in units of the noise of a batch. The sum over batches grows
    until the mean residual is 0, so you choose no strength. v(m, s) makes the response flat at tight cuts, down to
    background efficiencies of 1/1000, and start(m) is from planing. ``|G|`` is the norm of G over the n background
    events of the batch, sigma the standard deviation of their logits, and w_i the weight relative to its mass bin.
    docs/how-it-works.md has the law. In evaluation mode, and without gradients, the layer does nothing.

    Parameters
    ----------
    strength : float, optional
        K: a fixed strength, ``u = K r`` without sum and v, for a scan. It leaves tight cuts as they are, and the layer
        says so at the end. Left out, the sum finds the strength.
    tolerance : float, optional
        While a test with this many background events sees no dependence, the push shrinks and the sum leaks, within
        some 500 batches, and v learns what such a test sees. Averages over 200 batches measure the dependence, so 200
        batches must hold more background events than the tolerance.
    training_events : float, optional
        T, how many background events the whole training has, over all processes and labels. The layer learns
        no fluctuations of fewer events, and ``convergence`` judges for a search with T events. Left out, it is unknown.
    from_logits : bool, default False
        Whether predictions are logits instead of scores from 0 to 1.
    signal : int, default -1
        Of outputs of a softmax, (n, k): the column of signal, by default the last. The score is then the log odds of
        signal against the classes that ``background_label`` names, and other classes take no part. So two logits and
        ``cross_entropy`` just work.
    categories : int, optional
        The number of values of ``category``, which are 0, 1 and so on. Each has a push, a memory and a verdict of its
        own. A category with too few events in a batch for bins gets no push from it.
    on_bad_batch : {"raise", "skip"}, default "skip"
        "skip" adds nothing for a batch without background, or with too little for the bins, counts it in ``skipped``
        and warns at the first. Ten bad batches before the first good one, or a hundred in a row, are an error. NaN
        scores are always an error, which names the step.
    monitor : bool, default True
        Warn, once each, if the scores collapse or the push is 0 (:class:`libmode.TrainingWarning`). ``eval()`` after
        the training, or the end of the layer, warns if the response is not flat. In evaluation mode the layer
        measures the events that it gets, and judges by them where they tell enough.
    background_only, gather, process_group
        As for :class:`MoDeLoss`. All processes share one state.
    on_device : bool, optional
        True is an error: only :class:`MoDeLoss` has kernels for the GPU. The core computes the push, on the CPU.
    order : int
        Degree of the polynomial in mass that the background efficiency may follow: 0 constant, 1 linear, 2 quadratic.
    **options
        The other options of :func:`libmode.mode_loss`.

    Attributes
    ----------
    loss : float
        The unbiased MoDe loss of the last batch and its reference events; NaN before the first.
    scale : float
        ``min(1, sigma) |G|/sqrt(n)`` of the last backward pass, with which the push was multiplied.
    factor : float
        The factor by which a tolerance scales the push and what is learned: 0.02 to 1; 1 without a tolerance.
    dependence : Rho
        rho = D N/(B n), with its error. At most 1 means that a test with N = tolerance (by default 100,000) events
        sees no dependence. D and B are the averages of the unbiased loss and of its bias, and n is the number of
        events.
    convergence : Convergence
        The bump that a search would find at cuts with background efficiencies from 1/2 to 1/1000.

    Raises
    ------
    ValueError, TypeError
        For options that are out of range or unknown.
    BatchError, ValueError, TypeError
        When called: as :func:`libmode.mode_loss`, a ValueError with the training step; BatchError only with
        ``on_bad_batch="raise"``.

    Notes
    -----
    Events that take no part in the loss get no push and the multiplier 1. Each background label, and each category of
    it, has its own sum and v. The state is in a buffer of fixed size, so ``state_dict`` saves it, with the options.
    Loading the state of other options is a ValueError.

    Examples
    --------
    >>> import torch
    >>> from libmode.torch import MoDeConstraint
    >>> _ = torch.manual_seed(1)
    >>> label, mass = torch.randint(0, 2, (2_000,)).float(), 50 + 250 * torch.rand(2_000)  # 0 is background
    >>> x = torch.stack([mass / 300, torch.randn(2_000) + label], 1)
    >>> network = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Sigmoid())
    >>> weight, constraint = torch.rand(2_000), MoDeConstraint(order=1, mass_range=(50, 300))
    >>> constraint
    MoDeConstraint(order=1, mass_range=(50.0, 300.0))
    >>> score = constraint(network(x)[:, 0], label, mass, weight)  # the one line
    >>> torch.nn.functional.binary_cross_entropy(score, label, weight).backward()
    >>> constraint.loss < 0.1, constraint.scale > 0, constraint.skipped
    (True, True, 0)
    >>> rho, error = constraint.dependence  # of one batch, whose error is not known yet
    >>> bool(rho > 1), error
    (True, inf)
    >>> constraint.convergence.batches
    1
    >>> fixed = MoDeConstraint(order=1, mass_range=(50, 300), strength=3)  # one point of a scan
    >>> fixed.strength, constraint.strength, constraint.factor
    (3.0, None, 1.0)
    """

    if TYPE_CHECKING:
        state: Tensor  # TorchScript reads annotations of classes, but no texts
    __jit_unused_properties__ = ("strength", "scale", "factor", "loss", "dependence", "convergence")
    _gets, _name = "no gradient of MoDe", "state"

    def __init__(
        self,
        *,
        strength: float | None = None,
        tolerance: float | None = None,
        training_events: float | None = None,
        from_logits: bool = False,
        signal: int = -1,
        categories: int | None = None,
        background_only: bool = True,
        on_bad_batch: OnBadBatch = "skip",
        monitor: bool = True,
        gather: bool = False,
        process_group: Group = None,
        on_device: bool | None = None,
        **options: Unpack[LossOptions],
    ) -> None:
        super().__init__()
        self.gather, self.process_group = checked_group(gather, process_group)
        self._set_on_bad_batch(on_bad_batch)
        self.options = plain("mode", options, type(self).__init__)
        self._constraint = Constraint(
            self.options,
            strength=strength,
            tolerance=tolerance,
            training_events=training_events,
            from_logits=from_logits,
            categories=categories,
        )
        self.background_only = flag("background_only", background_only)
        self.signal = whole("signal", signal)
        self._monitor = Statement(self._constraint) if flag("monitor", monitor) else None
        if on_device:
            raise ValueError(
                "on_device = True: MoDeConstraint has no kernels for the GPU; leave on_device out, and the core "
                "computes the push on the CPU, with copies of tensors on a GPU (MoDeLoss takes on_device=True)"
            )
        self._hold(self._constraint.start())
        self._last = _Last()
        self._register()

    @property
    def strength(self) -> float | None:
        """The fixed strength; None if the sum finds the strength."""
        return self._constraint.strength

    @property
    def scale(self) -> float:
        """The scale of the push in the last backward pass; NaN before the first."""
        return float(self._last.scale)

    @property
    def factor(self) -> float:
        """The factor of the push from a tolerance."""
        return float(self._state().factor) or 1.0  # 0 before the first batch

    @property
    def loss(self) -> float:
        """The loss of the last batch and its reference events; NaN before the first."""
        return self._last.loss

    @in_python
    def forward(
        self,
        score: Tensor,
        label: Tensor,
        mass: Tensor,
        weight: Tensor | None = None,
        *,
        category: Tensor | None = None,
        reference: Events | None = None,
    ) -> Tensor:
        """Predictions of shape (n,), (n, 1) or (n, k), unchanged; :class:`MoDeLoss` has the same arguments."""
        if not isinstance(score, Tensor):
            as_tensor("score", score)  # raises the error
        if score.ndim != 2 or score.shape[1] == 1:
            return self._constrain(None, score, label, mass, weight, category, reference)
        signal, background = self._constraint.classes(self.signal, tuple(score.shape))
        from_logits = self._constraint.from_logits
        reference = _softmax.of_reference(_OPS, reference, signal, background, from_logits)

        def constrain(odds: Tensor) -> Tensor:
            return self._constrain(score, odds, label, mass, weight, category, reference)

        changed: Tensor = _softmax.constrained(_OPS, score, signal, background, from_logits, constrain)
        return changed

    def _constrain(
        self, outputs: Tensor | None, score: Tensor, label: Any, mass: Any, weight: Any, category: Any, reference: Any
    ) -> Tensor:
        """The scores, or the log odds of the outputs of a softmax, unchanged."""
        if not self.training:
            if has_values(score) and not (torch.compiler.is_compiling() or _is_tracing() or in_torch_func()):
                self._constraint.logits = outputs is not None or self._constraint.from_logits
                asks = torch.is_grad_enabled() and score.requires_grad
                if self._monitor is not None and asks and not self.state.any():
                    self._monitor.sleeps(type(self).__name__)
                self._evaluate(score, label, mass, weight, category, reference)
            return score
        if score.is_meta or not (torch.is_grad_enabled() and score.requires_grad):
            return score
        if label is None and self.background_only:
            raise TypeError(NO_LABELS)
        same: Tensor
        state = self._buffer()
        if is_traced(score):
            results = run_by_operator(
                self, state, score, label, mass, weight, category, reference=reference, outputs=outputs, rows=3
            )
            same = _constrained_op(self.key, score, *results)
        elif in_torch_func():
            raise RuntimeError("torch.func cannot transform a MoDeConstraint, which has a state: use MoDeLoss")
        else:
            size, rows = self._run(state, score, label, mass, weight, category, reference, outputs=outputs)
            # A bad batch passes as it is.
            same = score if self._unproven else Constrained.apply(score, rows, size, self._last)
        return same

    def _run(self, state: Tensor, score: Tensor, *others: Any, outputs: Tensor | None = None) -> tuple[float, Tensor]:
        """The size of the push of a batch, and its rows, (3, n): push, multiplier and slope.

        Those of a batch that is skipped are 0, 1 and 0. It brings the state up to date.
        """
        last, monitor, constraint = self._last, self._monitor, self._constraint
        # With use_reentrant=True checkpoint calls the layer first without gradients. That call counts nothing.
        if last.waiting and torch._C._current_graph_task_id() != -1:
            raise RuntimeError(
                "MoDeConstraint is called again in the backward pass, as by torch.utils.checkpoint, and would count "
                "the batch twice: leave the layer out of the checkpointed part, for instance "
                "score = constraint(checkpoint(network, x, use_reentrant=False), label, mass)"
            )
        constraint.logits = outputs is not None or constraint.from_logits
        if outputs is not None and monitor is not None and not monitor.calls:
            constraint.look_at_rows(as_numpy(outputs), len(constraint.labels) + 1)
        make = partial(read_batch, constraint.labels, score, *others)
        gathers, where = self.gather and processes(self.process_group) > 1, ""
        try:
            batch = gather_events(make, repr(self), self.process_group) if gathers else make()
            events = batch.events if self.background_only else batch.events._replace(label=None)
            if not gathers and events.score.shape[0] > batch.size:
                where = f", where events from {batch.size} on are reference events"
            if score.is_cuda:
                events = on_host(events)
            with constraint.lock.held, naming_ranks(batch) if gathers else _AS_THEY_ARE:
                host = state if state.is_cpu else state.to("cpu", torch.float64)
                pushed = constraint.direction(host.numpy(), events, batch.size, TENSORS)
                if host is not state:
                    state.copy_(host)
        except BatchError as error:
            self._skip(error)
            rows = torch.zeros((3, score.numel()), dtype=result_type(score), device=score.device)
            rows[1] = 1
            return 0.0, rows
        except ValueError as error:
            raise ValueError(f"{error} ({training_step(as_numpy(self.state))}{where})") from None
        if self._unproven:
            self._succeed()
        if monitor is not None:
            if not (self.gather or monitor.calls):
                only_a_part(monitor, type(self).__name__)
            if monitor.is_due():
                monitor.see(as_arrays(events), pushed, as_numpy(self.state), self, self.scale)
        last.loss, last.waiting, last.group = pushed.loss, last.waiting + 1, (self.process_group,) if gathers else ()
        if monitor is not None and last.waiting > MOST_WAITING:
            monitor.say(
                "result lost",
                f"{MOST_WAITING} calls in a row had no backward pass, in which the push is added: give the loss "
                "what the call RETURNS, score = constraint(score, label, mass, weight), and not what went into it",
            )
        rows, kind = pushed.rows, result_type(score)
        if gathers:
            rows = rows[:, batch.own]
        return pushed.size, rows if score.is_cpu and rows.dtype is kind else back_to(score.device, kind, rows)

    @torch.no_grad()
    def _evaluate(self, score: Tensor, label: Tensor, mass: Tensor, *others: Any) -> None:
        """Shows a batch in evaluation mode to the monitor."""
        if self._monitor is None:
            return
        with suppress(ValueError, TypeError, AttributeError):  # bad arguments are no error in evaluation mode
            events = read_batch(self._constraint.labels, score, label, mass, *others).events
            self._monitor.evaluate(as_arrays(events if self.background_only else events._replace(label=None)))

    def train(self, mode: bool = True) -> MoDeConstraint:
        """As for any module. The first evaluation after the training warns if the response has not become flat."""
        if self._monitor is not None and not mode:
            self._monitor.ends()
        elif self._monitor is not None and not self.training:
            self._monitor.trains()
        super().train(mode)
        return self

    def _state(self) -> State:
        return unpack_state(as_numpy(self.state))

    def get_extra_state(self) -> Tensor:
        """The options of the state, as the bytes of a text, since some file formats hold only tensors."""
        return torch.tensor(list(self._constraint.options.text.encode()), dtype=torch.uint8)

    def set_extra_state(self, state: Tensor) -> None:
        """Raises ValueError if the loaded state has other options."""
        for name, own, saved in self._constraint.options.differing(parse_options(bytes(state.tolist()).decode())):
            raise ValueError(
                f"{name} = {own!r}, and the loaded state comes from a MoDeConstraint with {name} = {saved!r}, whose "
                "sum means something else"
            )

    def _load_from_state_dict(self, saved: Mapping[str, Any], prefix: str, *others: Any) -> None:
        """Checks the whole state before it replaces anything."""
        state, options = saved.get(f"{prefix}state"), saved.get(f"{prefix}_extra_state")
        try:
            if options is not None:
                self.set_extra_state(options)
            if state is not None and getattr(state, "dtype", None) not in (torch.float32, torch.float64):
                raise ValueError(f"state is {getattr(state, 'dtype', type(state))}: give the tensor that it saves")
            if state is not None:
                self._constraint.check_state(np.array(as_numpy(state), np.float64))
        except ValueError as error:
            raise ValueError(
                f"{error}. Give the layer what it was saved with, or load all but its state, and it starts afresh: "
                f"model.load_state_dict({{k: v for k, v in saved.items() if not k.startswith({prefix or 'state'!r})}}, "
                "strict=False)"
            ) from None
        super()._load_from_state_dict(saved, prefix, *others)

    def extra_repr(self) -> str:
        """The options, and other arguments that differ from their defaults."""
        defaults = {"strength": None, "tolerance": None, "training_events": None, "categories": 0}
        own = as_arguments(self.options, self._constraint, defaults)
        return ", ".join(filter(None, (own, as_arguments({}, self, {"gather": False}))))


_is_tracing: Callable[[], bool] = torch.jit.is_tracing  # type: ignore[attr-defined]


class _Last:
    """What the last call of a layer and its last backward pass have found."""

    def __init__(self) -> None:
        self.loss, self.scale = math.nan, math.nan
        self.waiting = 0  # calls without a backward pass
        self.group: tuple[Group, ...] = ()  # of the processes that shared the last batch; () without others

    def outgoing(self, group: tuple[Group, ...], incoming: Tensor, rows: Tensor, size: Any) -> Tensor:
        """The gradient with the push."""
        alike = incoming.shape == rows.shape[1:] and incoming.dtype is rows.dtype  # the usual case
        flat = incoming if alike else incoming.reshape(rows.shape[1:]).to(rows.dtype)
        added: Tensor
        added, self.scale = outgoing(_where, partial(_norm, group), flat, rows, size)
        self.waiting = 0
        return added if alike else added.reshape(incoming.shape).to(incoming.dtype)


def _norm(group: tuple[Group, ...], gradient: Tensor) -> Any:
    """The norm over the events of all processes; a number for tensors of the CPU. The host does not wait for a GPU."""
    norm = torch.linalg.vector_norm(gradient)
    if group:
        norm = norm_of_all(norm, *group)
    return norm.item() if norm.is_cpu else norm


def _where(known: Any, scale: Any, other: float) -> Any:
    return torch.where(known, scale, other) if isinstance(known, Tensor) else scale if known else other


class Constrained(torch.autograd.Function):
    """The predictions. Backward multiplies the incoming gradient, and adds the push times the gradient's norm."""

    @staticmethod
    def forward(ctx: Any, score: Tensor, rows: Tensor, size: float, last: _Last) -> Tensor:
        ctx.save_for_backward(rows, score)
        ctx.others = last, last.group, size
        return score.view_as(score)

    @staticmethod
    def backward(ctx: Any, incoming: Tensor) -> tuple[Tensor | None, ...]:
        (rows, score), (last, group, size) = ctx.saved_tensors, ctx.others
        if not torch.is_grad_enabled():
            return last.outgoing(group, incoming, rows, size), None, None, None
        with torch.no_grad():  # with create_graph
            pushed = last.outgoing(group, incoming, rows, size)
        for tensor in (score, incoming):
            pushed = Tied.apply(pushed, tensor)
        return pushed, None, None, None


# The same two for graphs: the predictions, whose gradient goes through the layer with this key.
_constrained_op = torch.library.custom_op(
    "libmode::constrained",
    lambda key, score, size, rows: score.clone(),
    mutates_args=(),
    schema="(Tensor key, Tensor score, Tensor size, Tensor rows) -> Tensor",
)
_constrained_op.register_fake(lambda key, score, size, rows: torch.empty_like(score))


def _outgoing(key: Tensor, incoming: Tensor, size: Tensor, rows: Tensor, score: Tensor) -> Tensor:
    last: _Last = find_owner(key)._last
    return last.outgoing(last.group, incoming, rows, size.item() if size.is_cpu else size)


_outgoing_op = torch.library.custom_op(
    "libmode::outgoing",
    _outgoing,
    mutates_args=(),
    schema="(Tensor key, Tensor incoming, Tensor size, Tensor rows, Tensor score) -> Tensor",
)
_outgoing_op.register_fake(lambda key, incoming, size, rows, score: torch.empty_like(incoming))
_outgoing_op.register_autograd(no_second_derivative)


def _backward(ctx: Any, incoming: Tensor) -> tuple[Tensor | None, ...]:
    key, *others = ctx.saved_tensors
    return None, _outgoing_op(key, incoming, *others), None, None


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    key, score, size, rows = inputs
    ctx.save_for_backward(key, size, rows, score)


_constrained_op.register_autograd(_backward, setup_context=_keep)
