"""What a check finds: numbers of each cut, a verdict, and both as text."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from ._bins import Doubles
from .mass import Efficiency

LINES = 12  # of the text
HEAD = ["cut", "background", "residual (by chance)", "chi2/ndof", "local p", "spurious signal", "errors", "would show"]
NO_NUMBERS = ("wanted", "name", "unknown", "flat", "why", "p_value", "efficiency", "polynomial")


@dataclass(frozen=True, eq=False)
class AtCut:
    """One working point of a :class:`Check`. NaN, or None for a mass: not known, or there is none."""

    wanted: str  #: the working point, such as "50 % signal efficiency"
    name: str  #: its number, such as "50"
    threshold: float  #: events with score >= threshold are selected
    signal_efficiency: float
    background_efficiency: float
    selected: float = 0.0  #: effective background events inside the bins
    residual: float = math.nan  #: rms of the efficiency around its best polynomial, over its mean: as :func:`flatness`
    expected: float = math.nan  #: the residual from statistics alone
    chi2: float = math.nan  #: of the fit of the polynomial, with the errors of the bins
    ndof: int = 0
    p_cut: float = math.nan  #: the local p-value of the response at this cut
    signal_mass: float = math.nan  #: where the spurious signal is the most significant of those looked for
    spurious_signal: float = math.nan  #: a sum of weights
    spurious_error: float = math.nan
    significance: float = math.nan  #: of the spurious signal, in errors of a search with ``tolerance`` events
    p_spurious: float = math.nan  #: for the smallest p-value of all masses of the scan
    height: float = math.nan  #: of the spurious signal, over the background under it
    smallest_bump: float = math.nan  #: the height that this sample would show with 3 standard deviations
    zero_at: float | None = None  #: the mass at which the allowed polynomial reaches 0
    maximum_at: float | None = None  #: the mass of a maximum of the selected spectrum that the spectrum before has not
    slope: float = math.nan  #: |c_1| / c_0 of the best line, x from -1 to 1
    slope_error: float = math.nan
    turn: float = math.nan  #: 3 |c_2| / |c_1| of the best parabola: above 1 it is not monotonic
    turn_error: float = math.nan
    sensitivity: float = math.nan  #: significance of a signal over its value without a selection, see :func:`check`
    needed: float = math.nan  #: effective background events that the rule needs at this cut, about; NaN if it has them
    unknown: str = ""  #: why this sample is too small; empty if it is not
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
    >>> found.to_dict()["flat"], found.sensitivity, len(found.plot().axes), found.notes()
    (True, nan, 2, [])
    """

    flat: bool | None  #: True: no dependence seen; False: not flat; None: not known from this sample
    why: str  #: the verdict in a sentence
    p_value: float  #: the global one: the smallest of all local p-values, times their number (Bonferroni)
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
        """Numbers by name for a log. Names of several cuts or categories end with their number."""
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
        rows = [("", cut) for cut in self.cuts]
        rows += [(f"{category}", cut) for category, own in self.categories.items() for cut in own.cuts]
        notes = self.notes()[:3]
        most = LINES - 2 - len(notes)
        if len(rows) > most:
            notes = [f"and {len(rows) - most + 1} more", *notes]
            rows = sorted(rows, key=lambda row: min(row[1].p_cut, row[1].p_spurious))[: most - 1]
        lines = [["category", *HEAD]] + [[name, *cells(cut)] for name, cut in rows]
        table = [line if self.categories else line[1:] for line in lines]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        texts = ("  ".join(map(str.ljust, line, widths)).rstrip() for line in table)
        return "\n".join([self.why, *texts, *notes])

    def notes(self) -> list[str]:
        """What stands below the table: where the polynomial reaches 0, new maxima, bounds, and what is not known."""
        checks = [("", self), *((f", category {name}", own) for name, own in self.categories.items())]
        notes = []
        for cut, at in ((cut, cut.wanted + end) for end, check in checks for cut in check.cuts):
            if cut.zero_at is not None:
                notes.append(f"the allowed polynomial reaches 0 at mass {cut.zero_at:.4g} ({at})")
            if cut.maximum_at is not None:
                notes.append(f"the selected spectrum has a new maximum at mass {cut.maximum_at:.4g} ({at})")
            if self.flat is None and cut.unknown and cut.unknown not in self.why:
                notes.append(f"not known: {cut.unknown}")
            if self.max_slope is not None and cut.ndof:
                notes.append(f"slope {cut.slope:.2g} +- {cut.slope_error:.1g}, max_slope {self.max_slope:g} ({at})")
            if self.monotonic and cut.ndof:
                notes.append(f"turn {cut.turn:.2g} +- {cut.turn_error:.1g}, above 1 not monotonic ({at})")
        return list(dict.fromkeys(notes))

    def plot(self, figure: Any = None, mass_label: str = "mass") -> Any:
        """Draws the spectra before and after each cut, and the efficiency with the allowed polynomial.

        Parameters
        ----------
        figure : matplotlib Figure, optional
            A new one by default.
        mass_label : str
            With its unit, such as "m [GeV]".

        Returns
        -------
        matplotlib Figure
        """
        import textwrap

        from matplotlib.figure import Figure

        drawn = [cut for cut in self.cuts if cut.efficiency is not None]
        if not drawn:
            wanted = ", ".join(cut.wanted for cut in self.cuts)
            raise ValueError(f"plot: at {wanted} there is no efficiency in bins of one mass to draw; {self.why}")
        made = figure or Figure(figsize=(5.5 * len(drawn), 6.5), layout="constrained")
        axes = made.subplots(2, len(drawn), sharex="col", squeeze=False, height_ratios=[3, 2])
        for cut, above, below in zip(drawn, *axes, strict=True):
            _draw(cut, above, below, self.order)
            below.set_xlabel(mass_label)
        made.suptitle("\n".join(textwrap.wrap(self.why, 40 + 50 * len(drawn))), fontsize="medium")
        return made


def cells(cut: AtCut) -> list[str]:
    """The cells of a line of the text."""
    bump = math.isfinite(cut.spurious_signal)
    return [
        cut.wanted,
        f"{100 * cut.background_efficiency:.3g} %",
        f"{cut.residual:.3f} ({cut.expected:.3f})" if cut.ndof else "-",
        f"{cut.chi2:.1f}/{cut.ndof}" if cut.ndof else "-",
        shown(cut.p_cut).removeprefix("= ") if cut.ndof else "-",
        f"{cut.spurious_signal:.0f} +- {cut.spurious_error:.0f} at {cut.signal_mass:.4g}" if bump else "-",
        f"{cut.significance:+.1f}" if bump else "-",
        f"{float(f'{100 * cut.smallest_bump:.2g}'):g} %" if bump else "-",  # two digits: 24 %, 240 %
    ]


def shown(p_value: float) -> str:
    """A p-value in a sentence."""
    return f"= {min(p_value, 1.0):.2g}" if p_value >= 1e-300 else "< 1e-300"


def _draw(cut: AtCut, above: Any, below: Any, order: int) -> None:
    """The spectra, and the efficiency with the allowed polynomial, on two Axes."""
    efficiency = cut.efficiency
    assert efficiency is not None and cut.polynomial is not None
    edges, widths = efficiency.edges, np.diff(efficiency.edges)
    background, selected = (each / each.sum() / widths for each in (efficiency.background, efficiency.selected))
    above.stairs(background, edges, label="background", color="0.85", fill=True)
    above.stairs(selected, edges, label=f"selected: {cut.wanted}", color="C0")
    above.set_ylabel("normalized to unit area")
    if background.min() > 0 and background.max() > 10 * background.min():
        above.set_yscale("log")
    steps = np.repeat(edges, 2)[1:-1]
    below.stairs(efficiency.value, edges, baseline=None, color="C0")
    low, high = (np.repeat(efficiency.value + sign * efficiency.error, 2) for sign in (-1, 1))
    below.fill_between(steps, low, high, color="C0", alpha=0.3, lw=0)
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
