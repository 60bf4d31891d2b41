"""The constraint of outputs of a softmax, (n, k), by the functions of any framework."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class Ops(NamedTuple):
    """The functions of a framework; all take the axis by position."""

    where: Callable[..., Any]
    stack: Callable[..., Any]
    logsumexp: Callable[..., Any]
    stop_gradient: Callable[..., Any]


def odds(ops: Ops, score: Any, signal: int, background: Sequence[int], from_logits: bool) -> Any:
    """The log odds of signal against the background classes, (n,); for probabilities p and q instead p/(p + q)."""
    p, others = score[:, signal], [score[:, k] for k in background]
    if from_logits:
        return p - ops.logsumexp(ops.stack(others, 1), 1)
    both = p + sum(others)
    return ops.where(both > 0, p / ops.where(both > 0, both, 1), 0.5)  # both can be rounded to 0


def constrained(
    ops: Ops, score: Any, signal: int, background: Sequence[int], from_logits: bool, constrain: Callable[[Any], Any]
) -> Any:
    """The outputs, unchanged. ``constrain`` returns the odds with the push in their gradient.

    The push moves signal against background, and leaves other classes alone.
    """
    before = odds(ops, score, signal, background, from_logits)
    after = constrain(before)
    if after is before:
        return score
    columns = [score[:, k] for k in range(score.shape[1])]
    if from_logits:
        finite = before - before == 0
        columns[signal] = columns[signal] + ops.where(finite, after - before, 0)  # adds 0, with a gradient
        return ops.stack(columns, 1)
    q = sum(columns[k] for k in background)
    both, shared = columns[signal] + q, q > 0
    columns[signal] = after * both
    for k in background:
        share = ops.where(shared, columns[k] / ops.where(shared, q, 1), 1 / len(background))
        columns[k] = (1 - after) * both * share
    changed = ops.stack(columns, 1)
    return ops.stop_gradient(score) + (changed - ops.stop_gradient(changed))  # the same digits
