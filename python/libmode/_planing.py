"""Weights that plane the background's mass spectrum to the spectrum of signal."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import no_background
from ._events import takes_events
from ._messages import level_of_the_user
from ._native import BatchError
from ._options import check
from ._problems import TrainingWarning, say_if_far
from ._read import as_array, check_labels, coded, finite, is_background, number, refuse, together, variables

_HALVINGS = 6  # to 64 cells
_IN_CELL = 10  # effective events of background, and of both classes in equal parts
_LEFT = 0.01  # of the background's effective events; fewer, and the training learns them by heart
_ROUNDING = 1e-9

Doubles = NDArray[np.float64]


@takes_events
def planing_weights(
    label: Any,
    mass: Any,
    weight: Any = None,
    floor: float = 0.3,
    *,
    background_label: int | Sequence[int] = 0,
) -> Doubles:
    """Weights for the classification loss that give background nearly the mass spectrum of signal.

    This is planing (S. Chang, T. Cohen and B. Ostdiek, arXiv:1709.10106), with a floor. It flattens little by itself,
    because features still follow the mass. But MoDe gets flatter from there, most of all where signal lies on a tail
    of the background, and MoDeConstraint starts so by itself. The weight of a background event becomes::

        weight ((1 - floor) p_S(m) / p_B(m) + floor)

    with the mass densities p_S of signal and p_B of background. Their ratio is a constant in each of up to 64 cells of
    mass with at least ten effective events of background.

    Give these weights to the classification loss alone, and the original weights to MoDe: in Keras as ``base_weight``
    of :func:`libmode.keras.pack`.

    Parameters
    ----------
    label : (n,) or (n, 1) real numbers, bools or strings
        Background events have ``background_label``, and all others are signal.
    mass : (n,) or (n, d) real numbers, in any unit
        The mass, or d = 1 to 3 variables, whose joint spectrum is planed. Signal events with a mass that is not finite
        count in no spectrum. Leave out background events whose mass is outside the range of your analysis.
    weight : (n,) or (n, 1) real numbers of either sign, optional
        Event weights; all 1 by default.
    floor : float, default 0.3
        The part of the background that keeps its spectrum, from 0 to 1.
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
        If there are too few events for two cells, if the effective number of background events falls to less than a
        hundredth (at the masses of signal is nearly no background), or if a few masses are far from all others, as a
        sentinel for a missing mass is.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode import planing_weights
    >>> rng = np.random.default_rng(1)
    >>> label = np.repeat([0, 1], [50_000, 10_000])
    >>> mass = np.concatenate([50 + rng.exponential(60, 50_000), rng.normal(125, 10, 10_000)])
    >>> weight, background = planing_weights(label, mass, floor=0.3), label == 0
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
    labels = check("mode", {"order": 0, "background_label": background_label}).labels
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
    of_signal = _shares(planed[signal], "signal")
    for one in labels:
        background = np.flatnonzero(label == one)
        if not len(background):
            raise BatchError(no_background(label, one))
        name = one if classes is background_label else np.atleast_1d(classes)[one]
        table = np.zeros((len(signal) + len(background), 4))  # share and its square, of signal and of background
        table[: len(signal), :2] = of_signal
        table[len(signal) :, 2:] = _shares(planed[background], f"background of label {name}")
        cells = _divided(mass[np.concatenate([signal, background])], table)
        ratio = np.empty(len(table))
        for cell in cells:
            ratio[cell] = table[cell, 0].sum() / table[cell, 2].sum()
        spread = len(cells) > 1 or not np.ptp(mass[signal], axis=0).any()
        _say_if_few(table, ratio[len(signal) :], spread, name)
        planed[background] *= (1 - floor) * ratio[len(signal) :] + floor
    return finite("weight", planed, "a smaller number")


def _shares(weight: Doubles, name: str) -> Doubles:
    """The share of each event in the sum of weights, and its square, (n, 2)."""
    share = weight / (np.abs(weight).max() or 1.0)
    if not share.sum() > _ROUNDING * np.abs(share).sum():
        raise BatchError(f"weight: the sum over {name} is {weight.sum():g}, and must be positive")
    share /= share.sum()
    return np.column_stack([share, share**2])


def _divided(mass: Doubles, table: Doubles, depth: int = 0) -> list[NDArray[np.intp]]:
    """Up to 64 cells, as places of events: halves of halves, one variable after the other, while both have enough."""
    for variable in range(mass.shape[1] if depth < _HALVINGS else 0):
        column = mass[:, (depth + variable) % mass.shape[1]]
        order = np.argsort(column, kind="stable")
        last = np.flatnonzero(np.diff(column[order]) > 0)
        sums, sizes = np.cumsum(table[order], axis=0), np.cumsum(np.abs(table[order, 0] + table[order, 2]))
        below, total = sums[last], sums[-1]
        enough = _have_enough(below) & _have_enough(total - below)
        if enough.any():
            distance = np.abs(sizes[last] / sizes[-1] - 0.5).round(9)  # rounding must not choose
            cut = last[np.where(enough, distance, np.inf).argmin()] + 1
            halves = order[:cut], order[cut:]
            return [half[cell] for half in halves for cell in _divided(mass[half], table[half], depth + 1)]
    return [np.arange(len(mass))]


def _have_enough(sums: Doubles) -> Any:
    """Which cells with these sums of the table have a ratio: no cell for a few events of signal or background."""
    of_signal, squares, of_background, of_squares = sums.T
    least, both = _IN_CELL * (1 - _ROUNDING), of_signal + of_background
    enough = (of_background**2 >= least * of_squares) & (both**2 >= least * (squares + of_squares))
    return enough & (of_signal >= 0) & (of_background > 0)


def _say_if_few(table: Doubles, ratio: Doubles, spread: bool, label: int | str) -> None:
    """Warns where planing cannot do what it says."""
    effective = 1 / table[:, [1, 3]].sum(axis=0)
    left = 1 / np.sum(table[-len(ratio) :, 3] * ratio**2)
    if not spread:
        text = (
            f"the {effective[0]:.3g} effective events of signal and {effective[1]:.3g} of background (label {label}) "
            f"are too few for two cells of mass: the weights do not change"
        )
    elif left < _LEFT * effective[1]:
        text = (
            f"planing leaves {left:.3g} of {effective[1]:.3g} effective background events (label {label}): at the "
            "masses of signal is nearly no background, and a network learns such events by heart. Give a larger floor"
        )
    else:
        return
    warnings.warn(text, TrainingWarning, stacklevel=level_of_the_user())
