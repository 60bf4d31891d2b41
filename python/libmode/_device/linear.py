"""J where no moment is bounded: a quadratic form of the CDFs, J = F'MF, less the bias.

M = (1 - PA)'(1 - PA) + slope_penalty A_1'A_1 is 1 less a matrix of low rank, M = 1 - L'R. J is quadratic in F and,
with the bias, in the sums of squared steps too. So an event that crosses its score changes J by its derivative where
the event has crossed half of it; and a tied event, which crosses the middle of its tie, by that in this middle.
"""

from __future__ import annotations

from .arrays import Array, Arrays
from .moments import Moments
from .ordered import ByBin, Ordered, running, running_in_bins
from .plan import Plan
from .variance import Variance


def changes(
    xp: Arrays,
    plan: Plan,
    moments: Moments,
    variance: Variance | None,
    order: Ordered,
    bins: ByBin,
    number: Array,
    step: Array,
) -> tuple[Array, Array]:
    """By how much each event changes J, (n,), in order of score: for the loss, and for the gradient.

    number, step : (n,) the events' bins, and the steps e_i by which they move the CDFs of these

    With x = R F it is 2 e (F_b - L_b.x) in the middle, less M_bb times the change of the variance.
    """
    left, right = _low_rank(xp, plan, moments)
    x = running(xp, xp.take(right, number) * step, order.ties)
    inside = running_in_bins(xp, step[None] if variance is None else xp.stack([step, step * step]), bins)
    middle = (inside.below + inside.up_to) / 2
    d = 2 * step * (middle[0] - (xp.take(left, number) * ((x.below + x.up_to) / 2)).sum(0))
    if variance is not None:
        own = xp.take(1 - (left * right).sum(0), number)
        d = d - own * variance.change(xp, number, step, middle[0], middle[1])
    return d, d


def _low_rank(xp: Arrays, plan: Plan, moments: Moments) -> tuple[Array, Array]:
    """L and R, both (rank, bins)."""
    p, a = moments.p, moments.a
    if moments.q is not None:
        if not plan.slope_penalty:
            return moments.q, moments.q
        return _below(xp, moments.q, -plan.slope_penalty * a[1:2]), _below(xp, moments.q, a[1:2])
    # M = 1 - PA - A'Z, Z = P' - P'P A - slope_penalty A_1 e_1: the rows of L are P' and A, those of R are A and Z.
    z = p - (p @ p.T) @ a
    if plan.slope_penalty:
        first = xp.real(xp.arange(p.shape[0]) == 1)
        # c_1 = A_1.F adds slope_penalty A_1'A_1 to M.
        z = z - plan.slope_penalty * first[:, None] * a[1]
    return _below(xp, p, a), _below(xp, a, z)


def _below(xp: Arrays, rows: Array, more: Array) -> Array:
    """Rows, and under them more rows."""
    return xp.concat([rows.T, more.T]).T
