"""The law of the push by the text of spec.md, in NumPy: only the MoDe loss of the ranks comes from the library."""

import numpy as np
from libmode import mode_loss_and_grad
from libmode._constraint import Constraint
from libmode._events import Events
from numpy.polynomial import legendre

CELLS = {1: 64, 2: 7, 3: 4}  # of each variable of mass, at most; one more has the events without it
TILT = 0.6  # the power of the exponential that keeps the means; 1 for a monotonic response
WARM_UP = 512_000  # background events, over which the strength of order 0 rises
#: The places of these numbers of the first part in a state: averages of |u| and |G|, and counts.
BATCHES, SEEN, PUSH, GRADIENTS, GRADIENT = range(4, 9)


def defaults(order, events=150_000, batch=512):
    """The strength and the floor for so many training events, and background events in a batch."""
    strength = (12 if order else 24) * (events / 150_000) ** 0.25 * min(1, (1_024 if order else 512) / batch) ** 0.5
    return strength, min(1, 0.1 * (150_000 / events) ** 0.5)


def average(known, new, count):
    """The average over 200 batches, after batch ``count``."""
    return known + max(1 / count, 1 / 200) * (new - known)


def cuts(background, weight, signal, signal_weight, most):
    """Halves of halves of background and signal in equal parts, the largest first, while each has enough events."""
    mass = np.concatenate([background, signal])
    of_background = np.arange(len(mass)) < len(background)
    weight = np.concatenate([weight, signal_weight])
    size = np.where(of_background, 1 / max(len(background), 1), 1 / max(len(signal), 1))

    def enough(own):
        w = weight[own & of_background]
        return w.sum() > 0 and w.sum() ** 2 >= (10 - 1e-9) * (w**2).sum() and weight[own & ~of_background].sum() >= 0

    found, open_parts = [], [np.ones(len(mass), bool)]
    while open_parts and len(found) < most - 1:
        sizes = [size[own].sum() for own in open_parts]
        own = open_parts.pop(int(np.argmax(np.array(sizes) > max(sizes) - 1e-9)))
        values = np.unique(mass[own])
        middles = values[:-1] / 2 + values[1:] / 2
        halves = [(own & (mass < m), own & (mass >= m)) for m in middles]
        apart = np.array([abs(size[a].sum() - size[b].sum()) if enough(a) and enough(b) else np.inf for a, b in halves])
        if np.isfinite(apart).any():
            at = int(np.argmax(apart < apart.min() + 1e-9))
            found.append(middles[at])
            open_parts += halves[at]
    return np.array([min(found, default=-np.inf)] * (most - 1 - len(found)) + sorted(found))


class Law:
    """The law of one label and category, for logits."""

    def __init__(self, **options):
        (_, self.floor), self.options = defaults(options["order"]), options
        self.batches = self.seen = self.signals = self.gradients = self.drawn = 0
        self.size = self.norm = 0.0

    def inside(self, mass):
        low, high = self.options.get("mass_range") or (-np.inf, np.inf)
        return (low <= mass) & (mass <= high) & np.isfinite(mass)

    def takes_part(self, mass):
        inside = self.inside(mass)
        return inside.all(1) if self.options.get("joint") else inside.any(1)

    def spectrum(self, mass, weight):
        """The cell of each event, and the part of the sum of |weight| in each cell."""
        found = [np.searchsorted(ends, m, "right") for ends, m in zip(self.ends, mass.T, strict=True)]
        columns = np.where(self.inside(mass).T, found, self.each)
        cell = np.ravel_multi_index(list(columns), [self.each + 1] * len(columns))
        return cell, np.bincount(cell, weight, (self.each + 1) ** len(columns)) / np.abs(weight).sum()

    def start(self):
        """The start of each cell."""
        background, signal = self.spectra
        start, order = np.ones(len(background)), min(self.options["order"], 2)
        if not (background.sum() > 0 and signal.sum() > 0):
            return start
        ratio = (signal / signal.sum()).clip(0) / np.where(background > 0, background / background.sum(), 1)
        start = np.where(background > 0, (1 - self.floor) * ratio + self.floor, 1).clip(max=150)
        if order:
            place = np.indices([self.each + 1] * len(self.ends)).reshape(len(self.ends), -1)
            shares = background.clip(0).reshape([self.each + 1] * len(self.ends))
            x = np.full(place.shape, np.nan)  # the rank of the middle of each cell, in [-1, 1]
            for k, own in enumerate(place):
                part = np.moveaxis(shares, k, 0).reshape(self.each + 1, -1).sum(1)[:-1]
                rank = 2 * (np.cumsum(part) - part / 2) / part.sum() - 1
                x[k, own < self.each] = rank[own[own < self.each]]
            p = np.nan_to_num(np.concatenate([legendre.legval(x, [0] * k + [1]) for k in range(1, order + 1)]))
            start *= self.tilt(start, background.clip(0), p)
        return start.clip(self.floor, 150)

    def tilt(self, start, background, p):
        """The exponential of a polynomial with which the planed background keeps its means of p, by Newton's method."""
        exponent, share = np.zeros(len(p)), background / background.sum()
        for _ in range(200):
            planed = share * start * np.exp(exponent @ p)
            planed /= planed.sum()
            centered = p - (p @ planed)[:, None]
            step = np.linalg.lstsq((centered * planed) @ centered.T, p @ (share - planed), rcond=1e-12)[0]
            exponent += step * min(1, 1 / max(np.abs(step @ p).max(), 1e-300))
        tilt = np.exp((1 if self.options.get("monotonic") else TILT) * exponent @ p)
        return tilt / (share @ (start * tilt))

    def forward(self, score, mass, weight, signal_mass, signal_weight):
        """K u / |u| and the start of each event of background; those that take no part have 0 and 1."""
        own = self.takes_part(mass) & (weight != 0)
        push, multiplier, count = np.zeros(len(own)), np.ones(len(own)), own.sum()
        score, mass, weight = score[own], mass[own], weight[own]
        if len(signal_mass) and count + len(signal_mass) >= 2 * self.drawn:
            self.drawn, self.signals, self.each = count + len(signal_mass), 0, CELLS[mass.shape[1]]
            self.ends = []
            for b, s in zip(mass.T, signal_mass.T, strict=True):
                there, of_signal = self.inside(b), self.inside(s) & np.isfinite(signal_weight)
                self.ends.append(cuts(b[there], weight[there], s[of_signal], signal_weight[of_signal], self.each))
        _, place = np.unique(score, return_inverse=True)
        sizes = np.bincount(place, np.abs(weight))
        rank = ((np.cumsum(sizes) - sizes / 2) / sizes.sum())[place]
        _, slope = mode_loss_and_grad(rank, mass, weight=weight, **self.options)
        u = slope / np.sqrt(np.maximum(rank * (1 - rank), 3 / count))
        self.batches += 1
        self.size = average(self.size, np.linalg.norm(u), self.batches)
        self.seen += count
        rise = 1.0 if self.options["order"] else 1 - np.exp(-max(self.batches / 1000, self.seen / WARM_UP))
        push[own] = defaults(self.options["order"], batch=count)[0] * rise * u / self.size
        known = self.takes_part(signal_mass)
        if known.any():
            of_signal = self.spectrum(signal_mass[known], signal_weight[known])[1]
            both = np.array([self.spectrum(mass, weight)[1], of_signal])
            self.signals += 1
            self.spectra = both if self.signals == 1 else average(self.spectra, both, self.signals)
        if self.signals:
            multiplier[own] = self.start()[self.spectrum(mass, weight)[0]]
        return push, multiplier

    def backward(self, gradient, push, multiplier):
        """The gradient with the push. A change of scale by a power of two is followed at once."""
        norm = np.linalg.norm(planed := multiplier * gradient)
        if self.gradients:
            self.norm *= 2.0 ** np.round(np.log2(norm / self.norm))
        self.gradients += 1
        self.norm = average(self.norm, norm, self.gradients)
        return planed + self.norm * push


class Core:
    """The law of the core for arrays of NumPy, with a state, or None."""

    def __init__(self, *, from_logits=True, **options):
        self.constraint = Constraint(options | {"from_logits": from_logits})
        self.state = np.zeros(self.constraint.size)

    def forward(self, score, label, mass, weight=None, category=None, count=None):
        """The rows of the first ``count`` events, (4, count). The state stays."""
        self.events = Events(score, label, mass, weight, category)
        self.lesson, self.rows = self.constraint.direction(
            self.state, self.events, len(score) if count is None else count
        )
        return self.rows

    def backward(self, gradient):
        return self.constraint.apply(gradient, self.rows, self.lesson, self.state)

    def __call__(self, gradient, *events, **more):
        """What the gradient of the batch becomes."""
        self.forward(*events, **more)
        return self.backward(gradient)
