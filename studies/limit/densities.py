"""Events of problems of the zoo with their exact densities, written from the generators in ``zoo/events.py``.

A classifier sees features z. The limit needs p(z) of the signal, and p(z) of the background in each of 20 bins of mass.
Events are drawn from an equal mixture of three densities: signal, background, and features of signal at the masses of
the background. The last look like what a flat selection keeps far from the signal's mass. Scrambled Sobol points in
place of random numbers halve the errors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import map_coordinates
from scipy.special import expit
from scipy.stats import beta, norm, qmc

from ..simple_model.data import SIGNAL_MASS, SIGNAL_WIDTH
from ..zoo.judge import BINS

NODES = 48  # of the integral over a bin of mass
CHUNK = 1_000  # events at a time
Array = NDArray[Any]


class Densities(NamedTuple):
    """Densities at n points, with a common factor that may depend on the point."""

    signal: Array  #: (n,)
    background: Array  #: (n, 20), in each bin of mass; weights of events count
    drawn: Array  #: (n,), of the mixture; weights do not count


class Sample(NamedTuple):
    """Events whose weighted sums are means over densities: the sum of each column of weights is 1."""

    signal: Array  #: (n,)
    background: Array  #: (n, 20), for each bin of mass
    share: Array  #: (20,), of each bin in the background
    terms: Array  #: (20, 3), means over the background of a bin of the Legendre polynomials of degrees 0, 1, 2 in mass


@dataclass(frozen=True)
class Smeared:
    """A problem in which no feature gives the mass exactly.

    low, high : range of masses
    signal_mass : mean and width of a normal distribution, which is clipped to the range
    spectrum : of the background in mass, up to a factor
    quantile : the mass below which a share of the background lies
    numbers : that an event needs, all uniform from 0 to 1
    features : (n, d) at n masses, of signal or of background, from the numbers (n, numbers)
    density : (n, k), of n events at k masses, of signal or of background
    weight : mean weight of background of a mass
    """

    low: float
    high: float
    signal_mass: tuple[float, float]
    spectrum: Callable[[Array], Array]
    quantile: Callable[[Array], Array]
    numbers: int
    features: Callable[[Array, Array, bool], Array]
    density: Callable[[Array, Array, bool], Array]
    weight: Callable[[Array], Array] = np.ones_like

    def nodes(self) -> tuple[Array, Array]:
        """Masses (20, NODES), and the share of a bin's events that each stands for."""
        x, w = np.polynomial.legendre.leggauss(NODES)
        edges = self.quantile(np.linspace(0, 1, BINS + 1))
        mass = edges[:-1, None] + np.diff(edges)[:, None] * (x + 1) / 2
        events = self.spectrum(mass) * w
        return mass, events / events.sum(axis=1, keepdims=True)

    def bins(self) -> tuple[Array, Array]:
        """``share`` and ``terms`` of a Sample."""
        mass, events = self.nodes()
        weighted = events * self.weight(mass)
        scaled = 2 * (mass - self.low) / (self.high - self.low) - 1
        terms = np.einsum("kj,kjd->kd", weighted, np.polynomial.legendre.legvander(scaled, 2))
        return weighted.sum(axis=1) / weighted.sum(), terms / weighted.sum(axis=1, keepdims=True)

    def draw(self, third: int, seed: int) -> Array:
        """As many events from each third of the mixture."""
        of_signal, looks, of_background = (_uniform(third, 1 + self.numbers, (seed, part)) for part in range(3))
        peak = np.clip(norm.ppf(of_signal[0], *self.signal_mass), self.low, self.high)
        return np.concatenate(
            [
                self.features(of_signal[1:], peak, True),
                self.features(looks[1:], self.quantile(looks[0]), True),
                self.features(of_background[1:], self.quantile(of_background[0]), False),
            ]
        )

    def densities(self, features: Array) -> Densities:
        mass, events = self.nodes()
        weighted = events * self.weight(mass)
        weighted /= weighted.sum(axis=1, keepdims=True)
        of_bins = (weighted[:, :, None] * np.eye(BINS)[:, None, :]).reshape(-1, BINS)
        all_bins = events.reshape(-1) / BINS
        of_signal, share = self._signal()
        found = []
        for z in np.array_split(features, -(-len(features) // CHUNK)):
            background = self.density(z, mass.reshape(-1), False)
            signal = self.density(z, of_signal, True) @ share
            mixture = signal + (background + self.density(z, mass.reshape(-1), True)) @ all_bins
            found.append(Densities(signal, background @ of_bins, mixture / 3))
        return Densities(*(np.concatenate(parts) for parts in zip(*found, strict=True)))

    def _signal(self) -> tuple[Array, Array]:
        """Masses of signal and the share of each: 6 widths inside the range, and the ends, where masses are clipped."""
        mean, width = self.signal_mass
        x, w = np.polynomial.legendre.leggauss(4 * NODES)
        low, high = max(self.low, mean - 6 * width), min(self.high, mean + 6 * width)
        inside = low + (high - low) * (x + 1) / 2
        share = norm.pdf(inside, mean, width) * w * (high - low) / 2
        clipped = norm.cdf(self.low, mean, width), norm.sf(self.high, mean, width)
        return np.array([self.low, *inside, self.high]), np.array([clipped[0], *share, clipped[1]])


def _uniform(count: int, numbers: int, seed: tuple[int, int]) -> Array:
    """(numbers, count), which fill the cube evenly."""
    drawn = qmc.Sobol(numbers, rng=np.random.default_rng(seed)).random(count)
    return np.clip(drawn.T, 1e-12, 1 - 1e-12)


def _normal(x: Array, mean: Array | float, width: float) -> Array:
    """The density, without its constant factor."""
    return np.exp(-0.5 * ((x - mean) / width) ** 2)


def _tagger() -> Smeared:
    scale, ends = 80.0, 1 - np.exp(-350 / 80)

    def features(u: Array, mass: Array, signal: bool) -> Array:
        normal, second, log = norm.ppf(u), u[8] < expit((mass - 180) / 50), np.log(mass / 100)

        def mean(of_signal: float, of_first: float, of_second: float) -> Array | float:
            return of_signal if signal else np.where(second, of_second, of_first)

        return np.column_stack(
            [
                mean(1.9, 0.2, -0.4) + normal[0],
                mean(1.6, -0.2, 0.3) + normal[1],
                mean(1.2, 0, 0) + 1.2 * normal[2],
                log + 0.25 * normal[3],
                2 * mass / (250 - 120 * np.log(u[7])) * (1 + 0.08 * normal[4]),
                mean(0.2, 0.4, 0.5) - 0.15 * log + 0.35 * normal[5],  # the logarithm of the generator's
                mean(0.8, 0, 0) + 0.3 * np.sin(mass / 40) + normal[6],
            ]
        )

    # The fifth feature over 2 mass is y / (250 + E), with E exponential and y normal: integrate over E.
    ratio = np.linspace(0, 1.6 / 250, 3_001)
    x, w = np.polynomial.legendre.leggauss(2_000)
    energy = 250 + 3_000 * (x + 1) / 2  # to e^-25
    weights = w * np.exp(-(energy - 250) / 120) * energy
    of_ratio = norm.pdf(ratio[:, None] * energy, 1, 0.08) @ weights

    def density(z: Array, mass: Array, signal: bool) -> Array:
        x1, x2, x3, x4, x5, x6, x7 = (column[:, None] for column in z.T)
        log, wave = np.log(mass / 100), 0.3 * np.sin(mass / 40)
        common = _normal(x4, log, 0.25) * np.interp(x5 / (2 * mass), ratio, of_ratio, 0, 0) / mass

        def kind(a: float, b: float, c: float, d: float, e: float) -> Array:
            of_events: Array = _normal(x1, a, 1) * _normal(x2, b, 1) * _normal(x3, c, 1.2)
            return of_events * _normal(x6, d - 0.15 * log, 0.35) * _normal(x7, e + wave, 1)

        if signal:
            return common * kind(1.9, 1.6, 1.2, 0.2, 0.8)
        second = expit((mass - 180) / 50)
        return common * ((1 - second) * kind(0.2, -0.2, 0, 0.4, 0) + second * kind(-0.4, 0.3, 0, 0.5, 0))

    def quantile(share: Array) -> Array:
        return 50 - scale * np.log1p(-share * ends)

    return Smeared(50, 400, (125, 12), lambda m: np.exp(-m / scale), quantile, 9, features, density)


def _steep() -> Smeared:
    def features(u: Array, mass: Array, signal: bool) -> Array:
        normal, log = norm.ppf(u), np.log(mass)
        return np.column_stack(
            [
                1.5 * signal + normal[0],
                1.0 * signal + normal[1],
                0.6 * signal * log + normal[2],
                log + 0.05 * normal[3],
                mass / 2 * beta.ppf(u[5], 6, 2) + 0.05 * normal[4],
            ]
        )

    # The density of the fifth feature: integrated over the beta distribution on a grid of log mass and feature.
    logs, fifth = np.linspace(0, np.log(8), 301), np.linspace(-0.4, 4.4, 961)
    x, w = np.polynomial.legendre.leggauss(300)
    part = (x + 1) / 2
    weights = w * beta.pdf(part, 6, 2) / 2
    table = np.stack([norm.pdf(fifth[:, None], np.exp(log) / 2 * part, 0.05) @ weights for log in logs])

    def density(z: Array, mass: Array, signal: bool) -> Array:
        x1, x2, x3, x4, x5 = (column[:, None] for column in z.T)
        log = np.log(mass)
        places = np.broadcast_arrays(log / logs[1], (x5 - fifth[0]) / (fifth[1] - fifth[0]))
        of_fifth: Array = map_coordinates(table, places, order=1)
        of_mass = _normal(x4, log, 0.05) * of_fifth * _normal(x3, 0.6 * signal * log, 1)
        return of_mass * _normal(x1, 1.5 * signal, 1) * _normal(x2, 1.0 * signal, 1)

    def quantile(share: Array) -> Array:
        return (1 - share * (1 - 8.0**-4)) ** -0.25

    return Smeared(1, 8, (2, 0.1), lambda m: m**-5, quantile, 6, features, density)


def _slices(weighted: bool) -> Smeared:
    # Its two features of noise tell nothing. The signs of weights are chance.
    def features(u: Array, mass: Array, signal: bool) -> Array:
        normal = norm.ppf(u)
        return np.column_stack(
            [
                0.9 * signal + normal[0],
                0.8 * signal + normal[1],
                signal * (0.5 + mass) + normal[2],
                mass + 0.1 * normal[3],
                mass**2 + 0.2 * signal + 0.2 * normal[4],
            ]
        )

    def density(z: Array, mass: Array, signal: bool) -> Array:
        x1, x2, x3, x4, x5 = (column[:, None] for column in z.T)
        of_mass = _normal(x3, signal * (0.5 + mass), 1) * _normal(x4, mass, 0.1)
        of_mass = of_mass * _normal(x5, mass**2 + 0.2 * signal, 0.2)
        return of_mass * _normal(x1, 0.9 * signal, 1) * _normal(x2, 0.8 * signal, 1)

    weight = (lambda m: 10 ** (-3 * m)) if weighted else np.ones_like
    return Smeared(0, 1, (0.4, 0.1), np.ones_like, lambda share: share, 5, features, density, weight)


@dataclass(frozen=True)
class Simple:
    """The paper's simple model; its features are x1 and the mass, of which x2 tells all or a part.

    modified : x2 tells the mass. Otherwise it tells the distance from the signal's mass, up to 0.45: beyond, x2 is
        below 4e-5, and networks see no difference.
    """

    modified: bool = False
    beyond: float = 0.45

    def bins(self) -> tuple[Array, Array]:
        edges = np.linspace(-1, 1, BINS + 1)
        middle = (edges[1:] + edges[:-1]) / 2
        terms = np.column_stack([np.ones(BINS), middle, (3 * (middle**2 + 0.1**2 / 12) - 1) / 2])
        return np.full(BINS, 1 / BINS), terms

    def draw(self, third: int, seed: int) -> Array:
        """As many events from each third of the mixture."""
        of_signal, looks, of_background = (_uniform(third, 3, (seed, part)) for part in range(3))
        peak = norm.ppf(of_signal[0], SIGNAL_MASS, SIGNAL_WIDTH)
        resonant = np.where(of_signal[2] < 0.5, peak, 2 * of_signal[0] - 1)
        mass = np.concatenate([resonant, 2 * looks[0] - 1, 2 * of_background[0] - 1])
        second = of_background[2] < of_background[0]  # a share (1 + mass) / 2
        mean = np.concatenate([np.ones(2 * third), np.where(second, -4, 0)])
        return np.column_stack([mean + norm.ppf(np.concatenate([of_signal[1], looks[1], of_background[1]])), mass])

    def densities(self, features: Array) -> Densities:
        x1, mass = features.T
        if self.modified:
            return self._at(x1, mass)
        distance = abs(mass - SIGNAL_MASS)
        two = [self._at(x1, SIGNAL_MASS + side * distance) for side in (-1, 1)]
        near = Densities(*(a + b for a, b in zip(*two, strict=True)))
        far = self._far(x1)
        chosen = distance < self.beyond
        return Densities(
            np.where(chosen, near.signal, far.signal),
            np.where(chosen[:, None], near.background, far.background),
            np.where(chosen, near.drawn, far.drawn),
        )

    def _at(self, x1: Array, mass: Array) -> Densities:
        """Of x1 and the mass; 0 for masses outside of the range."""
        inside = abs(mass) <= 1
        of_background = inside * _background_of_x1(x1, mass) / 2
        looks = norm.pdf(x1, 1)
        signal = inside * looks * (0.5 * norm.pdf(mass, SIGNAL_MASS, SIGNAL_WIDTH) + 0.25)
        place = np.clip(((mass + 1) / 2 * BINS).astype(int), 0, BINS - 1)
        background = BINS * of_background[:, None] * (place[:, None] == np.arange(BINS))
        return Densities(signal, background, (signal + of_background + inside * looks / 2) / 3)

    def _far(self, x1: Array) -> Densities:
        """Of x1, of all masses far from the signal's."""
        edges = np.linspace(-1, 1, BINS + 1)
        parts = []
        for side in (-1, 1):
            end = SIGNAL_MASS + side * self.beyond
            clipped = np.minimum(edges, end) if side < 0 else np.maximum(edges, end)
            parts.append((clipped[:-1], clipped[1:]))
        background = sum(_background_of_x1(x1[:, None], (a + b) / 2) * (b - a) for a, b in parts) / 2 * BINS
        share = sum(float((b - a).sum()) for a, b in parts) / 2
        resonant = 2 * norm.sf(self.beyond / SIGNAL_WIDTH)
        looks = norm.pdf(x1, 1)
        signal = looks * (resonant + share) / 2
        return Densities(signal, background, (signal + background.mean(axis=1) + looks * share) / 3)


def _background_of_x1(x1: Array, mass: Array) -> Array:
    """The density of x1 at a mass."""
    return (1 - mass) / 2 * norm.pdf(x1) + (1 + mass) / 2 * norm.pdf(x1, -4)


PROBLEMS: dict[str, Callable[[], Smeared | Simple]] = {
    "simple": Simple,
    "modified": lambda: Simple(modified=True),
    "tagger": _tagger,
    "steep": _steep,
    "slices": lambda: _slices(weighted=True),
    "slices without weights": lambda: _slices(weighted=False),
}


def sample(name: str, third: int, seed: int) -> Sample:
    """As many events from each third of the mixture, with their importance weights.

    A factor near 1 for each event then makes all sums of weights 1: the smallest change that does. A factor for each
    column instead would spoil relations between bins that a program at a residual of 0 lives on.
    """
    problem = PROBLEMS[name]()
    found = problem.densities(problem.draw(third, seed))
    columns = np.column_stack([found.signal, found.background]) / found.drawn[:, None] / (3 * third)
    # In units of its rms, no column counts more.
    scaled = columns / np.sqrt((columns**2).mean(axis=0))
    wanted = (1 - columns.sum(axis=0)) / np.sqrt((columns**2).mean(axis=0))
    factor = 1 + scaled @ np.linalg.lstsq(scaled.T @ scaled, wanted, rcond=1e-9)[0]
    columns *= factor[:, None]
    return Sample(columns[:, 0], columns[:, 1:], *problem.bins())
