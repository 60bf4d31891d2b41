"""Planing: weights that give both classes one spectrum of the protected variables, before any training."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ..._arrays import vector
from ..._events import takes_events
from ...metrics._arguments import Bins, number, sums, variables, weights

BINS = (50, 20, 10)  # of each variable, of one, two, three and more
TARGETS = ("signal", "flat")

Doubles = NDArray[np.float64]
Chosen = NDArray[np.bool_]
Ratio = Callable[[Doubles], Doubles]


class Planing:
    """Weights that give the background the signal's spectrum in mass, or each class a flat spectrum.

    S. Chang, T. Cohen, B. Ostdiek, arXiv:1709.10106; ATLAS and CMS train taggers so, in (pT, mass). With p_S and p_B
    the densities of the two classes in mass::

        target="signal":  w = p_S(m) / p_B(m) for background, 1 for signal
        target="flat":    w = 1 / p_S(m) for signal, 1 / p_B(m) for background

    times a constant, such that the mean weight of each class is 1.

    Parameters
    ----------
    mass : (n,) or (n, d) real numbers, tensor or array
        One or more variables, each in any unit.
    label : (n,) numbers
        Every label other than ``background_label`` counts as signal.
    weight : (n,) real numbers of either sign, optional
        Of the events before planing: multiply them by the weights of planing.
    target : "signal" or "flat"
    bins : int or one for each variable, or d arrays of edges, optional
        Of the histograms, of equal width from the lowest to the highest value. By default 50 of one variable,
        20 of each of two, 10 of each of more.
    classifier : a classifier of scikit-learn, optional
        Replaces the histograms, whose cells are soon empty in several variables. Its probability q of one spectrum
        against the other gives the ratio of densities q / (1 - q). For "flat" it trains on each class against as many
        uniform events. It must take ``sample_weight`` if there are weights or the classes differ in size.
    floor : float, default 0.1
        A density counts as at least this fraction of a flat one, and with a classifier no weight is above 1 / floor
        before the mean is set to 1. 0 for none; then signal where there is no background is an error.
    background_label : int

    Attributes
    ----------
    weight : (n,) float32, as tensor or array, like ``mass``
    effective_size : float
        (sum w)^2 / sum w^2 over background: the number of events without weights that have the same power.

    Raises
    ------
    ValueError, TypeError
        For bad shapes, a mass that is not finite, a class without events, or a variable with one value.

    Examples
    --------
    >>> import numpy as np
    >>> import torch
    >>> from libmode.torch.baselines import Planing
    >>> _ = torch.manual_seed(1)
    >>> label = torch.randint(0, 2, (20_000,))
    >>> mass = torch.where(label == 1, 100 + 20 * torch.randn(20_000), 50 + 150 * torch.rand(20_000))
    >>> planing = Planing(mass, label)
    >>> background = label == 0
    >>> means = mass[label == 1].mean(), (planing.weight * mass)[background].mean(), mass[background].mean()
    >>> print(*(f"{mean:.0f}" for mean in means))  # of signal, of background with the weights and without
    100 100 125
    >>> planing(np.array([100, 180]), [0, 0]).round(1)  # of other events
    array([2.9, 0. ], dtype=float32)

    In two variables, such that both classes are flat, by a classifier:

    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> both = torch.stack([400 + 200 * torch.rand(20_000) ** 2 + mass, mass], 1)
    >>> flat = Planing(both, label, target="flat", classifier=HistGradientBoostingClassifier(), floor=0.05)
    >>> flat.weight.shape, 0 < flat.effective_size < 20_000
    (torch.Size([20000]), True)
    """

    @takes_events
    def __init__(
        self,
        mass: Any,
        label: Any,
        *,
        weight: Any = None,
        target: str = "signal",
        bins: Any = None,
        classifier: Any = None,
        floor: float = 0.1,
        background_label: int = 0,
    ) -> None:
        labels = vector("label", _array(label))
        masses = variables(_array(mass), "label", labels)
        weigh = weights(_array(weight), "label", labels)
        if target not in TARGETS:
            raise ValueError(f"target = {target!r}: expected one of {TARGETS}")
        if not 0 <= number("floor", floor) <= 1:
            raise ValueError(f"floor = {floor}: must be between 0 and 1")
        if classifier is not None and bins is not None:
            raise TypeError("bins belong to histograms: give them or a classifier")
        self._background_label, self._target = background_label, target
        background = labels == background_label
        for name, chosen in (("background", background), ("signal", ~background)):
            if not chosen.any():
                raise ValueError(
                    f"no {name} event among the {len(labels)} labels, with background_label = {background_label}"
                )
        for column in masses.T:
            if column.min() == column.max():
                raise ValueError(f"all masses are {column[0]:g}: there is nothing to plane")
        ratio: Callable[..., Ratio]
        if classifier is None:
            given = BINS[min(masses.shape[1], 3) - 1] if bins is None else bins
            ratio = partial(_OfCells, Bins(given, masses), masses, weigh, floor)
        else:
            ratio = partial(_OfClassifier, classifier, masses, weigh, floor)
        self._ratios = {True: ratio(background, None if target == "flat" else ~background)}
        if target == "flat":
            self._ratios[False] = ratio(~background, None)
        raw = self._raw(masses, background)
        self._means = np.array([np.average(raw[of], weights=weigh[of]) for of in (~background, background)])
        found = raw / self._means[background.astype(int)]
        of_background = (found * weigh)[background]
        self.weight = _like(mass, found)
        self.effective_size = float(of_background.sum() ** 2 / (of_background**2).sum())
        count = int(background.sum())
        if self.effective_size < count / 10:
            warnings.warn(
                f"planing leaves the {count} background events the power of {self.effective_size:.0f}: raise floor",
                RuntimeWarning,
                stacklevel=3,
            )

    @takes_events
    def __call__(self, mass: Any, label: Any) -> Any:
        """The weights (m,) of other events, of a validation say; outside the range those of its ends."""
        labels = vector("label", _array(label))
        masses = variables(_array(mass), "label", labels)
        background = labels == self._background_label
        return _like(mass, self._raw(masses, background) / self._means[background.astype(int)])

    def _raw(self, masses: Doubles, background: NDArray[np.bool_]) -> Doubles:
        found = np.ones(len(masses))
        for is_background, ratio in self._ratios.items():
            if (of := background == is_background).any():
                found[of] = ratio(masses[of])
        return found


# The density that is wanted, over that which is there, as a function of masses (m, d). The wanted one is flat where no
# events are given for it.


class _OfCells:
    def __init__(
        self, cells: Bins, masses: Doubles, weigh: Doubles, floor: float, there: Chosen, wanted: Chosen | None
    ) -> None:
        self._cells, flat = cells, 1 / cells.count
        goal = np.full(cells.count, flat) if wanted is None else self._shares(masses[wanted], weigh[wanted])
        below = np.maximum(self._shares(masses[there], weigh[there]), floor * flat)
        if (empty := (below == 0) & (goal > 0)).any():
            where = cells.name(int(np.argmax(empty)))
            raise ValueError(f"{where}, has signal but no background: give a floor, or fewer bins")
        self._ratios = np.divide(goal, below, out=np.zeros_like(goal), where=below > 0)

    def _place(self, masses: Doubles) -> NDArray[np.intp]:
        low, high = np.transpose([edges[[0, -1]] for edges in self._cells.axes])
        return self._cells.find(np.clip(masses, low, high))

    def _shares(self, masses: Doubles, weigh: Doubles) -> Doubles:
        found: Doubles = sums(self._place(masses), weigh, self._cells.count) / weigh.sum()
        if (found < 0).any():
            raise ValueError(f"weight has a negative sum in {self._cells.name(int(np.argmin(found)))}: give fewer bins")
        return found

    def __call__(self, masses: Doubles) -> Doubles:
        return self._ratios[self._place(masses)]


class _OfClassifier:
    def __init__(
        self, classifier: Any, masses: Doubles, weigh: Doubles, floor: float, there: Chosen, wanted: Chosen | None
    ) -> None:
        from sklearn.base import clone

        self._ends, self._most = (masses.min(axis=0), masses.max(axis=0)), 1 / floor if floor > 0 else np.inf
        if wanted is None:
            uniform = np.random.default_rng(0).uniform(*self._ends, masses[there].shape)
            masses = np.concatenate([masses[there], uniform])
            weigh = np.concatenate([weigh[there], np.ones(len(uniform))])
            wanted = np.arange(len(masses)) >= len(uniform)
        scaled = weigh / np.where(wanted, weigh[wanted].sum(), weigh[~wanted].sum()) * len(masses) / 2
        given = {"sample_weight": scaled} if np.ptp(scaled) > 0 else {}
        self._fitted = clone(classifier).fit(masses, wanted, **given)

    def __call__(self, masses: Doubles) -> Doubles:
        q = self._fitted.predict_proba(np.clip(masses, *self._ends))[:, 1]
        found: Doubles = np.minimum(q / np.maximum(1 - q, 1e-12), self._most)
        return found


def _array(values: Any) -> Any:
    return values.detach().cpu().numpy() if torch.is_tensor(values) else values


def _like(mass: Any, found: Doubles) -> Any:
    """float32, on the device of ``mass``."""
    single = found.astype(np.float32)
    return torch.from_numpy(single).to(mass.device) if torch.is_tensor(mass) else single
