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
from ._problems import TrainingWarning
from ._read import as_array, check_labels, finite, is_background, number, refuse, together, variables

_CELLS = 64  # the most
_IN_CELL = 10  # effective events of background, and of both classes in equal parts
_LEFT = 0.01  # of the background's effective events; fewer, and the training learns them by heart
_ROUNDING = 1e-9

Doubles = NDArray[np.float64]


@takes_events
def planing_weights(
    mass: Any,
    label: Any,
    weight: Any = None,
    floor: float = 0.3,
    *,
    background_label: int | Sequence[int] = 0,
) -> Doubles:
    """Weights for the classification loss that give background nearly the mass spectrum of signal.

    A classifier that learns from these weights tells signal from background of its own mass. This is planing (S.
    Chang, T. Cohen and B. Ostdiek, arXiv:1709.10106), with a floor. It flattens little by itself, because features
    still follow the mass. But MoDe gets flatter from there, most of all where signal lies on a tail of the background.
    The weight of a background event becomes::

        weight ((1 - floor) p_S(m) / p_B(m) + floor)

    with the mass densities p_S of signal and p_B of background. Their ratio is a constant in each of up to 64 cells of
    mass, the ratio of their shares of the events. Signal and background together have about the same share in all
    cells. A cell has at least ten effective events of background, and of both together.

    Give these weights to the classification loss alone, and the original weights to MoDe. Trees take them as
    ``sample_weight``.

    Parameters
    ----------
    mass : (n,) or (n, d) real numbers, in any unit
        The mass, or d = 1 to 3 variables, whose joint spectrum is planed. Signal events with a mass that is not finite
        count in no spectrum. Leave out background events whose mass is outside the range of your analysis.
    label : (n,) or (n, 1) real numbers or bools
        Background events have ``background_label``, and all others are signal.
    weight : (n,) or (n, 1) real numbers of either sign, optional
        Event weights; all 1 by default.
    floor : float, default 0.3
        The part of the background that keeps its spectrum, from 0 to 1. With 1 all weights are as before. With 0
        background has no weight at masses without signal.
    background_label : int or sequence of ints, default 0
        The label of background. Each of several labels is planed by itself.

    Returns
    -------
    (n,) float64
        The weights: signal as given, and each background label with its sum of weights as given. Scales of the masses,
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
    TrainingWarning
        If there are too few events for two cells. Or if the effective number of background events falls to less than a
        hundredth: signal lies at masses where nearly no background is.

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
    >>> near = abs(mass - 125) < 20
    >>> share = lambda weight, chosen: weight[near & chosen].sum() / weight[chosen].sum()
    >>> print(f"{share(np.ones(60_000), background):.2f}", f"{share(weight, background):.2f}")
    0.20 0.73
    """
    if label is None:
        raise TypeError("label is None: planing needs the labels of signal and background")
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
    signal = np.flatnonzero(~of_background & ~missing.any(axis=1))
    if not len(signal):
        raise BatchError(f"no signal: each of the {len(label)} events has a background label, or no finite mass")
    for one in labels:
        background = np.flatnonzero(label == one)
        if not len(background):
            raise BatchError(no_background(label, one))
        ratio = _ratio(mass[signal], mass[background], planed[signal], planed[background], one)
        planed[background] *= (1 - floor) * ratio + floor
    finite("weight", planed, "a smaller number")
    return planed


def _ratio(signal: Doubles, background: Doubles, of_signal: Doubles, of_background: Doubles, label: int) -> Doubles:
    """p_S / p_B at each mass of background, from masses of shape (n, d) and weights of both."""
    columns = []  # the share of each event, and its square
    for mine, name in ((of_signal, "signal"), (of_background, f"background of label {label}")):
        share = mine / (np.abs(mine).max() or 1.0)
        total = share.sum()
        if not total > _ROUNDING * np.abs(share).sum():
            raise BatchError(f"weight: the sum over {name} is {mine.sum():g}, and must be positive")
        columns.append(np.column_stack([share / total, (share / total) ** 2]))
    # The first column is the part of an event in both spectra, by size.
    table = np.zeros((len(signal) + len(background), 5))
    table[: len(signal), 1:3], table[len(signal) :, 3:] = columns
    sizes = np.abs(table[:, 1] + table[:, 3])
    table[:, 0] = sizes
    cells = _divided(np.concatenate([signal, background]), table)
    ratio = np.ones(len(table))
    for cell in cells:
        sums = table[cell].sum(axis=0)
        ratio[cell] = sums[1] / sums[3]
    ratio = ratio[len(signal) :]
    _say_if_few(columns, ratio, len(cells), bool(np.ptp(signal, axis=0).any()), label)
    return ratio


def _divided(mass: Doubles, table: Doubles) -> list[NDArray[np.intp]]:
    """The cells, as places of events: the largest is cut in halves, one variable after the other, while both halves
    have enough of either class."""
    cells: list[NDArray[np.intp]] = []
    open_cells = [(1.0, 0, np.arange(len(mass)))]
    while open_cells and len(open_cells) + len(cells) < _CELLS:
        largest = max(range(len(open_cells)), key=lambda k: open_cells[k][0])
        _, depth, cell = open_cells.pop(largest)
        for variable in range(mass.shape[1]):
            halves = _halves(cell, mass[cell, (depth + variable) % mass.shape[1]], table)
            if halves:
                open_cells += [(table[half, 0].sum(), depth + variable + 1, half) for half in halves]
                break
        else:
            cells.append(cell)
    return cells + [cell for *_, cell in open_cells]


def _halves(cell: NDArray[np.intp], mass: Doubles, table: Doubles) -> list[NDArray[np.intp]]:
    """The cell's events below and above the cut nearest to the middle, or nothing."""
    order = np.argsort(mass, kind="stable")
    cell, mass = cell[order], mass[order]
    sums = np.cumsum(table[cell], axis=0)
    last = np.flatnonzero(mass[1:] > mass[:-1])
    below, total = sums[last], sums[-1]
    enough = np.ones(len(last), bool)
    for half in (below, total - below):
        of_both, squares = half[:, 1] + half[:, 3], half[:, 2] + half[:, 4]
        enough &= (half[:, 1] >= 0) & (half[:, 3] > 0)
        enough &= half[:, 3] ** 2 >= _IN_CELL * (1 - _ROUNDING) * half[:, 4]
        enough &= of_both**2 >= _IN_CELL * (1 - _ROUNDING) * squares  # no cell for a few events of signal
    if not enough.any():
        return []
    distance = np.where(enough, np.abs(below[:, 0] - total[0] / 2), np.inf)
    cut = last[np.argmax(distance <= distance.min() + _ROUNDING * total[0])] + 1  # rounding must not choose
    return [cell[:cut], cell[cut:]]


def _say_if_few(columns: list[Doubles], ratio: Doubles, cells: int, spread: bool, label: int) -> None:
    """Warns where planing cannot do what it says."""
    effective = [1 / squares.sum() for _, squares in (column.T for column in columns)]
    share = columns[1][:, 0]
    left = 1 / np.sum((share * ratio) ** 2)
    text = ""
    if cells == 1 and spread:
        text = (
            f"the {effective[0]:.3g} effective events of signal and {effective[1]:.3g} of background (label {label}) "
            f"are too few for two cells of mass: the weights are as before"
        )
    elif left < _LEFT * effective[1]:
        text = (
            f"planing leaves {left:.3g} of {effective[1]:.3g} effective background events (label {label}): at the "
            "masses of signal is nearly no background, and a network learns such events by heart. Give a larger floor"
        )
    if text:
        warnings.warn(text, TrainingWarning, stacklevel=level_of_the_user())
