"""Weights that plane the background's mass spectrum to the spectrum of signal."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._arrays import no_background
from ._evaluate import for_core
from ._events import Events, takes_events
from ._messages import level_of_the_user
from ._native import BatchError, address
from ._options import check
from ._problems import TrainingWarning, say_if_far
from ._read import as_array, check_labels, coded, finite, is_background, number, refuse, together, variables

_LEFT = 0.01  # of the background's effective events; fewer, and the training learns them by heart

Doubles = NDArray[np.float64]


@takes_events
def planing_weights(
    mass: Any,
    label: Any,
    weight: Any = None,
    floor: float = 0.3,
    *,
    order: int = 0,
    background_label: int | Sequence[int] = 0,
) -> Doubles:
    """Weights for the classification loss that give background nearly the mass spectrum of signal.

    This is planing (S. Chang, T. Cohen and B. Ostdiek, arXiv:1709.10106), with a floor. It flattens little by itself,
    because features still follow the mass. But MoDe gets flatter from there, most of all where signal lies on a tail
    of the background, and MoDeConstraint starts so by itself. The weight of a background event becomes::

        weight ((1 - floor) p_S(m) / p_B(m) + floor) exp(polynomial of the order)

    with the mass densities p_S of signal and p_B of background. Their ratio is a constant in each of 40 cells of mass
    with equal numbers of background events; 7 or 4 for each of two or three variables. The exponential, which order 0
    has not, brings back the background's own means of the polynomials that the order allows, in part.

    Give these weights to the classification loss alone, and the original weights to MoDe. Trees take them as
    ``sample_weight``.

    Parameters
    ----------
    mass : (n,) or (n, d) real numbers, in any unit
        The mass, or d = 1 to 3 variables, whose joint spectrum is planed. Signal events with a mass that is not finite
        count in no spectrum. Leave out background events whose mass is outside the range of your analysis.
    label : (n,) or (n, 1) real numbers, bools or strings
        Background events have ``background_label``, and all others are signal.
    weight : (n,) or (n, 1) real numbers of either sign, optional
        Event weights; all 1 by default.
    floor : float, default 0.3
        The part of the background that keeps its spectrum, from 0 to 1.
    order : int, default 0
        The order of the MoDe loss beside it, see :class:`libmode.torch.MoDeConstraint`.
    background_label : int, string, or sequence of these, default 0
        The label of background. Each of several labels is planed by itself.

    Returns
    -------
    (n,) float64
        The weights. Signal keeps its weights, and each background label keeps its sum of weights. Scales of the masses,
        a factor on the weights of signal, and the order of events change nothing. Negative weights stay negative.

    Raises
    ------
    BatchError
        If a label of background has no event, or a sum of weights that is not positive. The same for signal.
    TypeError, ValueError
        For wrong shapes, lengths and types, a weight or background mass that is not finite, and a ``floor`` outside of
        0 to 1: the error has the argument, its value and place.

    Warns
    -----
    TrainingWarning, UserWarning
        If the effective number of background events falls to less than a hundredth (at the masses of signal is nearly
        no background), or if a few masses are far from all others, as a sentinel for a missing mass is.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode import planing_weights
    >>> rng = np.random.default_rng(1)
    >>> label = np.repeat([0, 1], [50_000, 10_000])
    >>> mass = np.concatenate([50 + rng.exponential(60, 50_000), rng.normal(125, 10, 10_000)])
    >>> weight, background = planing_weights(mass, label, floor=0.3), label == 0
    >>> bool(abs(weight[background].mean() - 1) < 1e-9), bool((weight[~background] == 1).all())
    (True, True)
    >>> near = background & (abs(mass - 125) < 20)
    >>> print(f"{near.sum() / 50_000:.2f}", f"{weight[near].sum() / 50_000:.2f}")
    0.20 0.73
    """
    if label is None:
        raise TypeError("label is None: planing needs the labels of signal and background")
    classes: Any = background_label
    label, background_label = coded(label, classes)
    label, mass, weight = together(as_array, variables, label=label, mass=mass, weight=weight)
    floor = number("floor", floor, least=0, most=1)
    options = check("mode", {"order": order, "background_label": background_label})
    labels = options.labels
    check_labels(label, labels)
    planed = np.ones(len(mass)) if weight is None else weight.astype(np.float64)
    finite("weight", planed, "a finite number")
    of_background = is_background(label, labels)
    missing = ~np.isfinite(mass)
    refuse("mass", mass, (missing.T & of_background).T, "a finite number of background; leave such events out")
    mass, missing = (each.reshape(-1, 1) if each.ndim == 1 else each for each in (mass.astype(np.float64), missing))
    for column in mass.T:  # a sentinel, rather than the tail of a steep spectrum
        if any(np.count_nonzero(column == end) > 1 for end in (column.min(initial=0), column.max(initial=0))):
            say_if_far(column, "signal without one nan")
    signal = np.flatnonzero(~of_background & ~missing.any(axis=1))
    if not len(signal):
        raise BatchError(f"no signal: each of the {len(label)} events has a background label, or no finite mass")
    if not _sum(planed[signal]) > 0:
        raise BatchError(f"weight: the sum over signal is {_sum(planed[signal]):g}, and must be positive")
    before = planed.copy()
    events = Events(None, np.ascontiguousarray(label, np.float64), np.ascontiguousarray(mass.T), planed)
    for one in labels:
        background = np.flatnonzero(label == one)
        name = one if classes is background_label else np.atleast_1d(classes)[one]
        if not len(background):
            raise BatchError(no_background(label, one))
        if not _sum(planed[background]) > 0:
            raise BatchError(
                f"weight: the sum over background of label {name} is {_sum(planed[background]):g}, and must be positive"
            )
    packed, result = for_core(events), np.empty(len(planed))
    _native.call("mode_planing", options.struct, packed, floor, address(result))
    for one in labels:
        background = np.flatnonzero(label == one)
        _say_if_few(before[background], result[background], one)
    return finite("weight", result, "a smaller number")


def _sum(weight: Doubles) -> float:
    """The sum of weights, without a sum that is rounding."""
    largest = np.abs(weight).max() or 1.0
    share = float((weight / largest).sum())
    return share * float(largest) if abs(share) > 1e-9 * len(weight) else 0.0


def _say_if_few(before: Doubles, after: Doubles, label: int | str) -> None:
    """Warns where planing leaves few events."""
    effective, left = (np.sum(w / np.abs(w).max()) ** 2 / np.sum((w / np.abs(w).max()) ** 2) for w in (before, after))
    if left < _LEFT * effective:
        warnings.warn(
            f"planing leaves {left:.3g} of {effective:.3g} effective background events (label {label}): at the "
            "masses of signal is nearly no background, and a network learns such events by heart. Give a larger floor",
            TrainingWarning,
            stacklevel=level_of_the_user(),
        )
