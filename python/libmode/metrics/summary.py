"""A classifier in a dozen numbers: to log, to stop a training, to choose among its states."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._arrays import check_labels, vector
from .._events import takes_events
from .._functions import mode_edges, mode_evaluate
from .._messages import level_of_the_user
from .._options import check
from ._arguments import Doubles, checked_order, number, positive, whole
from ._sample import Sample, sample
from ._split import Split, of_sample
from .dependence import dependence
from .mass import around_polynomial, divergence
from .roc import Roc, area, working_point
from .roc import curve as curve_of

GROUPS = 20  # of the jackknife, whose error is then right to 20 %
OF_JSD = 0.5  # the signal efficiency at which the paper and others give 1/JSD

#: The signal efficiencies of the working points by default.
EFFICIENCIES = (0.8, 0.5, 0.2)


@takes_events
def summary(
    score: Any,
    label: Any,
    mass: Any,
    *,
    weight: Any = None,
    order: int | None = None,
    tolerance: float = 100_000,
    efficiencies: Sequence[float] = EFFICIENCIES,
    bins: int = 20,
    mass_range: tuple[float, float] | None = None,
    **options: Any,
) -> dict[str, float]:
    """Separation of a classifier and the mass dependence of its background, as named numbers.

    Parameters
    ----------
    score, label, weight
        As for :func:`roc`; scores are inside ``score_range``, which is (0, 1) by default.
    mass : (n,) real numbers, in any unit
    order : int
        The degree of the polynomial in mass that the response may follow, as in the loss.
    tolerance : number above 0
        N: the number of background events in the analysis, which sets how flat the response must be.
    efficiencies : numbers above 0, up to 1
        The signal efficiencies of the working points.
    bins : int, at least order + 2
        The bins of mass of residual, JSD and sensitivity, with equal numbers of background events.
    mass_range : (low, high), optional
        Background outside counts in the ROC curve alone. All of it by default.
    **options
        Further options of :func:`libmode.mode_loss`, for the dependence, such as ``score_range``. All events of
        other labels than ``background_label``, if it is given, are signal.

    Returns
    -------
    dict of str to float
        With e in per cent, for each of ``efficiencies``:

        - ``auc``: the area under the ROC curve.
        - ``dependence``: rho = D / (B n / N), with D the unbiased MoDe loss of the background, B
          its bias and n its events (:func:`libmode.mode_evaluate`). 0 on average for a response
          that is a polynomial of this order; at most 1 if a test with N events sees no difference.
        - ``dependence_error``: its standard error, by a jackknife over 20 groups of the background. Where there is
          no dependence it is 1.5 times too large (Efron and Stein, Ann. Statist. 9 (1981) 586).
        - ``p_value``: that of :func:`dependence`, of all cuts and tight ones.
        - ``worst_efficiency``: the background efficiency of the cut that it finds most significant.
        - ``worst_residual``: rms over expected at this cut.
        - ``rejection_e``: 1 / false positive rate; R50 is ``rejection_50``.
        - ``residual_e``: rms over expected of :func:`flatness`; near 1 for a polynomial.
        - ``inverse_jsd_50``: 1/JSD (base 2) at 50 % signal efficiency, see :func:`jsd`.
        - ``inverse_jsd_50_ceiling``: the same of a random selection, see :func:`jsd` with ``blind=True``. From
          order 1 on, a response that uses its freedom stays below it.
        - ``sensitivity``: the quantity for early stopping and for the choice of a state, the
          highest over the working points of::

              e / sqrt(f (1 + delta^2 f N / k))

          with f the background efficiency at the masses of the signal, k the number of bins and delta^2 = rms^2 -
          expected^2 of :func:`flatness`, at least 0. It is the significance of a signal over its significance without
          a selection: f N / k background events are left in a bin with signal, with a systematic error of delta of
          them. Unlike the loss it means the same at every strength. It falls if the selection sculpts a bump, most of
          all at the mass of the signal, and if the classifier stops separating. f is the mean over the bins, each
          with its share of the signal; where the polynomial of the residual has a larger mean, that one counts. At
          a delta of 0 the sensitivity fluctuates by 10 % for N background events in the sample.

        NaN, with a RuntimeWarning, at a working point that selects all or none of the background that has a mass. The
        sensitivity leaves out a point without background.

    Raises
    ------
    BatchError
        Where there is too little background for the dependence. It is a ValueError.
    ValueError, TypeError
        If a class is missing.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode.metrics import summary
    >>> rng = np.random.default_rng(1)
    >>> label = rng.integers(0, 2, 20_000)
    >>> mass = np.where(label == 1, rng.normal(120, 10, 20_000), 50 + rng.exponential(60, 20_000))
    >>> score = rng.beta(1 + label, 2)  # independent of the mass
    >>> values = summary(score, label, mass, weight=np.ones(20_000), order=1, tolerance=10_000, efficiencies=(0.5, 0.2))
    >>> print(f"AUC {values['auc']:.3f}, R50 {values['rejection_50']:.2f}, sensitivity {values['sensitivity']:.2f}")
    AUC 0.709, R50 4.22, sensitivity 1.01
    >>> sorted(values)
    ['auc', 'dependence', 'dependence_error', 'inverse_jsd_50', 'inverse_jsd_50_ceiling', 'p_value', ...]
    """
    settings = Settings.checked(order, tolerance, efficiencies, bins, mass_range, **options)
    curve, every, background = _read(score, label, mass, weight, settings)
    values = {"auc": area(curve), **_dependence(every, settings, background.unknown), **background.worst_cut()}
    points, best = background.at_working_points(curve, settings)
    values |= points | background.inverse_jsd(float(curve.threshold[working_point(curve, OF_JSD)]))
    values["sensitivity"] = best
    for name, why in background.unknown.items():
        warnings.warn(f"{name} is NaN: {why}", RuntimeWarning, stacklevel=level_of_the_user())
    return values


@takes_events
def sensitivity(
    score: Any,
    label: Any,
    mass: Any,
    *,
    weight: Any = None,
    order: int | None = None,
    tolerance: float = 100_000,
    efficiencies: Sequence[float] = EFFICIENCIES,
    bins: int = 20,
    mass_range: tuple[float, float] | None = None,
) -> float:
    """The ``sensitivity`` of :func:`summary` alone, in a tenth of the time.

    Takes the arguments of :func:`summary`, but no options.

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
    settings = Settings.checked(order, tolerance, efficiencies, bins, mass_range)
    curve, _, background = _read(score, label, mass, weight, settings)
    return background.at_working_points(curve, settings)[1]


def _read(score: Any, label: Any, mass: Any, weight: Any, settings: Settings) -> tuple[Roc, Sample, _Background]:
    """The ROC curve, all events, and the background in bins of mass."""
    label = vector("label", label)
    if settings.background is not None:
        check_labels(label, (settings.background,))
        label = label != settings.background
    events = sample(score, label, vector("mass", mass), weight, is_trained=False)  # trainings call this
    curve = curve_of(events)
    order, mass = settings.options["order"], events.mass[:, 0]
    edges = mode_edges(mass, label=events.signal, bins=settings.bins, mass_range=settings.options["mass_range"])
    if len(edges) < order + 3:
        raise ValueError(
            f"bins = {settings.bins}: {len(edges) - 1} bins of mass, expected at least order + 2 = {order + 2}"
        )
    return curve, events, _Background(events, edges, order)


class Settings(NamedTuple):
    """The arguments of :func:`summary` but for the events, checked."""

    tolerance: float
    efficiencies: list[float]
    bins: int  # of mass
    options: dict[str, Any]  # of the loss
    background: int | None  # the label of background, None: labels are 1 for signal and 0 for background

    @classmethod
    def checked(
        cls,
        order: Any = None,
        tolerance: Any = 100_000,
        efficiencies: Any = EFFICIENCIES,
        bins: Any = 20,
        mass_range: Any = None,
        **options: Any,
    ) -> Settings:
        """Raises the errors of :func:`summary` for bad values of these."""
        order, wanted = checked_order(order), number("tolerance", tolerance, 0)
        points = [number(f"efficiencies[{k}]", e, 0, 1) for k, e in enumerate(efficiencies)]
        if not points:
            raise ValueError("efficiencies is empty: expected at least one signal efficiency")
        chosen = {**options, "order": order, "mass_range": mass_range, "unbiased": True}
        labels, background = check("mode", chosen).labels, None
        if chosen.pop("background_label", None) is not None:
            if len(labels) > 1:
                raise ValueError(f"background_label = {labels}: expected one label")
            background = labels[0]
        return cls(wanted, points, whole("bins", bins, order + 2), chosen, background)


class _Background:
    """How selections change the background inside the edges of the bins of mass."""

    def __init__(self, events: Sample, edges: Doubles, order: int) -> None:
        self._events, self._edges, self._order = events, edges, order
        self.unknown: dict[str, str] = {}  # the names of numbers that are not known, and the reasons
        everything = self._above(-np.inf)
        positive(everything.bins, everything.weight[0], everything.filled)  # without which no selection has a residual
        masses, weight = events.mass[events.signal, 0], events.weight[events.signal]
        self._signal = np.maximum(np.histogram(masses, edges, weights=weight)[0], 0)
        if self._signal.sum() == 0:  # no signal is inside the bins: they count alike
            self._signal = np.ones(len(edges) - 1)

    def _above(self, threshold: float) -> Split:
        return of_sample(self._events, self._events.score >= threshold, self._edges)

    def at_working_points(self, curve: Roc, settings: Settings) -> tuple[dict[str, float], float]:
        """Rejection and residual at each working point, and the best sensitivity."""
        values, sensitivities = {}, []
        for wish in settings.efficiencies:
            at, name = working_point(curve, wish), f"{100 * wish:g}"
            rate, cut = float(curve.false_positive_rate[at]), float(curve.threshold[at])
            if rate <= 0:
                self.unknown[f"rejection_{name}"] = f"the false positive rate at score >= {cut:g} is {rate:g}"
            values[f"rejection_{name}"] = 1 / rate if rate > 0 else np.nan
            key = f"residual_{name}"
            values[key] = np.nan
            try:
                efficiency, residual = around_polynomial(self._above(cut), self._order)
            except ValueError as error:
                self.unknown[key] = str(error)
                continue
            flat, mean = residual.flatness, float(np.mean(efficiency.value))
            if flat.expected > 0:
                values[key] = flat.rms / flat.expected
            else:
                self.unknown[key] = f"score >= {cut:g} selects all or nothing of the background in each bin of mass"
            polynomial = efficiency.value - mean * residual.value
            under = max(float(np.average(rates, weights=self._signal)) for rates in (efficiency.value, polynomial))
            if under > 0:
                square = max(flat.rms**2 - flat.expected**2, 0.0)
                selected = under * settings.tolerance / (len(self._edges) - 1)
                sensitivities.append(float(curve.signal_efficiency[at] / np.sqrt(under * (1 + square * selected))))
        return values, max(sensitivities, default=np.nan)

    def worst_cut(self) -> dict[str, float]:
        """The cut that the test of dependence finds most significant, and the p-value of that test."""
        names = "p_value", "worst_efficiency", "worst_residual"
        events, inside = self._events, (float(self._edges[0]), float(self._edges[-1]))
        score, mass, weight = (events.of_background(values) for values in (events.score, events.mass, events.weight))
        try:
            test = dependence(score, None, mass, weight=weight, order=self._order, mass_range=inside, score_range=None)
        except ValueError as error:
            self.unknown[names[0]] = str(error)
            return dict.fromkeys(names, np.nan)
        if test.cut is None:
            self.unknown[names[1]] = "the background has no two cuts that leave eight effective events"
        worst = (np.nan, np.nan) if test.cut is None else (test.cut.efficiency, test.cut.residual / test.cut.expected)
        return dict(zip(names, (test.p_value, *worst), strict=True))

    def inverse_jsd(self, threshold: float) -> dict[str, float]:
        """1/JSD and its ceiling; NaN if nothing is selected, or all."""
        try:
            value, floor = (divergence(self._above(threshold), blind) / math.log(2) for blind in (False, True))
        except ValueError as error:
            self.unknown["inverse_jsd_50"] = str(error)
            value = floor = np.nan
        return {"inverse_jsd_50": np.inf if value == 0 else 1 / value, "inverse_jsd_50_ceiling": 1 / floor}


def _dependence(events: Sample, settings: Settings, unknown: dict[str, str]) -> dict[str, float]:
    """rho, and its error by a jackknife over groups of the background."""
    options = settings.options

    def rho(arrays: Sequence[Doubles], options: dict[str, Any], label: Any = None) -> float:
        score, mass, weight = arrays
        result = mode_evaluate(score, mass, weight=weight, label=label, grad=False, **options)
        return result.loss / (result.bias * result.events / settings.tolerance) if result.bias > 0 else np.nan

    every = events.score, events.mass[:, 0], events.weight
    value = rho(every, options, events.signal.astype(np.int32))
    if np.isnan(value):
        unknown["dependence"] = "all scores of the background are the same"
        return {"dependence": np.nan, "dependence_error": np.nan}
    background = [events.of_background(values) for values in every]
    if options.get("binning") != "values":
        # Edges that move with the events would add their own fluctuations, half of the error.
        edges = mode_edges(background[1], weight=background[2], **options)
        binned = ("bins", "binning", "mass_range")
        options = {name: option for name, option in options.items() if name not in binned} | {"edges": edges}
    group = np.random.default_rng(0).permutation(len(background[0])) % GROUPS
    without = [rho([values[group != k] for values in background], options) for k in range(GROUPS)]
    return {"dependence": value, "dependence_error": float(np.sqrt((GROUPS - 1) * np.var(without)))}
