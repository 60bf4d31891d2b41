"""Alternatives to libmode.

Each function takes the events and returns a call without arguments, which does
the work once and returns the arrays that it produced. Making the call (copies,
fits that are done once per training) is not timed. Modules are imported inside,
so that a process which measures the memory of one peer does not load the others.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .events import Events

Call = Callable[[], Any]


def strong_torch(events: Events, order: int = 2, bins: int = 32, radix: bool = True) -> Call:
    """The exact MoDe loss in PyTorch, forward and backward, see :mod:`bench.strong_torch`."""
    import torch

    from .strong_torch import strong_torch_loss

    score, mass = torch.from_numpy(events.score), torch.from_numpy(events.mass)

    def call():
        leaf = score.detach().requires_grad_()
        strong_torch_loss(leaf, mass, order, bins, radix=radix).backward()
        return leaf.grad

    return call


def modeloss(events: Events, order: int = 2, bins: int = 32) -> Call:
    """``modeloss`` 0.1.0, the package of the authors of arXiv:2010.09745, forward and backward.

    With its own defaults otherwise: 32 steps in the score for the loss, all
    pairs for the gradient. It drops the remainder of n over the bins.
    """
    import torch
    from modeloss.pytorch import MoDeLoss

    score, mass = torch.from_numpy(events.score), torch.from_numpy(events.mass)
    target = torch.zeros(events.n)
    loss = MoDeLoss(bins=bins, order=order)

    def call():
        leaf = score.detach().requires_grad_()
        loss(leaf, target, mass).backward()
        return leaf.grad

    return call


def disco_loss(score: Any, mass: Any, weight: Any) -> Any:
    """DisCo: the squared distance correlation of tensors, over all pairs of events.

    G. Kasieczka, D. Shih, arXiv:2001.05310, eqs. 4-6; as in the authors' code
    (github.com/gkasieczka/DisCo) with power = 1. Weights have mean 1. Broadcast
    where the authors repeat, which saves some of the n x n arrays.
    """

    def centered(x):
        distance = (x[:, None] - x[None, :]).abs()
        row = (distance * weight).mean(1)
        return distance - row[None, :] - row[:, None] + (row * weight).mean()

    def mean(pairs):
        return ((pairs * weight).mean(1) * weight).mean()

    a, b = centered(mass), centered(score)
    return mean(a * b) / (mean(a * a) * mean(b * b)).sqrt()


def disco(events: Events) -> Call:
    """DisCo, forward and backward."""
    import torch

    score, mass = torch.from_numpy(events.score), torch.from_numpy(events.mass)
    weight = torch.ones(events.n)

    def call():
        leaf = score.detach().requires_grad_()
        disco_loss(leaf, mass, weight).backward()
        return leaf.grad

    return call


def hep_ml_flatness(events: Events, bins: int = 32) -> Call:
    """hep_ml 0.8.0: the negative gradient of BinFlatnessLossFunction.

    A. Rogozhnikov et al., arXiv:1410.4140. It is the gradient alone (its loss
    is never computed), with the bins found before, once, by ``fit``.
    """
    import pandas
    from hep_ml.losses import BinFlatnessLossFunction

    loss = BinFlatnessLossFunction(["mass"], uniform_label=0, n_bins=bins)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # events beyond the last of its bins, of equal widths
        loss.fit(pandas.DataFrame({"mass": events.mass}), np.zeros(events.n), np.ones(events.n))
    score = events.score.astype(float)
    return lambda: loss.negative_gradient(score)


def numpy_argsort(events: Events) -> Call:
    """``np.argsort`` of the scores."""
    return lambda: np.argsort(events.score)


def numpy_sort(events: Events) -> Call:
    """``np.sort`` of the scores: no indices."""
    return lambda: np.sort(events.score)


def torch_sort(events: Events) -> Call:
    """``torch.sort`` of the scores, which gives values and indices."""
    import torch

    score = torch.from_numpy(events.score)
    return lambda: tuple(torch.sort(score))
