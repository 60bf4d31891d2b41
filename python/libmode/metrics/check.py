"""One judge: is the background selected at a cut as flat in mass as the order allows, and could this sample tell?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from .._events import takes_events
from .._read import numbers
from ._histogram import read_histogram
from ._judge import Judge
from ._result import Check
from ._sample import examine
from ._settings import Settings


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

    The rule: each test has a local p-value, and Bonferroni joins k tests to the global p = k times the smallest one.

    - ``flat`` is False for p < 0.01, unless a search with ``tolerance`` events would on average find the same test at
      more than 0.05.
    - It is True for p > 0.05, if the sample would show a bump of half of the background under it, with 3 standard
      deviations, and of 6 errors of the search, and excludes a bump of half with 2 standard deviations. A fitted bump
      of 3 standard deviations, which p counts as chance in many tests or by heavy weights, is not known. Nor is a
      bump that the events show without weights, and that the weighted ones do not exclude.
    - It is None otherwise: not known from this sample. ``why`` says about how many events are needed: with these four
      of five flat samples are True.

    The tests are the response at all cuts, that at each working point, the spurious signal there, and ``max_slope`` and
    ``monotonic`` if given; each again in each category. The test at all cuts is the mean of chi^2 over cuts
    that reject half of the background or more (T. W. Anderson, D. A. Darling, Ann. Math. Statist. 23 (1952) 193),
    the test at a cut a sum of squares over windows of neighboring bins. The spurious signal is N in a fit of::

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
        N, the background events of the analysis before the cut. By default the number of events given here.
    training_events : number above 0, optional
        T, the background events of the training.
    max_slope : number, optional
        The slope \\|c_1\\| / c_0 of the efficiency is at most this, within 5 %. Needs order >= 1.
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
    settings = Settings(
        order=order, background_label=background_label, signal_efficiency=signal_efficiency,
        background_efficiency=background_efficiency, threshold=threshold, bins=bins, mass_range=mass_range,
        missing=missing, signal_mass=signal_mass, signal_width=signal_width, background=background,
        tolerance=tolerance, training_events=training_events, max_slope=max_slope, monotonic=monotonic,
    )  # fmt: skip
    histogram = read_histogram(score, label=label, mass=mass, weight=weight, category=category, mass_range=mass_range)
    judge = Judge(settings, label, mass, weight, category, histogram)
    if histogram is None:
        score = numbers("score", score, "mass", judge.events.mass)
        examine(replace(judge.events, score=score))
    return judge(score)
