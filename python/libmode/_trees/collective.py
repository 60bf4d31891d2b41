"""Trainings of XGBoost on several workers: all of them evaluate the background of all, and take their own derivatives.

Up to a million background events they gather the scores. More events they add up in a table, whose rows are pairs of a
mass bin and a cell of scores, with the sums of w and w^2. The core evaluates rows as weighted events. It would take the
noise of a row from the row's weight, so the bias of a finite sample comes from the sums of w^2 here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.polynomial.legendre import legvander
from numpy.typing import NDArray
from xgboost import collective

from .._evaluate import Result, evaluate
from .._events import Events
from .._options import check
from .._problems import Said
from .multipliers import Alone, Evaluation, usual_bins

MOST_GATHERED = 2**20  #: background events whose scores all workers get, 8 MB a round; a table has 32 MB
CELLS = 16_384  #: of scores
_STEPS = 70  # which halve the range of the masses until an edge is exact
_LEAST_EFFECTIVE = 1.05  # events of a bin, as in the core
_REFUSED = {
    **{"joint": (False, None), "moments": ("projection", None), "binning": ("quantile", "uniform", "edges", None)},
    **{"max_slope": (None,), "monotonic": (False, None)},
}


class Workers(Alone):
    """All workers of a training. They call the same methods in the same order."""

    def total(self, *sums: Any) -> list[NDArray[Any]]:
        arrays = [np.asarray(each, float) for each in sums]
        added = collective.allreduce(np.concatenate([each.ravel() for each in arrays]), collective.Op.SUM)
        parts = np.split(added, np.cumsum([each.size for each in arrays])[:-1])
        return [part.reshape(each.shape) for part, each in zip(parts, arrays, strict=True)]

    def each(self, own: Any) -> NDArray[Any]:
        """The numbers of all workers, (workers, n)."""
        rows = np.zeros((collective.get_world_size(), np.size(own)))
        rows[collective.get_rank()] = own
        return self.total(rows)[0]

    @contextmanager
    def agreed(self) -> Iterator[None]:
        mine = None
        try:
            yield
        except Exception as error:  # whatever it is, the others must not wait for this worker
            mine = error
        failed = self.each(mine is not None)[:, 0]
        if failed.any():
            first = int(np.argmax(failed))
            said = collective.broadcast((isinstance(mine, TypeError), str(mine)), first)
            raise (TypeError if said[0] else ValueError)(f"worker {first}: {said[1]}") from mine

    def evaluation(self, options: Mapping[str, Any], events: Events, at: NDArray[Any], said: Said) -> Evaluation:
        with self.agreed():
            _check_masses(events.mass, at, options)
        own = events.where(at)
        counts = self.each(len(at))[:, 0].astype(int)
        if counts.sum() > MOST_GATHERED:
            return _Tables(self, options, own, said)
        here = slice(counts[: collective.get_rank()].sum(), counts[: collective.get_rank() + 1].sum())

        def gathered(array: Any) -> Any:
            if array is None:
                return None
            every = np.zeros((counts.sum(), *array.shape[1:]))
            every[here] = array
            return self.total(every)[0].astype(array.dtype)

        of_all = super().evaluation(options, Events(*map(gathered, own)), np.arange(counts.sum()), said)

        def evaluated(score: Any, **wanted: Any) -> Result:
            result = of_all(gathered(score), **wanted)
            own = (None if one is None else one[here] for one in (result.grad, result.hess))
            return Result(result.loss, result.bias, result.events, *own)

        return evaluated


def _check_masses(mass: Any, at: NDArray[Any], options: Mapping[str, Any]) -> None:
    """ValueError for a missing mass, with its place among the rows of this worker."""
    known = np.isfinite(mass[at]).all(axis=tuple(range(1, np.ndim(mass))))
    if not known.all() and options.get("missing", "error") == "error":
        place = at[int(np.argmin(known))]
        raise ValueError(f'mass[{place}] = {mass[place]}: must be finite; missing="ignore" takes NaN as missing')


class _Tables:
    """Evaluates scores of events whose masses and weights stay."""

    def __init__(self, workers: Workers, options: Mapping[str, Any], events: Events, said: Said) -> None:
        self._workers, self._said = workers, said
        self._unbiased = options.get("unbiased", True)
        mass = np.asarray(events.mass, float)
        refused = [f"{name} = {options[name]!r}" for name, known in _REFUSED.items() if options.get(name) not in known]
        if mass.ndim > 1 or len(check("mode", options).labels) > 1 or events.category is not None:
            refused.append("several variables of mass, background labels or categories")
        if refused:
            raise ValueError(
                f"{refused[0]}, with more than {MOST_GATHERED:,} background events on several workers: leave this out"
            )
        limits = options.get("mass_range") if options.get("edges") is None else np.asarray(options["edges"])[[0, -1]]
        low, high = (-np.inf, np.inf) if limits is None else limits
        self._inside = np.isfinite(mass) & (mass >= low) & (mass <= high)
        mass = mass[self._inside]
        self._weight = np.ones(len(mass)) if events.weight is None else events.weight[self._inside].astype(float)
        self._signs = 1 + int(workers.each((self._weight < 0).any()).any())
        edges = self._edges(mass, options)
        self._bins, order = len(edges) - 1, options["order"]
        self._bin = np.clip(np.searchsorted(edges, mass, "right") - 1, 0, self._bins - 1)
        self._row = (self._weight < 0) * self._bins + self._bin

        x = np.polynomial.polyutils.mapdomain(mass, edges[[0, -1]], [-1, 1])
        moments = [self._weight * term for term in legvander(x, order).T]
        powers = [self._weight**2, self._weight**3]
        sums = np.array(workers.total([np.bincount(self._bin, each, self._bins) for each in moments + powers])[0])
        self._sum, (squares, thirds) = sums[0], sums[-2:]
        if not (self._sum > 0).all():
            b = int(np.argmin(self._sum))
            raise ValueError(f"mass bin {b} from {edges[b]:.6g} to {edges[b + 1]:.6g} has the sum {self._sum[b]:.6g}")
        self.events = float(self._sum.sum() ** 2 / squares.sum())
        self._squares, thirds = squares / self._sum**2, thirds / self._sum**3
        if (self._squares * _LEAST_EFFECTIVE > 1).any():
            b = int(np.argmax(self._squares))
            raise ValueError(
                f"mass bin {b} from {edges[b]:.6g} to {edges[b + 1]:.6g} has one event in effect: fewer bins"
            )
        means = (sums[: order + 1] / self._sum).T
        fit = np.linalg.pinv(means)
        self._factor = ((np.eye(self._bins) - means @ fit) ** 2).sum(axis=0)
        if order > 0:
            self._factor += options.get("slope_penalty", 0) * fit[1] ** 2
        self._factor /= 1 - 2 * thirds / self._squares + self._squares
        if options.get("reduction", "mean") == "mean":
            self._factor /= self._bins
        self._nodes, self._shares = self._masses(mass, edges, order)
        dropped = ("bins", "binning", "mass_range", "missing")
        kept = {name: value for name, value in options.items() if name not in dropped}
        # The steps of ranks are smaller at both ends, where few bins have most events of a cell.
        self._ranks = np.sin(np.linspace(0, np.pi / 2, CELLS + 1)) ** 2
        self._options = check("mode", {**kept, "edges": edges.tolist(), "unbiased": False})

    def _edges(self, mass: NDArray[Any], options: Mapping[str, Any]) -> NDArray[Any]:
        """The edges of the bins: quantiles of the masses of all workers."""
        if options.get("edges") is not None:
            return np.asarray(options["edges"], float)
        ends = np.array([-mass.min(), mass.max()] if len(mass) else [-np.inf, -np.inf])
        low, high = np.max(self._workers.each(np.maximum(ends, -1e300)), axis=0) * [-1, 1]
        if options.get("mass_range") is not None:
            low, high = options["mass_range"]
        if not low < high:
            raise ValueError(f"the masses of all workers are from {low} to {high}: they must differ")
        count = int(self._workers.total(len(mass))[0])
        bins = options.get("bins") or usual_bins(count) or max(min(32, count // 8), options["order"] + 2)
        if options.get("binning") == "uniform":
            return np.linspace(low, high, bins + 1)
        if count < bins:
            raise ValueError(f"bins = {bins}: the workers have {count} background events in mass_range")
        mass, ranks = np.sort(mass), np.arange(1, bins) * count // bins
        least, most = np.full(bins - 1, low), np.full(bins - 1, high)
        for _ in range(_STEPS):  # fewer events lie below ``least`` than the rank, and not below ``most``
            middle = (least + most) / 2
            few = self._workers.total(np.searchsorted(mass, middle))[0] <= ranks
            least, most = np.where(few, middle, least), np.where(few, most, middle)
        return np.unique(np.concatenate([[low], least[least > low], [high]]))

    def _masses(self, mass: NDArray[Any], edges: NDArray[Any], order: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Masses that stand for those of each bin, (bins, 1 or 2), and their shares of the weight of a row.

        Two masses have the moments of the bin up to the third, as two points of a Gaussian quadrature.
        """
        low, width = edges[:-1], np.diff(edges)
        inside = (mass - low[self._bin]) / width[self._bin]
        powers = (np.bincount(self._bin, self._weight * inside**k, self._bins) for k in (1, 2, 3))
        first, second, third = (each / self._sum for each in self._workers.total(*powers))
        deviation = np.sqrt(np.maximum(second - first**2, 0))
        skew = np.divide(third - 3 * first * second + 2 * first**3, deviation**3, out=np.zeros_like(first),
                         where=deviation > 1e-6)  # fmt: skip
        at = (
            skew[:, None] / 2 + np.sqrt(1 + skew[:, None] ** 2 / 4) * [-1, 1]
            if order > 1
            else np.zeros((self._bins, 1))
        )
        nodes = np.clip(first[:, None] + deviation[:, None] * at, 0, 1 - 1e-12)
        return low[:, None] + width[:, None] * nodes, 1 / (1 + at**2)

    def _in_cells(self, score: NDArray[Any]) -> NDArray[Any]:
        """The cell of each score, between quantiles of the scores of all workers."""
        ranked = np.sort(score)
        own = ranked[(self._ranks[:-1] * len(ranked)).astype(int)] if len(ranked) else np.zeros(CELLS)
        every = self._workers.each(np.append(own, len(ranked)))
        values, weight = every[:, :-1].ravel(), (every[:, -1:] * np.diff(self._ranks)).ravel()
        order = np.argsort(values[weight > 0], kind="stable")
        values, below = values[weight > 0][order], weight[weight > 0][order].cumsum()
        chosen = np.minimum(np.searchsorted(below, self._ranks[:-1] * below[-1], "right"), len(values) - 1)
        return np.searchsorted(np.unique(values[chosen])[1:], score, "right")

    def __call__(
        self, score: Any, *, grad: bool = True, hess: bool = False, loss_alone: bool = False, smoothing: float = 0
    ) -> Result:
        """The result for scores of shape (n,), with the derivatives of this worker's events."""
        inside = np.asarray(score, float)[self._inside]
        cell = self._in_cells(inside)
        place, shape = self._row * CELLS + cell, (self._signs, self._bins, CELLS)
        size = self._signs * self._bins * CELLS
        w, q, of_score, number = self._workers.total(
            *(np.bincount(place, each, size).reshape(shape) for each in (self._weight, self._weight**2)),
            np.bincount(cell, inside, CELLS), np.bincount(cell, minlength=CELLS),
        )  # fmt: skip
        at = np.divide(of_score, number, out=np.ones(CELLS), where=number > 0)
        filled = np.flatnonzero(q)
        _, bins, cells = np.unravel_index(filled, shape)
        weight, masses = w.ravel()[filled, None], self._nodes[bins]
        result = evaluate(
            self._options, np.repeat(at[cells], masses.shape[1]), None, masses.ravel(),
            (weight * self._shares[bins]).ravel(), grad=grad, hess=hess, loss_alone=True, smoothing=smoothing,
            said=self._said,
        )  # fmt: skip

        def of_events(of_rows: Any) -> Any:
            """The derivatives of the events of this worker, in proportion to their weights, from those of the rows."""
            if of_rows is not None:
                by_weight, own = np.zeros(size), np.zeros(len(score))
                by_weight[filled] = of_rows.reshape(masses.shape).sum(axis=1) / weight[:, 0]
                own[self._inside] = by_weight[place] * self._weight
                return own

        step, square = w.sum(axis=0) / self._sum[:, None], q.sum(axis=0) / self._sum[:, None] ** 2
        cdf, squares, all_squares = step.cumsum(axis=1), square.cumsum(axis=1), self._squares[:, None]
        variance = squares * (1 - 2 * cdf) + cdf**2 * all_squares
        bias = float(self._factor @ variance @ np.diff(np.append(at, 1.0)))
        slope = of_events(result.grad)
        if grad and self._unbiased:
            # The change of the variance in the middle of the cell, where the event crosses it.
            e, f, s = self._weight / self._sum[self._bin], cdf - step / 2, squares - square / 2
            f, s = f[self._bin, cell], s[self._bin, cell]
            change = e**2 * (1 - 2 * f) - 2 * e * (s - f * self._squares[self._bin])
            slope[self._inside] += change * self._factor[self._bin]
        return Result(result.loss - bias * self._unbiased, bias, self.events, slope, of_events(result.hess))
