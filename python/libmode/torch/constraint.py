"""The layer that adds MoDe's push to the gradient of any loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .. import _softmax
from .._constraint import Constraint, training_step
from .._events import Events
from .._native import BatchError
from .._options import TAKEN, parse_options, with_options
from .._problems import EVERY, OnBadBatch
from .._read import whole
from ..option_types import LayerOptions, Unpack
from ._gather import Batch, Group, norms_of_all, processes, read_batch
from ._op import NO_LABELS, CoreModule, Tied, find_owner, no_second_derivative, run_by_operator
from ._tensors import TENSORS, as_numpy, as_tensor, back_to, is_traced, on_host, read_tensors

_OPS = _softmax.Ops(
    *(torch.where, torch.stack, torch.log, torch.logsumexp, torch.amax, Tensor.detach, Tensor.to),
    lambda column: column.float() if column.device.type == "mps" else column.double(),
)
_ROWS = 4  # push, multiplier, slope and part


class MoDeConstraint(CoreModule):
    """A layer between network and loss that keeps the response to background smooth in the mass.

    It returns the predictions unchanged. In the backward pass it changes the incoming gradient G of your loss. With
    respect to the logit of background event i, of mass m_i, the gradient becomes::

        start(m_i) G_i + K |G|/|u| u_i,        u_i = (dL/dq_i) / sqrt(q_i (1 - q_i))

    L is the MoDe loss (arXiv:2010.09745) of the ranks q of the background, from 0 to 1: the order of the scores makes
    the push, and their values do not. start(m) is planing (arXiv:1709.10106), the ratio of the densities of signal and
    background, with a floor, and with the background's own means of the polynomials that the order allows. ``|G|``,
    after start, and ``|u|`` are norms over the background, averaged over 200 batches. docs/how-it-works.md derives
    the law. In evaluation mode, and without gradients, the layer does nothing. Whether the response is flat,
    :func:`libmode.metrics.check` finds with other events.

    Parameters
    ----------
    {options}
    signal : int, default -1
        Of outputs of a softmax, (n, k): the column of signal, by default the last. The score is then the log odds of
        signal against the classes that ``background_label`` names, and other classes take no part. So two logits and
        ``cross_entropy`` just work.
    on_bad_batch : {"raise", "skip"}, default "skip"
        As for :class:`MoDeLoss`: "skip" changes no gradient of a batch without background, or with too little for any
        bins. Other errors name the step.
    monitor : bool, default True
        Warn, once, if the scores collapse to a constant (:class:`libmode.TrainingWarning`).
    background_only, gather, process_group
        As for :class:`MoDeLoss`. All processes share one state.
    **options
        Those of :func:`libmode.mode_loss`, of L.

    Raises
    ------
    BatchError, ValueError, TypeError
        As :func:`libmode.mode_loss`, for options at once, later with the training step; BatchError only with
        ``on_bad_batch="raise"``.

    Notes
    -----
    Events that take no part in the loss keep their gradient. Each background label, and each category of it, has its
    own push. The state is in a buffer of fixed size, so ``state_dict`` saves it, with the options. Loading the state
    of other options is a ValueError. A batch counts in its backward pass; an infinite gradient, as ``GradScaler`` can
    make, changes nothing.

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
    >>> constraint.skipped, constraint.strength, constraint.floor, constraint.training_events, constraint.categories
    (0, None, None, None, 0)
    """

    state: Tensor
    categories: int
    _gets, _name = "no gradient of MoDe", "state"

    def __init__(
        self, *, signal: int = -1, background_only: bool = True, on_bad_batch: OnBadBatch = "skip",
        monitor: bool = True, gather: bool = False, process_group: Group = None, **options: Unpack[LayerOptions],
    ) -> None:  # fmt: skip
        super().__init__(background_only, on_bad_batch, monitor, gather, process_group)
        self._constraint = Constraint(options, owner=type(self).__init__)
        self.options = {name: self._constraint.options.values[name] for name in options}
        self.__dict__.update(self._constraint.settings)
        self._labels, self.signal = self._constraint.labels, whole("signal", signal)
        self._memory = np.zeros(self._constraint.size)

    def forward(
        self, score: Tensor, label: Tensor, mass: Tensor, weight: Tensor | None = None, *,
        category: Tensor | None = None, reference: Events | None = None,
    ) -> Tensor:  # fmt: skip
        """Predictions of shape (n,), (n, 1) or (n, k), unchanged; :class:`MoDeLoss` has the same arguments."""
        if not isinstance(score, Tensor):
            as_tensor("score", score)  # raises the error
        events = label, mass, weight, category
        if score.ndim != 2 or score.shape[1] == 1:
            return self._constrain(None, score, events, reference)
        chosen = *self._constraint.classes(self.signal, tuple(score.shape)), self._constraint.from_logits
        reference = _softmax.of_reference(_OPS, reference, *chosen)
        changed: Tensor = _softmax.constrained(
            _OPS, score, *chosen, lambda odds: self._constrain(score, odds, events, reference)
        )
        return changed

    def _constrain(self, outputs: Tensor | None, score: Tensor, events: tuple[Any, ...], reference: Any) -> Tensor:
        """The scores, or the log odds of the outputs of a softmax, unchanged."""
        if not self.training or score.is_meta or not (torch.is_grad_enabled() and score.requires_grad):
            return score
        if events[0] is None and self.background_only:
            raise TypeError(NO_LABELS)
        state = self.state
        if state.dtype is not torch.float64:
            state = self._buffer()
        more, owner = {"reference": reference, "outputs": outputs}, None if is_traced(score) else self
        if owner is None:
            lesson, rows = run_by_operator(self, state, score, *events, rows=_ROWS, **more)
        else:
            lesson, rows = self._run(state, score, *events, **more)
            if self._unproven:  # a bad batch passes as it is
                return score
        same: Tensor = Constrained.apply(score, rows, lesson, self.key, owner)
        return same

    def _run(
        self, state: Tensor, score: Tensor, label: Any, *others: Any, reference: Any = None, outputs: Any = None
    ) -> tuple[Tensor, Tensor]:
        """The lesson and the rows of a batch, see :meth:`libmode._constraint.Constraint.direction`."""
        constraint, monitor, where = self._constraint, self._monitor, ""
        constraint.odds = outputs is not None
        if monitor is not None and monitor.calls == 0 and outputs is not None:
            constraint.look_at_rows(as_numpy(outputs))
        arguments = score, label if self.background_only else None, *others
        try:
            if reference is None and not self.gather:
                batch = Batch(read_tensors(*arguments), score.shape[0])
            else:
                batch = read_batch(self, *arguments, reference=reference)
                where = batch.where
            events = on_host(batch.events) if score.is_cuda else batch.events
            before = state if state.is_cpu else state.to("cpu", torch.float64)
            lesson, rows = constraint.direction(before, events, batch.size, TENSORS)
        except BatchError as error:
            self._skip(error)
            lesson, rows = map(torch.from_numpy, constraint.skipped(np.float64, score.numel()))
        except ValueError as error:
            place = ", ".join(filter(None, (training_step(as_numpy(self.state)), where)))
            raise ValueError(f"{error} ({place})") from None
        else:
            if self._unproven:
                self._succeed()
            rows = rows if batch.processes == 1 else rows[:, batch.own]
            if monitor is not None:
                monitor.calls += 1
                if monitor.calls % EVERY == 0:
                    monitor.look(constraint.scores(as_numpy(events.score)))
        kind = torch.float64 if score.dtype is torch.float64 else torch.float32  # result_type, with a call less
        return lesson, rows if rows.dtype is kind and score.is_cpu else back_to(score.device, kind, rows)

    def _outgoing(self, incoming: Tensor, lesson: Tensor, rows: Tensor) -> Tensor:
        """The gradient with the push; the state remembers the batch."""
        own, norms = self.state, None
        state = own
        if not (rows.is_cpu and own.is_cpu):
            rows, lesson, state = rows.cpu(), lesson.cpu(), own.to("cpu", torch.float64)
        rows, gradient = rows.contiguous(), incoming
        if not (gradient.is_cpu and gradient.dtype is rows.dtype and gradient.is_contiguous()):
            gradient = gradient.detach().to("cpu", rows.dtype).contiguous()
        if self.gather and processes(self.process_group) > 1:
            parts = len(self._constraint.labels) * (self.categories or 1)
            norms = norms_of_all(gradient.detach().reshape(-1), rows, parts, self.process_group)
        changed = self._constraint.apply(gradient, rows, lesson, state, norms, TENSORS)
        if state is not own:
            own.copy_(state)
        return back_to(incoming.device, incoming.dtype, changed)

    def get_extra_state(self) -> Tensor:
        """The options of the state, as the bytes of a text, since some file formats hold only tensors."""
        return torch.tensor(list((self._constraint.options.text or " ").encode()), dtype=torch.uint8)

    def set_extra_state(self, state: Tensor) -> None:
        """Raises ValueError if the loaded state has other options."""
        own, saved = self._constraint.options.values, parse_options("mode", bytes(state.tolist()).decode()).values
        for name in TAKEN["mode"]:
            if own[name] != saved[name]:
                raise ValueError(
                    f"{name} = {own[name]!r}, and the loaded state comes from a MoDeConstraint with {name} = "
                    f"{saved[name]!r}, whose numbers mean something else"
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


MoDeConstraint.__doc__ = with_options(MoDeConstraint.__doc__, "LayerOptions")


class Constrained(torch.autograd.Function):
    """The predictions. Backward multiplies the incoming gradient, and adds the push of an owner, or of its key."""

    @staticmethod
    def forward(ctx: Any, score: Tensor, rows: Tensor, lesson: Tensor, key: Tensor, owner: Any = None) -> Tensor:
        ctx.save_for_backward(rows, lesson, score, key)
        ctx.owner = owner
        return score.clone()  # a program may change it in place, as by clamp_

    @staticmethod
    def backward(ctx: Any, incoming: Tensor) -> tuple[Tensor | None, ...]:
        rows, lesson, score, key = ctx.saved_tensors
        if ctx.owner is None:
            return _outgoing_op(key, incoming, lesson, rows, score), None, None, None, None
        pushed = ctx.owner._outgoing(incoming, lesson, rows)
        if torch.is_grad_enabled():  # with create_graph
            for tensor in (score, incoming):
                pushed = Tied.apply(pushed, tensor)
        return pushed, None, None, None, None


_outgoing_op = torch.library.custom_op(
    "libmode::outgoing",
    lambda key, incoming, lesson, rows, score: find_owner(key)._outgoing(incoming, lesson, rows),
    mutates_args=(),
    schema="(Tensor key, Tensor incoming, Tensor lesson, Tensor rows, Tensor score) -> Tensor",
)
_outgoing_op.register_fake(lambda key, incoming, lesson, rows, score: torch.empty_like(incoming))
_outgoing_op.register_autograd(no_second_derivative)
