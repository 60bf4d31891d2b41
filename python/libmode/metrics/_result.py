"""What a check finds: numbers of each cut, a verdict, and both as text and as a picture."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from ._bins import Doubles
from .mass import Efficiency

LINES = 12  # of the text
HEAD = ["cut", "background", "residual (by chance)", "chi2/ndof", "spurious signal [errors]", "at most", "global p"]


@dataclass(frozen=True, eq=False)
class AtCut:
    """One working point of a :class:`Check`. NaN, or None for a mass: not known, or there is none.

    The spurious signal is that of the template that decides: the most significant one where the cut is not flat, the
    one with the highest upper end elsewhere. Errors are errors of a search with ``search_events`` events.
    """

    wanted: str  #: the working point, such as "50 % signal efficiency"
    name: str  #: its number, such as "50"
    threshold: float  #: events with score >= threshold are selected
    signal_efficiency: float
    background_efficiency: float
    selected: float = 0.0  #: effective background events that pass
    residual: float = math.nan  #: rms of the efficiency around its best polynomial, over its mean
    expected: float = math.nan  #: the residual from statistics alone
    chi2: float = math.nan  #: of the fit of the polynomial, with the errors of the bins
    ndof: int = 0
    at: str = ""  #: where the template is: "mass 119.5"
    mass: float = math.nan  #: its mass; NaN for a term of a higher degree
    width: float = math.nan  #: its standard deviation
    spurious_signal: float = math.nan  #: in errors of the search
    spurious_error: float = math.nan  #: an error of this sample, in errors of the search
    upper: float = math.nan  #: the highest upper end, |spurious_signal| + 2 spurious_error, of all masses
    height: float = math.nan  #: of the spurious signal, over the background under it
    height_error: float = math.nan
    bump: float = math.nan  #: the upper end of a bump at the signal's mass, over the background under it
    p_value: float = math.nan  #: the smallest p-value of the cut, times the number of tests of the check
    low: float = math.nan  #: the lowest mass with enough events, of one variable
    high: float = math.nan  #: the highest one
    slope: float = math.nan  #: |c_1| / c_0 of the best line, x from -1 to 1
    slope_error: float = math.nan
    sensitivity: float = math.nan  #: significance of a signal over its value without a selection
    needed: float = math.nan  #: background events before the cut that would tell, about; NaN where it is known
    flat: bool | None = None  #: the rule of :func:`check` at this cut
    why: str = ""  #: the same as a sentence
    efficiency: Efficiency | None = field(repr=False, default=None)  #: in bins of equal numbers of events
    polynomial: Doubles | None = field(repr=False, default=None)  #: (bins,) the allowed efficiency
    #: (4, cells) lower and upper edge, background before the cut and after it, of one variable
    spectrum: Doubles | None = field(repr=False, default=None)
    #: (k, 4) mass, width, spurious signal and error of each template of one variable
    scan: Doubles | None = field(repr=False, default=None)


NUMBERS = [each.name for each in fields(AtCut) if each.type in ("float", "int")]


@dataclass(frozen=True, eq=False)
class Check:
    """What :func:`check` finds: a verdict, and the numbers that it rests on.

    ``str(check)`` is the verdict and a table, of at most twelve lines. ``bool(check)`` is True where ``flat`` is True.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode import metrics
    >>> rng = np.random.default_rng(1)
    >>> mass, score = 50 + rng.exponential(60, 50_000), rng.random(50_000)
    >>> found = metrics.check(score, None, mass, order=0, background_efficiency=0.1)
    >>> found.raise_if_not_flat()
    >>> found.to_dict()["flat"], bool(found), found.sensitivity, found.rank, len(found.plot().axes)
    (True, True, nan, 2.0, 3)
    """

    flat: bool | None  #: True: flat; False: not flat; None: not known from this sample
    why: str  #: the verdict in a sentence
    p_value: float  #: the global one: the smallest p-value of all tests, times their number
    tests: int  #: their number
    p_all_cuts: float  #: of the response at all cuts, by itself; NaN with too few events
    order: int
    events: float  #: effective background events inside the range
    search_events: float  #: background events of the search
    cuts: tuple[AtCut, ...]  #: the working points
    categories: dict[Any, Check]  #: the check of each category
    remarks: tuple[str, ...] = ()  #: what stands below the table
    flat_below: float = 5.0  #: errors of the search
    signal_masses: tuple[float, ...] = ()  #: of the signal, or as given, of one variable

    def __bool__(self) -> bool:
        return self.flat is True

    @property
    def sensitivity(self) -> float:
        """The largest sensitivity of the cuts."""
        return max((cut.sensitivity for cut in self.cuts if cut.sensitivity == cut.sensitivity), default=math.nan)

    @property
    def rank(self) -> float:
        """To choose a checkpoint, the larger the better: 0 to 1 if it is not flat, 1 to 2 if not known, 2 to 3 if flat.

        Among equal verdicts the sensitivity decides.
        """
        known = self.sensitivity if math.isfinite(self.sensitivity) else 0.0
        return {False: 0, None: 1, True: 2}[self.flat] + known / (1 + known)

    def to_dict(self) -> dict[str, float | bool | str | None]:
        """Values by name for a log or a JSON file, None where a number is not known.

        Names of several cuts or categories end with their number.
        """
        values: dict[str, Any] = {name: getattr(self, name) for name in ("flat", "why", "sensitivity", "rank")}
        values |= {name: getattr(self, name) for name in ("p_value", "p_all_cuts", "events", "search_events")}
        for cut in self.cuts:
            end = f"_{cut.name}" if len(self.cuts) > 1 else ""
            values |= {name + end: getattr(cut, name) for name in NUMBERS}
        for category, own in self.categories.items():
            values |= {f"category_{category}_{name}": value for name, value in own.to_dict().items()}
        return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in values.items()}

    def raise_if_not_flat(self) -> None:
        """Raises AssertionError with the text of the check unless ``flat`` is True; None, not known, raises too."""
        if self.flat is not True:
            raise AssertionError(str(self))

    def __str__(self) -> str:
        rows = [("", cut) for cut in self.cuts]
        rows += [(f"{category}", cut) for category, own in self.categories.items() for cut in own.cuts]
        notes = list(self.remarks[:4])
        most = LINES - 2 - len(notes)
        if len(rows) > most:
            notes = [f"and {len(rows) - most + 1} more rows with larger p-values", *notes]
            rows = sorted(rows, key=lambda row: -1 if math.isnan(row[1].p_value) else row[1].p_value)[: most - 1]
        lines = [["category", *HEAD]] + [[name, *cells(cut)] for name, cut in rows]
        table = [line if self.categories else line[1:] for line in lines]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        texts = ("  ".join(map(str.ljust, line, widths)).rstrip() for line in table)
        return "\n".join([self.why, *texts, *notes])

    def plot(self, figure: Any = None, mass_label: str = "mass") -> Any:
        """Draws the spectra, the efficiency with the allowed polynomial, and the spurious signal at every mass.

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
        from matplotlib.figure import Figure

        drawn = [cut for cut in self.cuts if cut.scan is not None and cut.efficiency is not None]
        if not drawn:
            wanted = ", ".join(cut.wanted for cut in self.cuts)
            raise ValueError(f"plot: at {wanted} there is no spectrum of one mass to draw; {self.why}")
        made = figure or Figure(figsize=(6 * len(drawn), 8.5), layout="constrained")
        axes = made.subplots(3, len(drawn), sharex="col", squeeze=False, height_ratios=[3, 2, 2])
        for cut, *column in zip(drawn, *axes, strict=True):
            draw(self, cut, *column)
            column[-1].set_xlabel(mass_label)
        made.suptitle("\n".join(textwrap.wrap(self.why, 40 + 50 * len(drawn))), fontsize="medium")
        return made


def cells(cut: AtCut) -> list[str]:
    """The cells of a line of the text."""
    fitted = math.isfinite(cut.spurious_signal)
    return [
        cut.wanted,
        f"{100 * cut.background_efficiency:.3g} %",
        f"{cut.residual:.3f} ({cut.expected:.3f})" if cut.ndof and math.isfinite(cut.residual) else "-",
        f"{cut.chi2:.1f}/{cut.ndof}" if cut.ndof else "-",
        f"{cut.spurious_signal:+.1f} +- {cut.spurious_error:.1f}, {cut.at}" if fitted else "-",
        f"{cut.upper:.1f}" if fitted else "-",
        shown(cut.p_value).removeprefix("= ") if math.isfinite(cut.p_value) else "-",
    ]


def shown(p_value: float) -> str:
    """A p-value in a sentence."""
    return "< 1e-300" if p_value < 1e-300 else f"= {min(p_value, 1.0):.2g}"


def rounded(number: float) -> str:
    """A number of events with two digits."""
    return f"{float(f'{number:.2g}'):,.0f}"


BINS = 80  # of the spectra


def draw(check: Check, cut: Any, above: Any, middle: Any, below: Any) -> None:
    """The spectra, the efficiency with the allowed polynomial, and the spurious signal, on three Axes."""
    step = max(1, cut.spectrum.shape[1] // BINS)
    starts = np.arange(0, cut.spectrum.shape[1], step)
    edges, width = np.append(cut.spectrum[0, starts], cut.spectrum[1, -1]), step * np.diff(cut.spectrum[:2, 0])[0]
    for row, name, color in ((2, "background", "0.5"), (3, f"selected: {cut.wanted}", "C0")):
        values = np.add.reduceat(cut.spectrum[row], starts)
        above.stairs(np.where(values > 0, values, np.nan), edges, label=name, color=color)
    above.set(yscale="log", ylabel=f"events / {width:.3g}", xlim=(edges[0], edges[-1]))
    bins, value, error = cut.efficiency.edges, cut.efficiency.value, cut.efficiency.error
    steps = np.repeat(bins, 2)[1:-1]
    middle.stairs(value, bins, baseline=None, color="C0")
    middle.fill_between(steps, *(np.repeat(value + sign * error, 2) for sign in (-1, 1)), color="C0", alpha=0.3, lw=0)
    allowed = "allowed: the mean" if check.order == 0 else f"allowed: a polynomial of degree {check.order}"
    middle.plot(steps, np.repeat(cut.polynomial, 2), color="black", lw=1, label=allowed)
    middle.set(ylabel="background efficiency", ylim=(min(0, float(np.nanmin(value))), None))
    for width in np.unique(cut.scan[:, 1])[::-1]:
        at, _, signal, error = cut.scan[cut.scan[:, 1] == width].T
        (line,) = below.plot(at, signal, lw=1, label=f"width {width:.3g}")
        below.fill_between(at, signal - 2 * error, signal + 2 * error, alpha=0.3, color=line.get_color(), lw=0)
    for limit in (-check.flat_below, check.flat_below):
        below.axhline(limit, color="black", ls="--", lw=1)
    below.set_ylabel("spurious signal\n[errors of the search]")
    for axes in (above, middle, below):
        for mass in check.signal_masses:
            axes.axvline(mass, color="C2", lw=1, label="signal")
        if np.isfinite(cut.mass):
            axes.axvline(cut.mass, color="C3", ls=":", lw=1.5, label=f"decides: {cut.mass:.4g}")
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize="small")
