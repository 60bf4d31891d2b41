"""The events as rows of one matrix."""

from __future__ import annotations

import torch
from torch import Tensor

from .constants import Constants
from .plan import Plan


def matrix(plan: Plan, k: Constants, score: Tensor, mass: Tensor, weight: Tensor | None, label: Tensor | None) -> Tensor:
    """The rows that the constants name, (rows, n + 2), of tensors (n,) of one type; two columns are no events."""
    n = len(score)
    of_row = {"score": score, "scale": score, "mass": mass}
    ones = k.one.expand(n) if weight is None else weight
    of_row |= {"weight": ones, "least": ones, "tiny": k.zero.expand(n), "one": k.one.expand(n)}
    pieces = [piece for name, end in zip(k.rows, k.ends, strict=True) for piece in (of_row[name], end)]
    found = torch.cat(pieces).view(len(k.rows), n + 2)
    inside = _inside(plan, mass, label)
    if inside is not None:
        torch.where(inside, found[:, :n], k.fill, out=found[:, :n])
    return found


def _inside(plan: Plan, mass: Tensor, label: Tensor | None) -> Tensor | None:
    """Which events take part, None for all."""
    inside = None if label is None else is_background(label, plan.label)
    limits = plan.mass_range if plan.edges is None else (plan.edges[0], plan.edges[-1])
    if limits is None:
        return inside
    of_range = (mass >= limits[0]) & (mass <= limits[1])
    return of_range if inside is None else inside & of_range


def is_background(label: Tensor, background: int) -> Tensor:
    """Which labels are this one; of types that do not have it, none."""
    return (label if abs(background) < 128 else label.double()) == background


def common(score: Tensor, mass: Tensor, weight: Tensor | None) -> tuple[Tensor, Tensor, Tensor | None]:
    """The tensors in the type in which the core computes: double precision if one of them has it, else single."""
    every = [tensor for tensor in (score, mass, weight) if tensor is not None]
    kind = torch.float64 if any(tensor.dtype is torch.float64 for tensor in every) else torch.float32
    return score.to(kind), mass.to(kind), None if weight is None else weight.to(kind)
