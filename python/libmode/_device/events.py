"""The events as rows of one matrix."""

import torch
from torch import Tensor

from .._events import Events
from .constants import Constants
from .plan import Plan


def matrix(plan: Plan, k: Constants, events: Events) -> Tensor:
    """The rows that the constants name, (rows, n + 2), of tensors (n,) of one type; two columns are no events."""
    score, label, mass, weight, _ = events
    n = len(score)
    weights = k.one.expand(n) if weight is None else weight
    of_row = {"score": score, "mass": mass, "weight": weights}
    pieces = [piece for name, end in zip(k.rows, k.ends, strict=True) for piece in (of_row[name], end)]
    found = torch.cat(pieces).view(len(k.rows), n + 2)
    inside = None if label is None else (label if abs(plan.label) < 128 else label.double()) == plan.label
    limits = plan.mass_range if plan.edges is None else (plan.edges[0], plan.edges[-1])
    if limits is not None:
        outside = (mass < limits[0]) | (mass > limits[1])
        for values in (score,) if weight is None else (score, weight):
            outside = outside & (values - values == 0)  # what is not finite stays, and so makes the loss NaN
        inside = ~outside if inside is None else inside & ~outside
    if inside is not None:
        torch.where(inside, found[:, :n], k.fill, out=found[:, :n])
    return found
