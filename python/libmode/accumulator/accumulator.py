"""What a user sees of the sums over events: the class that adds events, and says what they amount to."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Iterable
from contextlib import nullcontext
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._front import takes_events
from .._functions import Moments
from .._options import keywords_only
from ..metrics._arguments import Bins, number, numbers
from ..metrics.mass import (
    Efficiency,
    Flatness,
    Split,
    split_blind_jsd,
    split_efficiency,
    split_jsd,
    split_residual,
)
from ..metrics.roc import Passed, Roc, area, curve_of, rejection_of, working_point
from .quantiles import edges_of
from .settings import Settings, settings
from .sweep import Accumulated, evaluated, moments_at
from .tables import Tables

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..option_types import LossOptions

# Of what is pickled and saved.
_VERSION = 1
_ARRAYS = ("weight", "square", "negative", "counts", "cubes", "exact", "rounded")


class Accumulator:
    """The MoDe loss, its moments and the metrics of any number of events, in bounded memory.

    Events come in chunks of any size, in any order, and are kept as sums: over cells of mass and
    score, w and, where there are weights, w^2; over bins of mass, w^3 and w P_l(x). Parts that were made by several
    processes or machines are added. For evaluation: there is no gradient.

    Of a cell of score, the sums do not say where in it the events lie. At the edges of the cells everything is
    exact: F_b, moments, efficiencies, ROC curve, JSD. The loss is that of the events with their scores moved
    to the centres of their cells, so by at most h/2, h being the width of a cell; :meth:`evaluate` gives a
    bound of what that changes. One thread at a time may use an accumulator.

    Parameters
    ----------
    scores : int
        Equal cells of ``score_range``; 2^20 by default, which are 1e-6 wide.
    signal_label : int
        Events of this label count as signal in the ROC curve, of which only the scores are looked at; 1 by default.
    **options
        Those of :func:`libmode.mode_loss`, with the same defaults. The bins of mass have to be known before the first
        event: ``edges``, for instance of :meth:`edges_of`, or ``binning="uniform"`` with ``bins`` and ``mass_range``.
        Not possible are other binnings, ``joint`` and several variables of mass, ``basis="bspline"``,
        several background labels, and ``score_range=None``.

    Raises
    ------
    ValueError, TypeError
        For options that are out of range, unknown or not possible here, with name, value and reason.

    Notes
    -----
    Memory: 8 bytes for each cell of (bins + 2) rows; twice that from the first weights on, and three times from the
    first negative weight on. Of 2^20 scores and 32 bins 272, 544 and 816 MiB; the sums of those cells that no
    event has reached are not touched, and take none. Adding another accumulator needs room for both.

    Sums of events without weights are exact (up to 10^12 events), hence the same whatever the order in which chunks
    are added and parts merged; sums of weights are so within rounding errors.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode import Accumulator, mode_loss
    >>> rng = np.random.default_rng(1)
    >>> label = rng.integers(0, 2, 20_000)  # 1 is signal, 0 is background
    >>> mass, score = 50 + rng.exponential(60, 20_000), rng.beta(1 + label, 2)
    >>> edges = Accumulator.edges_of(np.array_split(mass[label == 0], 4), bins=16)
    >>> halves = [Accumulator(order=1, edges=edges, scores=1000) for _ in range(2)]
    >>> for total, part in zip(halves, np.array_split(np.arange(20_000), 2)):  # of two processes, say
    ...     total.add(score[part], mass[part], label=label[part])
    >>> total = halves[0] + halves[1]
    >>> total
    Accumulator(order=1, 16 bins, scores=1000, 20000 events)
    >>> total.added, total.edges.shape, f"{total.nbytes / 1e6:.2f} MB"
    (20000, (17,), '0.14 MB')
    >>> found = total.evaluate()
    >>> abs(found.loss - mode_loss(score, mass, label=label, order=1, edges=edges)) <= found.error
    True
    >>> threshold = total.threshold(signal_efficiency=0.5)
    >>> print(f"{threshold:.3f}, AUC {total.auc():.3f}, rejection {total.rejection(0.5):.2f}")
    0.503, AUC 0.706, rejection 4.20
    >>> total.efficiency(threshold).value.shape
    (16,)
    >>> found = total.flatness(threshold, degree=1)
    >>> print(f"residual {found.rms:.3f}, by chance {found.expected:.3f}")
    residual 0.076, by chance 0.067
    >>> print(f"JSD {total.jsd(threshold):.5f}, of a blind selection {total.blind_jsd(threshold):.5f}")
    JSD 0.00180, of a blind selection 0.00150
    >>> total.roc().threshold.shape, total.moments(at=[0.5]).cdf.shape
    ((987,), (1, 16))
    >>> halves[0].merge(halves[1])  # the same in the first of them
    >>> halves[0].loss() == total.loss()
    True
    """

    def __init__(
        self, *positional: Any, scores: int = 2**20, signal_label: int = 1, **options: Unpack[LossOptions]
    ) -> None:
        keywords_only(self, positional, "order=1, edges=edges")
        self._tables = Tables(settings(scores, signal_label, dict(options)))

    @staticmethod
    def edges_of(
        chunks: Iterable[Any], *, bins: int = 32, mass_range: tuple[float, float] | None = None
    ) -> NDArray[np.float64]:
        """The edges of bins of equal numbers of events, from one pass over masses that come in chunks.

        Parameters
        ----------
        chunks : iterable of (n,) real numbers
            Masses of the background.
        bins : int
            There may be fewer where many masses are equal.
        mass_range : (low, high), optional
            Others are left out. By default from the lowest to the highest mass.

        Returns
        -------
        (bins + 1,) numbers in units of mass: the ends, and between them the edges of cells of a histogram, 8 MiB, up
        to which the fraction of masses is nearest to k/bins. A cell is at most 2^-18 of the range wide (2^-20, where
        ``mass_range`` is given), so that no edge is further than that from one of exactly equal numbers.

        Raises
        ------
        ValueError
            For a mass that is not finite, with its place; if no mass is inside, or all are equal.
        """
        return edges_of(chunks, bins, mass_range)

    @takes_events
    def add(self, score: Any, mass: Any, *, weight: Any = None, label: Any = None) -> None:
        """Adds events, in arrays of real numbers of shape (n,) or (n, 1), whatever n.

        Takes what :func:`libmode.mode_loss` does. Background outside the bins of mass counts in the ROC curve alone.
        Raises ValueError for a bad value, with its place in the array and among all events, and then adds none.
        """
        self._tables.add(score, mass, weight, label)

    def merge(self, other: Accumulator) -> None:
        """Adds the events of another accumulator; ValueError for one of other settings, with the first that differs."""
        if not isinstance(other, Accumulator):
            raise TypeError(f"other is {type(other).__name__}: expected an Accumulator")
        self._tables.given.same(other._tables.given)
        self._tables.merge(other._tables)

    def __add__(self, other: Accumulator) -> Accumulator:
        if not isinstance(other, Accumulator):
            return NotImplemented
        both = self._empty()
        both.merge(self)
        both.merge(other)
        return both

    def _empty(self) -> Accumulator:
        empty = object.__new__(Accumulator)
        empty._tables = Tables(self._tables.given)
        return empty

    def __repr__(self) -> str:
        given = self._tables.given
        return f"Accumulator(order={given.order}, {given.bins} bins, scores={given.scores}, {self.added} events)"

    @property
    def added(self) -> int:
        """How many events were added, those of other labels too."""
        return self._tables.added

    @property
    def edges(self) -> NDArray[np.float64]:
        """The edges of the bins of mass, (bins + 1,)."""
        return np.array(self._tables.given.edges)

    @property
    def nbytes(self) -> int:
        """The bytes of the sums."""
        arrays = (getattr(self._tables, name) for name in _ARRAYS)
        return sum(array.nbytes for array in arrays if array is not None)

    def loss(self) -> float:
        """The MoDe loss of the background that was added, see :meth:`evaluate`."""
        return evaluated(self._tables, in_full=False).loss

    def evaluate(self) -> Accumulated:
        """The loss with its bias, as :func:`libmode.mode_evaluate` has them, and a bound of its error.

        It takes a second or two for 2^20 scores. Of scores at the centres of the cells ``loss`` is that of
        :func:`libmode.mode_loss` but for rounding errors. Otherwise the loss L of the scores themselves is within::

            |L - loss| <= error = scale (h/2) sum_cells { sum_a d_a (2 |r_a| + 3 d_a)
                                  + penalty d' (2 |c_1| + 3 d') + sum_b dV_b K_b },
            d_a = sum_b |R_ab| D_b,   d' = sum_b |A_1b| D_b

        where D_b is the sum of abs(w)/W_b in the cell, by which F_b can differ, for it moves only there, and not for
        longer than h/2 for each event; r_a, c_1 are those at its upper edge, K_b = sum_a R_ab^2 +
        penalty A_1b^2, and dV_b the change that D_b can make of V_b. So a response that is
        nearly a polynomial, with small r_a, has an error that is far below h; in no case is that of the plain loss of
        positive weights, at order 0, above 8 h. With ``max_slope`` or ``monotonic`` stands for abs(R) what abs(dr/dF)
        is at most; c~ bends where its slope is 0, so that the bias counts in full in the cells that hold an
        event, with the most that dc~/dc can be. The error does not count what rounding does to a score, or 1e-12.

        Returns
        -------
        Accumulated
            ``loss``, ``bias``, ``events`` and ``error``.

        Raises
        ------
        BatchError
            For a bin that is empty, whose sum of weights is not positive, or that has fewer than 1.05
            effective events, (sum w)^2 / (sum w^2), so that the bias is not known.
        """
        return evaluated(self._tables)

    def moments(self, at: Any = None) -> Moments:
        """F_b, c_l and c~_l at given scores, by default 101 from one end of ``score_range`` to the other.

        As :func:`libmode.mode_moments`, of scores at the centres of their cells: so F_b is, at the edge of a cell, the
        fraction of the events below it.
        """
        low, high = self._tables.given.score_range
        scores = np.linspace(low, high, 101) if at is None else numbers("at", at)
        return moments_at(self._tables, scores)

    def roc(self) -> Roc:
        """The ROC curve, as :func:`libmode.metrics.roc`, with a point for each cell of score that holds an event.

        Its points are exact: they are selections of ``score >= threshold``, where that is the lower edge of a cell.
        """
        tables = self._tables
        sums = [rows.sum(axis=0)[::-1] for rows in (tables.weight[-1:], tables.weight[:-1])]
        squares = tables.weight if tables.square is None else tables.square
        filled = squares.max(axis=0)[::-1] > 0
        numbers_of = tables.counts[-1], tables.counts[:-1].sum()
        signal, background = (
            Passed(np.cumsum(own)[filled], float(own.sum()) if count else None)
            for own, count in zip(sums, numbers_of, strict=True)
        )
        return curve_of(signal, background, self._lower_edges()[::-1][filled])

    def auc(self) -> float:
        """The area under the ROC curve, as :func:`libmode.metrics.auc`.

        A pair of signal and background in the same cell of score counts one half: with positive weights
        it is wrong by at most half the fraction of all pairs that are in the same cell.
        """
        return area(self.roc())

    def threshold(self, signal_efficiency: float = 0.5) -> float:
        """The largest edge of a cell above which there is at least this weight fraction of the signal."""
        curve = self.roc()
        return float(curve.threshold[working_point(curve, signal_efficiency)])

    def rejection(self, signal_efficiency: float = 0.5) -> float:
        """1 / false positive rate at :meth:`threshold`, as :func:`libmode.metrics.rejection`."""
        return rejection_of(self.roc(), signal_efficiency)

    def efficiency(self, threshold: float) -> Efficiency:
        """The fraction of the background with ``score >= threshold`` in each bin of mass, with its error.

        As :func:`libmode.metrics.efficiency`. In this and the following functions a threshold is moved to the nearest
        edge of a cell of score, for which they are exact.
        """
        return split_efficiency(self._split(threshold))

    def flatness(self, threshold: float, *, degree: int | None = None) -> Flatness:
        """How far that efficiency is from a polynomial of a degree, by default ``order``, and at most that.

        As :func:`libmode.metrics.flatness`: ``rms / expected`` is about 1 where it is such a polynomial.
        """
        order = self._tables.given.order
        wanted = order if degree is None else degree

        def sums(degree: int) -> NDArray[np.float64]:
            if degree > order:
                raise ValueError(f"degree = {degree}: polynomials were accumulated up to order = {order}")
            return self._tables.polynomials()[:, : degree + 1]

        return split_residual(self._split(threshold), wanted, sums).flatness

    def jsd(self, threshold: float, *, base: float = 2) -> float:
        """Jensen-Shannon divergence of background that is selected from what is not, with logarithms to this base.

        As :func:`libmode.metrics.jsd`.
        """
        return split_jsd(self._split(threshold), base)

    def blind_jsd(self, threshold: float, *, base: float = 2) -> float:
        """The same of a selection that does not look at the mass, with logarithms to this base.

        As :func:`libmode.metrics.blind_jsd`.
        """
        return split_blind_jsd(self._split(threshold), base)

    def _split(self, threshold: float) -> Split:
        """The background in the bins of mass, selected and not."""
        tables, given = self._tables, self._tables.given
        low, high = given.score_range
        cell = round((min(max(number("threshold", threshold), low), high) - low) / given.cell)
        bins = slice(given.bins)
        if not tables.counts[bins].any():
            raise ValueError(
                f"no event: of the {tables.added} that were added none is background inside the bins of mass"
            )

        def sums(table: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.stack([table[bins, cell:].sum(axis=1), table[bins, :cell].sum(axis=1)])

        weight = sums(tables.weight)
        square = weight if tables.square is None else sums(tables.square)
        return Split(Bins(given.edges, np.empty(0)), weight, square, tables.counts[bins] > 0)

    def _lower_edges(self) -> NDArray[np.float64]:
        given = self._tables.given
        low, high = given.score_range
        return low + (high - low) * (np.arange(given.scores) / given.scores)

    def __getstate__(self) -> dict[str, Any]:
        tables = self._tables
        kept = {name: _small(getattr(tables, name)) for name in _ARRAYS if getattr(tables, name) is not None}
        return {"version": _VERSION, "settings": tables.given._asdict(), "events": tables.added, **kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if state.get("version") != _VERSION:
            raise ValueError(
                f"version = {state.get('version')} of the accumulator that was kept: this libmode reads {_VERSION}"
            )
        self._tables = tables = Tables(Settings(**state["settings"]))
        tables.added = state["events"]
        for name in _ARRAYS:
            if name in state:
                whole = name in ("counts", "exact")
                setattr(tables, name, state[name].astype(np.int64 if whole else np.float64))

    def save(self, file: str | os.PathLike[str] | IO[bytes]) -> None:
        """Writes all to a file, given by its path or open for bytes: an .npz of NumPy, with a version.

        Sums that are integers, as those of events without weights, are written in as few bytes as hold them.

        Examples
        --------
        >>> import io
        >>> from libmode import Accumulator
        >>> total = Accumulator(edges=[50, 100, 200], scores=100)
        >>> total.add([0.1, 0.4, 0.2, 0.9], [60, 70, 120, 180])
        >>> file = io.BytesIO()  # or a path
        >>> total.save(file)
        >>> _ = file.seek(0)
        >>> Accumulator.load(file)
        Accumulator(order=0, 2 bins, scores=100, 4 events)
        """
        state = self.__getstate__()
        header = {name: state.pop(name) for name in ("version", "settings", "events")}
        with open(file, "wb") if isinstance(file, (str, os.PathLike)) else nullcontext(file) as out:
            np.savez(out, header=np.array(json.dumps(header)), **state)

    @classmethod
    def load(cls, file: str | os.PathLike[str] | IO[bytes]) -> Accumulator:
        """Reads what :meth:`save` wrote; ValueError for what is no such file, or one of another version."""
        try:
            with np.load(file, allow_pickle=False) as kept:
                state = json.loads(str(kept["header"])) | {name: kept[name] for name in kept.files if name != "header"}
        except (KeyError, TypeError, ValueError, EOFError, zipfile.BadZipFile) as error:
            raise ValueError(f"file = {file!r} is not what Accumulator.save wrote: {error}") from None
        found = object.__new__(cls)
        found.__setstate__(state)
        return found


def _small(array: NDArray[Any]) -> NDArray[Any]:
    """An array of integers that are not negative in the smallest type that holds them; others as they are."""
    if array.size == 0 or array.min() < 0 or array.max() >= 2**53:
        return array
    if not all(np.array_equal(np.rint(row), row) for row in array):  # by rows, which need no room
        return array
    return array.astype(np.min_scalar_type(int(array.max())))
