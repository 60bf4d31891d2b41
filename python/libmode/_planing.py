"""Weights that plane the background's mass spectrum to the spectrum of signal."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._constraint import Constraint
from ._events import Events, takes_events
from ._messages import level_of_the_user
from ._native import BatchError
from ._problems import FAR_MASSES, Said, TrainingWarning, say_if_far
from ._read import as_array, check_labels, coded, finite, is_background, number, refuse, together, variables

_MOST = 150  # the core's largest start, of a bare tail
_FEW = 300  # background events in such a tail, which a network learns by heart
_ROUNDING = 1e-9


@takes_events
def planing_weights(
    label: Any,
    mass: Any,
    weight: Any = None,
    floor: float = 0.3,
    *,
    order: int = 0,
    background_label: int | Sequence[int] = 0,
) -> NDArray[np.float64]:
    """Weights for the classification loss that give background nearly the mass spectrum of signal.

    This is planing (S. Chang, T. Cohen and B. Ostdiek, arXiv:1709.10106), with a floor. It flattens little by itself,
    because features still follow the mass. But MoDe gets flatter from there, most of all where signal lies on a tail
    of the background, and MoDeConstraint starts so by itself: both are one function of the core. The weight of a
    background event becomes::

        weight ((1 - floor) p_S(m) / p_B(m) + floor)

    with the mass densities p_S of signal and p_B of background. Their ratio is a constant in each of up to 64 cells of
    mass with at least ten effective events of background, and of 7 x 7 or 4 x 4 x 4 cells of several variables.

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
    order : int, default 0
        From 1 on, the weights keep part of what the response may depend on: they are multiplied by the exponential of
        a polynomial in the rank of the mass, with which the planed background has the means of these polynomials that
        the background has, to the power 0.6 (docs/how-it-works.md).
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
        If there are too few events for two cells, if less than 300 background events would count as more than 150 (at
        the masses of signal is nearly no background), or if a few masses are far from all others, as a sentinel for a
        missing mass is.

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
    classes: Any = np.atleast_1d(background_label)
    label, background_label = coded(label, background_label)
    label, mass, weight = together(as_array, variables, label=label, mass=mass, weight=weight)
    floor = number("floor", floor, least=0, most=1)
    planed = finite("weight", np.ones(len(mass)) if weight is None else weight.astype(np.float64), "a finite number")
    said = Said()
    said.things.add(FAR_MASSES)  # it is said below, of signal too
    law = {"strength": 0, "floor": max(floor, sys.float_info.min)}  # a floor of 0 means the default
    loss = {"order": order, "background_label": background_label, "joint": mass.ndim > 1}
    constraint = Constraint(loss | law, said=said)
    labels = constraint.labels
    check_labels(label, labels)
    of_background, missing = is_background(label, labels), ~np.isfinite(mass)
    refuse("mass", mass, (missing.T & of_background).T, "a finite number of background; leave such events out")
    signal = ~of_background & ~missing.reshape(len(mass), -1).any(axis=1)
    if not signal.any():
        raise BatchError(f"no signal: each of the {len(label)} events has a background label, or no finite mass")
    names = {one: f"background of label {classes[k]}" for k, one in enumerate(labels)}
    effective = [_effective(planed[label == one], name) for one, name in names.items() if np.any(label == one)]
    of_signal = _effective(planed[signal], "signal")
    events = Events(np.zeros(len(mass)), label, mass, None if weight is None else planed)
    _, (_, start, _, _) = constraint.direction(None, events, len(mass))
    for column in mass.reshape(len(mass), -1).T:  # a sentinel, rather than the tail of a steep spectrum
        if any(np.count_nonzero(column == end) > 1 for end in (column.min(), column.max())):
            say_if_far(column, "signal without one nan")
    for (one, name), known in zip(names.items(), effective, strict=True):
        own = label == one
        before = planed[own].sum()
        planed[own] *= start[own]
        planed[own] *= before / planed[own].sum()
        left = _effective(planed[own], name)
        if floor < 1 and np.ptp(start[own]) == 0:
            text = (
                f"the {of_signal:.3g} effective events of signal and {known:.3g} of {name} are too few for two cells "
                "of mass: the weights do not change"
            )
        elif 0 < np.count_nonzero(start[own] >= _MOST) < _FEW:
            text = (
                f"planing leaves {left:.3g} of {known:.3g} effective events of {name}: at the masses of signal is "
                "nearly no background, and a network learns such events by heart. Give a larger floor"
            )
        else:
            continue
        warnings.warn(text, TrainingWarning, stacklevel=level_of_the_user())
    return planed


def _effective(weight: NDArray[np.float64], name: str) -> float:
    """The effective number of events with these weights, (sum w)^2 / (sum w^2), whose sum must be positive."""
    share = weight / (np.abs(weight).max() or 1.0)
    if not share.sum() > _ROUNDING * np.abs(share).sum():
        raise BatchError(f"weight: the sum over {name} is {weight.sum():g}, and must be positive")
    return float(share.sum() ** 2 / (share**2).sum())
