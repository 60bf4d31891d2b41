"""One judge: is the background selected at a cut as flat in mass as the order allows, and could this sample tell?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._events import takes_events
from .._messages import refuse_unknown
from .._problems import say_if_far
from .._read import as_array, flag, number, numbers, positive, same_length, whole
from ._arguments import THIS_ORDER, Bins, Doubles, checked_order, read_labels, sums, variables, weights
from ._backwards import say_if_backwards
from ._fit import family
from ._histogram import Histogram, read_histogram
from ._sample import Sample
from ._search import CORE, NARROW, OF_RANGE
from ._split import Split
from ._table import CUTS, FEWEST, Cells, Table, of_histogram
from ._verdict import (
    Bump,
    Null,
    Probability,
    all_cuts,
    bounds,
    new_maximum,
    one_cut,
    template,
    turns,
    two_sided,
    zero,
)
from ._working_point import CLASSES, POINTS, number_of_point, tightest
from .bias import Background
from .mass import Efficiency
from .roc import area, curve

# The rule, see :func:`check`.
NOT_FLAT, FLAT = 0.01, 0.05  # p-values below which it is not flat, and above which nothing is seen
SEEN = 0.05  # the p-value that a search with ``tolerance`` events would find on average
SHOWN = 3.0  # standard deviations of a bump that a sample shows
LARGEST = 0.5  # of the background under it: a sample that shows no smaller bump is too small
OF_SEARCH = 6.0  # the same in errors of the search
SOME = 10_000  # events that give quantiles
FEWEST_SIGNAL = 10  # signal events, from which mass and width of the signal are taken
LINES = 12  # of the text
HEAD = ["cut", "background", "residual (by chance)", "chi2/ndof", "p", "spurious signal", "errors", "would show"]
NO_NUMBERS = ("wanted", "name", "unknown", "flat", "why", "p_value", "efficiency", "polynomial")


@dataclass(frozen=True, eq=False)
class AtCut:
    """One working point of a :class:`Check`. NaN, or None for a mass: not known, or there is none."""

    wanted: str  #: the working point, such as "50 % signal efficiency"
    name: str  #: its number, such as "50"
    threshold: float  #: events with score >= threshold are selected
    signal_efficiency: float
    background_efficiency: float
    selected: float  #: effective background events inside the bins
    residual: float  #: rms of the efficiency around its best polynomial, over its mean: as :func:`flatness`
    expected: float  #: the residual from statistics alone
    chi2: float  #: of the fit of the polynomial, with the errors of the bins
    ndof: int
    p_cut: float  #: the p-value of the test of this cut
    signal_mass: float  #: where the spurious signal is the most significant of those looked for
    spurious_signal: float  #: a sum of weights
    spurious_error: float
    significance: float  #: of the spurious signal, in errors of a search with ``tolerance`` events
    p_spurious: float  #: with as many masses tried as were looked at
    height: float  #: of the spurious signal, over the background under it
    smallest_bump: float  #: the height that this sample would show with 3 standard deviations
    zero_at: float | None  #: the mass at which the allowed polynomial reaches 0
    maximum_at: float | None  #: the mass of a maximum of the selected spectrum that the spectrum before has not
    slope: float  #: |c_1| / c_0 of the best line, x from -1 to 1
    slope_error: float
    turn: float  #: 3 |c_2| / |c_1| of the best parabola: above 1 it is not monotonic
    turn_error: float
    sensitivity: float  #: significance of a signal over its value without a selection, see :func:`check`
    unknown: str  #: why this sample is too small; empty if it is not
    flat: bool | None = None  #: the rule of :func:`check` for the tests of this cut alone
    why: str = ""  #: the same as a sentence
    p_value: float = math.nan  #: of the smallest of their p-values, times their number
    efficiency: Efficiency | None = field(repr=False, default=None)
    polynomial: Doubles | None = field(repr=False, default=None)  #: (bins,) the allowed efficiency


NUMBERS = [each.name for each in fields(AtCut) if each.name not in NO_NUMBERS]


@dataclass(frozen=True, eq=False)
class Check:
    """What :func:`check` finds: a verdict, and the numbers that it rests on.

    ``str(check)`` is the verdict and a table, of at most twelve lines.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode import metrics
    >>> rng = np.random.default_rng(1)
    >>> mass, score = 50 + rng.exponential(60, 50_000), rng.random(50_000)
    >>> found = metrics.check(score, None, mass, order=0, background_efficiency=0.1)
    >>> found.raise_if_not_flat()
    >>> found.to_dict()["flat"], found.sensitivity, len(found.plot().axes)
    (True, nan, 2)
    """

    flat: bool | None  #: True: no dependence seen; False: not flat; None: not known from this sample
    why: str  #: the verdict in a sentence
    p_value: float  #: of the smallest of all p-values, times their number (Bonferroni)
    tests: int  #: their number
    p_all_cuts: float  #: of the test at all cuts; NaN with too few events
    order: int
    events: float  #: effective background events inside the bins
    tolerance: float  #: background events of the search
    taught: float  #: sqrt(1 + N / T): errors of a search that a training with T events cannot avoid; NaN if unknown
    cuts: tuple[AtCut, ...]  #: the working points
    categories: dict[Any, Check]  #: the check of each category
    max_slope: float | None = None  #: the bound that was asked for
    monotonic: bool = False  #: whether the polynomial was to be monotonic

    @property
    def sensitivity(self) -> float:
        """The largest sensitivity of the cuts."""
        return max((cut.sensitivity for cut in self.cuts if cut.sensitivity == cut.sensitivity), default=math.nan)

    def to_dict(self) -> dict[str, float | bool | None]:
        """Named numbers for a log; of several cuts with the number of the cut, of categories with the category."""
        values: dict[str, float | bool | None] = {"flat": self.flat, "sensitivity": self.sensitivity}
        values |= {name: getattr(self, name) for name in ("p_value", "p_all_cuts", "events", "tolerance", "taught")}
        for cut in self.cuts:
            end = f"_{cut.name}" if len(self.cuts) > 1 else ""
            values |= {name + end: getattr(cut, name) for name in NUMBERS}
        for category, own in self.categories.items():
            values |= {f"category_{category}_{name}": value for name, value in own.to_dict().items()}
        return values

    def raise_if_not_flat(self) -> None:
        """Raises AssertionError with the text of the check unless ``flat`` is True; None, not known, raises too."""
        if self.flat is not True:
            raise AssertionError(str(self))

    def __str__(self) -> str:
        rows = [("", self, cut) for cut in self.cuts]
        rows += [(f"{category}", own, cut) for category, own in self.categories.items() for cut in own.cuts]
        notes = list(self._notes(rows))[:3]
        most = LINES - 2 - len(notes)
        if len(rows) > most:
            rest = len(rows) - most + 1
            rows = sorted(rows, key=lambda row: min(row[2].p_cut, row[2].p_spurious))[: most - 1]
            notes = [f"and {rest} more", *notes]
        lines = [HEAD] + [_row(cut) for *_, cut in rows]
        if self.categories:
            lines = [["category", *HEAD]] + [[name, *line] for (name, *_), line in zip(rows, lines[1:], strict=True)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        table = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
        ]
        return "\n".join([self.why, *table, *notes])

    def _notes(self, rows: list[tuple[str, Check, AtCut]]) -> Iterator[str]:
        for name, _, cut in rows:
            at = f"{cut.wanted}, category {name}" if name else cut.wanted
            if cut.zero_at is not None:
                yield f"the allowed polynomial reaches 0 at mass {cut.zero_at:.4g} ({at})"
            if cut.maximum_at is not None:
                yield f"the selected spectrum has a new maximum at mass {cut.maximum_at:.4g} ({at})"
            if self.max_slope is not None:
                yield f"slope {cut.slope:.2g} +- {cut.slope_error:.1g}, max_slope {self.max_slope:g} ({at})"
            if self.monotonic:
                yield f"turn {cut.turn:.2g} +- {cut.turn_error:.1g}, above 1 not monotonic ({at})"

    def plot(self, figure: Any = None) -> Any:
        """Draws the spectra before and after each cut, and the efficiency with the allowed polynomial.

        Parameters
        ----------
        figure : matplotlib Figure, optional
            A new one by default.
        """
        from matplotlib.figure import Figure

        drawn = [cut for cut in self.cuts if cut.efficiency is not None]
        if not drawn:
            raise ValueError(f"there is nothing to draw: {self.why}")
        made = figure or Figure(figsize=(5.5 * len(drawn), 6.5), layout="constrained")
        axes = made.subplots(2, len(drawn), sharex="col", squeeze=False, height_ratios=[3, 2])
        for cut, above, below in zip(drawn, *axes, strict=True):
            _draw(cut, above, below, self.order)
        made.suptitle(_wrapped(self.why, 40 + 50 * len(drawn)), fontsize="medium")
        return made


def _row(cut: AtCut) -> list[str]:
    """The cells of a line of the text."""
    bump = math.isfinite(cut.spurious_signal)
    return [
        cut.wanted,
        f"{100 * cut.background_efficiency:.3g} %",
        f"{cut.residual:.3f} ({cut.expected:.3f})",
        f"{cut.chi2:.1f}/{cut.ndof}",
        f"{cut.p_cut:.2g}",
        f"{cut.spurious_signal:.0f} +- {cut.spurious_error:.0f} at {cut.signal_mass:.4g}" if bump else "-",
        f"{cut.significance:+.1f}" if bump else "-",
        f"{100 * cut.smallest_bump:.2g} %" if bump else "-",
    ]


def shown(p_value: float) -> str:
    """A p-value in a sentence; 0 stands for one below 1e-300."""
    return f"= {min(p_value, 1.0):.2g}" if p_value > 0 else "< 1e-300"


def _wrapped(text: str, width: int) -> str:
    import textwrap

    return "\n".join(textwrap.wrap(text, width))


def _draw(cut: AtCut, above: Any, below: Any, order: int) -> None:
    """The spectra, and the efficiency with the allowed polynomial, on two Axes."""
    from .. import plots

    efficiency = cut.efficiency
    assert efficiency is not None and cut.polynomial is not None
    edges, widths = efficiency.edges, np.diff(efficiency.edges)
    plots.spectrum(above, efficiency, before=True, label="background")
    plots.spectrum(above, efficiency, label=f"selected: {cut.wanted}", color="C0")
    density = efficiency.background / widths
    if density.min() > 0 and density.max() > 10 * density.min():
        above.set_yscale("log")
    above.set_xlabel("")
    plots.efficiency(below, efficiency, color="C0")
    steps = np.repeat(edges, 2)[1:-1]
    allowed = "allowed: the mean" if order == 0 else f"allowed: a polynomial of degree {order}"
    below.plot(steps, np.repeat(cut.polynomial, 2), color="black", lw=1, label=allowed)
    if np.isfinite(cut.signal_mass):
        for axes in (above, below):
            axes.axvline(cut.signal_mass, color="0.5", ls=":", lw=1)
    below.set_ylabel("background efficiency")
    # Bins of equal numbers of events are wide in the tails, which are cut short.
    most = (edges[-2] - edges[1]) / 5 if len(edges) > 3 else np.inf
    below.set_xlim(max(edges[0], edges[1] - most), min(edges[-1], edges[-2] + most))
    below.set_ylim(bottom=min(0, float(np.nanmin(efficiency.value))))
    for axes in (above, below):
        axes.legend(fontsize="small")


class Settings(NamedTuple):
    """The checked arguments of :func:`check` but for the events."""

    order: int
    points: list[tuple[str, float]]
    bins: Any
    mass_range: Any
    missing: str
    signal_mass: Doubles | None
    signal_width: Doubles | None
    background: Any
    tolerance: float | None
    training_events: float | None
    max_slope: float | None
    monotonic: bool
    background_label: Any

    @classmethod
    def checked(
        cls,
        *,
        order: Any = None,
        background_label: Any = 0,
        signal_efficiency: Any = None,
        background_efficiency: Any = None,
        threshold: Any = None,
        bins: Any = 20,
        mass_range: Any = None,
        missing: str = "error",
        signal_mass: Any = None,
        signal_width: Any = None,
        background: Any = None,
        tolerance: Any = None,
        training_events: Any = None,
        max_slope: Any = None,
        monotonic: bool = False,
        **unknown: Any,
    ) -> Settings:
        """Raises the errors of :func:`check` for bad values of these, and for other names."""
        refuse_unknown("check", unknown, cls._fields + POINTS)
        order = checked_order(order)
        wishes = dict(zip(POINTS, (signal_efficiency, background_efficiency, threshold), strict=True))
        chosen = {name: value for name, value in wishes.items() if value is not None} or {POINTS[0]: 0.5}
        if len(chosen) > 1:
            raise TypeError(
                f"{' and '.join(chosen)} both are working points: give one of them, of one number or several"
            )
        ((name, values),) = chosen.items()
        several = np.ndim(values) > 0
        listed = list(values) if several else [values]
        if not listed:
            raise ValueError(f"{name} is empty: expected at least one number")
        points = [
            (name, number_of_point(f"{name}[{k}]" if several else name, name, each)) for k, each in enumerate(listed)
        ]
        if missing not in ("error", "ignore"):
            raise ValueError(f"missing = {missing!r}: expected 'error' or 'ignore'")
        masses, widths = (
            None if each is None else numbers(called, np.atleast_1d(each))
            for called, each in (("signal_mass", signal_mass), ("signal_width", signal_width))
        )
        if widths is not None:
            for k, width in enumerate(widths.tolist()):
                number(f"signal_width[{k}]" if len(widths) > 1 else "signal_width", width, above=0)
            if len(widths) > 1 and (masses is None or len(masses) != len(widths)):
                have = "none" if masses is None else len(masses)
                raise ValueError(f"signal_width has {len(widths)} numbers, and signal_mass {have}: expected as many")
        for called, each in (("tolerance", tolerance), ("training_events", training_events)):
            positive(called, each)
        if max_slope is not None:
            number("max_slope", max_slope, least=0)
            if order < 1:
                raise ValueError(
                    f"max_slope = {max_slope:g}: expected an order of at least 1, order = {order} has no slope"
                )
        if flag("monotonic", monotonic) and order < 2:
            raise ValueError(f"monotonic = True: expected an order of at least 2, order = {order} is monotonic")
        if np.ndim(bins) == 0:
            whole("bins", bins, 2)
        if background is not None:
            family(background)  # its error names the known ones
        return cls(
            order, points, bins, mass_range, missing, masses, widths, background, tolerance, training_events,
            max_slope, bool(monotonic), background_label,
        )  # fmt: skip


@takes_events
def check(
    score: Any,
    label: Any = None,
    mass: Any = None,
    *,
    weight: Any = None,
    category: Any = None,
    order: int | None = None,
    background_label: Any = 0,
    signal_efficiency: Any = None,
    background_efficiency: Any = None,
    threshold: Any = None,
    bins: Any = 20,
    mass_range: Any = None,
    missing: Literal["error", "ignore"] = "error",
    signal_mass: Any = None,
    signal_width: Any = None,
    background: str | None = None,
    tolerance: float | None = None,
    training_events: float | None = None,
    max_slope: float | None = None,
    monotonic: bool = False,
) -> Check:
    """Is the background flat in mass at your cut, within what ``order`` allows? Give events outside the training.

    The rule: each test has a p-value, and Bonferroni joins k tests to p = k times the smallest p-value.

    - ``flat`` is False for p < 0.01, unless a search with ``tolerance`` events would on average find the same test at
      more than 0.05.
    - It is True for p > 0.05, if the sample would show a bump of half of the background under it, with 3 standard
      deviations, and of 6 errors of the search.
    - It is None otherwise: not known from this sample.

    The tests are the response at all cuts, that at each working point, the spurious signal there, and ``max_slope`` and
    ``monotonic`` if given; each again in each category. The test at all cuts is the mean of chi^2 over up to 40 cuts
    (T. W. Anderson, D. A. Darling, Ann. Math. Statist. 23 (1952) 193), the test at a cut a sum of squares over windows
    of neighboring bins. The spurious signal is N in a least squares fit of::

        selected_i = t_i (c_0 P_0(x) + ... + c_order P_order(x)) + N Gauss_i

    with t the spectrum before the cut in fine bins, so that its fluctuations cancel. Its errors are errors that
    the polynomial efficiency expects. ``significance`` is the signal in errors of a search with ``tolerance`` Poisson
    events. A training with T events leaves a spurious signal of sqrt(1 + n/T) errors by chance, n the events here.

    Parameters
    ----------
    score : (n,) real numbers, or a histogram (see ``libmode.metrics``)
        Of events outside the training sample. The higher, the more like signal.
    label : (n,) labels, optional
        ``background_label`` for background; all others are signal. By default all events are background.
    mass : (n,) or (n, d) real numbers, in any unit
        Of several masses no spurious signal is fitted.
    weight : (n,) real numbers of either sign, optional
    category : (n,) integers or strings, optional
        Each category is judged by itself too, at the same threshold.
    order : int, at least 0
        The degree of the polynomial in mass that the background efficiency may follow.
    background_label : a label or several, 0 by default
    signal_efficiency, background_efficiency, threshold : number or several
        The working point or points, by one of the three; by default a signal efficiency of 0.5.
    bins : int, or edges
        Bins of mass, 20 by default, with equal numbers of background events; neighbors merge until each has 10
        effective events. Of a histogram, edges of its mass axis.
    mass_range : (low, high), optional
        Events outside count for the working point alone; by default from the lowest to the highest mass.
    missing : "error" or "ignore"
        Whether a mass of NaN is an error, or outside ``mass_range``.
    signal_mass, signal_width : number or several, optional
        Where the spurious signal is looked for, and its standard deviation. By default the median of the signal, and
        half of its central 68 %. Without signal, or if it is wide, a scan over the central 95 % of the background with
        a width of a twentieth of it.
    background : "polynomial", "exponential", "power" or "dijet", optional
        The shape for :func:`signal_bias`, which needs iminuit; by default the template.
    tolerance : number above 0, optional
        N, the background events of the analysis before the cut. By default as many as here.
    training_events : number above 0, optional
        T, the background events of the training.
    max_slope : number, optional
        The slope \\|c_1\\| / c_0 of the efficiency is at most this. Needs order >= 1.
    monotonic : bool
        The allowed polynomial is monotonic. Needs order >= 2.

    Returns
    -------
    Check

    Raises
    ------
    ValueError, TypeError
        For bad values, which it names; for a sample without background or, with a signal efficiency, without signal.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode.metrics import check
    >>> rng = np.random.default_rng(1)
    >>> label = rng.integers(0, 2, 40_000)
    >>> mass = np.where(label == 1, rng.normal(120, 8, 40_000), 50 + rng.exponential(60, 40_000))
    >>> score = rng.normal(1.5 * label)
    >>> check(score, label, mass, order=0).flat
    True
    >>> sculpted = check(score + np.exp(-(((mass - 120) / 10) ** 2)), label, mass, order=0)
    >>> sculpted.flat
    False
    >>> sculpted.to_dict()["flat"], len(str(sculpted).splitlines()) <= 12
    (False, True)
    """
    settings = Settings.checked(
        order=order, background_label=background_label, signal_efficiency=signal_efficiency,
        background_efficiency=background_efficiency, threshold=threshold, bins=bins, mass_range=mass_range,
        missing=missing, signal_mass=signal_mass, signal_width=signal_width, background=background,
        tolerance=tolerance, training_events=training_events, max_slope=max_slope, monotonic=monotonic,
    )  # fmt: skip
    histogram = read_histogram(score, label=label, mass=mass, weight=weight, category=category, mass_range=mass_range)
    if histogram is not None:
        return _of_histogram(histogram, settings)
    judge = Judge(settings, label, mass, weight, category)
    scores = numbers("score", score, "mass", judge.mass)
    if judge.mass.min() >= 0 and judge.mass.max() <= 1 < scores.min():
        raise ValueError(f"score and mass are swapped: masses lie in [0, 1], and scores above; {THIS_ORDER}")
    say_if_backwards(scores, judge.signal, judge.weight)
    return judge(scores)


@takes_events
def sensitivity(
    score: Any,
    label: Any,
    mass: Any,
    *,
    weight: Any = None,
    order: int | None = None,
    tolerance: float = 100_000,
    efficiencies: Any = (0.8, 0.5, 0.2),
    bins: int = 20,
    mass_range: tuple[float, float] | None = None,
) -> float:
    """The significance of a signal over its value without a selection, to choose a state of a training.

    It is the highest over the working points of::

        e / sqrt(f (1 + delta^2 f N / k))

    with e the signal efficiency, f the background efficiency at the masses of the signal, k the number of bins and
    delta^2 = rms^2 - expected^2 of :func:`flatness`, at least 0: f N / k background events are left in a bin with
    signal, with a systematic error of delta of them. Unlike the loss it means the same at every strength. It falls if
    the selection sculpts a bump, most of all at the mass of the signal, and if the classifier stops separating. f is
    the mean over the bins, each with its share of the signal; where the polynomial of the residual has a larger mean,
    that one counts. At a delta of 0 the sensitivity fluctuates by 10 % for N background events in the sample.

    Parameters
    ----------
    score, label, mass, weight, order, bins, mass_range
        As for :func:`check`.
    tolerance : number above 0
        N, the background events in the analysis.
    efficiencies : numbers above 0, up to 1
        The signal efficiencies of the working points.

    Returns
    -------
    float
        1 without any selection. NaN where no working point selects any background.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode.metrics import sensitivity
    >>> rng = np.random.default_rng(1)
    >>> label = rng.integers(0, 2, 20_000)
    >>> mass = np.where(label == 1, rng.normal(120, 10, 20_000), 50 + rng.exponential(60, 20_000))
    >>> print(f"{sensitivity(rng.beta(1 + label, 2), label, mass, order=1):.2f}")
    1.13
    >>> print(f"{sensitivity(np.exp(-abs(mass - 120) / 20), label, mass, order=1):.2f}")  # it sculpts a bump
    0.01
    """
    settings = Settings.checked(
        order=order, tolerance=tolerance, signal_efficiency=efficiencies, bins=bins, mass_range=mass_range
    )
    return Judge(settings, label, mass, weight)(score, fits=False).sensitivity


class Judge:
    """Judges scores of the same events, as after each epoch: masses are put into cells once."""

    def __init__(self, settings: Settings, label: Any, mass: Any, weight: Any = None, category: Any = None) -> None:
        self._settings = settings
        masses = as_array("mass", mass)
        if settings.missing == "ignore" and masses.dtype.kind == "f":
            masses = np.where(np.isnan(masses), np.inf, masses)
        self.mass = variables(masses, infinite=settings.missing == "ignore")
        self.signal = read_labels(label, settings.background_label, "mass", self.mass)
        self._weighted = weight is not None
        self.weight = weights(weight, "mass", self.mass)
        if self.signal.all():
            raise ValueError("label has no background: expected events of background_label")
        background = ~self.signal & np.isfinite(self.mass).all(axis=1)
        if not background.any():
            raise ValueError("mass is nan for all background events: expected masses")
        for name, _ in settings.points:
            if name == POINTS[0] and not self.signal.any():
                why = "label is missing" if label is None else "label has no signal"
                raise TypeError(f"{why}, and signal_efficiency needs it: give background_efficiency or threshold")
        if settings.mass_range is None and np.ndim(settings.bins) == 0:
            for column in self.mass[background].T:  # a sentinel, rather than the tail of a steep spectrum
                if any(np.count_nonzero(column == end) > 1 for end in (column.min(), column.max())):
                    say_if_far(column, "mass_range")
        self._hunted = _hunted(settings, self.mass, self.signal)
        width = None if self._hunted is None else float(self._hunted[1].min())
        self._categories: dict[Any, tuple[NDArray[np.intp], Cells | str]] = {}
        every = self._cells(background, width)
        self._every = np.flatnonzero(background), every
        self._of_signal = None
        if every.edges is not None and self.signal.any():
            of_signal = self.weight[self.signal]
            coarse = every.edges[every.bins]
            place = np.searchsorted(coarse[:-1], self.mass[self.signal, 0], "right")
            place[~(self.mass[self.signal, 0] <= coarse[-1])] = 0  # outside, as masses that are NaN
            self._of_signal = np.maximum(sums(place, of_signal, len(coarse))[1:], 0.0)
        if category is not None:
            kinds = np.asarray(category)
            if kinds.ndim == 2 and kinds.shape[1] == 1:
                kinds = kinds[:, 0]
            same_length("category", kinds, "mass", self.mass)
            for kind in np.unique(kinds).tolist():
                chosen = background & (kinds == kind)
                try:
                    self._categories[kind] = np.flatnonzero(chosen), self._cells(chosen, width)
                except ValueError as error:
                    self._categories[kind] = np.flatnonzero(chosen), str(error)

    def _cells(self, chosen: NDArray[np.bool_], width: float | None) -> Cells:
        weight = self.weight[chosen] if self._weighted else None
        settings = self._settings
        limits, mass = settings.mass_range, self.mass[chosen]
        if limits is None and np.ndim(settings.bins) == 0:  # so that no limit is missing, see below
            pairs = [(column.min(), column.max()) for column in mass.T]
            limits = pairs if len(pairs) > 1 else pairs[0]
        bins = settings.bins
        if np.ndim(bins) == 0:  # a bin that lacks events joins another, which mode_edges refuses
            bins = min(bins, max(len(mass) // FEWEST, 2))
        return Cells(mass, weight, settings.order, bins, limits, width)

    def __call__(self, score: Any, fits: bool = True) -> Check:
        """The check of scores, (n,); without ``fits`` no spurious signal is looked for."""
        scores = numbers("score", score, "mass", self.mass)
        weight = self.weight
        cuts = [self._threshold(name, value, scores, weight) for name, value in self._settings.points]
        classes = [(scores[chosen], weight[chosen]) for chosen in (self.signal, ~self.signal)]
        background = classes[1][0]
        some = np.sort(background[:: max(1, len(background) // SOME)])
        logits = np.linspace(-1, 1, CUTS) * math.log(max(len(background), 2))
        places = np.unique((len(some) / (1 + np.exp(-logits))).astype(int).clip(0, len(some) - 1))
        thresholds = np.unique(np.r_[some[places], cuts])
        rates = [
            tuple(float(each[own >= cut].sum() / each.sum()) if len(own) else math.nan for own, each in classes)
            for cut in cuts
        ]
        settings, hunted = self._settings, self._hunted if fits else None
        places, cells = self._every
        table = cells.table(scores[places], thresholds)
        n = _effective(table)
        ratio = 1.0 if settings.tolerance is None else settings.tolerance / n
        taught = 0.0 if settings.training_events is None else n / settings.training_events
        at = Context(settings, thresholds, cuts, rates, ratio * n, ratio, taught, hunted, self._of_signal)
        parts: dict[Any, Part] = {"": _part(table, at)}
        for kind, (chosen, own_cells) in self._categories.items():
            if isinstance(own_cells, str):
                parts[kind] = Part([], [], math.nan, 0.0, own_cells)
            else:
                parts[kind] = _part(own_cells.table(scores[chosen], thresholds), at)
        return _together(parts, at)

    def log(self, score: Any) -> tuple[Check, dict[str, float]]:
        """The check, and its numbers as floats with the AUC. An unknown number is NaN."""
        check = self(score)
        events = Sample(numbers("score", score), self.signal, self.mass, self.weight)
        values = {"auc": area(curve(events)), **check.to_dict()}
        return check, {name: math.nan if value is None else float(value) for name, value in values.items()}

    def _threshold(self, name: str, value: float, scores: Doubles, weight: Doubles) -> float:
        if name == POINTS[2]:
            return value
        chosen = self.signal == (name == POINTS[0])
        return float(tightest(CLASSES[name], scores[chosen], weight[chosen], np.array([value]))[0])


class Context(NamedTuple):
    """What the parts of a check share."""

    settings: Settings
    thresholds: Doubles  #: of the columns of tables, (c - 1,)
    cuts: list[float]
    rates: list[tuple[float, ...]]  #: efficiencies of signal and background at each cut
    search: float  #: N
    ratio: float  #: N / n, events of the search over events here
    taught: float  #: n / T, over events of the training; 0 if unknown
    hunted: tuple[Doubles, Doubles] | None  #: masses and widths of signals
    of_signal: Doubles | None  #: (b,) the signal in the bins of mass of all events


class Test(NamedTuple):
    """What a test looked at, and values."""

    said: str
    p: Probability
    rank: int  #: of several that fail, the verdict names one of the highest rank


class Part(NamedTuple):
    """All events, or a category."""

    cuts: list[AtCut]
    tests: list[Test]
    p_all_cuts: float
    events: float
    unknown: str  #: why nothing is known


def _effective(table: Table) -> float:
    return float(table.weight.sum() ** 2 / table.square.sum())


def _part(table: Table, at: Context) -> Part:
    order, settings = at.settings.order, at.settings
    merged = table.merged()
    terms = int(np.count_nonzero(table.degree <= order))
    if len(merged.weight) <= terms or (merged.weight.sum(axis=1) <= 0).any():
        few = f"the masses fill {len(merged.weight)} bins, and order = {order} needs {terms + 1}"
        empty = [
            AtCut(**_of_point((*point, cut, rates)), unknown=few, why=f"not known: {few}")
            for point, cut, rates in zip(settings.points, at.cuts, at.rates, strict=True)
        ]
        return Part(empty, [], math.nan, _effective(table), few)
    share = min(at.ratio, 1.0)
    tests: list[Test] = []
    every = all_cuts(merged, order, share)
    if every is not None:
        tests.append(Test("the response at all cuts", every, 0))
    cuts = []
    for (name, value), cut, rates in zip(settings.points, at.cuts, at.rates, strict=True):
        column = int(np.searchsorted(at.thresholds, cut)) + 1 if cut > -np.inf else 0
        at_cut, own = _at_cut(table, merged, column, (name, value, cut, rates), at)
        why_not = [at_cut.unknown] if at_cut.unknown else []
        flat, why, p = _rule(own, why_not, [at_cut.smallest_bump], order)
        cuts.append(replace(at_cut, flat=flat, why=why, p_value=p))
        tests += own
    return Part(cuts, tests, math.nan if every is None else every.here, _effective(table), "")


def _of_point(point: tuple[str, float, float, tuple[float, ...]]) -> dict[str, Any]:
    """The fields of a cut of which only the working point is known."""
    name, value, cut, rates = point
    percent = f"{100 * value:g}"
    return {each: math.nan for each in NUMBERS} | {
        "wanted": f"score >= {value:g}" if name == POINTS[2] else f"{percent} % {name.replace('_', ' ')}",
        "name": f"{value:g}" if name == POINTS[2] else percent,
        "threshold": cut, "signal_efficiency": rates[0], "background_efficiency": rates[1],
        "zero_at": None, "maximum_at": None, "ndof": 0, "selected": 0.0,
    }  # fmt: skip


def _at_cut(
    table: Table, merged: Table, column: int, point: tuple[str, float, float, tuple[float, ...]], at: Context
) -> tuple[AtCut, list[Test]]:
    settings, order = at.settings, at.settings.order
    values = _of_point(point)
    wanted = values["wanted"]
    selected, squares = (values[:, column:].sum() for values in (merged.weight, merged.square))
    rest = merged.square.sum() - squares
    if not (selected > 0 and squares > 0 and rest > 1e-12 * squares):
        kept = "all" if selected > 0 else "none"
        return AtCut(**values, unknown=f"{wanted} selects {kept} of the background"), []
    null = Null(merged, order, [column])
    p = one_cut(null, min(at.ratio, 1.0))
    weight, of_squares = null.weight, merged.square.sum(axis=1)
    value_of = null.selected[:, 0] / weight
    passed = null.squares_selected[:, 0]
    error = np.sqrt(np.maximum(passed * (1 - value_of) ** 2 + (of_squares - passed) * value_of**2, 0)) / weight
    means = null.design / weight[:, None]
    flat = means @ np.linalg.lstsq(means, value_of, rcond=None)[0]
    mean = float(value_of.mean())
    values |= {
        "selected": float(selected**2 / squares),
        "residual": float(np.sqrt(np.mean((value_of - flat) ** 2))) / mean if mean > 0 else math.nan,
        "expected": math.sqrt(float(np.mean(error**2)) * null.ndof / len(weight)) / mean if mean > 0 else math.nan,
        "chi2": float(np.sum(null.pulls()[:, 0] ** 2)),
        "ndof": null.ndof,
        "p_cut": p.here,
        "maximum_at": new_maximum(merged, null),
        "zero_at": zero(merged, null),
        "polynomial": null.expected[:, 0] / weight,
    }
    residual = f"{values['residual']:.2g}, {values['expected']:.2g} by chance"
    tests = [Test(f"the efficiency at {wanted}, a residual of {residual}", p, 1)]
    if merged.edges is not None:
        values["efficiency"] = Efficiency(merged.edges, value_of, error, weight, null.selected[:, 0])
        if null.ndof + null.terms > 2:
            values |= bounds(null)._asdict()
    if settings.max_slope is not None and math.isfinite(values["slope_error"]):
        above = (values["slope"] - settings.max_slope) / values["slope_error"]
        tests.append(Test(f"the slope {values['slope']:.2g} at {wanted}", _one_sided(above, at), 2))
    if settings.monotonic and merged.edges is not None:
        tests.append(Test(f"the turn {values['turn']:.2g} at {wanted}", _one_sided(turns(null, order), at), 2))
    unknown = ""
    if values["expected"] > LARGEST:
        unknown = f"the residual at {wanted} is {values['expected']:.2g} from statistics alone"
    bumps: list[Bump] = []
    if at.hunted is not None and table.edges is not None:
        try:
            bumps = _bumps(table, null, at)
        except ValueError as error:  # of a shape that does not describe the background
            unknown = str(error)
    if bumps:
        worst = min(bumps, key=lambda bump: bump.p_value.here)
        p = Probability(*(min(len(bumps) * each, 1.0) for each in worst.p_value))
        heights = float(np.median([bump.height_error for bump in bumps])) * SHOWN
        values |= {
            "signal_mass": worst.signal_mass, "spurious_signal": worst.signal, "spurious_error": worst.error,
            "significance": worst.significance, "p_spurious": p.here, "height": worst.height, "smallest_bump": heights,
        }  # fmt: skip
        bump = (
            f"a bump of {100 * worst.height:+.0f} +- {100 * worst.height_error:.0f} % at mass {worst.signal_mass:.4g} "
            f"at {wanted}, {worst.significance:+.1f} errors of the search"
        )
        tests.append(Test(bump, p, 3))
        if heights > LARGEST:
            unknown = f"at {wanted} it would show a bump of {100 * heights:.0f} % of the background and more"
        elif SHOWN * math.sqrt(at.ratio) > OF_SEARCH:
            unknown = f"it has {1 / at.ratio:.2g} of the events of the search"
    if at.of_signal is not None and len(at.of_signal) == len(weight):
        values["sensitivity"] = _sensitivity(values, value_of, flat, at)
    return AtCut(**values, unknown=unknown), tests


def _one_sided(above: float, at: Context) -> Probability:
    """Of a bound that is exceeded by so many standard deviations."""
    here, there = (two_sided(max(above, 0.0) * scale) for scale in (1.0, math.sqrt(min(at.ratio, 1.0))))
    return Probability(here, there)


def _bumps(table: Table, null: Null, at: Context) -> list[Bump]:
    """The spurious signals at all masses that lie in the bins; with a shape other than the template by iminuit."""
    masses, widths = at.hunted or (np.empty(0), np.empty(0))
    assert table.edges is not None
    inside = (masses > table.edges[0]) & (masses < table.edges[-1])
    masses, widths = masses[inside], widths[inside]
    if at.settings.background is None:
        return template(table, null, masses, widths, at.ratio, at.taught)
    above = table.weight[:, null.cuts[0] :].sum(axis=1), table.square[:, null.cuts[0] :].sum(axis=1)
    both = [
        np.stack([part, each.sum(axis=1) - part])
        for part, each in zip(above, (table.weight, table.square), strict=True)
    ]
    bins = Bins(table.edges, table.edges[:, None])
    events = Split(bins, both[0], both[1], table.events > 0, lambda order: table.legendre[:, : order + 1])
    fit, bumps = Background(events, at.settings.order, {"background": at.settings.background}), []
    for mean, width in zip(masses.tolist(), widths.tolist(), strict=True):
        bias = fit.signal("signal_mass", mean, width)
        near = np.exp(-0.5 * (((table.edges[1:] + table.edges[:-1]) / 2 - mean) / width) ** 2)
        under = float(near @ above[0]) / float(near @ near) * float(near.sum())
        if math.isfinite(bias.error) and under > 0:
            p = two_sided(bias.significance / math.sqrt(1 + at.taught))
            there = bias.significance * math.sqrt(at.ratio)
            heights = bias.signal / under, bias.error / under
            bumps.append(Bump(mean, bias.signal, bias.error, there, *heights, Probability(p, two_sided(there))))
    return bumps


def _sensitivity(values: dict[str, Any], efficiency: Doubles, polynomial: Doubles, at: Context) -> float:
    """The significance of a signal over its value without a selection, with the residual as a systematic error."""
    of_signal = at.of_signal if at.of_signal is not None and at.of_signal.sum() > 0 else np.ones(len(efficiency))
    under = max(float(np.average(rates, weights=of_signal)) for rates in (efficiency, polynomial))
    if not under > 0:
        return math.nan
    square = max(values["residual"] ** 2 - values["expected"] ** 2, 0.0)
    count = under * at.search / len(efficiency)
    return float(values["signal_efficiency"] / math.sqrt(under * (1 + square * count)))


def _hunted(settings: Settings, mass: Doubles, signal: NDArray[np.bool_]) -> tuple[Doubles, Doubles] | None:
    """Masses and widths of the signals that are looked for; None for several masses."""
    if mass.shape[1] > 1:
        if settings.signal_mass is not None:
            raise ValueError(f"signal_mass with {mass.shape[1]} masses: a spurious signal needs one mass")
        return None
    limits = settings.bins if settings.mass_range is None and np.ndim(settings.bins) == 1 else settings.mass_range
    low, high = (-np.inf, np.inf) if limits is None else (limits[0], limits[-1])
    every = mass[:, 0]
    inside = (every >= low) & (every <= high) & np.isfinite(every)
    background, of_signal = every[inside & ~signal].astype(float), every[inside & signal].astype(float)
    if not len(background):
        return None
    ends = np.quantile(background[:: max(1, len(background) // SOME)], [0.025, 0.975])
    return _looked_for(settings, ends, of_signal, (float(background.min()), float(background.max())))


def _looked_for(
    settings: Settings, ends: Doubles, of_signal: Doubles, limits: tuple[float, float]
) -> tuple[Doubles, Doubles] | None:
    span = float(ends[1] - ends[0])
    if not span > 0:
        return None
    masses, widths = settings.signal_mass, settings.signal_width
    if masses is not None:
        for k, one in enumerate(masses.tolist()):
            if not limits[0] < one < limits[1]:
                name = f"signal_mass[{k}]" if len(masses) > 1 else "signal_mass"
                raise ValueError(
                    f"{name} = {one:g}: expected a mass of the background, {limits[0]:.6g} to {limits[1]:.6g}"
                )
    width = span / OF_RANGE
    if len(of_signal) >= FEWEST_SIGNAL:
        first, middle, last = np.quantile(of_signal[:: max(1, len(of_signal) // SOME)], [CORE[0], 0.5, CORE[1]])
        own = float(last - first) / 2
        if 0 < own <= span / NARROW:
            width = own
            if masses is None and limits[0] < middle < limits[1]:
                masses = np.array([float(middle)])
    if widths is not None:
        width = float(widths[0])
    if masses is None:  # a scan
        first, last = ends[0] + 2 * width, ends[1] - 2 * width
        masses = np.linspace(first, last, max(int((last - first) / (2 * width)) + 1, 1))
    if widths is None or len(widths) == 1:
        widths = np.full(len(masses), width)
    return masses, widths


def _together(parts: Mapping[Any, Part], at: Context) -> Check:
    """The verdict on all parts, and of each category by itself."""
    checks = {name: _verdict({name: part}, at) for name, part in parts.items() if name != ""}
    return _verdict(parts, at, checks)


def _rule(tests: list[Test], unknown: list[str], heights: list[float], order: int) -> tuple[bool | None, str, float]:
    """``flat``, the sentence and the p-value of all tests."""
    count = len(tests)
    p_value = min(1.0, *(count * test.p.here for test in tests)) if tests else math.nan
    seen = [test for test in tests if count * test.p.here < NOT_FLAT and test.p.there < SEEN]
    at_order = f"at order {order}"
    if seen:
        worst = min(seen, key=lambda test: (-test.rank, test.p.here))
        return False, f"not flat {at_order}: {worst.said} (p {shown(count * worst.p.here)})", p_value
    if unknown or not tests:
        return None, f"not known: {unknown[0] if unknown else 'it has too few events'}", p_value
    if NOT_FLAT <= p_value <= FLAT:
        worst = min(tests, key=lambda test: test.p.here)
        why = f"not known {at_order}: {worst.said} (p {shown(p_value)}, between {NOT_FLAT} and {FLAT})"
        return None, why, p_value
    known = [height for height in heights if math.isfinite(height)]
    would = f"; it would show a bump of {100 * max(known):.2g} % of the background" if known else ""
    return True, f"flat {at_order}: no dependence on the mass is seen (p {shown(p_value)}){would}", p_value


def _verdict(parts: Mapping[Any, Part], at: Context, categories: Mapping[Any, Check] | None = None) -> Check:
    """``flat`` by the rule of :func:`check`, and the sentence."""
    settings = at.settings
    tests = [
        test._replace(said=f"category {name}: {test.said}") if name != "" and categories else test
        for name, part in parts.items()
        for test in part.tests
    ]
    unknown = [
        f"category {name}: {why}" if name != "" and categories else why
        for name, part in parts.items()
        for why in [part.unknown, *(cut.unknown for cut in part.cuts)]
        if why
    ]
    first = next(iter(parts.values()))
    heights = [cut.smallest_bump for part in parts.values() for cut in part.cuts]
    flat, why, p_value = _rule(tests, unknown, heights, settings.order)
    t, share = settings.training_events, at.search
    return Check(
        flat, why, p_value, len(tests), first.p_all_cuts, settings.order, first.events, share,
        math.sqrt(1 + share / t) if t else math.nan, tuple(first.cuts), dict(categories or {}), settings.max_slope,
        settings.monotonic,
    )  # fmt: skip


def _of_histogram(histogram: Histogram, settings: Settings) -> Check:
    """The check of a histogram, whose thresholds are edges of its score axis."""
    background = histogram.background()[0]
    share = np.cumsum(np.abs(background)) / np.abs(background).sum()
    logits = np.linspace(-1, 1, CUTS) * 0.5 * math.log(len(share) * 100)
    edges = histogram.score[np.unique(np.searchsorted(share, 1 / (1 + np.exp(-logits))).clip(1, len(share) - 1))]
    cuts = []
    for name, value in settings.points:
        cuts.append(value if name == POINTS[2] else histogram.cut(name, value))
    at = [histogram.cell(cut) for cut in cuts]
    signal = histogram.signal
    rates = [
        tuple(
            math.nan if each is None else float(each[place:].sum() / each.sum())
            for each in (None if signal is None else signal[0], background)
        )
        for place in at
    ]
    exact = [float(histogram.score[place]) for place in at]
    thresholds = np.unique(np.r_[edges, [cut for cut, place in zip(exact, at, strict=True) if place > 0]])
    thresholds = thresholds[np.isfinite(thresholds)]
    table = of_histogram(histogram, settings.order, settings.bins, thresholds)
    assert table.edges is not None
    total = table.weight.sum(axis=1)
    cumulated = np.cumsum(np.abs(total)) / np.abs(total).sum()
    ends = np.interp([0.025, 0.975], np.r_[0, cumulated], table.edges)
    hunted = _looked_for(settings, ends, np.empty(0), (float(table.edges[0]), float(table.edges[-1])))
    n = _effective(table)
    context = Context(
        settings, thresholds, [cut if place > 0 else -np.inf for cut, place in zip(exact, at, strict=True)], rates,
        settings.tolerance or n, 1.0 if settings.tolerance is None else settings.tolerance / n,
        0.0 if settings.training_events is None else n / settings.training_events, hunted, None,
    )  # fmt: skip
    return _verdict({"": _part(table, context)}, context)
