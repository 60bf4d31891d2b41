"""The adversary of Louppe, Kagan and Cranmer, arXiv:1611.01046, as a loss with parameters of its own."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from ..._arrays import no_background
from ..._front import Events, takes_events, together
from ..._native import BatchError, int32
from ..._options import keywords_only
from .._module import read
from .._op import as_numpy

if TYPE_CHECKING:
    from typing_extensions import Never

_NARROWEST = 1e-3  # width of a Gaussian, in units of half the mass range


class AdversaryLoss(nn.Module):
    """What an adversary can tell of the mass from the score, called as :class:`libmode.torch.MoDeLoss`.

    A network r models the density of the background's mass m given the score s as a
    mixture of Gaussians. The loss is the mean of -log r(m | s) over background, whose
    gradient reaches the score with the opposite sign::

        (bce + strength * adversary(score, target, mass)).backward()

    goes down in what the adversary misses for its own parameters, and up for those of
    the classifier: the minimax game of the paper's equation 2, in one pass. Give
    ``adversary.parameters()`` to an optimiser of their own. Train both apart before, and
    expect to tune: the game has no minimum to converge to. For comparison with MoDe.

    Parameters
    ----------
    components : int, default 20
        Gaussians of the mixture.
    hidden : int, default 64
        ReLU nodes of the one hidden layer, between the score and 3 x components outputs.
    mass_range : (float, float), default (-1, 1)
        Maps to [-1, 1]; masses may lie outside.
    background_label, background_only
        As for :class:`libmode.torch.MoDeLoss`; one label.

    Raises
    ------
    ValueError, TypeError
        For arguments that are out of range, and for positional ones: all are keywords. When called, for tensors that do
        not fit each other, and values of selected events that are not finite.
    BatchError
        When called with a batch that has no background, or a sum of weights that is not positive.

    Examples
    --------
    >>> import torch
    >>> from libmode.torch.baselines import AdversaryLoss
    >>> _ = torch.manual_seed(1)
    >>> target, mass = torch.randint(0, 2, (2_000,)).float(), 2 * torch.rand(2_000) - 1
    >>> x = torch.stack([mass, torch.randn(2_000) + target], 1)
    >>> network, adversary = torch.nn.Linear(2, 1), AdversaryLoss()
    >>> optimisers = torch.optim.Adam(network.parameters()), torch.optim.Adam(adversary.parameters())
    >>> logit = network(x)[:, 0]
    >>> loss = torch.nn.functional.binary_cross_entropy_with_logits(logit, target)
    >>> (loss + 10 * adversary(logit, target, mass)).backward()
    >>> for optimiser in optimisers:
    ...     optimiser.step()
    >>> adversary.log_density(logit, mass).shape
    torch.Size([2000])
    """

    def __init__(
        self,
        *positional: Never,
        components: int = 20,
        hidden: int = 64,
        mass_range: tuple[float, float] = (-1.0, 1.0),
        background_label: int = 0,
        background_only: bool = True,
    ) -> None:
        keywords_only(self, positional, "components=20")
        super().__init__()
        for name, number in (("components", components), ("hidden", hidden)):
            if number < 1:
                raise ValueError(f"{name} = {number}: must be at least 1")
        low, high = mass_range
        if not -math.inf < low < high < math.inf:
            raise ValueError(f"mass_range = {mass_range}: must be finite and increasing")
        self.mass_range = (float(low), float(high))
        self.background_label = int32("background_label", background_label)
        self.background_only = background_only
        output = nn.Linear(hidden, 3 * components)
        with torch.no_grad():  # the Gaussians start evenly over the mass range
            output.bias[components : 2 * components] = torch.linspace(-1, 1, components)
        self.network = nn.Sequential(nn.Linear(1, hidden), nn.ReLU(), output)

    @takes_events
    def forward(self, pred: Tensor, target: Tensor, mass: Tensor, weight: Tensor | None = None) -> Tensor:
        """The mean of -log r(mass | pred) over background, shape (); each argument has shape (n,) or (n, 1)."""
        label = target if self.background_only else None
        batch = Events(*together(read, score=pred, mass=mass, weight=weight, label=label))
        chosen = torch.ones_like(batch.mass, dtype=torch.bool)
        if batch.label is not None:
            chosen = batch.label == self.background_label
        if not chosen.any():
            if batch.label is None or not len(batch.label):
                raise BatchError("no event selected: mass is empty (length 0)")
            raise BatchError(no_background(as_numpy(batch.label), self.background_label))
        for name, tensor in batch._asdict().items():
            wrong = torch.zeros_like(chosen) if tensor is None else chosen & ~tensor.isfinite()
            if wrong.any():
                at = int(wrong.nonzero()[0])
                raise ValueError(f"{name}[{at}] = {tensor[at].item()}: must be finite for every selected event")
        score, mass, weight, *_ = batch.where(chosen)
        reversed_score: Tensor = _Reversed.apply(score)
        surprise = -self.log_density(reversed_score, mass)
        if weight is None:
            return surprise.mean()
        total = weight.sum()
        if not total > 0:
            raise BatchError(f"weight of the selected events sums to {total.item()}: must be positive")
        mean: Tensor = (weight * surprise).sum() / total
        return mean

    def log_density(self, score: Tensor, mass: Tensor) -> Tensor:
        """log r(mass | score), with mass in units of half the range; (n,) each."""
        low, high = self.mass_range
        x = (2 * (mass - low) / (high - low) - 1)[:, None]
        share, centre, width = self.network(score[:, None]).chunk(3, dim=1)
        width = nn.functional.softplus(width) + _NARROWEST
        log_gaussian = -0.5 * ((x - centre) / width) ** 2 - width.log() - 0.5 * math.log(2 * math.pi)
        return torch.logsumexp(share.log_softmax(1) + log_gaussian, dim=1)


class _Reversed(torch.autograd.Function):
    """The identity, whose gradient has the opposite sign."""

    @staticmethod
    def forward(ctx: Any, score: Tensor) -> Tensor:
        return score.view_as(score)

    @staticmethod
    def backward(ctx: Any, incoming: Tensor) -> Tensor:
        return -incoming
