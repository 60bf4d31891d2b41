"""The constraint of outputs of a softmax, (n, k), by the functions of any framework."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ._events import Events

_LEAST = 1e-37, 1e-300  # smaller probabilities count as this one, in float32 and in float64
_FAINT = 1e4  # times the least, below which a probability gets no push, whose derivative 1/p could overflow


class Ops(NamedTuple):
    """The functions of a framework; all take the axis by position."""

    where: Callable[..., Any]
    stack: Callable[..., Any]
    log: Callable[..., Any]
    logsumexp: Callable[..., Any]
    largest: Callable[..., Any]
    stop_gradient: Callable[..., Any]
    cast: Callable[..., Any]
    wide: Callable[..., Any]  #: in the most precise type of the framework


def odds(ops: Ops, score: Any, signal: int, background: Sequence[int], from_logits: bool) -> Any:
    """The log odds of signal against the background classes, (n,), with all digits of logits or probabilities."""
    p, others = ops.wide(score[:, signal]), [ops.wide(score[:, k]) for k in background]
    if not from_logits:
        least = _LEAST["64" in str(score.dtype)]
        return _log(ops, p, least) - _log(ops, sum(others), least)
    several = ops.stack(others, 1)
    nearest = ops.stop_gradient(ops.largest(several, 1))
    nearest = ops.where(nearest - nearest == 0, nearest, 0)
    return (p - nearest) - ops.logsumexp(several - nearest[:, None], 1)  # a difference of logits is exact, a sum is not


def _log(ops: Ops, p: Any, least: float) -> Any:
    """The logarithm of probabilities, which can be rounded to 0. Negative ones make NaN, which the core names."""
    faint, some = (ops.where((p >= 0) & (p < low), low, p) for low in (_FAINT * least, least))
    return ops.log(faint) + ops.stop_gradient(ops.log(some) - ops.log(faint))


def of_reference(ops: Ops, reference: Any, *chosen: Any) -> Any:
    """Reference events with the log odds in place of their outputs."""
    if not isinstance(reference, Events):
        return reference  # None, or what the reader of events refuses
    shape = tuple(getattr(reference.score, "shape", ()))
    if len(shape) != 2 or shape[1] < 2:
        raise ValueError(f"reference.score has shape {shape}, and score has several columns: give all outputs of both")
    return reference._replace(score=odds(ops, reference.score, *chosen))


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
    change = ops.where(before - before == 0, after - before, 0)  # 0, with a gradient
    columns = [score[:, k] for k in range(score.shape[1])]
    slopes = dict.fromkeys([signal], 1.0) if from_logits else _slopes(ops, columns, signal, background)
    for k, slope in slopes.items():
        columns[k] = columns[k] + ops.cast(change * slope, score.dtype)
    return ops.stack(columns, 1)


def _slopes(ops: Ops, columns: Sequence[Any], signal: int, background: Sequence[int]) -> dict[int, Any]:
    """The derivatives of probabilities by the odds, at a fixed sum."""
    p, *others = (ops.stop_gradient(ops.wide(columns[k])) for k in (signal, *background))
    both = p + sum(others)
    share = p / ops.where(both > 0, both, 1)
    return {signal: share * sum(others), **{k: -share * q for k, q in zip(background, others, strict=True)}}
