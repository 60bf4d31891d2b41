"""The push of a constraint by its definition, from comparisons of all pairs in NumPy."""

import numpy as np


def ranks(values, size):
    below = (values[None, :] < values[:, None]) @ size + 0.5 * (values[None, :] == values[:, None]) @ size
    return below / size.sum()


def functions(rank, count, cells):
    """The cosines in the middle of the cell of each rank; for NaN the function 1 alone is not 0."""
    k = np.arange(count)
    middle = (np.floor(rank * cells) + 0.5) / cells
    found = np.where(k == 0, 1.0, np.sqrt(2) * np.cos(np.pi * np.outer(middle, k)))
    return np.where(np.isnan(rank)[:, None], k == 0, found)


def push(grad, score, mass, weight, factor):
    """Norm, residual and push by logits of one group of events that all take part."""
    weight = weight / np.abs(weight).mean()
    size = np.abs(weight)
    rank = ranks(score, size)
    scaled = grad / np.sqrt(rank * (1 - rank))
    parts = max(1, min(16, int(size.sum() ** 2 / (weight @ weight)) // 20))
    part = (rank * parts).astype(int)
    mean = np.array([(scaled * np.sign(weight))[part == k].sum() / size[part == k].sum() for k in range(parts)])
    scaled = scaled - weight * mean[part]
    norm = np.sqrt(scaled @ scaled)
    count, cells = {1: (12, 32), 2: (5, 8), 3: (3, 4)}[mass.shape[1]]
    of_mass = np.ones((len(score), 1))
    for column in mass.T:
        rank_of = np.full(len(column), np.nan)
        there = ~np.isnan(column)
        rank_of[there] = ranks(column[there], size[there])
        of_mass = (of_mass[:, :, None] * functions(rank_of, count, cells)[:, None, :]).reshape(len(score), -1)
    of_score = functions(rank, 12, 32)
    residual = np.sqrt(len(score)) / norm * (of_mass.T @ (scaled[:, None] * of_score)) / size.sum()
    return norm, residual, factor * weight * np.einsum("im,mk,ik->i", of_mass, residual, of_score)
