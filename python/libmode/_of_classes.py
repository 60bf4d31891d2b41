"""MoDe between the logits of several classes and their loss: the common part of libmode.weaver and libmode.salt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from . import _softmax
from ._messages import shown
from ._options import TAKEN
from ._options import check as of_options
from .metrics import Check
from .metrics import check as judge
from .metrics._sample import POINTS, Settings
from .torch import MoDeConstraint, MoDeLoss
from .torch.constraint import _OPS

#: What makes the layer or the loss from its options.
METHODS: dict[str, Callable[..., Any]] = {
    "layer": partial(MoDeConstraint, from_logits=True),
    "loss": MoDeLoss,
    "none": lambda **options: None,
}


class MoDeOfClasses(torch.nn.Module):
    """The layer or the loss for one class of signal against the background classes; other classes take no part."""

    def __init__(
        self, names: Sequence[str], *, signal_class: str | None = None, background_classes: Sequence[str] | None = None,
        each_class: bool = False, method: str = "layer", check: dict[str, Any] | None = None, **options: Any,
    ) -> None:  # fmt: skip
        super().__init__()
        self.names, self.method, self.each_class = list(names), method, each_class
        if method not in METHODS:
            raise ValueError(f"method = {method!r}: expected one of {', '.join(METHODS)}")
        backgrounds = [background_classes] if isinstance(background_classes, str) else background_classes
        self.background = tuple(self._column("background_classes", name) for name in backgrounds or ())
        rest = [name for name in self.names if name not in (backgrounds or ())]
        if signal_class is None and len(rest) != 1:
            raise ValueError(f"signal_class is missing: give it, or background_classes that leave one of {rest}")
        self.signal = self._column("signal_class", rest[0] if signal_class is None else signal_class)
        if backgrounds is None:
            self.background = tuple(k for k in range(len(self.names)) if k != self.signal)
        if self.signal in self.background or not self.background or len(set(self.background)) < len(self.background):
            raise ValueError(
                f"background_classes = {shown(backgrounds)} and signal_class = {self.names[self.signal]!r}: expected "
                "different classes, and at least one of background"
            )
        if method == "loss" and options.get("strength") is None:
            raise ValueError("method = 'loss' needs strength: without it the loss is far smaller than a cross entropy")
        of_loss = {name: options[name] for name in TAKEN["mode"] if name in options and name != "background_label"}
        taken = of_options("mode", of_loss).of_check() | {"training_events": options.get("training_events")}
        cuts: dict[str, Any] = {} if {*POINTS} & {*(check or ())} else {"signal_efficiency": (0.8, 0.5, 0.2)}
        self.given, self.settings = options, taken | cuts | (check or {})  # the cuts of libmode report
        Settings(**self.settings)  # its errors now, and not after an epoch
        labels = tuple(range(1, len(self.background) + 1)) if each_class else 1
        options = {**options, "gather": True, "background_label": labels}  # a process by itself gathers nothing
        self.mode: MoDeConstraint | MoDeLoss | None = METHODS[method](**options)

    def _column(self, argument: str, name: str) -> int:
        if name not in self.names:
            raise ValueError(f"{argument} = {name!r}: expected one of the classes {self.names}")
        return self.names.index(name)

    def __str__(self) -> str:
        classes = f"{self.names[self.signal]} against {' + '.join(self.names[k] for k in self.background)}"
        how = ", ".join([self.method, *(f"{name}={value!r}" for name, value in self.given.items())])
        others = [name for k, name in enumerate(self.names) if k not in (self.signal, *self.background)]
        without = f"; {', '.join(others)} take no part, and nothing judges them" if others else ""
        return f"MoDe is {'off' if self.mode is None else f'on ({how})'}, {classes}{without}"

    def _events(self, logits: Tensor, label: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The log odds of signal against background, (n,), the events of both, and their labels, 0 of signal."""
        if logits.ndim != 2 or logits.shape[1] != len(self.names):
            raise ValueError(f"logits have shape {tuple(logits.shape)}: expected (n, {len(self.names)}), {self.names}")
        labels = torch.full_like(label, -1)
        for k, column in enumerate((self.signal, *self.background)):
            labels[label == column] = k if self.each_class else min(k, 1)
        chosen = torch.nonzero(labels >= 0)[:, 0]
        return _softmax.odds(_OPS, logits, self.signal, self.background, True), chosen, labels[chosen]

    def forward(
        self, logits: Tensor, label: Tensor, mass: Tensor, weight: Tensor | None = None
    ) -> tuple[Tensor, Tensor | float]:
        """The logits (n, k) to give to the classification loss, and the term to add to it."""
        if self.mode is None or not self.training:
            return logits, 0.0
        odds, chosen, labels = self._events(logits, label)
        events = labels, mass[chosen], None if weight is None else weight[chosen]
        if isinstance(self.mode, MoDeLoss):
            return logits, self.mode(torch.sigmoid(odds[chosen]), *events)
        change = self.mode(odds[chosen], *events) - odds[chosen]  # 0, with the push in its gradient
        of_signal = chosen, torch.full_like(chosen, self.signal)
        return logits + torch.zeros_like(logits).index_put(of_signal, change.to(logits.dtype)), 0.0

    def check(self, batches: Sequence[Sequence[Tensor | None]]) -> Check:
        """The verdict on the sum of the background classes. An event that was drawn k times has the weight k."""
        events: Any = (None if each[0] is None else torch.cat(each) for each in zip(*batches, strict=True))
        logits, label, mass, weight = events
        odds, chosen, labels = self._events(logits, label)
        weights = torch.ones_like(odds) if weight is None else weight
        tensors = odds[chosen], labels > 0, mass[chosen], weights[chosen]
        columns = [each.detach().cpu().double().numpy() for each in tensors]
        columns[0] = columns[0].round(4)  # other batches round otherwise
        (score, background, masses, own), count = np.unique(np.stack(columns), axis=1, return_counts=True)
        return judge(score, background, masses, weight=own * count, background_label=1, **self.settings)
