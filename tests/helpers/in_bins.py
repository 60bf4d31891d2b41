"""The background efficiency in bins of mass, from the textbook."""

import numpy as np


def residual(score, mass, cut, edges, order):
    """The rms around the best polynomial of the mass over the mean efficiency, and what as many events have by chance."""
    bins = len(edges) - 1
    place = np.searchsorted(edges, mass, "right") - 1
    inside = (place >= 0) & (place < bins)
    place, kept, unit = place[inside], score[inside] >= cut, (mass[inside] - edges[0]) / (edges[-1] - edges[0])
    events = np.bincount(place, minlength=bins)
    rate, mean = np.bincount(place, kept, bins) / events, kept.mean()
    columns = np.stack([np.bincount(place, unit**k, bins) / events for k in range(order + 1)], 1)
    root = np.sqrt(events / events.sum())
    best = columns @ np.linalg.lstsq(columns * root[:, None], rate * root, rcond=None)[0]
    by_chance = np.sqrt((bins - order - 1) * (1 - mean) / mean / events.sum())
    return np.linalg.norm(root * (rate - best)) / mean, by_chance
