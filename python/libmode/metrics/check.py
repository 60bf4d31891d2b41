"""One judge: is the background selected at a cut as flat in mass as the order allows, and could this sample tell?"""

from __future__ import annotations

from typing import Any

from .._events import takes_events
from .._read import number
from ..option_types import CheckOptions, Unpack
from ._judge import Judge
from ._result import Check
from ._sample import Settings, examine


@takes_events
def check(
    score: Any, label: Any = None, mass: Any = None, *, weight: Any = None, category: Any = None,
    **settings: Unpack[CheckOptions],
) -> Check:  # fmt: skip
    r"""Is the background flat in mass at your cut, within what ``order`` allows? Give events outside the training.

    The rule: S +- 2 sigma is the spurious signal at a mass, in errors of a search with N events.

    - ``flat`` is True if the upper end, \|S\| + 2 sigma, is everywhere below ``flat_below``, 5 errors, and below half
      (0.5) of the background where a search with the events given here could tell; and if no p-value is below 0.0005
      by itself, unless the upper end is below 1 error, which harms no search.
    - It is False otherwise, if the global p is below 0.01: the smallest p-value of all tests times their number, at
      least 20.
    - It is None otherwise, not known from this sample. ``why`` says what could hide, and which events would tell.

    A larger bump, more cuts, categories or masses never make a verdict better. S is fitted with templates at every mass
    of the range, one width apart, in each variable of mass by itself and in each category::

        selected_i = t_i (c_0 P_0(x) + ... + c_order P_order(x)) + S Gauss_i

    with t the spectrum before the cut in cells of half a width or less, so that its fluctuations cancel. The next 2
    terms of the polynomial are templates too. Sigma is the binomial error that the polynomial expects, at an efficiency
    of at least 0.05 of its mean. Weights count as those of 400 effective neighbors, and as often as the 32 heaviest
    events, twice as many next, and so on, pass. P-values count that few events and heavy weights are no Gaussians. A
    template that has fewer than 10 effective selected events under it is not known. That leaves out tails, which the
    text says, and makes the verdict None at the mass of the signal. The response over all cuts that reject half of the
    background or more is one more test: the mean of chi^2 over 40 cuts (T. W. Anderson, D. A. Darling, Ann. Math.
    Statist. 23 (1952) 193).

    Background events that repeat, score and mass, count once with their weights added, if 0.9 of the scores and of the
    masses differ otherwise; a remark says so.

    Parameters
    ----------
    score : (n,) real numbers
        Of events outside the training sample. The higher, the more like signal.
    label : (n,) labels, optional
        ``background_label`` for background; all others are signal. By default all events are background.
    mass : (n,) or (n, d) real numbers, in any unit
    weight : (n,) real numbers of either sign, optional
    category : (n,) integers or strings, optional
        Each category is judged by itself too, at the same threshold.
    order : int from 0 to 16
        The degree of the polynomial in mass that the background efficiency may follow.
    background_label : a label or several, 0 by default
    signal_efficiency, background_efficiency, threshold : number or several
        The working point or points, by one of the three; by default a signal efficiency of 0.5.
    bins : int, or edges
        Bins of mass for residual and chi^2, 20 by default, with equal numbers of background events; neighbors merge
        until each has 10 effective events. Edges are the range too.
    mass_range : (low, high), optional; d such pairs for d masses
        Events outside count for the working point alone; by default from the lowest to the highest mass.
    missing : "error" or "ignore"
        Whether a mass of NaN is an error, or outside ``mass_range``.
    signal_mass : number or several, optional
        Masses that must be known, by default the peak of the signal, or the median of the background.
    signal_width : number or several, optional
        Standard deviations of the templates, at least 0.001 of the range. By default that of the signal at half of
        its maximum. Without ten events of signal, or if it is wider than a tenth of the range, a twentieth and a
        hundredth (1/20, 1/100) of the range.
    search_events : number above 0, optional
        N, the background events of the analysis before the cut. By default the sample is the search.
    flat_below : number above 0
        Errors of the search, 5 by default.
    training_events : number above 0, optional
        T, the background events of the training, which leaves fluctuations of its own: sigma of n events here is
        sqrt(1 + n/T) times as large in all tests.
    max_slope : number above 0, optional
        The slope \|c_1\| / c_0 of the efficiency is at most this, within 5 % (0.05) and 2 sigma. Needs order >= 1.
    monotonic : bool
        The allowed polynomial is monotonic, within 2 sigma. Needs order >= 2.

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
    >>> check(score + np.exp(-(((mass - 120) / 10) ** 2)), label, mass, order=0).flat
    False
    """
    judge = Judge(Settings(**settings), label, mass, weight, category)
    examine(judge.scored(score))
    return judge(score)


def events_needed(background_efficiency: float, bump: float, errors: float = 1.0, *, share: float = 1 / 8) -> float:
    """How many background events before the cut, about, show a ``bump`` in a ``share`` of the events.

    At a background efficiency f, n events leave a flat response with a scatter of sqrt(1 / (share f n)) in a bin. So
    ``errors^2 / (share f bump^2)`` events, a float, show a bump with this many standard deviations. A value out of
    range is a ValueError.

    Parameters
    ----------
    background_efficiency : number above 0, at most 1
        At your cut.
    bump, errors : numbers above 0
        The height of the bump over the background under it, such as 0.1, and its standard deviations.
    share : number above 0, at most 1
        The part of the background under the signal, 0.01 on a steep tail.

    Examples
    --------
    >>> from libmode.metrics import events_needed
    >>> events_needed(0.01, 0.5), events_needed(0.01, 0.5, errors=5)
    (3200.0, 80000.0)
    """
    efficiency = number("background_efficiency", background_efficiency, above=0, most=1)
    selected = efficiency * number("share", share, above=0, most=1)
    return number("errors", errors, above=0) ** 2 / (selected * number("bump", bump, above=0) ** 2)
