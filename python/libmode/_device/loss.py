"""The loss and its gradient: a sum over labels, of the mean over variables."""

from __future__ import annotations

from typing import NamedTuple

from . import bounded, linear
from .arrays import Array, Arrays
from .bins import bins_of
from .moments import moments_of
from .ordered import Ordered, by_bin, ordered
from .plan import Plan, Variable
from .selection import Checks, check_values, of_label, select
from .variance import variance_of


class Found(NamedTuple):
    """What is found for some events."""

    loss: Array  #: ()
    grad: Array  #: (n,) d loss/d score
    checks: Checks  #: where one of them fails, loss and gradient mean nothing


class _One(NamedTuple):
    """The loss of one variable."""

    loss: Array  #: ()
    grad: Array  #: (n,)
    ok: Array  #: () whether the batch has this loss
    present: Array  #: () whether some event has a value


def loss_and_grad(
    xp: Arrays, plan: Plan, score: Array, mass: Array, weight: Array | None, label: Array | None
) -> Found:
    """The loss of events: arrays of shape (n,) of any type, mass also (n, d)."""
    score, weight = xp.real(score), None if weight is None else xp.real(weight)
    masses = [xp.real(mass)] if mass.ndim == 1 else list(xp.real(mass).T)
    chosen = [of_label(xp, label, one) for one in plan.labels] if label is not None else [xp.arange(len(score)) >= 0]
    found, *others = (_of_label(xp, plan, score, masses, weight, selected) for selected in chosen)
    for more in others:
        found = Found(found.loss + more.loss, found.grad + more.grad, found.checks.also(more.checks))
    return found


def _of_label(
    xp: Arrays, plan: Plan, score: Array, masses: list[Array], weight: Array | None, selected: Array
) -> Found:
    """The loss of the selected events: the mean of those of the variables that occur."""
    checks = check_values(xp, plan, selected, score, masses, weight)
    if weight is not None:
        weight = _scaled(xp, xp.where(selected, weight, 0))
    order = ordered(xp, score, selected)
    every = [_of_variable(xp, plan, plan.variable(k), mass, weight, selected, order) for k, mass in enumerate(masses)]
    count = every[0].present * 1
    for one in every[1:]:
        count = count + one.present
    ok, loss, grad = count > 0, xp.full((), 0.0), xp.full((score.shape[0],), 0.0)
    for one in every:
        loss, grad = loss + xp.where(one.present, one.loss, 0), grad + xp.where(one.present, one.grad, 0)
        ok = ok & (one.ok | ~one.present)
    share = 1 / xp.real(xp.clip(count, 1, len(every)))
    return Found(share * loss, share * xp.put(grad, order.events), checks._replace(batch=checks.batch & ok))


def _scaled(xp: Arrays, weight: Array) -> Array:
    """The weights in units of a power of 2 near the largest, so that neither sums nor squares overflow."""
    largest = abs(weight).max()
    unit = largest / xp.mantissa(largest)
    return weight / xp.where((unit > 0) & xp.isfinite(unit), unit, 1)


def _of_variable(
    xp: Arrays, plan: Plan, variable: Variable, mass: Array, weight: Array | None, selected: Array, order: Ordered
) -> _One:
    """The loss of the selected events in one variable; its gradient is in order of score."""
    of = select(xp, plan, variable, selected, mass, weight)
    inside = xp.real(of.inside)
    weights = inside if weight is None else xp.where(of.inside, weight, 0)
    bins = bins_of(xp, plan, variable, of, weights, weighted=weight is not None)
    step = weights / xp.take(xp.where(bins.used, bins.weights, 1), bins.number)
    moments = moments_of(xp, plan, variable, of, bins, step)
    ok = bins.ok & moments.ok
    variance = None
    if plan.unbiased:
        variance = variance_of(xp, bins, bins.number, step)
        ok = ok & variance.ok
    number, step = xp.take(bins.number, order.events), xp.take(step, order.events)
    form = bounded.changes if plan.bounded else linear.changes
    d, mean = form(xp, plan, moments, variance, order, by_bin(xp, number, order), number, step)
    scale = 1 / xp.real(bins.count) if plan.mean else 1.0
    inside = xp.take(of.inside, order.events)
    if plan.score_range is not None:
        end, grad = plan.score_range[1], -mean
    else:
        end = xp.where(inside, order.score, -float("inf")).max()
        highest = inside & (order.score == end)
        count = highest.sum()
        # The integral ends with the highest score; of tied ones only one that moves up takes the end along.
        grad = xp.where(highest, d.sum() * xp.where(count > 1, 0.5, 1.0), 0) - mean
    loss = (d * xp.where(inside, end - order.score, 0)).sum()
    return _One(scale * loss, xp.where(inside, scale * grad, 0), ok, of.count > 0)
